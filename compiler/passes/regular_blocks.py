"""What taking counts in blocks needs to know of a machine: where so many counts can end.

The core is what can count without end; the rest of the states are on the way out of it.
"""

from __future__ import annotations

from typing import TypeAlias

from ..grammar import Expr
from .regular_counts import Counts
from .regular_edges import Edges

Goals: TypeAlias = dict[int, tuple[int, ...]]


class Blocks:
    """Answers about the core, found out when first asked for."""

    def __init__(self, edges: Edges, counts: Counts) -> None:
        self.edges = edges
        self.counts = counts
        self.core = [q for q in counts.states if counts.longest[q] is None]
        self.exits = {q for q in counts.states if counts.longest[q] is not None}
        self._leave: dict[int, int] | None = None
        self._goals: list[Goals] = []
        self._tails: dict[int, tuple[Expr, int]] | None = None

    def short_feasible(self, state: int, left: int) -> bool:
        """Whether a `Short` place has any text."""
        if self._leave is None:
            self._leave = self._leaving()
        return self._leave[state] < left

    def _leaving(self) -> dict[int, int]:
        """For each core state the least counts to acceptance in the core or to the way out."""
        ways = {}
        for state in self.core:
            edges = self.edges.out[state]
            ready = any(target in self.exits for _, target, _ in edges)
            ways[state] = 0 if ready else 1 << 62
        changed = True
        while changed:
            changed = False
            for state in self.core:
                for _, target, count in self.edges.out[state]:
                    if target not in self.exits and ways[target] + count < ways[state]:
                        ways[state] = ways[target] + count
                        changed = True
        return ways

    def goals(self, state: int, left: int) -> tuple[int, ...]:
        """The core states that `left` counts can end in, in numerical order."""
        while len(self._goals) < left:
            self._goals.append(self._next_goals(self._goals[-1] if self._goals else None))
        return self._goals[left - 1][state]

    def _next_goals(self, previous: Goals | None) -> Goals:
        sets: dict[int, set[int]] = {state: set() for state in self.core}
        for state in self.core:
            for _, target, count in self.edges.out[state]:
                if count and target not in self.exits:
                    sets[state].update((target,) if previous is None else previous[target])
        changed = True
        while changed:
            changed = False
            for state in self.core:
                for _, target, count in self.edges.out[state]:
                    if not count and target not in self.exits and not sets[target] <= sets[state]:
                        sets[state] |= sets[target]
                        changed = True
        return {state: tuple(sorted(found)) for state, found in sets.items()}

    def _single_ways(self) -> dict[int, tuple[Expr, int]]:
        """The core states with a single edge in, which counts, from another state like that.

        Being at such a state after n counts is being at the source after n - 1 and reading the
        label, so that all of a chain of them can share the rules that lead to its head.
        """
        into: dict[int, list[tuple[Expr, int, int]]] = {state: [] for state in self.counts.states}
        for source, out in self.edges.out.items():
            for label, target, count in out:
                into[target].append((label, source, count))
        return {
            state: into[state][0][:2]
            for state in self.core
            if len(into[state]) == 1
            and into[state][0][2] == 1
            and into[state][0][1] != state
            and all(count for _, _, count in into[into[state][0][1]])
        }

    def back(self, state: int, most: int) -> tuple[int, tuple[Expr, ...]]:
        """Where the single way to `state` begins, and the labels on it, `most` at most."""
        if self._tails is None:
            self._tails = self._single_ways()
        tails = self._tails
        labels: list[Expr] = []
        seen = {state}
        while state in tails and len(labels) < most and tails[state][1] not in seen:
            label, state = tails[state]
            seen.add(state)
            labels.append(label)
        return state, tuple(reversed(labels))
