"""Spelled numbers, against comparison of the same numbers as Decimal."""

from __future__ import annotations

import decimal
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calligram.compiler.errors import LimitExceeded
from calligram.compiler.origin import Origin
from calligram.compiler.regular.dfa import Dfa
from calligram.compiler.regular.numbers import decimals, integers, spells_exponents

D = Decimal


def numbers(minimum: str | None = None, maximum: str | None = None, **options: Any) -> Dfa:
    settings: dict[str, Any] = {
        "exclusive_minimum": False, "exclusive_maximum": False, "digits": 20, "exponent": 3,
    }  # fmt: skip
    settings.update(options)
    low = None if minimum is None else D(minimum)
    return decimals(low, None if maximum is None else D(maximum), **settings)


INTEGERS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    (
        {},
        ["0", "7", "-1", "12345678901234567890"],
        ["-0", "01", "-01", "+1", "1.0", "1e2", "", "-", "123456789012345678901"],
    ),
    ({"minimum": 0}, ["0", "5", "99999999999999999999"], ["-1", "-0", "100000000000000000000"]),
    ({"minimum": 1, "maximum": 100}, ["1", "9", "10", "99", "100"], ["0", "101", "1000", "-5"]),
    ({"minimum": -5, "maximum": 5}, ["-5", "0", "5"], ["-6", "6", "-10", "10"]),
    ({"minimum": -120, "maximum": -7}, ["-7", "-99", "-120"], ["-6", "-121", "7", "0", "-1000"]),
    ({"maximum": -1}, ["-1", "-99"], ["0", "1"]),
    ({"minimum": 5, "maximum": 4}, [], ["4", "5", "0"]),
    ({"minimum": 10**30}, [str(10**30), "9" * 31], ["9" * 30, "1" * 32]),
    ({"minimum": -(2**63), "maximum": 2**63 - 1}, [str(-(2**63)), str(2**63 - 1)],
     [str(-(2**63) - 1), str(2**63)]),
    ({"digits": None}, ["1" * 500, "-" + "1" * 500], ["01"]),
    ({"multiple_of": 5}, ["0", "5", "-10", "99999999999999999995"], ["1", "-3", "-0"]),
    ({"multiple_of": 86400}, ["0", "86400", "-172800"], ["86401", "864000001"]),
    ({"multiple_of": 10**15}, ["0", "1" + "0" * 15], ["1" + "0" * 14]),
    ({"minimum": 10, "maximum": 30, "multiple_of": 7}, ["14", "21", "28"], ["7", "35", "0", "15"]),
    ({"minimum": 1, "maximum": 6, "multiple_of": 7}, [], ["0", "7"]),
    ({"not_multiple_of": [3]}, ["1", "-2", "100"], ["0", "-3", "99", "-0"]),
    ({"multiple_of": 2, "not_multiple_of": [4, 6]}, ["2", "-10"], ["0", "4", "6", "12", "3"]),
    ({"minimum": 1, "maximum": 9, "multiple_of": 3, "not_multiple_of": [6]}, ["3", "9"], ["6"]),
    ({"not_multiple_of": [2], "float_spelling": True}, ["1.0", "-3"], ["2.0", "1.5", "-0.0"]),
    ({"minimum": 0, "maximum": 10**9, "multiple_of": 10**6 + 3}, ["0", "1000003"], ["1000000"]),
    (
        {"minimum": 0, "maximum": 10, "float_spelling": True, "digits": 3},
        ["0", "10", "1.0", "10.000", "-0", "-0.0", "0.00"],
        ["1.", "1.5", "1.0000", "11.0", "-1.0", "1e1"],
    ),
    ({"minimum": 1, "float_spelling": True}, ["1", "1.0"], ["-0", "0", "0.0"]),
    ({"multiple_of": 4, "float_spelling": True}, ["4.00", "-8.0", "-0.0"], ["2.0", "4.4"]),
]  # fmt: skip

DECIMALS: list[tuple[Dfa, list[str], list[str]]] = [
    (
        numbers(),
        ["0", "-0", "1", "1.5", "-0.25", "1e5", "1E+05", "0.1e-007"[:7], "1.0e-12"],
        ["01", "1.", ".5", "+1", "e5", "1e", "1e+", "1e1000", "--1", "NaN"],
    ),
    (numbers(exponent=None), ["1e1000", "1e" + "0" * 99], ["1e"]),
    (
        numbers("0", exclusive_minimum=True),
        ["1e-5", "0.001", "1", "0.0e0"[:3] + "1"],
        ["0", "0.0", "0e5", "-0", "-1", "-1e-9"],
    ),
    (numbers("0"), ["0", "-0", "-0.0", "-0e9", "1e-5"], ["-1", "-0.1", "-1e-9"]),
    (numbers(None, "0", exclusive_maximum=True), ["-1e9", "-0.1"], ["0", "-0", "-0e1", "1"]),
    (numbers("0", "0"), ["0", "-0.00", "0e5"], ["0.1", "1e-9"]),
    (numbers("0", "0", exclusive_maximum=True), [], ["0", "-0", "1"]),
    (
        numbers("0", "1"),
        ["0", "0.5", "1", "1.000", "-0", "-0.0"],
        ["1.001", "-0.1", "2", "1e0", "5e-1"],
    ),
    (
        numbers("0", "1", exclusive_minimum=True, exclusive_maximum=True),
        ["0.5", "0.99999", "0.0001"],
        ["0", "1", "0.0", "1.0", "-0"],
    ),
    (numbers("-90", "90"), ["-90", "-90.0", "89.999", "0"], ["-90.01", "90.1", "100", "-91"]),
    (numbers("2.5", "10.25"), ["2.5", "2.50", "10.25", "3", "10"], ["2.49", "10.26", "2", "11"]),
    (numbers("-1.5", "-0.5"), ["-1.5", "-0.5", "-1"], ["-1.51", "-0.49", "0", "1", "-0"]),
    (numbers("5", "4"), [], ["4", "5", "4.5"]),
    (
        numbers("0.05", "0.051", exclusive_minimum=True, exclusive_maximum=True, digits=3),
        ["0.0501", "0.0509"],
        ["0.05", "0.051", "0.0500", "0.0510"],
    ),
    (numbers("1e300"), ["1" + "0" * 300], ["9" * 300]),
    (numbers("1e-30", "1"), ["0." + "0" * 29 + "1"], ["0." + "0" * 30 + "1", "0"]),
    (numbers(multiple_of=D("0.01")), ["1.25", "0.1", "-3", "2.500"], ["0.001", "1.255"]),
    (numbers(multiple_of=D("0.25")), ["0.25", "1.5", "2", "-0.750"], ["0.1", "0.255", "1.05"]),
    (numbers(multiple_of=D("2.5")), ["2.5", "5", "10.0"], ["2", "2.55", "1"]),
    (numbers(multiple_of=D("0.12345")), ["0.12345", "2469", "-1.2345", "0.2469"], ["0.1234", "1"]),
    (numbers(multiple_of=D("1e-8")), ["0.00000001", "5", "1.25"], ["0.000000001", "1.123456789"]),
    (numbers(multiple_of=D("0.0025")), ["0.0025", "0.01", "1.5", "7"], ["0.001", "0.00255"]),
    (numbers(not_multiple_of=[D("0.75")]), ["0.5", "0.7", "1", "0.0001"], ["0.75", "1.50", "3"]),
    (numbers(not_multiple_of=[D(1)]), ["0.5", "-1.50", "9.01"], ["1", "1.0", "-0.00", "1.5e1"]),
    (numbers(not_multiple_of=[D("0.5")]), ["0.25", "0.501"], ["0.5", "0", "1.50"]),
    (
        numbers("0", "0.3", multiple_of=D("0.1"), not_multiple_of=[D("0.2")]),
        ["0.1", "0.30"],
        ["0", "0.2", "0.15"],
    ),
    (numbers("0", "100", multiple_of=D("50")), ["0", "50.00", "100"], ["25", "150", "50.5"]),
    (numbers("-0", "-0.0"), ["0", "-0"], ["0.1"]),
]


@pytest.mark.parametrize(("options", "accepts", "rejects"), INTEGERS)
def test_integers(options: dict[str, Any], accepts: list[str], rejects: list[str]) -> None:
    bounds = {"minimum": None, "maximum": None, "digits": 20, **options}
    made = integers(**bounds)
    assert [text for text in accepts if not made.accepts(text)] == []
    assert [text for text in rejects if made.accepts(text)] == []
    assert made.is_empty == (not accepts)


@pytest.mark.parametrize(("made", "accepts", "rejects"), DECIMALS)
def test_decimals(made: Dfa, accepts: list[str], rejects: list[str]) -> None:
    assert [text for text in accepts if not made.accepts(text)] == []
    assert [text for text in rejects if made.accepts(text)] == []
    assert made.is_empty == (not accepts)


SMALL = st.integers(-130, 130)
FACTORS = st.none() | st.integers(1, 40)


@settings(deadline=None)
@given(SMALL | st.none(), SMALL | st.none(), FACTORS)
def test_integers_are_exactly_those_within_the_bounds(
    minimum: int | None, maximum: int | None, factor: int | None
) -> None:
    made = integers(minimum, maximum, digits=3, multiple_of=factor)
    for value in range(-1100, 1100):
        inside = (
            (minimum is None or minimum <= value)
            and (maximum is None or value <= maximum)
            and abs(value) < 1000
            and value % (factor or 1) == 0
        )
        assert made.accepts(str(value)) == inside, value


BOUNDS = st.none() | st.decimals("-20", "20", places=2) | st.sampled_from([D(0), D("-0"), D(5)])
SPELLED = st.from_regex(r"-?(0|[1-9][0-9]?)(\.[0-9]{1,4})?([eE][+-]?0?[0-9])?", fullmatch=True)
DECIMAL_FACTORS = st.none() | st.sampled_from([D("0.01"), D("0.5"), D(3), D("0.07"), D("1E+1")])


@settings(max_examples=400, deadline=None)
@given(
    BOUNDS, BOUNDS, st.booleans(), st.booleans(), DECIMAL_FACTORS, DECIMAL_FACTORS,
    st.lists(SPELLED, min_size=1, max_size=30),
)  # fmt: skip
def test_decimals_are_exactly_those_within_the_bounds(
    minimum: D | None,
    maximum: D | None,
    exclusive_minimum: bool,
    exclusive_maximum: bool,
    factor: D | None,
    other: D | None,
    texts: list[str],
) -> None:
    made = decimals(
        minimum,
        maximum,
        exclusive_minimum=exclusive_minimum,
        exclusive_maximum=exclusive_maximum,
        digits=20,
        exponent=3,
        multiple_of=factor,
        not_multiple_of=() if other is None else (other,),
    )
    exponents = other is None and spells_exponents(minimum, maximum, factor)
    for text in texts:
        value = D(text)
        inside = exponents or "e" not in text.lower()
        if minimum is not None:
            inside &= value > minimum or (value == minimum and not exclusive_minimum)
        if maximum is not None:
            inside &= value < maximum or (value == maximum and not exclusive_maximum)
        if factor is not None:
            inside &= value % factor == 0
        if other is not None:
            inside &= value % other != 0
        assert made.accepts(text) == inside, (text, minimum, maximum, factor, other)


@given(BOUNDS, BOUNDS, DECIMAL_FACTORS)
@settings(max_examples=50, deadline=None)
def test_what_is_spelled_reads_back_within_the_bounds(
    minimum: D | None, maximum: D | None, factor: D | None
) -> None:
    made = decimals(
        minimum, maximum, exclusive_minimum=False, exclusive_maximum=False,
        digits=3, exponent=2, multiple_of=factor,
    )  # fmt: skip
    for text in made.words(60):
        value = D(text)
        assert minimum is None or value >= minimum
        assert maximum is None or value <= maximum
        assert factor is None or value % factor == 0


def test_bounds_of_more_digits_than_the_decimal_context_are_exact() -> None:
    bound = 10**40 + 1
    with decimal.localcontext() as context:
        context.prec = 5
        low = integers(-bound, bound, digits=20)
        fine = decimals(
            D(f"-{bound}.5"), None, exclusive_minimum=False, exclusive_maximum=False,
            digits=None, exponent=None,
        )  # fmt: skip
        step = integers(None, None, digits=None, multiple_of=2**20)
    assert low.accepts(str(bound)) and low.accepts(str(-bound))
    assert not low.accepts(str(bound + 1)) and not low.accepts(str(-bound - 1))
    assert fine.accepts(f"-{bound}.5") and not fine.accepts(f"-{bound}.51")
    assert step.accepts(str(3 * 2**20)) and not step.accepts(str(2**20 + 4))


@pytest.mark.parametrize(
    "bounds",
    [
        {"minimum": 0, "maximum": None, "digits": 20, "multiple_of": 99_991},
        {"minimum": 10**5000, "maximum": None, "digits": 20},
        {"minimum": None, "maximum": None, "digits": 10**9},
        {"minimum": None, "maximum": None, "digits": 20, "multiple_of": 10**5000},
    ],
)
def test_limits(bounds: dict[str, Any]) -> None:
    started = time.perf_counter()
    with pytest.raises(LimitExceeded) as caught:
        integers(**bounds, origin=Origin("/properties/n"))
    assert time.perf_counter() - started < 10
    assert caught.value.problems[0].code == "number-too-large"
    assert caught.value.problems[0].origin.pointer == "/properties/n"


def test_a_bound_with_a_huge_exponent_is_refused_unexpanded() -> None:
    with pytest.raises(LimitExceeded):
        numbers("1e999999999")


def test_powers_of_ten_need_a_state_a_zero() -> None:
    made = integers(None, None, digits=None, multiple_of=10**12)
    # The start, a sign, a lone 0, and 0 to 12 zeros after a digit.
    assert len(made.transitions) == 16


@pytest.mark.parametrize(
    ("factor", "states"), [("1e-8", 20), ("0.0001", 20), ("0.0025", 20), ("0.12345", 7_000)]
)
def test_decimal_factors_take_no_more_states_than_their_digits_tell_apart(
    factor: str, states: int
) -> None:
    assert len(numbers(digits=None, multiple_of=D(factor)).transitions) <= states
