"""What is left of a grammar behind a prefilled text: the quotient of its language."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.automaton.recogniser import Recogniser
from calligram.compiler.errors import GrammarError
from calligram.compiler.grammar import (
    Capture,
    Choice,
    Expr,
    Literal,
    Members,
    Repeat,
    Rules,
    Sequence,
    Slot,
    children,
)
from calligram.compiler.lower.prefill import behind
from tests.unit.automaton.random_grammars import grammars

REST = ["".join(w) for n in range(4) for w in product("ab", repeat=n)]


def has_members(expr: Expr) -> bool:
    return isinstance(expr, Members) or any(map(has_members, children(expr)))


@given(grammars(), st.text(alphabet="ab", max_size=3))
def test_it_is_the_quotient_of_the_language(made: tuple[Rules, Expr], text: str) -> None:
    rules, start = made
    if has_members(start):
        return
    whole = Recogniser(rules, start)
    expected = {t for t in REST if whole.accepts((text + t).encode())}
    try:
        left = Recogniser(rules, behind(start, text, rules))
    except GrammarError as error:
        assert error.problems[0].code == "prefill-mismatch"
        assert not expected
        return
    assert {t for t in REST if left.accepts(t.encode())} == expected


def test_captures_that_the_prefill_began_go_on() -> None:
    word = Capture(Slot("name", "raw"), Literal("abc"))
    assert behind(word, "ab", Rules()) == Capture(Slot("name", "raw"), Literal("c"))


def test_nothing_prefilled_changes_nothing() -> None:
    start = Choice((Literal("a"), Repeat(Literal("b"), 0, None)))
    assert behind(start, "", Rules()) is start


def test_a_prefill_that_nothing_begins_with_is_an_error() -> None:
    with pytest.raises(GrammarError, match="no turn begins"):
        behind(Sequence((Literal("<a>"), Literal("b"))), "<b", Rules())
    with pytest.raises(GrammarError, match="arguments"):
        behind(Members((), Literal(",")), "x", Rules())
