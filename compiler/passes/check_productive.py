"""A check: every rule is defined and matches at least one finite text.

An option that can never end is a dead end for a decoder, so it is a problem even where another
option saves the rule it stands in.
"""

from __future__ import annotations

from ..errors import GrammarError
from ..grammar import Grammar, RuleRef
from ..origin import Problem, did_you_mean
from .graph import Graph, graph_of
from .nullable import productive


def find_unproductive(grammar: Grammar, graph: Graph | None = None) -> list[Problem]:
    """Undefined rules first, then rules that match nothing, each in order of first use."""
    graph = graph or graph_of(grammar)
    if graph.undefined:
        return _undefined(graph)
    ends = productive(graph)
    if all(ends):
        return []
    problems: list[Problem] = []
    barren: dict[str, None] = {}
    for index, node in enumerate(graph.nodes):
        if isinstance(node, RuleRef) and not ends[index]:
            barren[node.name] = None
    problems.extend(
        Problem(
            "unproductive-rule",
            f"rule `{name}` matches no finite text: every way through it leads back into it",
        )
        for name in barren
    )
    if not problems and not all(ends[start] for start in graph.starts):
        problems.append(Problem("unproductive-rule", "the start matches no finite text"))
    return problems


def _undefined(graph: Graph) -> list[Problem]:
    known = [n.name for i, n in enumerate(graph.nodes) if isinstance(n, RuleRef) and graph.kids[i]]
    return [
        Problem(
            "undefined-rule",
            f"rule `{name}` is used but not defined",
            hint=did_you_mean(name, dict.fromkeys(known)),
        )
        for name in graph.undefined
    ]


def check_productive(grammar: Grammar, graph: Graph | None = None) -> None:
    """Raise :class:`GrammarError` (``undefined-rule``, ``unproductive-rule``)."""
    if problems := find_unproductive(grammar, graph):
        raise GrammarError(problems)
