"""How many more code points can lead from a state to acceptance.

The lengths possible from a state form a semilinear set. For nearly every state it is an interval,
found once in linear time; for the rest (`(aaa)*`) the sets R_k of the states that accept with
exactly k more code points are computed step by step and remembered. They are eventually periodic.
"""

from __future__ import annotations

from collections.abc import Sequence


class Lengths:
    """Lengths of the accepted continuations of each state of a trim automaton.

    ``shortest[q]`` and ``longest[q]`` (None: no longest) are code points from state q on.
    """

    __slots__ = ("_before", "_exact", "_interval", "_period", "_seen", "longest", "shortest")

    def __init__(self, targets: Sequence[Sequence[int]], accepting: frozenset[int]) -> None:
        self._before: list[list[int]] = [[] for _ in targets]
        for q, row in enumerate(targets):
            for t in row:
                self._before[t].append(q)
        self.shortest: list[int] = self._shortest(accepting)
        self.longest: list[int | None] = [None] * len(targets)
        self._interval = [False] * len(targets)
        self._scan(targets, accepting)
        self._exact: list[int] = [sum(1 << q for q in accepting)]
        self._seen: dict[int, int] = {self._exact[0]: 0}
        self._period: tuple[int, int] | None = None

    def _shortest(self, accepting: frozenset[int]) -> list[int]:
        distance = [-1] * len(self._before)
        queue = sorted(accepting)
        for q in queue:
            distance[q] = 0
        for q in queue:
            for p in self._before[q]:
                if distance[p] < 0:
                    distance[p] = distance[q] + 1
                    queue.append(p)
        return distance

    def _scan(self, targets: Sequence[Sequence[int]], accepting: frozenset[int]) -> None:
        """Fill ``longest`` and ``_interval`` from the states without a way onwards backwards.

        A state is done when all its targets but itself are. Those never done lie on or before a
        longer cycle: no longest, and an interval only if nothing speaks against it (unknown).
        """
        waiting = [len([t for t in row if t != q]) for q, row in enumerate(targets)]
        queue = [q for q, n in enumerate(waiting) if n == 0]
        for q in queue:
            self._settle(q, [t for t in targets[q] if t != q], q in targets[q], q in accepting)
            for p in self._before[q]:
                if p != q:
                    waiting[p] -= 1
                    if waiting[p] == 0:
                        queue.append(p)

    def _settle(self, q: int, onwards: list[int], loops: bool, accepts: bool) -> None:
        tops = [self.longest[t] for t in onwards]
        if loops:
            # What can be had with n more can be had with n + 1 more: all from the shortest on.
            self._interval[q] = True
            return
        self.longest[q] = None if None in tops else max((1 + (t or 0) for t in tops), default=0)
        spans = sorted(
            (self.shortest[t], float("inf") if top is None else top)
            for t, top in zip(onwards, tops, strict=True)
        )
        reach: float = -1 if accepts else (spans[0][0] - 1 if spans else 0)
        contiguous = all(self._interval[t] for t in onwards)
        for low, high in spans:
            contiguous = contiguous and low <= reach + 1
            reach = max(reach, high)
        self._interval[q] = contiguous

    def live(self, state: int, low: int, high: int | None) -> bool:
        """Whether some number of code points within low..high leads from `state` to acceptance."""
        longest = self.longest[state]
        if longest is not None and (longest < low or high is None):
            return longest >= low
        if high is None:
            # Every state leads on to acceptance, so a path of `low` steps can be completed.
            return True
        shortest = self.shortest[state]
        if high < low or high < shortest:
            return False
        if low <= shortest or self._interval[state]:
            return True
        top = high if longest is None else min(high, longest)
        return any(self._accepts_after(state, k) for k in self._distinct(low, top))

    def _distinct(self, low: int, high: int) -> range:
        """The lengths to look at: low..high, no more than one period of them."""
        self._fill(low)
        if self._period is not None:
            first, period = self._period
            high = min(high, max(low, first) + period - 1)
        return range(low, high + 1)

    def _accepts_after(self, state: int, k: int) -> bool:
        self._fill(k)
        if self._period is not None:
            first, period = self._period
            if k >= first:
                k = first + (k - first) % period
        return bool(self._exact[k] >> state & 1)

    def _fill(self, k: int) -> None:
        """Compute R up to k, or up to where it repeats."""
        while self._period is None and len(self._exact) <= k:
            following = 0
            for q, bit in enumerate(reversed(f"{self._exact[-1]:b}")):
                if bit == "1":
                    for p in self._before[q]:
                        following |= 1 << p
            first = self._seen.setdefault(following, len(self._exact))
            if first < len(self._exact):
                self._period = (first, len(self._exact) - first)
                return
            self._exact.append(following)
