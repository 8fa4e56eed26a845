"""How single characters and strings are spelled: raw, or with JSON, Python or XML escapes.

One :class:`StringStyle` serves four consumers: the enforced grammar, the reading grammar, the
writer (``render``) and the decoder. The escapes: JSON, RFC 8259 section 7; Python, the language
reference's string literals without octal and named escapes; XML, the five predefined entities.
"""

from __future__ import annotations

from collections.abc import Sequence as Seq
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from typing import Literal as OneOf

from ..grammar import (
    EMPTY,
    MAX_CODE_POINT,
    Chars,
    Choice,
    Expr,
    Literal,
    Machine,
    Ranges,
    Regular,
    Repeat,
    Sequence,
    choice,
    sequence,
)
from ..regular.dfa import Dfa
from ..spec import StringSpec
from .code_units import UnitTree, units
from .trie import trie

Escape = OneOf["none", "json", "python", "xml", "ascii"]
"""``ascii``: JSON in which everything beyond ASCII is written with an escape, and read without."""

WHITESPACE = " \t\r\n"
"""What layout is made of: JSON's white space."""

ALL: Ranges = ((0, 0xD7FF), (0xE000, MAX_CODE_POINT))
DIGIT = Chars(((0x30, 0x39),))
NONZERO = Chars(((0x31, 0x39),))
_HEX = Chars(((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)))

_JSON_SHORT = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PYTHON_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_XML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


@dataclass(frozen=True, slots=True)
class StringStyle:
    """A string between `open` and `close`, its characters escaped as `escape` says.

    ``none``: any text in which `close` (or, where that is empty, the literal that follows) does
    not occur. With `before`, `close` ends it only where one of these characters follows.

    Attributes:
        when: a text that holds one of these is written in this style.
        shuns: what the text cannot begin with: the openers of other styles, where this has none.
    """

    open: str
    close: str
    escape: Escape
    when: tuple[str, ...] = ()
    shuns: tuple[str, ...] = ()
    before: str = ""


PLAIN: Final = StringStyle("", "", "none")
"""Raw text up to whatever follows."""


def styles(spec: StringSpec) -> tuple[StringStyle, ...]:
    """All the styles of a string spec, the usual one first."""
    forms = (spec, *spec.alternatives)
    openers = tuple(f.open for f in forms if f.open)
    return tuple(
        StringStyle(f.open, f.close, f.escape, f.when, () if f.open else openers, f.closes_before)
        for f in forms
    )


def preferred(styles: Seq[StringStyle], text: str) -> list[StringStyle]:
    """The styles in the order in which a text tries them: one that is meant for it first."""
    return sorted(styles, key=lambda s: not any(part in text for part in s.when))


@lru_cache(maxsize=64)
def escapes(escape: Escape, quote: str) -> dict[str, str]:
    """The characters that cannot stand for themselves, with their shortest escapes."""
    if escape in ("json", "ascii"):
        table = {'"': '\\"', "\\": "\\\\", **_JSON_SHORT}
        for code in range(0x20):
            table.setdefault(chr(code), f"\\u{code:04x}")
        return table
    if escape == "python":
        table = {quote: f"\\{quote}", "\\": "\\\\", **_PYTHON_SHORT}
        for code in (*range(0x20), 0x7F):
            table.setdefault(chr(code), f"\\x{code:02x}")
        return table
    return dict(_XML) if escape == "xml" else {}


@lru_cache(maxsize=64)
def plain(escape: Escape, quote: str) -> Ranges:
    """The characters that stand for themselves."""
    taken = sorted(ord(c) for c in escapes(escape, quote))
    out = []
    for low, high in ((0, 0x7F),) if escape == "ascii" else ALL:
        for code in taken:
            if low <= code <= high:
                if low < code:
                    out.append((low, code - 1))
                low = code + 1
        if low <= high:
            out.append((low, high))
    return tuple(out)


@lru_cache(maxsize=64)
def _translation(escape: Escape, quote: str) -> dict[int, str]:
    return {ord(c): spelled for c, spelled in escapes(escape, quote).items() if c}


def escaped(text: str, escape: Escape, quote: str) -> str:
    """`text` in its canonical spelling."""
    text = text.translate(_translation(escape, quote))
    if escape == "ascii" and not text.isascii():
        units = []
        for char in text:
            if char.isascii():
                units.append(char)
            else:
                data = char.encode("utf-16-be")
                units += [f"\\u{data[i] << 8 | data[i + 1]:04x}" for i in range(0, len(data), 2)]
        text = "".join(units)
    return text


def raw_fits(text: str, following: str, avoid: tuple[str, ...]) -> bool:
    """Can `text` stand raw before `following`, without being ended early?"""
    # Half of a surrogate pair is no character.
    if any("\ud800" <= c <= "\udfff" for c in text) or any(stop in text for stop in avoid):
        return False
    return not following or (text + following).find(following) == len(text)


@lru_cache(maxsize=64)
def character(escape: Escape, quote: str) -> Expr:
    """One character in any spelling the notation has."""
    raw = Chars(plain("json" if escape == "ascii" else escape, quote))
    if escape in ("json", "ascii"):
        return Choice((raw, sequence(Literal("\\"), _json_escape())))
    if escape == "python":
        return Choice((raw, sequence(Literal("\\"), _python_escape())))
    if escape == "xml":
        entities = ("&amp;", "&lt;", "&gt;", "&quot;", "&apos;")
        return Choice((raw, *map(Literal, entities)))
    return raw


@lru_cache(maxsize=64)
def canonical_character(escape: Escape, quote: str) -> Expr:
    """One character in its shortest spelling; escapes share their beginnings."""
    if escape == "ascii":
        everything = Dfa(tuple([tuple((a, b, 1) for a, b in ALL), ()]), frozenset({1}))
        return Regular(spell(everything, escape, quote), 1, 1, "a character")
    spelled = escapes(escape, quote).values()
    raw = Chars(plain(escape, quote))
    return choice(raw, trie([(text, EMPTY) for text in spelled])) if spelled else raw


def _hex_chars(*spans: tuple[str, str]) -> Chars:
    """Hexadecimal digits of the given value ranges, either case."""
    values = [v for low, high in spans for v in range(int(low, 16), int(high, 16) + 1)]
    return _one_of("".join(f"{v:x}{v:X}" for v in values))


def _one_of(characters: str) -> Chars:
    """One of the given characters."""
    ranges: list[tuple[int, int]] = []
    for point in sorted(map(ord, set(characters))):
        if ranges and point == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], point)
        else:
            ranges.append((point, point))
    return Chars(tuple(ranges))


def _utf16_unit() -> Expr:
    """Four hexadecimal digits of a code unit that is no surrogate."""
    not_d = _hex_chars(("0", "c"), ("e", "f"))
    return Choice(
        (
            Sequence((not_d, Repeat(_HEX, 3, 3))),
            Sequence((_hex_chars(("d", "d")), _hex_chars(("0", "7")), Repeat(_HEX, 2, 2))),
        )
    )


def _json_escape() -> Expr:
    """What follows a backslash in JSON; surrogates only in pairs."""
    high = Sequence((_hex_chars(("d", "d")), _hex_chars(("8", "b")), Repeat(_HEX, 2, 2)))
    low = Sequence((_hex_chars(("d", "d")), _hex_chars(("c", "f")), Repeat(_HEX, 2, 2)))
    pair = Sequence((high, Literal("\\u"), low))
    short = _one_of('"/\\bfnrt')
    return Choice((short, Sequence((Literal("u"), Choice((_utf16_unit(), pair))))))


def _python_escape() -> Expr:
    """What follows a backslash in a Python string literal."""
    short = _one_of("\"'\\abfnrtv")
    byte = Sequence((Literal("x"), Repeat(_HEX, 2, 2)))
    unit = Sequence((Literal("u"), _utf16_unit()))
    upper = Sequence(
        (
            Literal("U00"),
            Choice(
                (
                    Sequence((Literal("10"), Repeat(_HEX, 4, 4))),
                    Sequence((Literal("0"), _hex_chars(("1", "f")), Repeat(_HEX, 4, 4))),
                    Sequence((Literal("00"), _utf16_unit())),
                )
            ),
        )
    )
    return Choice((short, byte, unit, upper))


@lru_cache(maxsize=512)
def spell(dfa: Dfa, escape: Escape, quote: str) -> Machine:
    """The machine of `dfa`'s words in their canonical spelling; each character counts once.

    Kept, so that the formats and markers that many grammars have are one machine in all.
    """
    table = sorted(escapes(escape, quote).items())
    free = plain(escape, quote)
    by_unit = escape == "ascii"
    rows: list[list[tuple[int, int, int, int]]] = [[] for _ in dfa.transitions]
    for state, row in enumerate(dfa.transitions):
        inner: dict[str, int] = {}  # Spelled so far -> the state inside an escape.
        spans: list[tuple[int, int, int]] = []
        for low, high, target in row:
            for a, b in free:
                if a <= high and low <= b:
                    rows[state].append((max(a, low), min(b, high), target, 1))
            for char, text in table:
                if not low <= ord(char) <= high:
                    continue
                if by_unit and text[1] == "u":
                    spans.append((ord(char), ord(char), target))
                else:
                    _add_escape(rows, state, text, target, inner)
            if by_unit and high > 0x7F:
                spans.append((max(low, 0x80), high, target))
        if spans:
            _add_units(rows, state, spans, inner)
    return Machine(tuple(tuple(sorted(row)) for row in rows), dfa.accepting)


def _add_escape(
    rows: list[list[tuple[int, int, int, int]]],
    state: int,
    text: str,
    target: int,
    inner: dict[str, int],
) -> None:
    """Add the path that spells `text` from `state` to `target`."""
    here = state
    for i in range(1, len(text)):
        prefix = text[:i]
        if prefix not in inner:
            inner[prefix] = len(rows)
            rows.append([])
            code = ord(text[i - 1])
            rows[here].append((code, code, inner[prefix], 0))
        here = inner[prefix]
    code = ord(text[-1])
    rows[here].append((code, code, target, 1))


def _add_units(
    rows: list[list[tuple[int, int, int, int]]],
    state: int,
    spans: list[tuple[int, int, int]],
    inner: dict[str, int],
) -> None:
    """Add the ways that spell characters by their code units."""
    backslash = ord("\\")
    if "\\" not in inner:
        inner["\\"] = len(rows)
        rows.append([])
        rows[state].append((backslash, backslash, inner["\\"], 0))
    root = UnitTree(rows).state(units(spans))
    rows[inner["\\"]].append((ord("u"), ord("u"), root, 0))


def uncounted(dfa: Dfa) -> Machine:
    """The machine of `dfa`'s words as they stand, nothing counted (numbers)."""
    return Machine(
        tuple(
            tuple((low, high, target, 0) for low, high, target in row) for row in dfa.transitions
        ),
        dfa.accepting,
    )
