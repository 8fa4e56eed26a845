"""What the rewriting passes share: a walk from the leaves up, and a place for new rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..grammar import (
    EMPTY,
    Capture,
    Choice,
    Expr,
    Grammar,
    Literal,
    Member,
    Members,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    children,
    references,
)


@dataclass(slots=True, eq=False)
class RuleMaker:
    """The rules of the grammar that a pass builds.

    New names are ``<owner>-<number>``, where the owner is the rule being rewritten; names of the
    source grammar are never given out again.
    """

    source: Rules
    made: Rules = field(default_factory=Rules)
    owner: str = "root"
    finished: dict[str, None] = field(default_factory=dict)
    """Rules that lead to nothing but rules made here: nobody need look into them."""
    _numbers: dict[str, int] = field(default_factory=dict)

    def fresh(self) -> str:
        """A name that no rule has."""
        number = self._numbers.get(self.owner, 0)
        while True:
            number += 1
            name = f"{self.owner}-{number}"
            if name not in self.source and name not in self.made:
                self._numbers[self.owner] = number
                return name

    def define(self, expr: Expr) -> RuleRef:
        """`expr` as a new rule; a reference is returned as it is."""
        if isinstance(expr, RuleRef):
            return expr
        return self.made.define(self.fresh(), expr)


def with_children(expr: Expr, kids: tuple[Expr, ...]) -> Expr:
    """The same node over other children, given in the order of :func:`children`."""
    match expr:
        case Sequence():
            return Sequence(kids)
        case Choice():
            return Choice(kids)
        case Repeat(min=low, max=high):
            return Repeat(kids[0], low, high)
        case Capture(slot=slot):
            return Capture(slot, kids[0])
        case Members():
            count = len(expr.keys)
            keys = tuple(
                Member(key.name, body, key.required)
                for key, body in zip(expr.keys, kids, strict=False)
            )
            return Members(
                keys, kids[count], kids[count + 1 :], expr.max_open, expr.order,
                expr.min_count, expr.max_count, expr.origin,
            )  # fmt: skip
        case _:
            return expr


def rewrite(expr: Expr, change: Callable[[Expr], Expr], memo: dict[int, tuple[Expr, Expr]]) -> Expr:
    """`change` applied to every node, children first. References are leaves.

    `memo` maps the identity of a node to the node and its result, so that what is shared stays
    shared; the node is kept there so that its identity stays its own.
    """
    stack: list[tuple[Expr, bool]] = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        if id(node) in memo:
            continue
        kids = children(node)
        if not kids:
            memo[id(node)] = (node, change(node))
        elif not ready:
            stack.append((node, True))
            stack.extend((kid, False) for kid in reversed(kids))
        else:
            new = tuple([memo[id(kid)][1] for kid in kids])
            same = all(a is b for a, b in zip(kids, new, strict=True))
            memo[id(node)] = (node, change(node if same else with_children(node, new)))
    return memo[id(expr)][1]


def built_rules(grammar: Grammar) -> dict[str, Expr]:
    """Every rule that is reachable, built, in order of first use; undefined ones are left out."""
    queue = [*references(grammar.start)]
    if grammar.armed is not None:
        queue += references(grammar.armed)
    found: dict[str, Expr] = {}
    for name in queue:
        if name not in found and name in grammar.rules:
            found[name] = grammar.rules[name]
            queue.extend(references(found[name]))
    return found


def rewrite_grammar(
    grammar: Grammar, change: Callable[[Expr, RuleMaker], Expr], maker: RuleMaker | None = None
) -> Grammar:
    """`change` applied to every node of every rule that is reachable, in order of first use."""
    maker = maker or RuleMaker(grammar.rules)
    memo: dict[int, tuple[Expr, Expr]] = {}

    def whole(expr: Expr) -> Expr:
        return rewrite(expr, lambda node: change(node, maker), memo)

    # Building a rule may define others, whose names must be known before new ones are given out.
    built_rules(grammar)
    maker.owner = "root"
    start = whole(grammar.start)
    armed = None if grammar.armed is None else whole(grammar.armed)
    seen: dict[str, None] = {}
    queue = [*references(start), *(references(armed) if armed is not None else ())]
    for name in queue:
        if name in seen:
            continue
        seen[name] = None
        if name in maker.finished:
            continue
        if name in maker.made:
            # Made by this pass, hence rewritten already; what it refers to may not be.
            queue.extend(references(maker.made[name]))
        elif name in grammar.rules:
            maker.owner = name
            body = whole(grammar.rules[name])
            maker.made.define(name, body)
            queue.extend(references(body))
    return Grammar(maker.made, start, armed)


def flatten(items: tuple[Expr, ...]) -> Expr:
    """A sequence without nested ones and empty literals, adjacent literals joined."""
    flat: list[Expr] = []
    text: list[str] = []
    stack = list(reversed(items))
    while stack:
        item = stack.pop()
        if isinstance(item, Sequence):
            stack.extend(reversed(item.items))
        elif isinstance(item, Literal):
            text.append(item.text)
        else:
            if joined := "".join(text):
                flat.append(Literal(joined))
            text.clear()
            flat.append(item)
    if joined := "".join(text):
        flat.append(Literal(joined))
    if not flat:
        return EMPTY
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def is_empty(expr: Expr) -> bool:
    """Whether `expr` is plainly the empty text."""
    match expr:
        case Sequence(items):
            return not items
        case Literal(text):
            return not text
        case Repeat(max=high):
            return high == 0
        case _:
            return False
