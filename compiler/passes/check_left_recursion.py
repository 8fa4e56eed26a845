"""A check: no rule begins with itself, directly, through others, or after an empty prefix.

A top-down engine never returns from such a rule; llama.cpp notices the plain forms only and eats
memory on the hidden one (`n root "a"` where `n` may be empty).
"""

from __future__ import annotations

from ..errors import GrammarError
from ..grammar import Distinct, Grammar, Members, Repeat, RuleRef, Sequence
from ..origin import Problem
from .graph import Graph, graph_of
from .nullable import nullable

MOST = 20
"""Cycles reported at once."""


def find_left_recursion(grammar: Grammar, graph: Graph | None = None) -> list[Problem]:
    """One problem for each cycle of rules met; empty if there is none."""
    graph = graph or graph_of(grammar)
    empty = nullable(graph)
    chains: dict[str, str] = {}
    for cycle in _cycles(graph, empty):
        names = [node.name for i in cycle if isinstance(node := graph.nodes[i], RuleRef)]
        # The cycle is told from its first name in the alphabet, whatever was met first.
        first = names.index(min(names))
        names = names[first:] + names[:first]
        chains[" -> ".join([*names, names[0]])] = names[0]
    return [
        Problem(
            "left-recursion",
            f"rule `{name}` can begin with itself: {chain}",
            hint="let something that is never empty stand before the repeated rule",
        )
        for chain, name in chains.items()
    ]


def check_left_recursion(grammar: Grammar, graph: Graph | None = None) -> None:
    """Raise :class:`GrammarError` (``left-recursion``) naming each cycle of rules."""
    if problems := find_left_recursion(grammar, graph):
        raise GrammarError(problems)


def first_kids(graph: Graph, index: int, empty: bytearray) -> tuple[int, ...]:
    """The children of a node whose text can stand at the very beginning of the node's text."""
    node, kids = graph.nodes[index], graph.kids[index]
    match node:
        case Sequence():
            for at, kid in enumerate(kids):
                if not empty[kid]:
                    return kids[: at + 1]
            return kids
        case Repeat(max=0):
            return ()
        case Members():
            return _first_members(node, kids, empty)
        case Distinct():
            return _first_distinct(kids, empty)
        case _:
            return kids


def _first_members(node: Members, kids: tuple[int, ...], empty: bytearray) -> tuple[int, ...]:
    count = len(node.keys)
    separator, opened = kids[count], _first_open(node, kids[count + 1 :], empty)
    found = []
    closed = False
    for key, kid in zip(node.keys, kids, strict=False):
        found.append(kid)
        if node.order == "schema" and key.required and not empty[kid]:
            closed = True
            break
    if not closed:
        found.extend(opened)
    if any(empty[kid] for kid in found):
        found.append(separator)
    # A variant begins like the member that it is one of.
    found.extend(kids[count + 1 + len(node.open) + len(node.names) :])
    return tuple(found)


def _first_open(node: Members, kids: tuple[int, ...], empty: bytearray) -> tuple[int, ...]:
    opened = kids[: len(node.open)]
    names = kids[len(node.open) : len(node.open) + len(node.names)]
    if not names:
        return opened
    behind = (kid for kid, name in zip(opened, names, strict=True) if empty[name])
    return (*names, *behind)


def _first_distinct(kids: tuple[int, ...], empty: bytearray) -> tuple[int, ...]:
    separator, items = kids[0], kids[1:]
    for at, kid in enumerate(items):
        if not empty[kid]:
            return (*items[: at + 1], *((separator,) if at else ()))
    return kids


def _cycles(graph: Graph, empty: bytearray) -> list[list[int]]:
    """Cycles of the begins-with relation: one for each node that is come back to, MOST at most."""
    unseen, visiting, done = 0, 1, 2
    colour = bytearray(len(graph.nodes))
    cycles: dict[int, list[int]] = {}
    # A node met only behind a first symbol is a new beginning: all nodes are tried in turn.
    for root in range(len(graph.nodes)):
        if colour[root] != unseen:
            continue
        path = [root]
        colour[root] = visiting
        rest = [iter(first_kids(graph, root, empty))]
        while path:
            kid = next(rest[-1], None)
            if kid is None:
                colour[path.pop()] = done
                rest.pop()
            elif colour[kid] == visiting and kid not in cycles:
                cycles[kid] = path[path.index(kid) :]
                if len(cycles) == MOST:
                    return list(cycles.values())
            elif colour[kid] == unseen:
                colour[kid] = visiting
                path.append(kid)
                rest.append(iter(first_kids(graph, kid, empty)))
    return list(cycles.values())
