"""A counting machine as a small graph of labelled edges, for spelling it out in rules.

Parallel transitions become one edge over a class. States that only stand inside one path (the
letters of an escape, the digits of a year) are folded into the label of an edge, as long as an
edge still counts at most one character.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..grammar import EMPTY, Expr, Machine, children
from .factor import characters, factor
from .rewrite import flatten, is_empty

LABEL_NODES = 24
"""Nodes of a label that may be said twice when a state is folded away."""

Edge = tuple[Expr, int, int]
"""Label, target state, counted characters (0 or 1)."""


@dataclass(slots=True, eq=False)
class Edges:
    """``out[q]``: edges in order of their first character; states folded away are no keys.

    The end of the text is an edge to `final`, which has no edges.
    """

    out: dict[int, list[Edge]]
    final: int
    start: int = 0

    def is_loop(self, state: int) -> bool:
        """Whether `state` either ends or leads back to itself, counting one character."""
        edges = self.out[state]
        back = [count for _, target, count in edges if target == state]
        return 0 < len(back) == len(edges) - 1 and all(back) and self.may_end(state)

    def may_end(self, state: int) -> bool:
        """Whether the text may end at `state` with nothing more."""
        return any(target == self.final and is_empty(label) for label, target, _ in self.out[state])


def edges_of(machine: Machine) -> Edges:
    """The edges of `machine`, folded."""
    out: dict[int, list[Edge]] = {}
    for state, transitions in enumerate(machine.transitions):
        grouped: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for low, high, target, counts in transitions:
            grouped.setdefault((target, counts), []).append((low, high))
        out[state] = [
            (characters(ranges), target, counts) for (target, counts), ranges in grouped.items()
        ]
    final = len(out)
    for state in sorted(machine.accepting):
        out[state].append((EMPTY, final, 0))
    out[final] = []
    edges = Edges(out, final)
    _fold(edges)
    return edges


def _fold(edges: Edges) -> None:
    """Fold states into labels, until nothing more can be folded.

    A state can go if it is not the start, has no edge to itself, and has a single edge in or a
    single edge out. Labels are said once for each edge of the other side.
    """
    incoming: dict[int, dict[int, int]] = {state: {} for state in edges.out}
    for source, outgoing in edges.out.items():
        for _, target, _ in outgoing:
            incoming[target][source] = incoming[target].get(source, 0) + 1
    queue = sorted(edges.out, reverse=True)
    while queue:
        state = queue.pop()
        if state not in edges.out or state == edges.start:
            continue
        out, into = edges.out[state], incoming[state]
        ins = sum(into.values())
        if state in into or not out or min(ins, len(out)) != 1:
            continue
        entering = [e for source in into for e in edges.out[source] if e[1] == state]
        if any(a[2] + b[2] > 1 for a in entering for b in out):
            continue
        # The side that is said many times must be small.
        said = [e[0] for e in (entering if len(out) > 1 else out)]
        times = max(len(out), ins)
        if times > 1 and any(node_count(label, LABEL_NODES) > LABEL_NODES for label in said):
            continue
        for source in into:
            edges.out[source] = _bypass(edges.out[source], state, out)
        del edges.out[state], incoming[state]
        for _, target, _ in out:
            incoming[target].pop(state, None)
            for source in into:
                count = sum(e[1] == target for e in edges.out[source])
                incoming[target][source] = count
        queue.extend(sorted({*into, *(e[1] for e in out)}, reverse=True))


def _bypass(edges: list[Edge], state: int, out: list[Edge]) -> list[Edge]:
    """`edges` with each edge to `state` led on along `out`; parallel edges are merged."""
    grouped: dict[tuple[int, int], list[Expr]] = {}
    for label, target, count in edges:
        if target != state:
            grouped.setdefault((target, count), []).append(label)
            continue
        for more, following, counts in out:
            grouped.setdefault((following, count + counts), []).append(flatten((label, more)))
    return [
        (labels[0] if len(labels) == 1 else factor(tuple(labels)), target, count)
        for (target, count), labels in grouped.items()
    ]


def node_count(label: Expr, enough: int) -> int:
    """How many nodes `label` has; counting stops above `enough`."""
    stack = [label]
    count = 0
    while stack and count <= enough:
        count += 1
        stack.extend(children(stack.pop()))
    return count
