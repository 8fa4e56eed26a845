"""How many counts the ways out of each state of a machine take, and which bounds they can meet."""

from __future__ import annotations

from collections import deque

from ..graphs import components
from .regular_edges import Edges


class Counts:
    """Counts on the way from each state to acceptance.

    ``shortest[q]`` and ``longest[q]`` (None: without end). :meth:`feasible` is exact.
    """

    def __init__(self, edges: Edges) -> None:
        self.edges = edges
        self.states = list(edges.out)
        self.shortest = self._shortest()
        self.longest = self._longest()
        self._windows: dict[int, _Window] = {}

    def feasible(self, state: int, low: int, high: int | None) -> bool:
        """Whether some way from `state` to acceptance counts `low` to `high`."""
        if high is not None and self.shortest[state] > high:
            return False
        if low == 0:
            return True
        longest = self.longest[state]
        if high is None or (longest is not None and longest <= high):
            # The greatest count is taken by some way, and it is not above the upper bound.
            return longest is None or longest >= low
        window = self._windows.get(high - low)
        if window is None:
            window = self._windows[high - low] = _Window(self, high - low)
        return state in window.at(low)

    def _shortest(self) -> dict[int, int]:
        """Breadth first from acceptance, edges that count nothing before the others."""
        into: dict[int, list[tuple[int, int]]] = {state: [] for state in self.states}
        for state, out in self.edges.out.items():
            for _, target, count in out:
                into[target].append((state, count))
        best: dict[int, int] = {}
        queue = deque([(self.edges.final, 0)])
        while queue:
            state, count = queue.popleft()
            if state in best:
                continue
            best[state] = count
            for source, step in into[state]:
                if step:
                    queue.append((source, count + 1))
                else:
                    queue.appendleft((source, count))
        return best

    def _longest(self) -> dict[int, int | None]:
        """By strongly connected components, targets first."""
        longest: dict[int, int | None] = {}
        for component in components({q: [t for _, t, _ in o] for q, o in self.edges.out.items()}):
            inside = set(component)
            best: int | None = 0
            for state in component:
                for _, target, count in self.edges.out[state]:
                    if target in inside:
                        tail: int | None = None if count else 0
                    else:
                        after = longest[target]
                        tail = None if after is None else after + count
                    best = None if best is None or tail is None else max(best, tail)
            longest.update(dict.fromkeys(component, best))
        return longest


class _Window:
    """For a fixed distance between the bounds: the states that can meet a lower bound.

    The states for bound n + 1 follow from those for n, so the series is periodic in the end.
    """

    def __init__(self, counts: Counts, width: int) -> None:
        first = frozenset(q for q in counts.states if counts.shortest[q] <= width)
        self.series = [first]
        self.seen = {first: 0}
        self.loop: int | None = None
        self.edges = counts.edges

    def at(self, low: int) -> frozenset[int]:
        while self.loop is None and len(self.series) <= low:
            following = self._before(self.series[-1])
            if following in self.seen:
                self.loop = self.seen[following]
            else:
                self.seen[following] = len(self.series)
                self.series.append(following)
        if low < len(self.series):
            return self.series[low]
        assert self.loop is not None
        return self.series[self.loop + (low - self.loop) % (len(self.series) - self.loop)]

    def _before(self, states: frozenset[int]) -> frozenset[int]:
        """The states with a way into `states` that counts exactly once, at its end."""
        out = self.edges.out
        found = {q for q, edges in out.items() if any(c and t in states for _, t, c in edges)}
        grown = True
        while grown:
            grown = False
            for state, edges in out.items():
                if state not in found and any(not c and t in found for _, t, c in edges):
                    found.add(state)
                    grown = True
        return frozenset(found)
