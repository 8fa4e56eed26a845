"""Typed values -> expressions, in one layout. The enforcing strictness.

``None`` stands for "no text at all": a value that needs more nesting than is left, or that the
notation cannot carry. Callers drop the option or the optional key it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from ..automaton.liveness import liveness
from ..errors import RenderError
from ..grammar import (
    Chars,
    Choice,
    Expr,
    Literal,
    Machine,
    Member,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    choice,
    optional,
    sequence,
)
from ..ir import (
    AnyValue,
    ArrayValue,
    BooleanValue,
    Bounds,
    EnumValue,
    IntegerValue,
    Key,
    NeverValue,
    NullValue,
    NumberValue,
    ObjectValue,
    OpenKeys,
    ReferenceValue,
    StringValue,
    UnionValue,
    Value,
)
from ..origin import Origin, Problem
from ..regular import numbers
from ..regular.language import Language
from .heights import heights, needed
from .layout import BARE_KEY_STOPS, Layout
from .loops import bounded_loops
from .names import Names
from .spelling import (
    DIGIT,
    NONZERO,
    Escape,
    StringStyle,
    canonical_character,
    character,
    plain,
    spell,
    uncounted,
)
from .trie import trie
from .writer import Writer, not_carryable, write_key

_UNIT = (
    r"(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}"
    r"|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
JSON_INSIDE = rf'^(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u{_UNIT}))*$'
"""The inside of a JSON string as a pattern (RFC 8259 section 7, surrogates only in pairs)."""

MAX_KEY = 256
"""Code points of an undeclared key, where default bounds hold."""

_WHITESPACE = Chars(((0x09, 0x0A), (0x0D, 0x0D), (0x20, 0x20)))


@dataclass(eq=False)
class Shared:
    """What all the value lowerings of one grammar share.

    ``problems`` collects what the notation cannot carry; the caller raises them together.
    """

    rules: Rules
    bounds: Bounds | None
    order: str
    names: Names = field(default_factory=Names)
    memo: dict[object, RuleRef] = field(default_factory=dict)
    machines: dict[object, Machine] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


class ValueLowering:
    """Lowers the values of one tool in one layout."""

    def __init__(
        self, shared: Shared, layout: Layout, definitions: Mapping[str, Value], hint: str
    ) -> None:
        self.shared = shared
        self.layout = layout
        self.definitions = definitions
        self.hint = hint
        self.heights = heights(definitions)
        self._writer = Writer(layout, definitions)
        self._objects: dict[tuple[int, int], RuleRef] = {}
        self._kept: list[Value] = []

    # Entry points ---------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """How often recursive definitions may be entered."""
        bounds = self.shared.bounds
        return bounds.recursion if bounds else -1

    def fits(self, value: Value, depth: int) -> bool:
        """Can the value be written at all with so much recursion left (-1: any)?"""
        height = needed(value, self.heights)
        return height is not None and (depth < 0 or height <= depth)

    def value(self, value: Value, depth: int) -> Expr | None:
        """The expression of a value, or None if it cannot be said."""
        if not self.fits(value, depth):
            return None
        match value:
            case NeverValue():
                return None
            case AnyValue():
                bounds = self.shared.bounds
                return self.any(bounds.depth if bounds else -1)
            case NullValue():
                return Literal(self.layout.literals.null[0])
            case BooleanValue():
                names = self.layout.literals
                return Choice((Literal(names.true[0]), Literal(names.false[0])))
            case StringValue():
                return self.string(value)
            case IntegerValue() | NumberValue():
                return self.number(value)
            case EnumValue():
                return self.enum(value)
            case ArrayValue() | ObjectValue():
                return self._container(value, depth)
            case UnionValue(options):
                found = [e for o in options if (e := self.value(o, depth)) is not None]
                return choice(*found) if found else None
            case ReferenceValue(name):
                return self._reference(name, depth)
            case _:
                assert_never(value)

    def _reference(self, name: str, depth: int) -> Expr | None:
        left = depth - 1 if depth > 0 else depth
        key = ("ref", id(self.definitions), self.layout, name, left)
        found = self.shared.memo.get(key)
        if found is None:
            rule = self.shared.names.fresh(self.hint, name.rsplit("/", 1)[-1], str(max(left, 0)))
            body = self.definitions[name]

            def build() -> Expr:
                expr = self.value(body, left)
                assert expr is not None, "heights promise a value"
                return expr

            found = self.shared.memo[key] = self.shared.rules.define(rule, build)
        return found

    def _container(self, value: ArrayValue | ObjectValue, depth: int) -> Expr | None:
        """A rule of its own, so that repeats of it stay cheap in every target."""
        key = (id(value), depth)
        found = self._objects.get(key)
        if found is None:
            expr = (
                self.array(value, depth)
                if isinstance(value, ArrayValue)
                else self.object(value, depth)
            )
            if expr is None:
                return None
            self._kept.append(value)
            tail = value.origin.pointer.rsplit("/", 1)[-1]
            name = self.shared.names.fresh(self.hint, tail)
            found = self._objects[key] = self.shared.rules.define(name, expr)
        return found

    def _named(self, key: object, hint: str, build: Callable[[], Expr]) -> RuleRef:
        found = self.shared.memo.get(key)
        if found is None:
            name = self.shared.names.fresh(hint)
            found = self.shared.memo[key] = self.shared.rules.define(name, build)
        return found

    # Scalars --------------------------------------------------------------------------------

    def string(
        self,
        value: StringValue,
        styles: tuple[StringStyle, ...] | None = None,
        following: str = "",
    ) -> Expr | None:
        """A string in any of the styles; `following` ends raw text where a style has no closer."""
        low, high = value.min_length, value.max_length
        options = []
        for style in styles or self.layout.strings:
            body = self._text(value.language, style, following, low, high, value.origin)
            if body is not None:
                options.append(sequence(Literal(style.open), body, Literal(style.close)))
        return choice(*options) if options else None

    def _text(
        self,
        language: Language | None,
        style: StringStyle,
        following: str,
        low: int,
        high: int | None,
        origin: Origin,
    ) -> Expr | None:
        """The inside of a string; `high` None: the schema has no bound."""
        quote = style.close[:1]
        if style.escape == "none":
            closer = style.close or following
            return self.raw(language, closer, low, high, origin)
        bounds = self.shared.bounds
        if self.layout.stops and style.escape == "json":
            if language is None:
                return self._guarded(low, high, origin)
            language = language & Language.avoiding(self.layout.stops)
        if language is None:
            if high is None and bounds is not None:
                high = max(bounds.string, low)
            key: tuple[object, ...] = ("string", style, low, high)
            char = self._named(
                ("char", style.escape, quote),
                f"{style.escape}-char",
                lambda: character(style.escape, quote),
            )
            return self._named(key, f"{style.escape}-text", lambda: Repeat(char, low, high))
        key = ("spelled", language, style.escape, quote)
        return self._regular(key, language, style.escape, quote, (low, high), language.what, origin)

    def raw(
        self, language: Language | None, closer: str, low: int, high: int | None, origin: Origin
    ) -> Expr | None:
        stops = self.layout.avoid
        if not closer and not stops and language is None:
            bounds = self.shared.bounds
            if high is None and bounds is not None:
                high = max(bounds.string, low)
            return Repeat(Chars(plain("none", "")), low, high)
        free = Language.avoiding(stops, closer)
        what = f"text without {closer!r}" if closer else "text"
        if language is not None:
            free, what = language & free, language.what
        key = ("raw", language, closer, stops)
        return self._regular(key, free, "none", "", (low, high), what, origin)

    def _guarded(self, low: int, high: int | None, origin: Origin) -> Expr | None:
        """A JSON string's inside, any spelling, in which no stop of the notation around occurs."""
        stops = self.layout.stops
        spelled = Language.pattern(JSON_INSIDE, origin=Origin()) & Language.avoiding(stops)
        bounds = self.shared.bounds

        def build() -> Machine:
            # A character is complete where the text so far is a whole string's inside.
            dfa = spelled.dfa
            rows = (
                tuple((a, b, t, int(t in dfa.accepting)) for a, b, t in row)
                for row in dfa.transitions
            )
            return Machine(tuple(rows), dfa.accepting)

        machine = self._machine(("guarded", stops), build)
        what = f"text without {stops[0]!r}"
        if high is not None or bounds is None or low > 0:
            if high is None and bounds is not None:
                high = max(bounds.string, low)
            return Regular(machine, low, high, what, origin)
        most = bounds.string
        shared = self.shared
        return self._named(
            ("guarded-loops", stops),
            "guarded-text",
            lambda: bounded_loops(machine, most, shared.rules, shared.names, "guarded-text"),
        )

    def _machine(self, key: object, build: Callable[[], Machine]) -> Machine:
        found = self.shared.machines.get(key)
        if found is None:
            found = self.shared.machines[key] = build()
        return found

    def _regular(
        self,
        key: tuple[object, ...],
        language: Language,
        escape: Escape,
        quote: str,
        window: tuple[int, int | None],
        what: str,
        origin: Origin,
    ) -> Expr | None:
        """The spelled words of a language, `window` many characters long.

        A bound that the schema has is exact. Without one, each loop is bounded by itself, which
        takes a few rules a state instead of one for each state and length.
        """
        low, high = window
        bounds = self.shared.bounds
        if high is not None or bounds is None:
            machine = self._machine(key, lambda: spell(language.dfa, escape, quote))
            if not liveness(machine).live(0, low, high):
                return None
            return Regular(machine, low, high, what, origin)
        if low > 0:
            language = language & longer_than(low)
        if language.is_empty:
            return None
        hint = "text" if key[0] == "raw" else origin.pointer.rsplit("/", 1)[-1] or "text"
        return self._named(
            ("loops", *key, low),
            hint,
            lambda: bounded_loops(
                spell(language.dfa, escape, quote),
                max(bounds.string, low),
                self.shared.rules,
                self.shared.names,
                hint,
            ),
        )

    def number(self, value: IntegerValue | NumberValue) -> Expr | None:
        """An integer or number: free ones as a shared rule, bounded ones as an automaton."""
        bounds = self.shared.bounds
        digits = bounds.digits if bounds else None
        exponent = bounds.exponent if bounds else None
        floats = self.layout.float_integers
        bare = replace(value, origin=Origin())
        if bare == IntegerValue():
            return self._named(("integer", floats), "integer", lambda: _integer(digits, floats))
        if bare == NumberValue():
            return self._named("number", "number", lambda: _number(digits, exponent))

        def build() -> Machine:
            if isinstance(value, IntegerValue):
                dfa = numbers.integers(
                    value.minimum,
                    value.maximum,
                    digits=digits,
                    multiple_of=value.multiple_of,
                    float_spelling=floats,
                )
            else:
                dfa = numbers.decimals(
                    value.minimum,
                    value.maximum,
                    exclusive_minimum=value.exclusive_minimum,
                    exclusive_maximum=value.exclusive_maximum,
                    digits=digits,
                    exponent=exponent,
                    multiple_of=value.multiple_of,
                )
            return uncounted(dfa)

        machine = self._machine((bare, floats), build)
        if not machine.accepting:
            return None
        return Regular(machine, 0, None, _range_words(value), value.origin)

    def enum(
        self,
        value: EnumValue,
        styles: tuple[StringStyle, ...] | None = None,
        following: str = "",
    ) -> Expr | None:
        """The members in their canonical spelling, sharing prefixes."""
        texts: dict[str, None] = {}
        failed: RenderError | None = None
        for member in value.values:
            for style in (styles or self.layout.strings) if isinstance(member, str) else (None,):
                try:
                    text = self._writer.write(member, None, value.origin, following, style)
                    if any(stop in text for stop in self.layout.stops):
                        raise not_carryable("the value holds a closing marker", value.origin)
                    texts[text] = None
                except RenderError as error:
                    failed = error
        if not texts:
            if failed is not None:
                self.shared.problems += failed.problems
            return None
        return trie([(text, Sequence(())) for text in texts])

    # Containers -----------------------------------------------------------------------------

    def gap(self) -> Expr:
        """Whitespace that may vary, or nothing."""
        if not self.layout.flexible:
            return Sequence(())
        most = self.layout.whitespace
        return self._named(("gap", most), "gap", lambda: Repeat(_WHITESPACE, 0, most))

    def punctuation(self, text: str) -> Expr:
        """A separator: as given, or with gaps around its visible part."""
        if not self.layout.flexible:
            return Literal(text)
        return sequence(self.gap(), Literal(text.strip()), self.gap())

    def array(self, value: ArrayValue, depth: int) -> Expr | None:
        """An array: the prefix one by one, then repeated items."""
        comma = self.punctuation(self.layout.comma)
        low, high = value.min_items, value.max_items
        bounds = self.shared.bounds
        items = None if value.items is None else self.value(value.items, depth)
        prefix: list[Expr] = []
        for member in value.prefix:
            expr = self.value(member, depth)
            if expr is None:
                items = None
                break
            prefix.append(expr)
        if high is None and bounds is not None:
            high = max(bounds.items, low, len(prefix))
        if high is not None:
            prefix = prefix[:high]
        count = len(prefix)
        if items is None:
            high = count if high is None else min(high, count)
        if high is not None and high < low:
            return None
        tail: Expr = Sequence(())
        if items is not None and (high is None or high > count):
            more = None if high is None else high - count
            owed = max(low - count, 0)
            if count:
                tail = Repeat(sequence(comma, items), owed, more)
            else:
                rest = Repeat(
                    sequence(comma, items), max(owed - 1, 0), None if more is None else more - 1
                )
                tail = sequence(items, rest)
                if low == 0:
                    tail = optional(tail)
        for at in range(count - 1, -1, -1):
            tail = sequence(*((comma,) if at else ()), prefix[at], tail)
            if at >= low:
                tail = optional(tail)
            if at % 16 == 15:  # Long tuples nest in rules, not in the interpreter's stack.
                tail = self.shared.rules.define(self.shared.names.fresh(self.hint, "tuple"), tail)
        return self._bracketed("[", tail, "]")

    def _bracketed(self, opening: str, inside: Expr, closing: str) -> Expr:
        if inside == Sequence(()) or not self.layout.flexible:
            return sequence(Literal(opening), self.gap(), inside, Literal(closing))
        gap = self.gap()
        if isinstance(inside, Repeat) and (inside.min, inside.max) == (0, 1):
            inside = optional(sequence(inside.item, gap))
        else:
            inside = sequence(inside, gap)
        return sequence(Literal(opening), gap, inside, Literal(closing))

    def object(self, value: ObjectValue, depth: int) -> Expr | None:
        """An object in braces."""
        comma = self.punctuation(self.layout.comma)
        members = self.members(value, depth, comma, self.member)
        if members is None:
            return None
        if not members.keys and not members.open:
            return self._bracketed("{", Sequence(()), "}")
        if not self.layout.flexible or not may_be_empty(members):
            return self._bracketed("{", members, "}")
        some = replace(members, min_count=1)
        return self._bracketed("{", optional(some), "}")

    def members(
        self,
        value: ObjectValue,
        depth: int,
        separator: Expr,
        member: Callable[[Key | OpenKeys, int], Expr | None],
    ) -> Members | None:
        """The members of an object, without what stands around them.

        `member(key or open keys, depth)` spells one, or gives None if it cannot be said.
        """
        keys = []
        for key in value.keys:
            body = member(key, depth)
            if body is not None:
                keys.append(Member(key.name, body, key.required))
            elif key.required:
                return None
        opened = [b for o in value.open_keys if (b := member(o, depth)) is not None]
        bounds = self.shared.bounds
        max_open = None
        if opened and bounds is not None and value.max_keys is None:
            max_open = max(bounds.keys, value.min_keys)
        room = len(keys) + (0 if not opened else value.min_keys)
        if room < value.min_keys:
            return None
        return Members(
            tuple(keys),
            separator,
            tuple(opened),
            max_open,
            "any" if self.shared.order == "any" else "schema",
            value.min_keys,
            value.max_keys,
            value.origin,
        )

    def member(self, member: Key | OpenKeys, depth: int) -> Expr | None:
        """A member in braces: key, colon, value."""
        inner = self.value(member.value, depth)
        if inner is None:
            return None
        name = self.key(member)
        if name is None:
            return None
        return sequence(name, self.punctuation(self.layout.colon), inner)

    def key(self, member: Key | OpenKeys) -> Expr | None:
        """The spelled key."""
        if isinstance(member, Key):
            try:
                texts = {
                    write_key(member.name, self.layout, member.origin, style): None
                    for style in self.layout.keys
                }
            except RenderError as error:
                self.shared.problems += error.problems
                return None
            return trie([(text, Sequence(())) for text in texts])
        return choice(
            *(e for s in self.layout.keys if (e := self._open_key(member, s)) is not None)
        )

    def _open_key(self, member: OpenKeys, style: StringStyle) -> Expr | None:
        """Any key of the class, in its canonical spelling."""
        bounds = self.shared.bounds
        high = min(bounds.string, MAX_KEY) if bounds else None
        names = member.names
        if self.layout.stops and style.escape == "json":
            names = names & Language.avoiding(self.layout.stops)
        if style.escape == "none":
            language = names & bare_keys() if not style.open else names
            body = self.raw(language, style.close or ":", 0, high, member.origin)
        elif names.is_any:
            quote = style.close[:1]
            char = self._named(
                ("plain-char", style.escape, quote),
                f"{style.escape}-plain-char",
                lambda: canonical_character(style.escape, quote),
            )
            body = Repeat(char, 0, high)
        else:
            body = self._text(names, style, "", 0, high, member.origin)
        if body is None:
            return None
        return sequence(Literal(style.open), body, Literal(style.close))

    # Untyped JSON ---------------------------------------------------------------------------

    def any(self, depth: int) -> Expr:
        """Any JSON value with `depth` more levels of nesting (-1: any depth)."""
        key = ("any", self.layout, depth)
        hint = f"any-{depth}" if depth >= 0 else "any"
        return self._named(key, hint, lambda: self._any(depth))

    def _any(self, depth: int) -> Expr:
        scalars = [
            self.value(kind, 0)
            for kind in (StringValue(), NumberValue(), BooleanValue(), NullValue())
        ]
        options = [s for s in scalars if s is not None]
        if depth == 0:
            options += [self._bracketed("[", Sequence(()), "]")]
            options += [self._bracketed("{", Sequence(()), "}")]
            return choice(*options)
        inner = self.any(depth - 1 if depth > 0 else depth)
        comma = self.punctuation(self.layout.comma)
        bounds = self.shared.bounds
        most = bounds.items - 1 if bounds else None
        items = optional(sequence(inner, Repeat(sequence(comma, inner), 0, most)))
        options.append(self._bracketed("[", items, "]"))
        name = self.key(OpenKeys(Language.any(), AnyValue()))
        assert name is not None
        member = sequence(name, self.punctuation(self.layout.colon), inner)
        keys = bounds.keys - 1 if bounds else None
        members = optional(sequence(member, Repeat(sequence(comma, member), 0, keys)))
        options.append(self._bracketed("{", members, "}"))
        return choice(*options)


def may_be_empty(members: Members) -> bool:
    """Can an object of these members have none?"""
    return members.min_count == 0 and not any(k.required for k in members.keys)


def longer_than(low: int) -> Language:
    """Texts of at least `low` code points."""
    return Language.pattern(rf"^[\s\S]{{{low},}}$", origin=Origin("/minLength"))


_BARE: list[Language] = []


def bare_keys() -> Language:
    """Keys that can stand without quotes."""
    if not _BARE:
        stops = Language.avoiding(BARE_KEY_STOPS)
        _BARE.append(stops & Language.pattern(r"^\S([\s\S]*\S)?$", origin=Origin()))
    return _BARE[0]


def _integer(digits: int | None, floats: bool) -> Expr:
    more = None if digits is None else digits - 1
    whole = Sequence((NONZERO, Repeat(DIGIT, 0, more)))
    if not floats:
        return Choice((Literal("0"), Sequence((optional(Literal("-")), whole))))
    zeros = Repeat(Chars(((0x30, 0x30),)), 1, digits)
    return Sequence(
        (
            optional(Literal("-")),
            Choice((Literal("0"), whole)),
            optional(Sequence((Literal("."), zeros))),
        )
    )


def _number(digits: int | None, exponent: int | None) -> Expr:
    more = None if digits is None else digits - 1
    whole = Choice((Literal("0"), Sequence((NONZERO, Repeat(DIGIT, 0, more)))))
    fraction = Sequence((Literal("."), Repeat(DIGIT, 1, digits)))
    sign = Chars(((0x2B, 0x2B), (0x2D, 0x2D)))
    power = Sequence(
        (
            Chars(((0x45, 0x45), (0x65, 0x65))),
            optional(sign),
            Repeat(DIGIT, 1, exponent),
        )
    )
    return Sequence((optional(Literal("-")), whole, optional(fraction), optional(power)))


def _range_words(value: IntegerValue | NumberValue) -> str:
    """A numeric range in words, for messages."""
    words = "an integer" if isinstance(value, IntegerValue) else "a number"
    if value.minimum is not None:
        above = isinstance(value, NumberValue) and value.exclusive_minimum
        words += f" {'above' if above else 'of at least'} {value.minimum}"
    if value.maximum is not None:
        below = isinstance(value, NumberValue) and value.exclusive_maximum
        joined = " and" if value.minimum is not None else ""
        words += f"{joined} {'below' if below else 'at most'} {value.maximum}"
    if value.multiple_of is not None:
        words += f", a multiple of {value.multiple_of}"
    return words
