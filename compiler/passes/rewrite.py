"""What the rewriting passes share: a walk from the leaves up, and a place for new rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..grammar import (
    EMPTY,
    Capture,
    Chars,
    Choice,
    Cut,
    Distinct,
    Expr,
    Grammar,
    Literal,
    Member,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Token,
    Variant,
    children,
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


LEAVES = frozenset({Literal, RuleRef, Chars, Token, Regular, Cut})
"""Types without children, told by a look-up where there are many nodes."""


def with_children(expr: Expr, kids: tuple[Expr, ...]) -> Expr:
    """The same node over other children, given in the order of :func:`children`."""
    if isinstance(expr, Sequence):
        return Sequence(kids)
    match expr:
        case Choice():
            return Choice(kids)
        case Repeat(min=low, max=high):
            return Repeat(kids[0], low, high)
        case Capture(slot=slot):
            return Capture(slot, kids[0])
        case Members():
            return _members(expr, kids)
        case Distinct(prefix=prefix, rest=rest):
            count = len(prefix) + 1
            return replace(
                expr,
                separator=kids[0],
                prefix=kids[1:count],
                rest=None if rest is None else kids[count],
            )
        case _:
            return expr


def _members(node: Members, kids: tuple[Expr, ...]) -> Members:
    count = len(node.keys)
    after = count + 1 + len(node.open)
    last = after + len(node.names)
    bodies = iter(kids[last:])

    def over(variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
        return tuple(Variant(next(bodies), v.meets) for v in variants)

    keys = tuple(
        Member(key.name, body, key.required, key.meets, over(key.variants))
        for key, body in zip(node.keys, kids, strict=False)
    )
    return replace(
        node, keys=keys, separator=kids[count], open=kids[count + 1 : after],
        names=kids[after:last], open_variants=tuple(map(over, node.open_variants)),
    )  # fmt: skip


def rewrite(expr: Expr, change: Callable[[Expr], Expr], memo: dict[int, tuple[Expr, Expr]]) -> Expr:
    """`change` applied to every node, children first. References are leaves.

    `memo` maps the identity of a node to the node and its result, so that what is shared stays
    shared; the node is kept there so that its identity stays its own. Leaves that stay as they are
    are not in it.
    """
    # A node is met again, below a None, when its children are done.
    stack: list[Expr | None] = [expr]
    while stack:
        node = stack.pop()
        if node is None:
            node = stack.pop()
            assert node is not None
            kids = children(node)
            new = tuple([memo[id(kid)][1] if id(kid) in memo else kid for kid in kids])
            for old, kid in zip(kids, new, strict=True):
                if old is not kid:
                    memo[id(node)] = (node, change(with_children(node, new)))
                    break
            else:
                memo[id(node)] = (node, change(node))
        elif id(node) not in memo:
            kids = () if type(node) in LEAVES else children(node)
            if kids:
                stack += (node, None)
                stack += kids[::-1]
            elif (leaf := change(node)) is not node:
                memo[id(node)] = (node, leaf)
    return memo[id(expr)][1] if id(expr) in memo else expr


def built_rules(grammar: Grammar) -> dict[str, Expr]:
    """Every rule that is reachable, built, in order of first use; undefined ones are left out."""
    queue = mentioned(grammar.start)
    if grammar.armed is not None:
        queue += mentioned(grammar.armed)
    found: dict[str, Expr] = {}
    for name in queue:
        if name not in found and name in grammar.rules:
            found[name] = grammar.rules[name]
            queue += mentioned(found[name])
    return found


def mentioned(expr: Expr, repeats: list[Repeat] | None = None) -> list[str]:
    """The names of the rules in `expr`, left to right, repeats included.

    Its `Repeat` nodes are added to `repeats`.
    """
    names: list[str] = []
    stack: list[Expr] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, RuleRef):
            names.append(node.name)
        elif isinstance(node, Sequence):
            stack += node.items[::-1]
        elif type(node) not in LEAVES:
            if repeats is not None and isinstance(node, Repeat):
                repeats.append(node)
            stack += children(node)[::-1]
    return names


def rewrite_grammar(
    grammar: Grammar,
    change: Callable[[Expr, RuleMaker], Expr],
    maker: RuleMaker | None = None,
    built: bool = False,
) -> Grammar:
    """`change` applied to every node of every rule that is reachable, in order of first use.

    `built` says that every rule has been built, as :func:`built_rules` does.
    """
    maker = maker or RuleMaker(grammar.rules)
    memo: dict[int, tuple[Expr, Expr]] = {}

    def whole(expr: Expr) -> Expr:
        return rewrite(expr, lambda node: change(node, maker), memo)

    # Building a rule may define others, whose names must be known before new ones are given out.
    if not built:
        built_rules(grammar)
    maker.owner = "root"
    start = whole(grammar.start)
    armed = None if grammar.armed is None else whole(grammar.armed)
    seen: dict[str, None] = {}
    queue = mentioned(start) + (mentioned(armed) if armed is not None else [])
    for name in queue:
        if name in seen:
            continue
        seen[name] = None
        if name in maker.finished:
            continue
        if name in maker.made:
            # Made by this pass, hence rewritten already; what it refers to may not be.
            queue += mentioned(maker.made[name])
        elif name in grammar.rules:
            maker.owner = name
            body = whole(grammar.rules[name])
            maker.made.define(name, body)
            queue += mentioned(body)
    return Grammar(maker.made, start, armed)


def flatten(items: tuple[Expr, ...]) -> Expr:
    """A sequence without nested ones and empty literals, adjacent literals joined."""
    flat: list[Expr] = []
    text = ""
    stack: list[Expr] = [*items[::-1]]
    while stack:
        item = stack.pop()
        if isinstance(item, Literal):
            if flat and isinstance(last := flat[-1], Literal):
                # Texts are collected, so that many of them cost no more than all.
                text = text or last.text
                text += item.text
            elif item.text:
                flat.append(item)
        elif isinstance(item, Sequence):
            stack += item.items[::-1]
        else:
            if text:
                flat[-1] = Literal(text)
                text = ""
            flat.append(item)
    if text:
        flat[-1] = Literal(text)
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
