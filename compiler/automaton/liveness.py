"""Which (state, count) pairs of a counting machine can still end in time.

For a machine and k = 0, 1, 2, ... let R_k be the states from which acceptance is reached with
exactly k more counts. R_k depends on R_{k-1} alone, so the sequence is eventually periodic; it is
computed as far as asked and stops at the first repetition. States are bits of a Python int.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

from ..grammar import Known, Machine
from ..graphs import components

_CACHE: WeakKeyDictionary[Machine, Liveness] = WeakKeyDictionary()
_EXTENDING: Final = Lock()
"""A machine belongs to many automata, whose own locks say nothing of it."""


class Liveness:
    """Answers, exactly, whether `state` can be completed with between `low` and `high` counts."""

    def __init__(self, machine: Machine) -> None:
        size = len(machine.transitions)
        free: list[list[int]] = [[] for _ in range(size)]
        counted: list[list[int]] = [[] for _ in range(size)]
        for state, row in enumerate(machine.transitions):
            for _, _, target, counts in row:
                (counted if counts else free)[target].append(state)
        # Tuples of numbers, which the garbage collector need not look at.
        self._free = tuple(map(tuple, free))
        self._counted = tuple(map(tuple, counted))
        self._all = (1 << size) - 1
        self._accepting = machine.accepting
        start = self._closed(set(machine.accepting))
        self._sets = [start]
        self._seen = {start: 0}
        self._period_start: int | None = None
        self._windows: dict[tuple[int, int, int | None], bool] = {}
        self._shortest: dict[int, int] = {}

    def _closed(self, states: set[int]) -> int:
        """`states` and all that reach them without counting, as bits."""
        todo = list(states)
        while todo:
            for source in self._free[todo.pop()]:
                if source not in states:
                    states.add(source)
                    todo.append(source)
        return sum(1 << s for s in states)

    def _extend(self) -> None:
        """Compute the next R_k, or note where the sequence starts to repeat."""
        last = self._sets[-1]
        before: set[int] = set()
        for state in _bits(last):
            before.update(self._counted[state])
        nxt = self._closed(before)
        known = self._seen.get(nxt)
        if known is not None:
            self._period_start = known
        else:
            self._seen[nxt] = len(self._sets)
            self._sets.append(nxt)

    def _reach(self, k: int) -> int:
        """R_k."""
        if k >= len(self._sets) and self._period_start is None:
            with _EXTENDING:
                while k >= len(self._sets) and self._period_start is None:
                    self._extend()
        if k < len(self._sets):
            return self._sets[k]
        assert self._period_start is not None
        period = len(self._sets) - self._period_start
        return self._sets[self._period_start + (k - self._period_start) % period]

    def live(self, state: int, low: int, high: int | None) -> bool:
        """Can a word with between `low` and `high` (None: no bound) more counts be completed?"""
        key = (state, low, high)
        answer = self._windows.get(key)
        if answer is None:
            answer = self._windows[key] = self._search(state, low, high)
        return answer

    def _search(self, state: int, low: int, high: int | None) -> bool:
        bit = 1 << state
        k = low
        while high is None or k <= high:
            if self._reach(k) & bit:
                return True
            k += 1
            # One whole period past the start of the window says all there is to say.
            if self._period_start is not None and k > max(low, self._period_start) + (
                len(self._sets) - self._period_start
            ):
                return False
        return False

    def shortest(self, state: int) -> int:
        """The fewest counts a word from `state` can have."""
        found = self._shortest.get(state)
        if found is None:
            found = 0
            while not self._reach(found) >> state & 1:
                found += 1
            self._shortest[state] = found
        return found

    @cached_property
    def is_endless(self) -> bool:
        """Can words from every state have any number of counts?"""
        return bool(self._free) and all(self.longest(q) is None for q in range(len(self._free)))

    @cached_property
    def is_dense(self) -> bool:
        """Can every state that has a word of `k` counts have one of ``k + 1``, for all k?"""
        k = 0
        while self._period_start is None or k < len(self._sets):
            if self._reach(k) & ~self._reach(k + 1):
                return False
            k += 1
        return True

    @cached_property
    def farthest(self) -> int:
        """At least the most counts that the shortest word of any state has."""
        covered, k = self._reach(0), 0
        while self._period_start is None or k < len(self._sets):
            k += 1
            nxt = covered | self._reach(k)
            if nxt == covered and nxt == self._all:
                break
            covered = nxt
        return k

    def longest(self, state: int) -> int | None:
        """The most counts a word from `state` can have; None if there is no most, -1 if it has no
        word."""
        return self._longest[state]

    @cached_property
    def _longest(self) -> dict[int, int | None]:
        """By strongly connected components of what has words, targets first."""
        size = len(self._free)
        ways: dict[int, list[tuple[int, int]]] = {state: [] for state in range(size)}
        for counts, edges in enumerate((self._free, self._counted)):
            for target, sources in enumerate(edges):
                for source in sources:
                    ways[source].append((target, counts))
        found: dict[int, int | None] = {}
        for component in components({s: [t for t, _ in out] for s, out in ways.items()}):
            inside = set(component)
            best: int | None = 0 if self._accepting & inside else -1
            circles = False
            for target, counts in (way for state in component for way in ways[state]):
                if target in inside:
                    circles = circles or bool(counts)
                elif best is not None and (after := found[target]) != -1:
                    best = None if after is None else max(best, after + counts)
            if circles and best != -1:
                best = None
            found.update(dict.fromkeys(component, best))
        return found


def liveness(machine: Machine) -> Liveness | Known:
    """The machine's liveness, computed once; or what is known of it anyway."""
    return searched(machine) if machine.known is None else machine.known


def searched(machine: Machine) -> Liveness:
    """The liveness of a machine all of whose states may be looked at, computed once."""
    assert machine.known is None
    found = _CACHE.get(machine)
    if found is None:
        found = _CACHE[machine] = Liveness(machine)
    return found


def _bits(value: int) -> Iterator[int]:
    while value:
        low = value & -value
        yield low.bit_length() - 1
        value ^= low
