"""Grammar -> Graph: every reachable node numbered, references resolved.

The checks and measures run on this form with work lists instead of recursion. Nodes are shared by
identity: an expression used twice is one node.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..grammar import Expr, Grammar, RuleRef, Rules, children


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Nodes in order of discovery.

    ``kids[i]`` are the children of node i; of a `RuleRef` the body of its rule, of a reference to
    nothing none. ``starts`` are the nodes the walk began with. ``undefined`` maps the names that
    no rule has to the first reference.
    """

    nodes: list[Expr]
    kids: list[tuple[int, ...]]
    starts: tuple[int, ...]
    undefined: dict[str, int]
    answers: dict[str, bytearray] = field(default_factory=dict)
    """What has been found out about the nodes, by question."""

    def parents(self) -> list[list[int]]:
        """For each node, who has it as a child; as often as it does."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for parent, kids in enumerate(self.kids):
            for kid in kids:
                found[kid].append(parent)
        return found


def build_graph(rules: Rules, starts: Iterable[Expr]) -> Graph:
    """Number what `starts` reach."""
    numbers: dict[int, int] = {}
    nodes: list[Expr] = []
    kids: list[tuple[int, ...]] = []
    bodies: dict[str, int] = {}
    undefined: dict[str, int] = {}

    def number(expr: Expr) -> int:
        key = id(expr)
        known = numbers.get(key)
        if known is None:
            known = numbers[key] = len(nodes)
            nodes.append(expr)
        return known

    begun = tuple(number(start) for start in starts)
    # `nodes` grows while it is walked; it also keeps every expression alive, so that an identity
    # is not given out twice.
    at = 0
    while at < len(nodes):
        node = nodes[at]
        if isinstance(node, RuleRef):
            name = node.name
            if name in bodies:
                kids.append((bodies[name],))
            elif name in rules:
                bodies[name] = number(rules[name])
                kids.append((bodies[name],))
            else:
                undefined.setdefault(name, at)
                kids.append(())
        else:
            kids.append(tuple([number(child) for child in children(node)]))
        at += 1
    return Graph(nodes, kids, begun, undefined)


def graph_of(grammar: Grammar) -> Graph:
    """The graph of both ways into `grammar`."""
    if grammar.armed is None:
        return build_graph(grammar.rules, (grammar.start,))
    return build_graph(grammar.rules, (grammar.start, grammar.armed))
