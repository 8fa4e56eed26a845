"""Types, enums, numbers and strings."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from calligram.compiler.ir import (
    AnyValue,
    EnumValue,
    IntegerValue,
    NullValue,
    NumberValue,
    StringValue,
    UnionValue,
)
from tests.unit.json_schema.helpers import check, problem, read

ONE_OF_EACH: list[Any] = [None, True, 0, 1.5, "x", [], {}]


@pytest.mark.parametrize(
    ("name", "accept", "reject"),
    [
        ("null", [None], [False, 0, "", "null", [], {}]),
        ("boolean", [True, False], [0, 1, "true", None]),
        ("integer", [0, -7, 10**30, 1.0], [1.5, "1", True, None]),
        ("number", [0, -7, 1.5, 1e300], ["1", True, None]),
        ("string", ["", "x", "é😀"], [0, None, ["x"]]),
        ("array", [[], [1, "x"]], [{}, "[]", None]),
        ("object", [{}, {"a": [1, {"b": None}]}], [[], "x", None]),
    ],
)
def test_type_lets_through_its_own_values(name: str, accept: list[Any], reject: list[Any]) -> None:
    check({"type": name}, accept, reject)


def test_type_list_is_a_union_in_its_order() -> None:
    value = check({"type": ["string", "null"]}, ["x", None], [0, True, [], {}])
    assert isinstance(value.value, UnionValue)
    assert [type(o) for o in value.value.options] == [StringValue, NullValue]


def test_integer_beside_number_adds_nothing() -> None:
    value = check({"type": ["integer", "number"]}, [1, 1.5], ["1", None])
    assert isinstance(value.value, NumberValue)


@pytest.mark.parametrize("schema", [True, {}, {"description": "anything"}, {"title": "t", "x": 1}])
def test_a_schema_without_conditions_is_any_value(schema: Any) -> None:
    value = check(schema, ONE_OF_EACH, [])
    assert isinstance(value.value, AnyValue)


def test_range_keywords_without_type_leave_other_types_alone() -> None:
    check({"minimum": 3}, [3, None, "x", [], {}, True], [2, 2.9])
    check({"minLength": 2}, ["ab", 1, None, []], ["a"])
    check({"required": ["a"]}, [{"a": 1}, 1, None, []], [{}, {"b": 1}])
    check({"minItems": 1}, [[1], 1, {}], [[]])


def test_enum_of_mixed_values_keeps_order_and_drops_repeats() -> None:
    schema = {"enum": ["b", "a", None, True, 1, 1.0, [1], {"k": 2}, "b"]}
    value = check(schema, ["b", None, True, 1, 1.0, [1], {"k": 2}], ["c", False, 0, 2, [2], {}])
    assert isinstance(value.value, EnumValue)
    assert value.value.values == ("b", "a", None, True, 1, [1], {"k": 2})


def test_true_and_one_are_different_values() -> None:
    check({"enum": [1, False]}, [1, 1.0, False], [True, 0])
    check({"const": [True]}, [[True]], [[1]])
    check({"const": {"a": 0}}, [{"a": 0}, {"a": 0.0}], [{"a": False}])


def test_const_of_any_value() -> None:
    values: list[Any] = [None, False, 3, 2.5, 'a"b\\c\nd', [], [None], {}, {"a": {"b": []}}]
    for value in values:
        check({"const": value}, [value], [v for v in ONE_OF_EACH if v != value])


def test_enum_is_filtered_by_its_siblings() -> None:
    check({"type": "string", "enum": ["on", 7, "off"]}, ["on", "off"], [7, "7"])
    check({"enum": ["a", "abc", 5], "maxLength": 2}, ["a", 5], ["abc"])
    check({"enum": [1, 5, 9], "minimum": 3, "maximum": 8}, [5], [1, 9])
    check({"enum": ["a1", "b"], "pattern": "[0-9]"}, ["a1"], ["b"])
    check({"enum": [[1], [1, 2], 3], "minItems": 2}, [[1, 2], 3], [[1]])
    check({"enum": [{"a": 1}, {"a": "x"}], "properties": {"a": {"type": "integer"}}},
          [{"a": 1}], [{"a": "x"}])  # fmt: skip
    check({"const": "a", "enum": ["a", "b"]}, ["a"], ["b"])


def test_enum_containers_are_filtered_through_recursive_references() -> None:
    schema = {
        "enum": [{"next": {"next": 0}}, {"next": {"next": "x"}}, {}],
        "type": "object",
        "properties": {"next": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/link"}]}},
        "$defs": {"link": {"properties": {"next": {"type": "integer"}}, "required": ["next"]}},
    }
    check(schema, [{"next": {"next": 0}}, {}], [{"next": {"next": "x"}}, {"next": 1}])


def test_unsatisfiable_enum_says_what_it_clashes_with() -> None:
    found = problem({"type": "string", "enum": ["yes", "no"], "minLength": 10})
    assert (found.code, found.origin.pointer) == ("unsatisfiable", "/enum")
    assert found.message == "no listed value satisfies minLength 10: no value can match"
    found = problem({"type": "integer", "const": "five"})
    assert found.origin.pointer == "/const"
    assert found.message == 'the value "five" is not of type integer: no value can match'
    assert problem({"enum": []}).message == "the list of values is empty: no value can match"


def test_number_bounds_inclusive_and_exclusive() -> None:
    check({"type": "integer", "minimum": -123, "maximum": 42}, [-123, 0, 42], [-124, 43, 1.5])
    check({"type": "number", "exclusiveMinimum": 0}, [0.1, 1e-9, 3], [0, -0.0, -1])
    check({"type": "number", "minimum": 1, "maximum": 5}, [1, 4.9, 5], [0.99, 5.7])
    check({"type": "integer", "exclusiveMinimum": 0.5, "exclusiveMaximum": 3}, [1, 2], [0, 3])
    check({"minimum": 2, "exclusiveMinimum": 2}, [2.5], [2])
    check({"minimum": 3, "exclusiveMinimum": 2}, [3, 4], [2.5])


def test_bounds_of_an_integer_are_whole_in_the_ir() -> None:
    value = read({"type": "integer", "minimum": 0.5, "exclusiveMaximum": 10}).value
    assert isinstance(value, IntegerValue)
    assert (value.minimum, value.maximum) == (1, 9)


def test_float_bounds_mean_the_decimal_they_spell() -> None:
    value = read({"type": "number", "minimum": 0.1, "multipleOf": 0.01}).value
    assert isinstance(value, NumberValue)
    assert (value.minimum, value.multiple_of) == (Decimal("0.1"), Decimal("0.01"))


def test_multiple_of_is_exact_and_combines() -> None:
    check({"type": "integer", "multipleOf": 5, "minimum": 0}, [0, 5, 45], [7, -5, 5.5])
    check({"type": "number", "multipleOf": 0.5}, [0.5, -2, 3], [0.25])
    both = read({"multipleOf": 4, "allOf": [{"multipleOf": 6}], "type": "number"}).value
    assert isinstance(both, IntegerValue) and both.multiple_of == 12
    half = read({"type": "integer", "multipleOf": 0.5}).value
    assert isinstance(half, IntegerValue) and half.multiple_of is None
    tenth = read({"type": "integer", "multipleOf": 1.5}).value
    assert isinstance(tenth, IntegerValue) and tenth.multiple_of == 3


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "integer", "minimum": 5, "maximum": 3}, "minimum 5 is above maximum 3"),
        ({"type": "number", "exclusiveMinimum": 2, "maximum": 2},
         "exclusiveMinimum 2 excludes maximum 2"),
        ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
         "no whole number lies between exclusiveMinimum 1 and exclusiveMaximum 2"),
        ({"type": "integer", "multipleOf": 7, "minimum": 1, "maximum": 6},
         "no multiple of 7 lies between minimum 1 and maximum 6"),
        ({"type": "string", "minLength": 5, "maxLength": 3}, "minLength 5 is above maxLength 3"),
        ({"type": "string", "allOf": [{"type": "integer"}]},
         "type string and type integer exclude each other"),
        (False, "the schema is false"),
    ],
)  # fmt: skip
def test_a_clash_names_both_sides(schema: Any, message: str) -> None:
    found = problem(schema)
    assert found.code == "unsatisfiable"
    assert found.message == f"{message}: no value can match"


def test_boolean_exclusive_bounds_are_draft_4() -> None:
    schema: dict[str, Any] = {"type": "number", "minimum": 0, "exclusiveMinimum": True}
    check(schema, [0.1, 1], [0, -1], jsonschema_agrees=False)
    schema["$schema"] = "http://json-schema.org/draft-04/schema#"
    check(schema, [0.1, 1], [0, -1])
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    assert problem(schema).origin.pointer == "/exclusiveMinimum"


def test_string_lengths_count_code_points() -> None:
    check({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "é😀", "abc"], ["a", "abcd"])
    check({"type": "string", "maxLength": 2.0}, ["ab"], ["abc"])


def test_pattern_is_a_search() -> None:
    check({"type": "string", "pattern": "[0-9]"}, ["7", "a7b"], ["", "seven"])
    check({"type": "string", "pattern": "^ab"}, ["ab", "abc"], ["xab"])
    check({"type": "string", "pattern": "yz$"}, ["yz", "xyz"], ["yzz"])


def test_dollar_does_not_let_a_final_newline_through() -> None:
    check({"pattern": "^[0-9]{4}$"}, ["2024"], ["2024\n", "024"], jsonschema_agrees=False)


def test_pattern_with_lengths_and_format_is_a_conjunction() -> None:
    check({"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 3},
          ["ab", "abc"], ["a", "abcd", "A1"])  # fmt: skip
    check({"type": "string", "format": "date", "pattern": "^2024-"},
          ["2024-02-29"], ["2023-01-01", "2024-13-01", "2024-"], assert_formats=True)  # fmt: skip
    check({"allOf": [{"pattern": "a"}, {"pattern": "b"}], "type": "string"},
          ["ab", "b.a"], ["a", "b"])  # fmt: skip
    check({"type": "string", "format": "email", "maxLength": 10}, ["a@b.co"], ["aaaaaaaa@b.co"])


def test_languages_that_exclude_each_other_are_found() -> None:
    found = problem({"type": "string", "pattern": "^a", "allOf": [{"pattern": "^b"}]})
    assert found.code == "unsatisfiable"
    assert problem({"type": "string", "pattern": "^(ab)*$", "minLength": 3, "maxLength": 3})


def test_formats_can_be_annotations() -> None:
    schema = {"type": "string", "format": "date"}
    check(schema, ["2024-02-29"], ["2024-13-01", "x"], assert_formats=True)
    check(schema, ["2024-02-29", "2024-13-01", "x"], [], formats="annotate")


def test_unknown_formats_are_reported_or_refused() -> None:
    check({"type": "string", "format": "no-such-thing"}, ["anything"], [])
    found = problem({"type": "string", "format": "no-such-thing"}, unknown_formats="refuse")
    assert (found.code, found.origin.pointer) == ("unknown-format", "/format")
