"""Multiples of large numbers: machines made as they are walked, against those that are listed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram.compiler.automaton.liveness import liveness
from calligram.compiler.grammar import Machine
from calligram.compiler.lower.multiples import multiples, with_zeros
from calligram.compiler.lower.spelling import uncounted
from calligram.compiler.regular.dfa import Dfa
from calligram.compiler.regular.numbers import integers
from calligram.targets import gbnf, mask
from tests.unit.json_schema.helpers import is_valid

VOCABULARY = calligram.Vocabulary(
    tokens=[*(bytes([i]) for i in range(256)), *(b"%03d" % i for i in range(1000)), b""],
    special_ids=[1256],
    eos_ids=[1256],
)


def listed(machine: Machine) -> Dfa:
    """The canonical automaton of the states that can be reached, all of which lead on."""
    numbers = {0: 0}
    order = [0]
    rows = []
    for state in order:
        assert liveness(machine).live(state, 0, None) or state == 0
        row = []
        for low, high, target, _ in machine.transitions[state]:
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
            row.append((low, high, numbers[target]))
        rows.append(row)
    accepting = frozenset(i for i, state in enumerate(order) if state in machine.accepting)
    return Dfa.canonical(rows, accepting)


BOUND = st.none() | st.integers(-3000, 3000)


@settings(deadline=None, max_examples=60)
@given(BOUND, BOUND, st.integers(2, 60), st.booleans(), st.none() | st.integers(1, 5))
def test_what_is_walked_is_what_is_listed(
    low: int | None, high: int | None, factor: int, floats: bool, digits: int | None
) -> None:
    spelled = integers(low, high, digits=digits, float_spelling=floats)
    whole = integers(low, high, digits=digits, multiple_of=factor, float_spelling=floats)
    made = multiples(spelled, factor)
    assert liveness(made).live(0, 0, None) is not whole.is_empty
    if not whole.is_empty:
        assert listed(made) == whole


@settings(deadline=None, max_examples=60)
@given(st.integers(-300, 300), st.integers(0, 300), st.integers(2, 60), st.integers(1, 4))
def test_listed_numbers_get_their_zeros(low: int, more: int, factor: int, digits: int) -> None:
    words = integers(low, low + more, digits=9, multiple_of=factor)
    whole = integers(low, low + more, digits=digits, multiple_of=factor, float_spelling=True)
    if not words.is_empty:
        assert listed(with_zeros(uncounted(words), digits)) == whole


def test_any_number_of_zeros_may_follow() -> None:
    made = listed(with_zeros(uncounted(integers(0, 9, digits=9, multiple_of=7)), None))
    for text in ("0", "-0", "7", "7.0", "7.000000", "0.0", "-0.00"):
        assert made.accepts(text), text
    for text in ("", "-", "-7", "7.", "7.1", ".0", "00", "14"):
        assert not made.accepts(text), text


LARGE: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"type": "integer", "multipleOf": 50021}, [0, 50021, -100042, 50021 * 10**9],
     [1, 50020, 50022, -1, 500210001]),
    ({"type": "integer", "multipleOf": 50021, "minimum": 10, "maximum": 10**10},
     [50021, 50021 * 199_000], [0, 49, -50021, 50021 * 200_000, 10**10]),
    ({"type": "integer", "multipleOf": 1009 * 1013, "minimum": 1},
     [1022117, 10221170], [0, 1009, 1013, -1022117]),
    ({"type": "number", "multipleOf": 1_000_003, "exclusiveMaximum": 0},
     [-1_000_003, -2_000_006.0], [0, 1_000_003, -1_000_003.5, -1_000_004]),
    ({"type": "integer", "multipleOf": 0.987654321}, [0, 987654321], [1, 987654320]),
    ({"type": "integer", "multipleOf": 2**31 * 3}, [0, 2**31 * 3 * 7], [2**31, 3]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "accept", "reject"), LARGE)
@pytest.mark.parametrize("bounds", [None, calligram.Bounds()], ids=["free", "bounded"])
def test_large_factors_are_exact_in_check_and_mask(
    schema: dict[str, Any], accept: list[Any], reject: list[Any], bounds: calligram.Bounds | None
) -> None:
    grammar = calligram.compile_schema(schema, bounds=bounds)
    automaton = mask.compile(grammar, VOCABULARY)
    for expected, values in ((True, accept), (False, reject)):
        for value in values:
            assert is_valid(schema, value) is expected, value
            assert grammar.check(str(value)).accepted is expected, value
            matcher = automaton.matcher()
            taken = all(matcher.accept_token(byte) for byte in str(value).encode())
            assert (taken and matcher.is_completed()) is expected, value


def test_no_token_leads_to_where_no_multiple_follows() -> None:
    given = {"type": "integer", "multipleOf": 50021, "minimum": 60_000, "maximum": 90_000_000}
    automaton = mask.compile(calligram.compile_schema(given, whitespace="exact"), VOCABULARY)
    matcher = automaton.matcher()
    begun = {
        str(number)[:digits]
        for number in range(2 * 50021, 90_000_001, 50021)
        for digits in range(1, 9)
    }
    for text in [*map(str, range(1, 1000)), *map(str, range(899_000, 901_000)), "90000001"]:
        matcher.reset()
        taken = all(matcher.accept_token(byte) for byte in text.encode())
        assert taken is (text in begun), text


def test_nobody_looks_at_all_the_states() -> None:
    made = multiples(integers(None, None, digits=None), 50021)
    assert len(made.transitions) > 200_000
    with pytest.raises(AssertionError, match="too many states"):
        list(made.transitions)


def test_gbnf_refuses_them_by_feature_and_place() -> None:
    given = {"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 50021}}}
    grammar = calligram.compile_schema(given)
    with pytest.raises(calligram.TargetError) as refused:
        gbnf.emit(grammar)
    found = refused.value.problems[0]
    assert (found.code, found.origin.pointer) == ("unsupported-feature", "/properties/n")
    assert found.message.startswith("multiples: ") and "relax" in (found.hint or "")


def test_a_large_factor_may_be_relaxed_for_the_sake_of_gbnf() -> None:
    given = {"type": "integer", "multipleOf": 50021}
    grammar = calligram.compile_schema(given, on_unsupported="relax")
    assert gbnf.emit(grammar)
    statuses = {(f.keyword, f.status) for f in grammar.findings}
    assert ("multipleOf", "relaxed") in statuses
    few = calligram.compile_schema({**given, "minimum": 0, "maximum": 10**7},
                                   on_unsupported="relax")  # fmt: skip
    assert gbnf.emit(few)
    assert ("multipleOf", "enforced") in {(f.keyword, f.status) for f in few.findings}


def test_the_longest_text_is_known_without_looking_at_the_states() -> None:
    tool = {"name": "a", "parameters": {"type": "object", "required": ["n"], "properties": {
        "n": {"type": "integer", "multipleOf": 999_983}}}}  # fmt: skip
    with_factor = calligram.compile_tools([tool], "llama3-json", bounds=calligram.Bounds(calls=1))
    del tool["parameters"]["properties"]["n"]["multipleOf"]  # type: ignore[index]
    without = calligram.compile_tools([tool], "llama3-json", bounds=calligram.Bounds(calls=1))
    assert with_factor.report.longest_call == without.report.longest_call


@pytest.mark.parametrize("factor", [2**62, 2**64, 10**18 + 9, 10**30])
@pytest.mark.parametrize("more", [{}, {"minimum": 5}])
def test_factors_beyond_the_size_of_any_list(factor: int, more: dict[str, int]) -> None:
    grammar = calligram.compile_schema({"type": "integer", "multipleOf": factor, **more})
    assert grammar.check(str(factor)) and grammar.check(str(3 * factor))
    assert not grammar.check(str(factor + 1))
    assert grammar.check("0").accepted is not bool(more)
    assert grammar.report.longest_call is None
