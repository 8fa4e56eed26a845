"""The recogniser against the plain meaning of the grammar IR."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calligram.compiler.automaton.capturing import CapturingAutomaton
from calligram.compiler.automaton.recogniser import DEAD, Recogniser
from calligram.compiler.errors import LimitExceeded
from calligram.compiler.grammar import (
    Chars,
    Choice,
    Expr,
    Grammar,
    Literal,
    Machine,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Token,
)
from tests.naive import accepts
from tests.unit.automaton.random_grammars import grammars

SHORT = ["".join(w) for n in range(5) for w in product("ab", repeat=n)] + ["é", "aé", "é€", "€a"]


@settings(max_examples=300)
@given(grammars())
def test_it_accepts_what_the_meaning_of_the_grammar_accepts(made: tuple[Rules, Expr]) -> None:
    rules, start = made
    automaton = Recogniser(rules, start)
    grammar = Grammar(rules, start)
    for text in SHORT:
        assert automaton.accepts(text.encode()) == accepts(grammar, text), text


@given(grammars(), st.text(alphabet="ab", max_size=4))
def test_next_bytes_are_those_that_step_takes(made: tuple[Rules, Expr], text: str) -> None:
    automaton = Recogniser(*made)
    config, _ = automaton.walk(text.encode())
    spans = automaton.next_bytes(config)
    assert all(a[1] + 1 < b[0] for a, b in zip(spans, spans[1:], strict=False)), spans
    for byte in range(256):
        offered = any(low <= byte <= high for low, high in spans)
        assert offered == (automaton.step(config, byte) != DEAD), byte


def table(start: Expr, accept: list[str], reject: list[str]) -> None:
    automaton = Recogniser(Rules(), start)
    for text in accept:
        assert automaton.accepts(text.encode()), text
    for text in reject:
        assert not automaton.accepts(text.encode()), text


@pytest.mark.parametrize(
    ("start", "accept", "reject"),
    [
        (Literal("né"), ["né"], ["", "n", "ne", "née"]),
        (Literal(""), [""], ["a"]),
        (Token("<x>", "require"), ["<x>"], ["<x", "x>"]),
        (Chars(((0x61, 0x7A), (0x1F600, 0x1F64F))), ["a", "z", "😀"], ["", "A", "aa", "€"]),
        (Repeat(Literal("ab"), 2, 3), ["abab", "ababab"], ["", "ab", "aba", "abababab"]),
        (Repeat(Literal("a"), 2, None), ["aa", "a" * 500], ["", "a"]),
        (Repeat(Literal("a"), 0, 0), [""], ["a"]),
        (Choice((Literal("a"), Literal("ab"), Sequence(()))), ["", "a", "ab"], ["b", "abb"]),
        (Repeat(Choice((Literal(""), Literal("a"))), 3, 3), ["", "a", "aaa"], ["aaaa"]),
        (Sequence((Repeat(Chars(((0x61, 0x62),)), 0, None), Literal("b"))),
         ["b", "bb", "abab"], ["", "a", "aba"]),
    ],
)  # fmt: skip
def test_nodes(start: Expr, accept: list[str], reject: list[str]) -> None:
    table(start, accept, reject)


PAIRS = Machine((((0x5C, 0x5C, 1, 0), (0x61, 0x7A, 0, 1)), ((0x61, 0x7A, 0, 1),)), frozenset({0}))
"""Letters, each perhaps behind a backslash; a letter counts once."""


@pytest.mark.parametrize(
    ("low", "high", "accept", "reject"),
    [
        (0, 2, ["", "a", "\\a", "\\a\\b"], ["\\", "abc", "a\\"]),
        (2, 2, ["ab", "\\ab"], ["", "a", "\\a", "abc"]),
        (3, None, ["abc", "abcd"], ["ab"]),
    ],
)
def test_counts_of_a_regular_text(
    low: int, high: int | None, accept: list[str], reject: list[str]
) -> None:
    table(Regular(PAIRS, low, high), accept, reject)


def test_a_regular_text_that_cannot_end_in_time_is_not_entered() -> None:
    odd = Machine((((0x61, 0x61, 1, 1),), ((0x61, 0x61, 0, 1),)), frozenset({1}))
    automaton = Recogniser(Rules(), Choice((Regular(odd, 2, 2), Literal("b"))))
    assert automaton.next_bytes(automaton.start) == [(ord("b"), ord("b"))]


def test_no_ill_formed_utf8_gets_through() -> None:
    anything = Repeat(Chars(((0, 0xD7FF), (0xE000, 0x10FFFF))), 0, None)
    automaton = Recogniser(Rules(), anything)
    for good in ("\x00", "é", "\ud7ff", "\ue000", "\U0010ffff"):
        assert automaton.accepts(good.encode())
    overlong = [b"\xc0\x80", b"\xc1\xbf", b"\xe0\x9f\xbf"]
    surrogate, above = b"\xed\xa0\x80", [b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff"]
    cut = [b"\xc3", b"\xe2\x82", b"\x80"]
    for bad in (*overlong, surrogate, *above, *cut):
        assert not automaton.accepts(bad), bad


def test_a_walk_stops_before_the_first_refused_byte() -> None:
    automaton = Recogniser(Rules(), Literal("abc"))
    config, read = automaton.walk(b"abx")
    assert read == 2
    assert automaton.walk(b"c", config)[1] == 1
    assert not automaton.accepting(config)
    end, _ = automaton.walk(b"abc")
    assert automaton.accepting(end)
    assert automaton.at_end(end) and not automaton.at_end(config)


def test_right_recursion_takes_no_stack() -> None:
    rules = Rules()
    rules.define("list", Choice((Literal("."), Sequence((Literal("a"), RuleRef("list"))))))
    automaton = Recogniser(rules, RuleRef("list"))
    assert automaton.accepts(b"a" * 5000 + b".")
    assert automaton.core.size < 20


def test_a_rule_that_is_never_reached_is_never_built() -> None:
    rules = Rules()
    built = []

    def build() -> Expr:
        built.append(True)
        return Literal("c")

    rules.define("far", build)
    far = Sequence((Literal("bb"), Literal("bb"), RuleRef("far")))
    automaton = Recogniser(rules, Choice((Literal("a"), far)))
    assert automaton.accepts(b"a")
    assert not built
    assert automaton.accepts(b"bbbbc")
    assert built


# Limits -----------------------------------------------------------------------------------------


def test_nesting_beyond_the_limit_is_an_error_with_a_code() -> None:
    rules = Rules()
    rules.define("nested", Sequence((Literal("("), Repeat(RuleRef("nested"), 0, 1), Literal(")"))))
    automaton = CapturingAutomaton(rules, RuleRef("nested"), max_cells=200)

    def walk(text: bytes) -> int:
        config = automaton.start
        for byte in text:
            config = automaton.step(config, byte).target
        return config

    assert automaton.final(walk(b"((()))")) is not None
    with pytest.raises(LimitExceeded) as caught:
        walk(b"(" * 1000)
    assert [p.code for p in caught.value.problems] == ["automaton-too-large"]
    # What was reached before still works.
    assert automaton.final(walk(b"(())")) is not None


def test_too_many_readings_at_once_are_an_error_with_a_code() -> None:
    # How many of the letters were read by the first loop: one reading for each.
    start = Sequence((Repeat(Literal("a"), 0, 1000), Repeat(Literal("a"), 0, 1000), Literal("b")))
    assert Recogniser(Rules(), start).accepts(b"a" * 40 + b"b")
    automaton = Recogniser(Rules(), start, max_threads=20)
    with pytest.raises(LimitExceeded) as caught:
        automaton.accepts(b"a" * 40 + b"b")
    assert [p.code for p in caught.value.problems] == ["automaton-too-ambiguous"]
