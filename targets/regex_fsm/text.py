"""Grammar without recursion -> the text of a regular expression, from the leaves up.

Rules stand where they are referred to. What the notation has no word for is expanded by the
passes that other targets use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
from .chains import Chains
from .fragments import EMPTY, Fragment, Unwritable
from .machines import machine_fragment
from .objects import is_plain, members_fragment

MAX_TEXT: Final = 1_000_000
"""Characters of an expression."""

MAX_GROUPS: Final = 100
"""Groups inside groups; engines read them recursively (Rust's stops at 250)."""


HINT: Final = "lower `max_depth`, or give the schema fewer keys there; "
HINT_OF_BOUNDS: Final = "give smaller bounds or none (`bounds=None`, `--bounds none`); "
_HINT: Final = "the token table does without the text"

_SHARE: Final = 3
"""What is less than one in so many of the whole is not to blame for its length."""

Find = Callable[[Origin, str], Origin]
"""The place of an object, and a declared key of it -> the key's place."""


def regex_text(
    grammar: Grammar,
    max_length: int,
    find: Find = lambda place, _: place,
    hint: str = HINT,
) -> str:
    """The expression of ``grammar.start``, which has no recursion and remembers nothing.

    Args:
        find: asked where a key comes from that takes too many characters.
        hint: what makes expressions shorter.

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
        self.find, self.hint = find, hint
        self.maker = RuleMaker(grammar.rules)
        self.rules: dict[str, Expr] = {}
        self.machines: dict[tuple[int, int, int | None], tuple[Regular, Fragment]] = {}
        self.expanded: dict[int, tuple[Members, Expr]] = {}
        self.chains = Chains(self._rule)
        self.chained: dict[str, Fragment] = {}

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
            try:
                found = self._fragment(node, [done[id(kid)] for kid in inside])
                self._fits(found)
            except Unwritable as error:
                way = [n for n in stack if id(n) in active]
                place = self._largest(node, done) or self._around([*way, node])
                raise self._refused(error, place) from None
            done[id(node)] = found
            kept.append(node)
            stack.pop()
        return done[id(start)]

    def _inside(self, node: Expr) -> tuple[Expr, ...]:
        match node:
            case RuleRef(name) if name in self.chained:
                return ()
            case RuleRef(name):
                chain = self.chains.of(name)
                return (self._rule(name),) if chain is None else chain.parts
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
            case RuleRef(name):
                chain = self.chains.of(name)
                if chain is None:
                    return inside[0]
                if name not in self.chained:
                    self.chained[name] = chain.joined(inside, self._fits)
                return self.chained[name]
            case Capture():
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

    def _fits(self, found: Fragment) -> None:
        if len(found.text) > self.most:
            raise Unwritable("length", f"it has more than {self.most:,} characters")
        if found.depth > MAX_GROUPS:
            raise Unwritable("nesting", f"it has groups more than {MAX_GROUPS} deep")

    def _largest(self, node: Expr, done: Mapping[int, Fragment]) -> Origin | None:
        """The place of the smallest part that most of a fragment is in; None if it has none."""
        place = None
        while True:
            if isinstance(node, (Regular, Members)) and node.origin != Origin():
                place = node.origin
            inside = self._inside(node)
            sizes = [len(done[id(kid)].text) for kid in inside]
            if not sizes or max(sizes) * _SHARE < self.most:
                return place
            at = sizes.index(max(sizes))
            if isinstance(node, Members) and is_plain(node) and at < len(node.keys):
                place = self.find(node.origin, node.keys[at].name)
            node = inside[at]

    def _around(self, way: Iterable[Expr]) -> Origin:
        """The place of the innermost member on the way to a part."""
        place = Origin()
        around: Members | None = None
        for node in way:
            if around is not None:
                names = [key.name for key in around.keys if key.body is node]
                place = self.find(around.origin, names[0]) if names else place
            around = None
            if isinstance(node, (Regular, Members)) and node.origin != Origin():
                place = node.origin
            if isinstance(node, Members):
                around = node
        return place

    def _refused(self, error: Unwritable, place: Origin) -> TargetError:
        message = f"{error.feature}: the regular expression cannot be written: {error.why}"
        return TargetError.at("unsupported-feature", message, place, self.hint + _HINT)


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
