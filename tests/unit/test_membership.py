"""Membership in hand-made IR values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from calligram.compiler import ir
from calligram.compiler.membership import contains
from calligram.compiler.origin import Origin
from calligram.compiler.regular.language import Language

DIGITS = Language.pattern("^[0-9]+$", origin=Origin())
PAIR = ir.ArrayValue((ir.IntegerValue(), ir.StringValue()), None, 1, 2)
OPEN = ir.ObjectValue(
    (ir.Key("id", ir.IntegerValue(minimum=1), True), ir.Key("note", ir.StringValue(), False)),
    (ir.OpenKeys(DIGITS, ir.NullValue()),),
    min_keys=1,
    max_keys=3,
)


@pytest.mark.parametrize(
    ("value", "accept", "reject"),
    [
        (ir.NeverValue(), [], [None, 0, "", [], {}]),
        (ir.AnyValue(), [None, 0, "", [], {"a": 1.5}], []),
        (ir.NullValue(), [None], [0, False, ""]),
        (ir.BooleanValue(), [True, False], [0, 1, None]),
        (ir.StringValue(1, 2), ["a", "é😀"], ["", "abc", 1, None]),
        (ir.StringValue(2, None, DIGITS), ["12", "123"], ["1", "ab", 12]),
        (ir.IntegerValue(-2, 4, 2), [-2, 0, 4, 2.0], [-3, 1, 5, 6, True, "2", 2.5]),
        (ir.NumberValue(Decimal("0.5"), Decimal(2), True, False), [0.6, 1, 2], [0.5, 2.1, True]),
        (ir.NumberValue(multiple_of=Decimal("0.01")), [0.07, 3, Decimal("1.1")], [0.005, "1"]),
        (ir.EnumValue((1, "a", None, [1], {"k": Decimal("0.1")})),
         [1, 1.0, "a", None, [1.0], {"k": 0.1}], [True, "b", [], [True], {"k": 1}, {}]),
        (PAIR, [[1], [1, "a"]], [[], ["a"], [1, 2], [1, "a", 0], {}, "1"]),
        (ir.ArrayValue(items=ir.NullValue(), max_items=2), [[], [None, None]], [[None] * 3, [1]]),
        (OPEN, [{"id": 1}, {"id": 2, "note": "n", "7": None}],
         [{}, {"id": 0}, {"note": "n"}, {"id": 1, "x": None}, {"id": 1, "7": 1},
          {"id": 1, "note": "", "7": None, "8": None}, []]),
        (ir.UnionValue((ir.NullValue(), ir.BooleanValue())), [None, True], [0, "", []]),
    ],
)  # fmt: skip
def test_verdicts(value: ir.Value, accept: list[Any], reject: list[Any]) -> None:
    for instance in accept:
        assert contains(value, {}, instance), instance
    for instance in reject:
        assert not contains(value, {}, instance), instance


def test_references_are_followed_into_definitions() -> None:
    tree = ir.ArrayValue(items=ir.ReferenceValue("tree"))
    definitions: dict[str, ir.Value] = {"tree": tree}
    assert contains(ir.ReferenceValue("tree"), definitions, [[], [[]]])
    assert not contains(ir.ReferenceValue("tree"), definitions, [[], [0]])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_json_number_is_in_no_value(value: float) -> None:
    assert not contains(ir.NumberValue(), {}, value)
    assert not contains(ir.IntegerValue(), {}, value)
    assert not contains(ir.EnumValue((None, 0)), {}, value)
