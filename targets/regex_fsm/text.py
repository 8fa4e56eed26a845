"""Grammar without recursion -> the text of a regular expression, from the leaves up.

Rules stand where they are referred to. What the notation has no word for is expanded by the
passes that other targets use.
"""

from __future__ import annotations

from typing import Final

from ...compiler.errors import TargetError
from ...compiler.grammar import (
    Capture,
    Chars,
    Choice,
    Cut,
    Distinct,
    Expr,
    Grammar,
    Literal,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Sequence,
    Token,
    children,
)
from ...compiler.origin import Origin
from ...compiler.passes.expand_members import members_expr
from ...compiler.passes.rewrite import RuleMaker
from . import fragments
from .fragments import EMPTY, Fragment
from .machines import machine_fragment
from .objects import is_plain, members_fragment

MAX_TEXT: Final = 1_000_000
"""Characters of an expression."""

MAX_GROUPS: Final = 100
"""Groups inside groups; engines read them recursively (Rust's stops at 250)."""


def regex_text(grammar: Grammar, max_length: int) -> str:
    """The expression of ``grammar.start``, which has no recursion and remembers nothing.

    Raises:
        TargetError: code ``unsupported-feature``: longer or deeper than engines take.
    """
    found = _Speller(grammar, max_length).spell(grammar.start)
    # An empty expression is none to some engines.
    return found.text or "(?:)"


class _Speller:
    def __init__(self, grammar: Grammar, most: int) -> None:
        self.grammar = grammar
        self.most = most
        self.maker = RuleMaker(grammar.rules)
        self.rules: dict[str, Expr] = {}
        self.machines: dict[tuple[int, int, int | None], tuple[Regular, Fragment]] = {}
        self.expanded: dict[int, tuple[Members, Expr]] = {}

    def spell(self, start: Expr) -> Fragment:
        """The fragment of an expression, after those of all that it holds."""
        done: dict[int, Fragment] = {}
        kept: list[Expr] = []  # so that identities stay their own
        stack = [start]
        active: set[int] = set()
        while stack:
            node = stack[-1]
            if id(node) in done:
                stack.pop()
                continue
            inside = self._inside(node)
            waiting = [kid for kid in inside if id(kid) not in done]
            if waiting:
                active.add(id(node))
                assert not any(id(kid) in active for kid in waiting), "recursion was cut before"
                stack += waiting[::-1]
                continue
            active.discard(id(node))
            found = self._fragment(node, [done[id(kid)] for kid in inside])
            done[id(node)] = self._checked(found, node)
            kept.append(node)
            stack.pop()
        return done[id(start)]

    def _inside(self, node: Expr) -> tuple[Expr, ...]:
        match node:
            case RuleRef(name):
                return (self._rule(name),)
            case Members() if is_plain(node):
                return (*(key.body for key in node.keys), node.separator, *node.open)
            case Members():
                if id(node) not in self.expanded:
                    self.expanded[id(node)] = (node, members_expr(node, self.maker))
                return (self.expanded[id(node)][1],)
            case _:
                return children(node)

    def _rule(self, name: str) -> Expr:
        """A rule's body. Those that an expansion made may lead back to themselves at their end,
        where members repeat."""
        if name not in self.maker.made:
            return self.grammar.rules[name]
        if name not in self.rules:
            self.rules[name] = unrolled(self.maker.made[name], name)
        return self.rules[name]

    def _fragment(self, node: Expr, inside: list[Fragment]) -> Fragment:
        match node:
            case Literal(text) | Token(text):
                return fragments.literal(text)
            case Chars(ranges):
                return fragments.characters(ranges)
            case Sequence():
                return fragments.sequence(inside)
            case Choice():
                return fragments.choice(inside)
            case Repeat(_, low, high):
                return fragments.repeat(inside[0], low, high)
            case RuleRef() | Capture():
                return inside[0]
            case Regular():
                return self._machine(node)
            case Members() if is_plain(node):
                count = len(node.keys)
                return members_fragment(
                    node, inside[:count], inside[count], inside[count + 1 :]
                )  # fmt: skip
            case Members():
                return inside[0]
            case Cut():
                return EMPTY
            case Distinct():
                raise AssertionError("refused before")

    def _machine(self, node: Regular) -> Fragment:
        key = (id(node.machine), node.min, node.max)
        if key not in self.machines:
            self.machines[key] = (node, machine_fragment(node, self.spell, self.most))
        return self.machines[key][1]

    def _checked(self, found: Fragment, node: Expr) -> Fragment:
        origin = node.origin if isinstance(node, (Regular, Members)) else Origin()
        if len(found.text) > self.most:
            raise _refused("length", f"it has more than {self.most:,} characters", origin)
        if found.depth > MAX_GROUPS:
            raise _refused("nesting", f"it has groups more than {MAX_GROUPS} deep", origin)
        return found


def unrolled(body: Expr, name: str) -> Expr:
    """A rule that refers to itself at the end of its options, as a repeat: ``a name | b`` is
    ``a* b``."""
    again: list[Expr] = []
    ways: list[Expr] = []
    todo: list[tuple[tuple[Expr, ...], Expr]] = [((), body)]
    while todo:
        before, last = todo.pop()
        match last:
            case RuleRef(other) if other == name:
                again.append(Sequence(before))
            case Choice(options):
                todo += [(before, option) for option in reversed(options)]
            case Sequence(items) if items:
                todo.append(((*before, *items[:-1]), items[-1]))
            case _:
                ways.append(Sequence((*before, last)))
    if not again:
        return body
    return Sequence((Repeat(Choice(tuple(again)), 0, None), Choice(tuple(ways))))


def _refused(feature: str, what: str, origin: Origin) -> TargetError:
    return TargetError.at(
        "unsupported-feature",
        f"{feature}: the regular expression cannot be written: {what}",
        origin,
        "lower `max_depth`, or give the schema fewer keys there; the token table does without "
        "the text",
    )
