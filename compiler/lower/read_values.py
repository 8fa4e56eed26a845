"""Values as they are read: anything the notation can hold, captured piece by piece.

JSON is one captured text, since a JSON parser reads it; bracketed notations that are not JSON are
captured member by member and item by item.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..grammar import (
    EMPTY,
    Capture,
    Chars,
    Choice,
    Decode,
    Expr,
    Literal,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Slot,
    choice,
    optional,
    sequence,
)
from ..owners import back_to
from ..regular.language import Language
from ..spec import LiteralsSpec
from .layout import BARE_KEY_STOPS, Layout
from .raw import raw_text
from .spelling import ALL, DIGIT, StringStyle, spell

ANY_CHAR: Final = Chars(ALL)
_HEX: Final = Chars(((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)))
_JSON_UNIT: Final = sequence(Literal("u"), _HEX, _HEX, _HEX, _HEX)
_JSON_ESCAPE: Final = choice(Chars(tuple((ord(c), ord(c)) for c in '"/\\bfnrt')), _JSON_UNIT)
"""What may stand behind a backslash, RFC 8259 section 7."""
_JSON_ESCAPE_OR_QUOTE: Final = choice(Literal("'"), _JSON_ESCAPE)
"""The same in quotes of another kind."""
_JSON_WORDS: Final = ("true", "false", "null")
_WHITESPACE: Final = Chars(((0x09, 0x0A), (0x0D, 0x0D), (0x20, 0x20)))


class ReadValues:
    """The values of one dialect, and the pieces that everything read shares.

    Args:
        rules: where the rules go, kept by whoever makes the grammar.
        avoid: texts that no raw text may hold.
        exact: white space as it is written, and containers nested once: for checking a spec.
    """

    def __init__(self, rules: Rules, avoid: tuple[str, ...], *, exact: bool) -> None:
        self.rules = back_to(rules)
        self.avoid = avoid
        self.exact = exact
        gap = Repeat(_WHITESPACE, 0, None)
        self.gap: Expr = EMPTY if exact else self.rules.define("gap", gap)
        self._built: dict[object, RuleRef] = {}

    def once(self, key: object, name: str, build: Callable[[], Expr]) -> RuleRef:
        """The rule of `key`, defined on first use."""
        found = self._built.get(key)
        if found is None:
            rule = name if name not in self.rules else f"{name}-{len(self._built)}"
            found = self._built[key] = self.rules.define(rule, build)
        return found

    def value(self, layout: Layout, depth: int = 0) -> RuleRef:
        """Any value in brackets and quotes, captured piece by piece; when exact, nested once."""
        depth = depth if self.exact else 0
        key = ("value", layout, depth)
        return self.once(key, "value", lambda: self._any_value(layout, depth))

    def _any_value(self, layout: Layout, depth: int) -> Expr:
        if layout.is_json:
            json = Capture(Slot("value", "json"), self._json_value())
            return choice(json, *_literals(layout.also, _JSON_WORDS))
        options: list[Expr] = []
        for style in layout.strings:
            text = Capture(Slot("value", decoding(style)), self.string_body(style))
            options.append(sequence(Literal(style.open), text, Literal(style.close)))
        options.append(Capture(Slot("value", "json"), self._number()))
        options += _literals(layout.literals)
        if self.exact and depth > 0:
            return Choice(tuple(options))
        value = self.value(layout, depth + 1)
        comma = sequence(self.gap, Literal(","), self.gap)
        items = optional(sequence(value, Repeat(sequence(comma, value), 0, None), self.gap))
        array = sequence(Literal("["), self.gap, items, Literal("]"))
        options.append(Capture(Slot("array"), array))
        options.append(Capture(Slot("object"), self.braces(layout, depth + 1)))
        return Choice(tuple(options))

    def braces(self, layout: Layout, depth: int = 0) -> Expr:
        """An object in braces, captured member by member."""
        depth = depth if self.exact else 0

        def build() -> Expr:
            keys = []
            for style in layout.keys:
                if style.open:
                    text: Expr = Capture(Slot("key", decoding(style)), self.string_body(style))
                    keys.append(sequence(Literal(style.open), text, Literal(style.close)))
                else:
                    stops = Language.avoiding((*BARE_KEY_STOPS, *self.avoid))
                    bare = (stops - Language.words([""])).dfa
                    name = Regular(spell(bare, "none", ""), 1, None, "a key")
                    keys.append(Capture(Slot("key", "bare"), name))
            colon = sequence(self.gap, Literal(":"), self.gap)
            member = Capture(
                Slot("member"), sequence(choice(*keys), colon, self.value(layout, depth))
            )
            comma = sequence(self.gap, Literal(","), self.gap)
            members = sequence(member, Repeat(sequence(comma, member), 0, None), self.gap)
            return sequence(Literal("{"), self.gap, optional(members), Literal("}"))

        return self.once(("braces", layout, depth), "braces", build)

    def string_body(self, style: StringStyle) -> Expr:
        """The inside of a string, control characters included, and where the escapes are Python's,
        those that it does not know too: in Python they stand for themselves."""
        if style.escape == "none":
            language = raw_text(style, "", self.avoid)
            return Regular(spell(language.dfa, "none", ""), 0, None, "text")
        if style.escape == "xml":
            return Regular(
                spell(Language.avoiding((), style.close).dfa, "none", ""), 0, None, "text"
            )
        quote = style.close[:1]
        escape = ANY_CHAR if style.escape == "python" else _JSON_ESCAPE_OR_QUOTE
        return self.once(("string", quote, escape), "text", lambda: _loose_string(quote, escape))

    def json_string(self) -> Expr:
        return self.once(
            "json-string",
            "json-string",
            lambda: sequence(Literal('"'), _loose_string('"', _JSON_ESCAPE), Literal('"')),
        )

    def _number(self) -> Expr:
        return self.once("number", "number", _loose_number)

    def _json_value(self) -> Expr:
        def build() -> Expr:
            if self.exact:
                return Choice((self.json_string(), self._number(), Literal("null")))
            comma = sequence(self.gap, Literal(","), self.gap)
            value = RuleRef("json-value")
            items = optional(sequence(value, Repeat(sequence(comma, value), 0, None), self.gap))
            return Choice(
                (
                    self.json_string(),
                    self._number(),
                    Literal("true"),
                    Literal("false"),
                    Literal("null"),
                    sequence(Literal("["), self.gap, items, Literal("]")),
                    self.json_object(),
                )
            )

        return self.once("json-value", "json-value", build)

    def json_object(self) -> Expr:
        def build() -> Expr:
            comma = sequence(self.gap, Literal(","), self.gap)
            colon = sequence(self.gap, Literal(":"), self.gap)
            member = sequence(self.json_string(), colon, self._json_value())
            members = sequence(member, Repeat(sequence(comma, member), 0, None), self.gap)
            return sequence(Literal("{"), self.gap, optional(members), Literal("}"))

        return self.once("json-object", "json-object", build)


def decoding(style: StringStyle, plain: Decode = "raw") -> Decode:
    """How what stands in a style is decoded; `plain`: where neither quotes nor escapes tell."""
    match style.escape:
        case "none":
            return "raw" if style.open else plain
        case "json" | "ascii":
            return "json-inside"
        case escape:
            return escape


def _literals(literals: LiteralsSpec, known: tuple[str, ...] = ()) -> list[Expr]:
    """The spellings of true, false and null but those that are known."""
    options: list[Expr] = []
    for texts, meaning in ((literals.true, True), (literals.false, False), (literals.null, None)):
        slot = Slot("value", "literal", meaning)
        options += [Capture(slot, Literal(t)) for t in dict.fromkeys(texts) if t not in known]
    return options


def _loose_string(quote: str, escape: Expr) -> Expr:
    """The inside of a quoted string. Control characters too: what an unconstrained model writes is
    to be read, then judged. What no escape stands for is not read: there would be no value.

    Args:
        escape: what may stand behind a backslash.
    """
    loose: list[tuple[int, int]] = []
    low = 0
    for point in sorted((ord(quote), ord("\\"))):
        loose.append((low, point - 1))
        low = point + 1
    loose += [(low, ALL[0][1]), ALL[1]]
    return Repeat(Choice((Chars(tuple(loose)), sequence(Literal("\\"), escape))), 0, None)


def _loose_number() -> Expr:
    digits = Repeat(DIGIT, 1, None)
    # JSON has no number with zeros before it, and so no value for one.
    whole = Choice((Literal("0"), sequence(Chars(((0x31, 0x39),)), Repeat(DIGIT, 0, None))))
    sign = Chars(((0x2B, 0x2B), (0x2D, 0x2D)))
    power = Sequence((Chars(((0x45, 0x45), (0x65, 0x65))), optional(sign), digits))
    return Sequence(
        (
            optional(Literal("-")),
            whole,
            optional(Sequence((Literal("."), digits))),
            optional(power),
        )
    )
