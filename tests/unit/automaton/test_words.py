"""What could come next, in words."""

from __future__ import annotations

import pytest

from calligram.compiler.automaton.recogniser import Recogniser
from calligram.compiler.automaton.words import MOST, class_words, expected_words
from calligram.compiler.grammar import (
    Chars,
    Choice,
    Expr,
    Literal,
    Machine,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
)
from calligram.compiler.lower.spelling import uncounted
from calligram.compiler.origin import Origin
from calligram.compiler.regular.language import Language

WIDE = ((0, 0xD7FF), (0xE000, 0x10FFFF))


def words(start: Expr, text: str = "", rules: Rules | None = None) -> tuple[str, ...]:
    """What may follow `text`."""
    automaton = Recogniser(rules or Rules(), start)
    config, read = automaton.walk(text.encode())
    assert read == len(text.encode())
    return expected_words(automaton.core, automaton.threads(config))


DATE = Regular(
    uncounted(Language.pattern("^20[0-9]{2}-(?:jan|feb)$", origin=Origin()).dfa), what="a month"
)


@pytest.mark.parametrize(
    ("start", "text", "expected"),
    [
        (Literal("abc"), "", ("`abc`",)),
        (Literal("abc"), "a", ("`bc`",)),
        (Literal("a\n\tb"), "", (r"`a\n\tb`",)),
        (Literal("x" * 80), "", ("`" + "x" * 57 + "...`",)),
        (Choice((Literal("a"), Literal("b"), Literal("a"))), "", ("`a`", "`b`")),
        (Repeat(Literal("a"), 0, 2), "a", ("`a`", "the end of the text")),
        (Literal("a"), "a", ("the end of the text",)),
        (Chars(((0x30, 0x39),)), "", ("a digit",)),
        (Sequence((Repeat(Chars(((0x20, 0x20),)), 0, 2), Literal("x"))), "", ("` `", "`x`")),
        (DATE, "", ("`20`",)),
        (DATE, "20", ("a digit",)),
        (DATE, "2024", ("`-`",)),
        (DATE, "2024-", ("one of 'f' 'j'",)),
        (DATE, "2024-f", ("`eb`",)),
        (DATE, "2024-feb", ("the end of the text",)),
    ],
)
def test_expected_words(start: Expr, text: str, expected: tuple[str, ...]) -> None:
    assert words(start, text) == expected


def test_a_text_with_many_beginnings_is_called_by_its_name() -> None:
    machine = Machine((((0x61, 0x62, 1, 1),), ()), frozenset({1}))
    assert words(Regular(machine, what="a letter")) == ("a letter",)


def test_inside_a_character_it_says_so() -> None:
    automaton = Recogniser(Rules(), Chars(((0x80, 0x10FF),)))
    config, _ = automaton.walk("é".encode()[:1])
    assert expected_words(automaton.core, automaton.threads(config)) == ("the rest of a character",)


def test_the_list_has_an_end() -> None:
    many = Choice(tuple(Literal(f"{i}x") for i in range(500)))
    assert MOST <= len(words(many)) <= MOST + 1


def test_recursion_in_front_of_a_text_ends() -> None:
    rules = Rules()
    rules.define("x", Choice((Sequence((Repeat(Literal("a"), 0, 1), RuleRef("y"))), Literal("b"))))
    rules.define("y", Literal("c"))
    assert words(RuleRef("x"), "", rules) == ("`a`", "`c`", "`b`")


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        (((0x31, 0x39),), "a digit from 1 to 9"),
        (((0x09, 0x0A), (0x0D, 0x0D), (0x20, 0x20)), "white space"),
        (((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)), "a hexadecimal digit"),
        (((0x41, 0x41),), "`A`"),
        (((0x41, 0x5A), (0x5F, 0x5F)), "one of 'A'-'Z' '_'"),
        (WIDE, "any character"),
        (((0, 0x3B), (0x3D, 0xD7FF), (0xE000, 0x10FFFF)), "a character other than '<'"),
        (((0x20, 0x21), (0x23, 0xD7FF), (0xE000, 0x10FFFF)),
         "a character other than control characters, '\"'"),
        (tuple((c, c) for c in range(0x41, 0x5B, 2)),
         "one of 'A' 'C' 'E' 'G' 'I' 'K' ..."),
    ],
)  # fmt: skip
def test_classes_in_words(ranges: tuple[tuple[int, int], ...], expected: str) -> None:
    assert class_words(Chars(ranges)) == expected
