"""The fewest bytes from a place in a counting machine to where it may end, within its bounds.

Bytes by number of counts are layers: each follows from the one before. After some of them only all
numbers grow alike, and from there on arithmetic says the rest, however large the bounds are.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

from ..errors import LimitExceeded
from ..grammar import Machine
from ..passes.machine_extent import utf8_length
from .exclusion import GONE, Exclusion

FAR: Final = 1 << 60
"""No end at all; sums of it stay beyond it."""

MAX_LAYERS: Final = 200_000
"""Counts that are looked at one by one before the layers must repeat."""

Layer = list[int]
Edges = list[list[tuple[int, int]]]

_CACHE: WeakKeyDictionary[Machine, MachineDistances] = WeakKeyDictionary()
_FOLLOWING: Final = Lock()
"""A machine belongs to many automata, whose own locks say nothing of it."""


class _Layers:
    """Layer 0 and what follows it, as far as asked, or for good once they repeat."""

    def __init__(self, first: Layer, follow: Callable[[Layer], Layer]) -> None:
        self._made = [first]
        self._follow = follow
        self._seen: dict[tuple[int, ...], int] = {}
        self._start = self._gain = self._period = 0
        self._note(0)

    def _note(self, number: int) -> None:
        layer = self._made[number]
        base = min(layer)
        if base >= FAR:
            # Nothing ends with so many counts, nor with more.
            self._start, self._period = number, 1
            return
        shape = tuple(-1 if n >= FAR else n - base for n in layer)
        known = self._seen.setdefault(shape, number)
        if known != number:
            self._start, self._period = known, number - known
            self._gain = base - min(self._made[known])

    def at(self, number: int, state: int) -> int:
        made = self._made
        if number >= len(made):
            with _FOLLOWING:
                self._extend(number)
        if number < len(made):
            return made[number][state]
        turns, rest = divmod(number - self._start, self._period)
        found = made[self._start + rest][state]
        return found if found >= FAR else found + turns * self._gain

    def _extend(self, number: int) -> None:
        """Make the layers up to a number, or until they repeat; under the lock."""
        made = self._made
        while number >= len(made) and not self._period:
            if len(made) > MAX_LAYERS:
                raise LimitExceeded.at(
                    "automaton-too-large", f"no repetition within {MAX_LAYERS} counts"
                )
            made.append(self._follow(made[-1]))
            self._note(len(made) - 1)


class MachineDistances:
    """Distances of one machine, worked out when first asked for."""

    def __init__(self, machine: Machine) -> None:
        self._size = len(machine.transitions)
        self._accepting = machine.accepting
        # Backwards: who leads here, and with how many bytes at least.
        self._free: Edges = [[] for _ in range(self._size)]
        self._counted: Edges = [[] for _ in range(self._size)]
        for state, row in enumerate(machine.transitions):
            best: dict[tuple[int, int], int] = {}
            for low, _, target, counts in row:
                length = utf8_length(low)
                key = (target, counts)
                best[key] = min(best.get(key, length), length)
            for (target, counts), length in best.items():
                (self._counted if counts else self._free)[target].append((state, length))
        self._exactly: _Layers | None = None
        self._at_least: _Layers | None = None
        self._known: dict[tuple[int, int, int | None], int] = {}

    def least(self, state: int, need: int, left: int | None) -> int:
        """The fewest bytes to the end from `state`, with `need` to `left` (None: any number of)
        counts on the way; FAR if there is no end."""
        need = max(need, 0)
        # A shortest way on, once it has what it needs, passes no state twice.
        if left is not None and left - need >= self._size:
            left = None
        key = (state, need, left)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._find(state, need, left)
        return found

    def _find(self, state: int, need: int, left: int | None) -> int:
        if left is None:
            if self._at_least is None:
                edges = [f + c for f, c in zip(self._free, self._counted, strict=True)]
                first = self._closed(self._ends(), edges)
                self._at_least = _Layers(first, self._before)
            return self._at_least.at(need, state)
        if self._exactly is None:
            self._exactly = _Layers(self._closed(self._ends(), self._free), self._before)
        exactly = self._exactly.at
        return min((exactly(k, state) for k in range(need, left + 1)), default=FAR)

    def _ends(self) -> Layer:
        return [0 if state in self._accepting else FAR for state in range(self._size)]

    def _before(self, layer: Layer) -> Layer:
        """The layer of one count more."""
        found = [FAR] * self._size
        for target, length in enumerate(layer):
            if length < FAR:
                for state, more in self._counted[target]:
                    found[state] = min(found[state], length + more)
        return self._closed(found, self._free)

    def _closed(self, layer: Layer, edges: Edges) -> Layer:
        """Led backwards along `edges` (Dijkstra)."""
        heap = [(n, state) for state, n in enumerate(layer) if n < FAR]
        heapify(heap)
        while heap:
            length, target = heappop(heap)
            if length > layer[target]:
                continue
            for state, more in edges[target]:
                if length + more < layer[state]:
                    layer[state] = length + more
                    heappush(heap, (length + more, state))
        return layer


def least_bytes(machine: Machine, state: int, need: int, left: int | None) -> int:
    """The fewest bytes from `state` to the end, with `need` to `left` counts; FAR: no end."""
    if machine.known is not None:
        return machine.known.fewest(state)
    found = _CACHE.get(machine)
    if found is None:
        found = _CACHE[machine] = MachineDistances(machine)
    return found.least(state, need, left)


def least_bytes_but(
    machine: Machine,
    exclusion: Exclusion,
    state: int,
    need: int,
    left: int | None,
    node: int,
) -> int:
    """The same where the text must not become one of the excluded ones; `node`: how far along
    them it is."""
    heap = [(least_bytes(machine, state, need, left), 0, state, need, left or 0, node)]
    seen: set[tuple[int, int, int, int]] = set()
    bounded = left is not None
    while heap:
        total, length, state, need, rest, node = heappop(heap)
        if total >= FAR:
            break
        if node == GONE:
            return total
        if (state, need, rest, node) in seen:
            continue
        seen.add((state, need, rest, node))
        if state in machine.accepting and need <= 0 and not exclusion.whole[node]:
            # Nothing that is left in the heap has fewer bytes than these.
            return length
        for low, high, target, counts in machine.transitions[state]:
            room = rest - counts
            wanted = max(need - counts, 0)
            if bounded and room < 0:
                continue
            for first, _, following in exclusion.split(node, low, high):
                after = length + utf8_length(first)
                ahead = least_bytes(machine, target, wanted, room if bounded else None)
                if ahead < FAR:
                    heappush(heap, (after + ahead, after, target, wanted, room, following))
    return FAR
