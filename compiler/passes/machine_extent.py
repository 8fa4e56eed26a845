"""The fewest and the most bytes of a text that a counting machine accepts within its bounds.

The best lengths of reaching each state with n counts follow from those with n - 1. After some
steps the differences between the states repeat, and from there on all bounds follow by
arithmetic, however large they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from ..errors import LimitExceeded
from ..grammar import Machine
from ..graphs import components

STEPS = 200_000
"""Counts that are tried one by one before the lengths must repeat."""

Lengths = dict[int, int]
Better = Callable[[int, int], int]


def utf8_length(code: int) -> int:
    """Bytes of a code point in UTF-8 (RFC 3629, section 3)."""
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def shortest_bytes(machine: Machine, low: int, high: int | None) -> int | None:
    """The fewest bytes of an accepted text of `low` to `high` counts; None: there is no text.

    Where it takes too many counts to tell, no more than the fewest.
    """
    walk = _Walk(machine, min)
    try:
        # A shortest way on passes no state twice: with so much room the most does not matter.
        if high is None or high - low >= len(walk.counted):
            return walk.at_least(low)
        return walk.best(low, high)
    except LimitExceeded:
        return low


def longest_bytes(machine: Machine, low: int, high: int | None) -> int | None:
    """The most bytes; 0 if there is no text at all, None if there is no bound.

    Where it takes too many counts to tell, no fewer than the most.
    """
    graph = {q: [t[2] for t in out] for q, out in enumerate(machine.transitions)}
    if high is None:
        looping = graph
    else:
        free = {q: [t[2] for t in out if not t[3]] for q, out in enumerate(machine.transitions)}
        looping = free
    if _has_cycle(looping):
        return None
    walk = _Walk(machine, max)
    try:
        return walk.best(low, high) or 0
    except LimitExceeded:
        assert high is not None
        longest = max(n for edges in (*walk.counted, *walk.free) for _, n in edges)
        # Between two counts each state is passed once at most.
        return (high + 1) * longest * (1 + len(walk.free))


def _has_cycle(graph: dict[int, list[int]]) -> bool:
    return any(
        len(component) > 1 or component[0] in graph[component[0]] for component in components(graph)
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """The best accepted length at one count, None if nothing is accepted there."""

    accepted: int | None
    base: int


class _Walk:
    """Best lengths count by count."""

    def __init__(self, machine: Machine, better: Better) -> None:
        self.better = better
        self.accepting = machine.accepting
        self.counted: list[list[tuple[int, int]]] = []
        self.free: list[list[tuple[int, int]]] = []
        for out in machine.transitions:
            edges: tuple[dict[int, int], dict[int, int]] = ({}, {})
            for low, high, target, counts in out:
                length = utf8_length(low if better is min else high)
                group = edges[counts]
                group[target] = better(group.get(target, length), length)
            self.free.append(list(edges[0].items()))
            self.counted.append(list(edges[1].items()))

    def best(self, low: int, high: int | None) -> int | None:
        steps: list[_Step] = []
        seen: dict[tuple[tuple[int, int], ...], int] = {}
        current = self.close({0: 0})
        while current and (high is None or len(steps) <= high):
            base = min(current.values())
            shape = tuple(sorted((q, n - base) for q, n in current.items()))
            if shape in seen:
                return self.extrapolate(steps, seen[shape], base, low, high)
            if len(steps) > STEPS:
                raise LimitExceeded.at("machine-steps", f"no repetition within {STEPS} counts")
            seen[shape] = len(steps)
            ends = [n for q, n in current.items() if q in self.accepting]
            accepted = None
            for n in ends:
                accepted = n if accepted is None else self.better(accepted, n)
            steps.append(_Step(accepted, base))
            current = self.close(self.advance(current))
        return self.choose([s.accepted for s in steps[low:]])

    def at_least(self, low: int) -> int | None:
        """The best length of a text of `low` counts or more."""
        seen: dict[tuple[tuple[int, int], ...], tuple[int, int]] = {}
        current = self.close({0: 0})
        count = 0
        skipped = False
        while current and count < low:
            base = min(current.values())
            shape = tuple(sorted((q, n - base) for q, n in current.items()))
            if shape in seen and not skipped:
                first, before = seen[shape]
                turns, _ = divmod(low - count, count - first)
                gain = turns * (base - before)
                current = {q: n + gain for q, n in current.items()}
                count += turns * (count - first)
                skipped = True
                continue
            if count > STEPS:
                raise LimitExceeded.at("machine-steps", f"no repetition within {STEPS} counts")
            seen[shape] = (count, base)
            current = self.close(self.advance(current))
            count += 1
        onward = self.onward()
        return self.choose([n + onward[q] for q, n in current.items() if q in onward])

    def onward(self) -> Lengths:
        """The fewest bytes from each state to an accepting one, whatever is counted (Dijkstra)."""
        before: dict[int, list[tuple[int, int]]] = {}
        for edges in (self.free, self.counted):
            for source, out in enumerate(edges):
                for target, more in out:
                    before.setdefault(target, []).append((source, more))
        found: Lengths = {}
        heap = [(0, state) for state in self.accepting]
        heapify(heap)
        while heap:
            length, state = heappop(heap)
            if state in found:
                continue
            found[state] = length
            for source, more in before.get(state, ()):
                if source not in found:
                    heappush(heap, (length + more, source))
        return found

    def extrapolate(
        self, steps: list[_Step], first: int, base: int, low: int, high: int | None
    ) -> int | None:
        """`steps` from `first` on repeat, each time `gain` longer."""
        period = len(steps) - first
        gain = base - steps[first].base
        found = [s.accepted for s in steps[low:first]]
        for count in range(first, len(steps)):
            accepted = steps[count].accepted
            if accepted is None:
                continue
            # The lowest or the highest number of turns that is within the bounds.
            least = max(0, -(-(low - count) // period))
            most = least if high is None else (high - count) // period
            if most >= least:
                found.append(accepted + gain * (least if self.better is min else most))
        return self.choose(found)

    def choose(self, lengths: list[int | None]) -> int | None:
        best = None
        for length in lengths:
            if length is not None:
                best = length if best is None else self.better(best, length)
        return best

    def advance(self, current: Lengths) -> Lengths:
        following: Lengths = {}
        for state, length in current.items():
            for target, more in self.counted[state]:
                total = length + more
                following[target] = self.better(following.get(target, total), total)
        return following

    def close(self, current: Lengths) -> Lengths:
        """Led on along transitions that count nothing."""
        queue = list(current)
        while queue:
            state = queue.pop()
            for target, more in self.free[state]:
                total = current[state] + more
                known = current.get(target)
                if known is None or self.better(known, total) != known:
                    current[target] = total
                    queue.append(target)
        return current
