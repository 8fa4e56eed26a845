"""Texts with two readings are found, with a shortest witness; shipped dialects have none."""

from __future__ import annotations

import pytest

from calligram.compiler.automaton.ambiguity import Undecided, find_ambiguity
from calligram.compiler.boundaries import ambiguous_boundaries
from calligram.compiler.grammar import (
    Capture,
    Chars,
    Choice,
    Expr,
    Literal,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Slot,
    sequence,
)
from calligram.compiler.spec_loader import load_dialect, shipped_ids

NAME, VALUE = Slot("name", "raw"), Slot("value", "raw")
AB = Repeat(Chars(((0x61, 0x62),)), 0, None)


def witness(start: Expr, rules: Rules | None = None) -> str | None:
    found = find_ambiguity(rules or Rules(), start)
    return None if found is None else found.witness


def test_two_captures_side_by_side_share_a_border() -> None:
    assert witness(sequence(Capture(NAME, AB), Capture(VALUE, AB))) == "a"


def test_a_literal_between_them_is_no_border_if_the_first_can_hold_it() -> None:
    both = sequence(Capture(NAME, AB), Literal("b"), Capture(VALUE, AB))
    assert witness(both) == "bb"


def test_a_literal_that_neither_can_hold_is_a_border() -> None:
    assert witness(sequence(Capture(NAME, AB), Literal(":"), Capture(VALUE, AB))) is None


def test_readings_that_capture_alike_are_one_reading() -> None:
    # The choice is ambiguous, what is captured is not.
    same = Choice((Literal("a"), Chars(((0x61, 0x61),))))
    assert witness(Capture(NAME, same)) is None


def test_two_slots_for_one_text_are_two_readings() -> None:
    assert witness(Choice((Capture(NAME, Literal("ab")), Capture(VALUE, Literal("ab"))))) == "ab"


def test_recursion_without_end_is_left_undecided() -> None:
    rules = Rules()
    rules.define("r", Choice((Literal("x"), Sequence((Literal("("), RuleRef("r"), Literal(")"))))))
    with pytest.raises(Undecided):
        find_ambiguity(rules, RuleRef("r"), limit=500)


@pytest.mark.parametrize("dialect", shipped_ids())
def test_every_shipped_dialect_has_one_reading(dialect: str) -> None:
    assert ambiguous_boundaries(load_dialect(dialect)) == []
