"""Characters and strings in their spellings, against the readers of each notation."""

from __future__ import annotations

import ast
import json
from xml.sax.saxutils import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.automaton.recogniser import Recogniser
from calligram.compiler.grammar import Expr, Regular, Repeat, Rules
from calligram.compiler.lower.spelling import (
    Escape,
    canonical_character,
    character,
    escaped,
    escapes,
    plain,
    raw_fits,
    spell,
    uncounted,
)
from calligram.compiler.origin import Origin
from calligram.compiler.regular.language import Language


def automaton(expr: Expr) -> Recogniser:
    return Recogniser(Rules(), expr)


def accepts(expr: Expr, text: str) -> bool:
    return automaton(expr).accepts(text.encode("utf-8", "surrogatepass"))


TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
ANY_JSON = Repeat(character("json", '"'), 0, None)
ANY_PYTHON = {quote: Repeat(character("python", quote), 0, None) for quote in "\"'"}


@pytest.mark.parametrize(
    ("escape", "quote", "accept", "reject"),
    [
        ("json", '"',
         ["a", "é", "😀", "'", "/", "\x7f", '\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t",
          "\\u0041", "\\uD7FF", "\\ue000", "\\uFFFF", "\\ud83d\\ude00", "\\uDBFF\\uDFFF"],
         ["", '"', "\\", "\n", "\x00", "\x1f", "\\'", "\\x41", "\\u004", "\\U00000041", "\\v",
          "\\ud83d", "\\ude00", "\\ud83d\\ud83d", "\\ud83d\\u0041", "\\ud83dx", "ab", "\ud800"]),
        ("python", '"',
         ["a", "'", "é", '\\"', "\\'", "\\\\", "\\n", "\\a", "\\v", "\\x41", "\\xFf", "\\u0041",
          "\\U0001F600", "\\U0010ffff", "\\U0000e000"],
         ["", '"', "\\", "\n", "\r", "\x00", "\x7f", "\\x4", "\\u004", "\\U0001F60", "\\U00110000",
          "\\ud83d", "\\U0000d800", "\\N{DIGIT ONE}", "\\101", "\\q", "ab"]),
        ("python", "'", ['"', "\\'", '\\"'], ["'"]),
        ("xml", "", ["a", '"', "'", "&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "\n"],
         ["", "&", "<", ">", "&amp", "&nbsp;", "&#65;", "ab"]),
        ("none", "", ["a", "\\", "<", '"', "\n", "\x00", "😀"], ["", "ab", "\ud800"]),
    ],
)  # fmt: skip
def test_one_character(escape: Escape, quote: str, accept: list[str], reject: list[str]) -> None:
    expr = character(escape, quote)
    for text in accept:
        assert accepts(expr, text), text
    for text in reject:
        assert not accepts(expr, text), text


@given(TEXTS)
def test_json_spelling_is_what_json_reads(text: str) -> None:
    body = escaped(text, "json", '"')
    assert json.loads(f'"{body}"') == text
    assert accepts(ANY_JSON, body)
    in_ascii = escaped(text, "ascii", '"')
    assert in_ascii.isascii()
    assert json.loads(f'"{in_ascii}"') == text
    assert accepts(ANY_JSON, in_ascii)
    assert accepts(Repeat(canonical_character("ascii", '"'), 0, None), in_ascii)


@given(TEXTS, st.sampled_from("\"'"))
def test_python_spelling_is_what_python_reads(text: str, quote: str) -> None:
    body = escaped(text, "python", quote)
    assert ast.literal_eval(f"{quote}{body}{quote}") == text
    assert accepts(ANY_PYTHON[quote], body)


@given(TEXTS)
def test_xml_spelling_is_what_xml_reads(text: str) -> None:
    body = escaped(text, "xml", "")
    assert unescape(body) == text
    assert accepts(Repeat(character("xml", ""), 0, None), body)


PIECES = st.sampled_from(
    ["a", '"', "\\", "u", "n", "x", "0041", "d83d", "ude00", "\\u", "\\n", "\\x", "é", "\n", "'"]
)


@given(st.lists(PIECES, max_size=6).map("".join))
def test_a_json_body_is_accepted_if_json_reads_it_whole(body: str) -> None:
    try:
        read = json.loads(f'"{body}"')
        read.encode("utf-8")  # The one thing json lets pass that UTF-8 cannot hold.
        expected = True
    except ValueError:
        expected = False
    assert accepts(ANY_JSON, body) == expected


@given(st.lists(PIECES, max_size=6).map("".join), st.sampled_from("\"'"))
def test_a_python_body_that_is_accepted_is_read(body: str, quote: str) -> None:
    if accepts(ANY_PYTHON[quote], body):
        assert isinstance(ast.literal_eval(f"{quote}{body}{quote}"), str)


@pytest.mark.parametrize(("escape", "quote"), [("json", '"'), ("python", "'"), ("xml", "")])
def test_canonical_spelling_has_one_way_for_each_character(escape: Escape, quote: str) -> None:
    expr = canonical_character(escape, quote)
    for char in map(chr, (*range(0x300), 0x2028, 0xFFFF, 0x1F600)):
        short = escapes(escape, quote).get(char, char)
        assert accepts(expr, short)
        assert accepts(expr, char) == (short == char)
        others = [f"\\u{ord(char):04x}", f"&#{ord(char)};"]
        if ord(char) <= 0xFF:
            others.append(f"\\x{ord(char):02x}")
        for other in others:
            assert accepts(expr, other) == (other == short), other


@given(
    st.lists(st.tuples(TEXTS, TEXTS), max_size=3).map(lambda pairs: [c for p in pairs for c in p])
)
def test_ranges_of_characters_have_their_escapes_and_no_others(texts: list[str]) -> None:
    bounds = sorted({ord(char) for text in texts for char in text})
    spans = list(zip(bounds[::2], bounds[1::2], strict=False))
    inside = "".join(f"\\u{{{low:x}}}-\\u{{{high:x}}}" for low, high in spans)
    if not inside:
        return
    language = Language.pattern(f"^[{inside}]$", origin=Origin())
    machine = Regular(spell(language.dfa, "ascii", '"'), 1, 1, "one")
    probes = {b + d for b in bounds for d in (-1, 0, 1)} | {0x7F, 0x80, 0xFFFF, 0x10000, 0x10FFFF}
    for code in probes:
        if not 0 <= code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            continue
        wanted = any(low <= code <= high for low, high in spans)
        spelled = escaped(chr(code), "ascii", '"')
        assert spelled.isascii()
        assert accepts(machine, spelled) == wanted
        assert code < 0x80 or not accepts(machine, chr(code))


def test_plain_characters_and_escapes_share_nothing_and_miss_nothing() -> None:
    for escape, quote in (("json", '"'), ("python", "'"), ("xml", ""), ("none", "")):
        free = plain(escape, quote)
        taken = escapes(escape, quote)
        for char in map(chr, range(0x200)):
            assert any(a <= ord(char) <= b for a, b in free) != (char in taken), (escape, char)


# Languages, spelled -----------------------------------------------------------------------------


def language(pattern: str) -> Language:
    return Language.pattern(pattern, origin=Origin())


def test_a_spelled_language_has_its_words_in_canonical_spelling() -> None:
    words = language('^(?:a"b|\\n+|é)$')
    machine = spell(words.dfa, "json", '"')
    automaton = Recogniser(Rules(), Regular(machine))
    for body in ('a\\"b', "\\n", "\\n\\n", "é"):
        assert automaton.accepts(body.encode()), body
    for body in ('a"b', "\n", "\\u000a", "\\u0022", "", "a\\", "\\"):
        assert not automaton.accepts(body.encode()), body


@pytest.mark.parametrize(
    ("low", "high", "accept", "reject"),
    [
        (0, 1, ["", "\\n", "\\u0000", "x"], ["\\n\\n", "xx"]),
        (2, 2, ["\\n\\t", "a\\u0001", "éé"], ["\\n", "a", "\\n\\n\\n"]),
    ],
)
def test_an_escape_counts_as_one_character(
    low: int, high: int, accept: list[str], reject: list[str]
) -> None:
    machine = spell(language("^[\\s\\S]*$").dfa, "json", '"')
    automaton = Recogniser(Rules(), Regular(machine, low, high))
    for body in accept:
        assert automaton.accepts(body.encode()), body
    for body in reject:
        assert not automaton.accepts(body.encode()), body


@given(st.text(alphabet='ab"\\\n<&é', max_size=6))
def test_spell_is_membership_of_the_value(text: str) -> None:
    words = language('^[ab"\\n<é]*a[^b]?$')
    for escape, quote in (("json", '"'), ("python", "'"), ("xml", ""), ("none", "")):
        machine = spell(words.dfa, escape, quote)
        body = escaped(text, escape, quote)  # type: ignore[arg-type]
        said = Recogniser(Rules(), Regular(machine)).accepts(body.encode())
        assert said == words.accepts(text), (escape, text)


def test_uncounted_machines_count_nothing() -> None:
    machine = uncounted(language("^[0-9]{3}$").dfa)
    assert Recogniser(Rules(), Regular(machine, 0, 0)).accepts(b"123")
    assert all(counts == 0 for row in machine.transitions for *_, counts in row)


@pytest.mark.parametrize(
    ("text", "following", "avoid", "fits"),
    [
        ("abc", "</x>", (), True),
        ("a</x>b", "</x>", (), False),
        ("a<", "</x>", (), True),
        ("a<<", "<<<", (), False),  # It would be ended one character early.
        ("aXb", "", ("X",), False),
        ("a", "", (), True),
        ("", "</x>", ("X",), True),
        ("\n", "\n\n", (), False),
    ],
)
def test_raw_text_fits_if_its_closer_is_found_right_behind_it(
    text: str, following: str, avoid: tuple[str, ...], fits: bool
) -> None:
    assert raw_fits(text, following, avoid) is fits
