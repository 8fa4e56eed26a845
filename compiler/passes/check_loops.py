"""A check: nothing that may be empty repeats without end.

Such a loop can turn for ever without reading anything; every bounded form of it is harmless.
"""

from __future__ import annotations

from ..errors import GrammarError
from ..grammar import Capture, Expr, Grammar, Repeat, RuleRef
from ..origin import Problem
from .graph import Graph, graph_of
from .nullable import nullable


def find_empty_loops(grammar: Grammar, graph: Graph | None = None) -> list[Problem]:
    """One problem for each `Repeat` without end whose item can match the empty text."""
    graph = graph or graph_of(grammar)
    empty = nullable(graph)
    problems = []
    for index, node in enumerate(graph.nodes):
        if isinstance(node, Repeat) and node.max is None and empty[graph.kids[index][0]]:
            problems.append(
                Problem(
                    "empty-loop",
                    f"{_describe(node.item)} may be empty and repeats without end",
                    hint="bound the repetition or make its item read at least one character",
                )
            )
    return problems


def check_loops(grammar: Grammar, graph: Graph | None = None) -> None:
    """Raise :class:`GrammarError` (``empty-loop``)."""
    if problems := find_empty_loops(grammar, graph):
        raise GrammarError(problems)


def _describe(item: Expr) -> str:
    while isinstance(item, Capture):
        item = item.item
    return f"rule `{item.name}`" if isinstance(item, RuleRef) else "an item"
