"""Grammar without recursion -> the text of a regular expression, from the leaves up.

Rules stand where they are referred to. What the notation has no word for is expanded by the
passes that other targets use.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Seq
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
from .automaton import Find
from .fragments import EMPTY, Fragment, Unwritable
from .joining import ENTRY, Ways
from .machines import machine_fragment
from .objects import is_plain, members_fragment
from .tails import Way, shared_tails

MAX_TEXT: Final = 1_000_000
"""Characters of an expression."""

MAX_GROUPS: Final = 100
"""Groups inside groups; engines read them recursively (Rust's stops at 250)."""


_OPEN: Final = "keys that are not declared"


def _whole(place: Origin, name: str) -> Origin:
    """An object's place, where nobody knows those of its keys."""
    return place


def regex_text(grammar: Grammar, max_length: int, find: Find = _whole, hint: str = "") -> str:
    """The expression of ``grammar.start``, which has no recursion and remembers nothing.

    Args:
        find: asked where a key comes from whose text is too long.
        hint: what else would make it shorter.

    Raises:
        TargetError: code ``unsupported-feature``: longer or deeper than engines take.
    """
    found = _Speller(grammar, max_length, find, hint).spell(grammar.start)
    # An empty expression is none to some engines.
    return found.text or "(?:)"


class _Speller:
    def __init__(self, grammar: Grammar, most: int, find: Find, hint: str) -> None:
        self.grammar = grammar
        self.most = most
        self.find = find
        self.hint = hint
        self.maker = RuleMaker(grammar.rules)
        self.rules: dict[str, Expr] = {}
        self.machines: dict[tuple[int, int, int | None], tuple[Regular, Fragment]] = {}
        self.expanded: dict[int, tuple[Members, Expr]] = {}
        self.tails: dict[str, tuple[Way, ...]] = {}
        self.joined: dict[str, Fragment] = {}

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
            parts = [done[id(kid)] for kid in inside]
            try:
                done[id(node)] = self._checked(self._fragment(node, parts))
            except Unwritable as error:
                around = [outer for outer in stack[:-1] if id(outer) in active]
                raise self._refused(error, node, around, done) from None
            kept.append(node)
            stack.pop()
        return done[id(start)]

    def _inside(self, node: Expr) -> tuple[Expr, ...]:
        match node:
            case RuleRef(name):
                ways = self._ways(name)
                return tuple(way.label for way in ways) if ways else (self._rule(name),)
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
            case RuleRef(name) if ways := self._ways(name):
                return self._joined(name, ways, inside)
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

    def _ways(self, name: str) -> tuple[Way, ...]:
        if name not in self.tails:
            self.tails[name] = shared_tails(name, self._rule)
        return self.tails[name]

    def _joined(self, name: str, ways: tuple[Way, ...], labels: list[Fragment]) -> Fragment:
        if name not in self.joined:
            found = Ways(self.most, self._too_long)
            found.join(ENTRY, name, EMPTY)
            for way, label in zip(ways, labels, strict=True):
                found.join(way.source, way.target, label)
            self.joined[name] = found.fragment()
        return self.joined[name]

    def _machine(self, node: Regular) -> Fragment:
        key = (id(node.machine), node.min, node.max)
        if key not in self.machines:
            self.machines[key] = (node, machine_fragment(node, self.spell, self.most))
        return self.machines[key][1]

    def _checked(self, found: Fragment) -> Fragment:
        if len(found.text) > self.most:
            raise self._too_long()
        if found.depth > MAX_GROUPS:
            raise Unwritable("nesting", f"it has groups more than {MAX_GROUPS} deep")
        return found

    def _too_long(self) -> Unwritable:
        return Unwritable("length", f"it has more than {self.most:,} characters")

    def _refused(
        self, error: Unwritable, node: Expr, around: Seq[Expr], done: Mapping[int, Fragment]
    ) -> TargetError:
        """The refusal of a node, which stands in others, with the place of what is large in it."""
        where, origin = "", Origin()
        if not isinstance(node, (Regular, Members)):
            where, origin = self._around(node, around)
        while origin == Origin() and not isinstance(node, (Regular, Members)):
            inside = [kid for kid in self._inside(node) if id(kid) in done]
            if not inside:
                break
            node = max(inside, key=lambda kid: len(done[id(kid)].text))
        if origin == Origin() and isinstance(node, (Regular, Members)):
            where, origin = self._largest(node, done)
        return TargetError.at(
            "unsupported-feature",
            f"{error.feature}: the regular expression cannot be written: {error.why}{where}",
            origin,
            f"{self.hint}give the schema fewer keys or simpler patterns there; the token table "
            "does without the text",
        )

    def _around(self, node: Expr, around: Seq[Expr]) -> tuple[str, Origin]:
        """Where a node is that knows no place itself: the key that it is of does."""
        passed = {id(node)}
        for outer in reversed(around):
            if isinstance(outer, Members):
                # Objects that are expanded hold the same bodies, further down.
                key = next((key for key in outer.keys if id(key.body) in passed), None)
                if key is not None:
                    return "", self.find(outer.origin, key.name)
                if outer.keys or outer.origin != Origin():
                    is_open = any(id(kind) in passed for kind in outer.open)
                    return f", inside {_OPEN}" if is_open else "", outer.origin
            passed.add(id(outer))
        return "", Origin()

    def _largest(self, node: Regular | Members, done: Mapping[int, Fragment]) -> tuple[str, Origin]:
        """What is large in a node that knows its place."""
        if not isinstance(node, Members) or not is_plain(node):
            return "", node.origin
        sizes = [len(done[id(kid)].text) for kid in self._inside(node)]
        at = max(range(len(sizes)), key=sizes.__getitem__)
        if at < len(node.keys):
            name = node.keys[at].name
            where = f", {sizes[at]:,} of them in each `{name}`"
            return where, self.find(node.origin, name)
        return f", {sizes[at]:,} of them in each of {_OPEN}", node.origin


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
