"""Grammar -> Grammar. The item of a repetition is never empty.

A bounded repetition of something that may be empty has many readings of one text, and a top-down
engine keeps all of them open. Repeating only the texts that are not empty says the same.
"""

from __future__ import annotations

from ..grammar import (
    EMPTY,
    Choice,
    Expr,
    Grammar,
    Literal,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    children,
    references,
)
from .factor import factor
from .graph import Graph, graph_of
from .nullable import nullable
from .rewrite import RuleMaker, flatten


def repeat_nonempty(grammar: Grammar, graph: Graph | None = None) -> Grammar:
    """The same language; no `Repeat` has an item that matches the empty text.

    Expects literals, classes, sequences, choices, repeats and references only, without left
    recursion and empty loops.
    """
    graph = graph or graph_of(grammar)
    empty = nullable(graph)
    items = (graph.kids[i][0] for i, n in enumerate(graph.nodes) if isinstance(n, Repeat))
    if not any(empty[item] for item in items):
        return grammar
    stripper = _Stripper(
        grammar.rules, {id(n) for n, yes in zip(graph.nodes, empty, strict=True) if yes}
    )
    start = stripper.whole(grammar.start)
    armed = None if grammar.armed is None else stripper.whole(grammar.armed)
    queue = [*references(start), *(references(armed) if armed is not None else ())]
    for name in queue:
        if name not in stripper.maker.made:
            stripper.maker.made.define(name, stripper.rule(name))
            queue.extend(references(stripper.maker.made[name]))
    return Grammar(stripper.maker.made, start, armed)


class _Stripper:
    """Both forms of every node: with the empty text where it had it, and without.

    `nulls` holds the identities of the nodes that can match the empty text; the form without is
    None where nothing is left.
    """

    def __init__(self, rules: Rules, nulls: set[int]) -> None:
        self.rules = rules
        self.nulls = nulls
        self.maker = RuleMaker(rules)
        self.done: dict[int, tuple[Expr, Expr | None]] = {}
        self.bare: dict[str, RuleRef] = {}
        self.bare_of: dict[str, str] = {}

    def whole(self, expr: Expr) -> Expr:
        return self.forms(expr)[0]

    def rule(self, name: str) -> Expr:
        """The body of a rule of the source, or of one that was asked for without the empty text."""
        if name in self.bare_of:
            self.maker.owner = self.bare_of[name]
            body = self.forms(self.rules[self.bare_of[name]])[1]
            assert body is not None
            return body
        self.maker.owner = name
        return self.whole(self.rules[name])

    def forms(self, expr: Expr) -> tuple[Expr, Expr | None]:
        stack: list[tuple[Expr, bool]] = [(expr, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in self.done:
                continue
            kids = children(node)
            if ready or not kids:
                self.done[id(node)] = self._forms(node)
            else:
                stack.append((node, True))
                stack.extend((kid, False) for kid in kids)
        return self.done[id(expr)]

    def _forms(self, node: Expr) -> tuple[Expr, Expr | None]:
        if isinstance(node, Repeat):
            return self._repeat(node)
        if isinstance(node, RuleRef):
            return node, self._without(node)
        kids = [self.done[id(kid)] for kid in children(node)]
        with_empty: Expr = node
        if isinstance(node, Sequence):
            with_empty = flatten(tuple(kid[0] for kid in kids))
        elif isinstance(node, Choice):
            with_empty = factor(tuple(kid[0] for kid in kids))
        if id(node) not in self.nulls:
            return with_empty, with_empty
        options: list[Expr] = []
        if isinstance(node, Choice):
            options = [kid[1] for kid in kids if kid[1] is not None]
        elif isinstance(node, Sequence):
            # Every item may be empty: the first that is not is one of them.
            for at, (_, bare) in enumerate(kids):
                if bare is not None:
                    options.append(flatten((bare, *(kid[0] for kid in kids[at + 1 :]))))
        else:
            assert isinstance(node, Literal), node
        return with_empty, factor(tuple(options)) if options else None

    def _repeat(self, node: Repeat) -> tuple[Expr, Expr | None]:
        item, bare = self.done[id(node.item)]
        if node.max == 0 or bare is None:
            return EMPTY, None
        low = node.min
        if bare is not item or self._is_null(node.item):
            item, low = bare, 0
        return Repeat(item, low, node.max), Repeat(item, max(low, 1), node.max)

    def _is_null(self, expr: Expr) -> bool:
        return id(expr) in self.nulls

    def _without(self, node: RuleRef) -> Expr | None:
        if id(node) not in self.nulls:
            return node
        known = self.bare.get(node.name)
        if known is None:
            if not self._has_text(node):
                return None
            name = self.maker.fresh()
            # The name is taken at once; the body follows when the rule is visited.
            known = self.bare[node.name] = RuleRef(name)
            self.bare_of[name] = node.name
        return known

    def _has_text(self, node: RuleRef) -> bool:
        """Whether the rule matches anything but the empty text."""
        seen: dict[str, None] = {node.name: None}
        queue: list[Expr] = [self.rules[node.name]]
        for expr in queue:
            match expr:
                case Literal(text):
                    if text:
                        return True
                case RuleRef(name):
                    if name not in seen:
                        seen[name] = None
                        queue.append(self.rules[name])
                case Repeat(max=0):
                    pass
                case Sequence() | Choice() | Repeat():
                    queue.extend(children(expr))
                case _:
                    return True
        return False
