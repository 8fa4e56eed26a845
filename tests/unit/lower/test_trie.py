"""Texts that share prefixes."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.automaton.recogniser import Recogniser
from calligram.compiler.grammar import EMPTY, Choice, Expr, Literal, Rules, Sequence, children
from calligram.compiler.lower.trie import trie


def plain(*texts: str) -> Expr:
    return trie([(text, EMPTY) for text in texts])


def test_common_prefixes_are_said_once() -> None:
    assert plain("north", "nose", "east") == Choice(
        (Sequence((Literal("no"), Choice((Literal("rth"), Literal("se"))))), Literal("east"))
    )


def test_a_member_that_begins_another_can_end() -> None:
    automaton = Recogniser(Rules(), plain("pro", "prod", "product", "p"))
    for text in ("pro", "prod", "product", "p"):
        assert automaton.accepts(text.encode()), text
    for text in ("", "pr", "produ", "products"):
        assert not automaton.accepts(text.encode()), text


def test_one_text_is_a_literal_and_the_empty_text_is_one_too() -> None:
    assert plain("abc") == Literal("abc")
    automaton = Recogniser(Rules(), plain("", "a"))
    assert automaton.accepts(b"") and automaton.accepts(b"a")
    assert not automaton.accepts(b"aa")


def test_each_text_keeps_its_own_rest_and_equal_texts_all_of_them() -> None:
    expr = trie([("ab", Literal("1")), ("a", Literal("2")), ("ab", Literal("3"))])
    automaton = Recogniser(Rules(), expr)
    for text in ("ab1", "a2", "ab3"):
        assert automaton.accepts(text.encode()), text
    for text in ("ab2", "a1", "a3", "ab"):
        assert not automaton.accepts(text.encode()), text


def test_branches_come_in_the_order_of_their_first_text() -> None:
    expr = plain("b1", "a1", "b2")
    assert isinstance(expr, Choice)
    assert expr.options[1] == Literal("a1")


@given(st.lists(st.text(alphabet="ab", max_size=5), min_size=1, max_size=12, unique=True))
def test_exactly_the_texts_are_accepted(texts: list[str]) -> None:
    automaton = Recogniser(Rules(), plain(*texts))
    for text in texts:
        assert automaton.accepts(text.encode())
        for near in (text + "a", text[:-1], "b" + text):
            assert automaton.accepts(near.encode()) == (near in texts)


def test_five_thousand_texts_take_no_time() -> None:
    texts = [f"category-{i // 100}/item-{i}" for i in range(5000)]
    started = time.perf_counter()
    automaton = Recogniser(Rules(), plain(*texts))
    assert automaton.accepts(texts[-1].encode())
    assert time.perf_counter() - started < 2
    assert not automaton.accepts(b"category-1/item-1")


def test_a_long_chain_of_prefixes_needs_no_stack_to_build() -> None:
    expr = plain(*("x" * n for n in range(1, 1500)))
    depth, here = 0, [expr]
    while here:
        depth, here = depth + 1, [c for e in here for c in children(e)]
    assert depth >= 1499
    long = ["a" * 10_000 + str(i) for i in range(50)]
    assert Recogniser(Rules(), plain(*long)).accepts(long[-1].encode())
