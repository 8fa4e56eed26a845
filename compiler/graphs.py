"""Graphs: strongly connected components."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(graph: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """Strongly connected components, each after all that it leads to (Tarjan 1972)."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    held: dict[Node, None] = {}
    found: list[list[Node]] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        held[root] = None
        while work:
            node, rest = work[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    held[target] = None
                    work.append((target, iter(graph[target])))
                    break
                if target in held:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member, _ = held.popitem()
                        component.append(member)
                        if member == node:
                            break
                    found.append(component)
    return found
