"""Applicators: what stands together is a conjunction, whatever form it takes."""

from __future__ import annotations

from typing import Any

import pytest

from calligram.compiler.ir import AnyValue, EnumValue, NumberValue, ObjectValue, UnionValue
from tests.unit.json_schema.helpers import check, problem, problems, read

AB = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
      "additionalProperties": False}  # fmt: skip


def test_any_of_is_a_union() -> None:
    schema = {"anyOf": [{"type": "string", "enum": ["c", "f"]}, {"type": "null"}]}
    check(schema, ["c", "f", None], ["k", "null", 1])
    check({"anyOf": [{"const": "a"}, {"const": "b"}]}, ["a", "b"], ["c"])
    merged = read({"anyOf": [{"const": "a"}, {"const": "b"}, {"const": "a"}]}).value
    assert isinstance(merged, EnumValue) and merged.values == ("a", "b")


def test_an_option_without_conditions_covers_the_others() -> None:
    schema = {"anyOf": [{}, {"type": "array", "items": {"type": "string"}}]}
    value = check(schema, ["light", ["a"], 3, None, [1]], [])
    assert isinstance(value.value, AnyValue)
    number = read({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "number"}]}).value
    assert isinstance(number, NumberValue)


def test_siblings_of_any_of_hold_in_every_option() -> None:
    schema = {**AB, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    check(schema, [{"a": 1}, {"b": 1}, {"a": 1, "b": 2}], [{}, {"c": 1}, {"a": "x"}])
    check({"type": "string", "anyOf": [{"minLength": 3}, {"pattern": "^x"}]},
          ["abc", "x"], ["ab", 3])  # fmt: skip


def test_an_impossible_option_disappears() -> None:
    schema = {"anyOf": [{"type": "integer", "minimum": 2, "maximum": 1}, {"type": "null"}]}
    value = check(schema, [None], [1, 2])
    assert not isinstance(value.value, UnionValue)
    check({"type": "string", "anyOf": [{"type": "integer"}, {"maxLength": 1}]}, ["a"], [1, "ab"])


def test_all_of_merges_objects_key_by_key() -> None:
    schema = {
        "$defs": {"Base": {"type": "object", "properties": {"id": {"type": "integer"}},
                           "required": ["id"]}},
        "allOf": [
            {"$ref": "#/$defs/Base"},
            {"type": "object", "properties": {"name": {"type": "string", "minLength": 1},
                                              "id": {"minimum": 1}}, "required": ["name"]},
        ],
    }  # fmt: skip
    value = check(schema, [{"id": 1, "name": "a"}],
                  [{"id": 1}, {"name": "a"}, {"id": "x", "name": "a"}, {"id": 0, "name": "a"}],
                  )  # fmt: skip
    assert isinstance(value.value, ObjectValue)
    assert [k.name for k in value.value.keys] == ["id", "name"]


def test_a_key_meets_the_other_sides_open_part() -> None:
    closed = {"properties": {"a": {}}, "additionalProperties": False}
    check({"allOf": [closed, {"properties": {"b": {}}}]}, [{}, {"a": 1}], [{"b": 1}])
    typed = {"properties": {"a": {}}, "additionalProperties": {"type": "string"}}
    check({"allOf": [typed, {"properties": {"b": {"minLength": 2}}}]},
          [{"a": 1, "b": "xy"}], [{"b": "x"}, {"b": 1}, {"c": 1}])  # fmt: skip
    named = {"patternProperties": {"^b": {"type": "integer"}}}
    check({"allOf": [named, {"properties": {"b1": {"minimum": 3}}}]},
          [{"b1": 3, "b2": 0}], [{"b1": 2}, {"b1": "x"}, {"b2": "x"}])  # fmt: skip


def test_merged_objects_close_only_as_a_whole() -> None:
    schema = {
        "type": "object",
        "properties": {"act": {"enum": ["go", "say"]}},
        "required": ["act"],
        "oneOf": [
            {"properties": {"act": {"const": "go"}, "to": {"type": "string"}}, "required": ["to"]},
            {"properties": {"act": {"const": "say"}, "text": {"type": "string"}},
             "required": ["text"]},
        ],
    }  # fmt: skip
    accept = [{"act": "go", "to": "mall"}, {"act": "say", "text": "hi"}]
    reject: list[Any] = [{"act": "go"}, {"act": "say", "to": "mall"}, {"to": "mall"},
                         {"act": "fly", "to": "x"}]  # fmt: skip
    check(schema, [*accept, {"act": "go", "to": "mall", "text": 1}], reject)
    check(schema, accept, [*reject, {"act": "go", "to": "mall", "text": 1}],
          jsonschema_agrees=False, closed_objects=True)  # fmt: skip


def test_arrays_merge_position_by_position() -> None:
    schema = {"allOf": [{"prefixItems": [{"type": "integer"}]},
                        {"items": {"minimum": 3}, "minItems": 1}, {"maxItems": 2}],
              "type": "array"}  # fmt: skip
    check(schema, [[3], [3, 4], [3, "x"]], [[], [2], ["x"], [3, 1], [3, 3, 3]])


def test_one_of_with_disjoint_options_is_a_union() -> None:
    check({"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
          ["a", 1, None], [1.5, True])  # fmt: skip
    tagged = {
        "oneOf": [
            {"type": "object", "properties": {"mode": {"const": "last"}, "n": {"type": "integer"}},
             "required": ["mode"], "additionalProperties": False},
            {"type": "object", "properties": {"mode": {"const": "span"}, "to": {"type": "integer"}},
             "required": ["mode", "to"], "additionalProperties": False},
        ]
    }  # fmt: skip
    check(tagged, [{"mode": "last"}, {"mode": "last", "n": 5}, {"mode": "span", "to": 2}],
          [{"mode": "last", "to": 1}, {"mode": "span"}, {"mode": "other"}, {}])  # fmt: skip
    value = read(tagged).value
    assert isinstance(value, UnionValue) and len(value.options) == 2


def test_one_of_with_overlaps_is_exclusive() -> None:
    check({"oneOf": [{"type": "integer", "minimum": 0}, {"type": "integer", "maximum": 10}]},
          [-1, 11], [0, 5, 10, "x"])  # fmt: skip
    check({"oneOf": [{"type": "string", "maxLength": 3}, {"type": "string", "minLength": 2}]},
          ["", "a", "abcd"], ["ab", "abc"])  # fmt: skip
    check({"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}, ["a", "c"], ["b", "d"])
    check({"oneOf": [{"pattern": "^a"}, {"pattern": "b$"}], "type": "string"},
          ["ax", "xb"], ["ab", "x"])  # fmt: skip
    check({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
          [{"a": 1}, {"b": 1, "z": 0}], [{}, {"a": 1, "b": 2}])  # fmt: skip
    closed = [{"additionalProperties": False, "properties": {k: {"type": "integer"}}}
              for k in ("a", "b")]  # fmt: skip
    check({"type": "object", "oneOf": closed}, [{"a": 1}, {"b": 1}],
          [{}, {"a": 1, "b": 2}, {"a": "x"}])  # fmt: skip


def test_one_of_that_cannot_be_told_apart_is_refused_or_relaxed() -> None:
    items = {"type": "object", "properties": {"v": {"oneOf": [
        {"type": "array", "items": {"type": "integer"}, "maxItems": 5000},
        {"type": "array", "items": {"type": "number"}, "maxItems": 5000}]}}}  # fmt: skip
    found = problem(items)
    assert found.code == "unsupported-keyword"
    check(items, [{"v": [1.5]}], [{"v": ["x"]}], on_unsupported="relax")


def test_not_of_what_a_complement_exists_for() -> None:
    check({"not": {"type": "string"}}, [1, None, [], {}], ["a"])
    check({"not": {"type": ["string", "null"]}}, [1, True], ["a", None])
    check({"type": "string", "not": {"enum": ["a", "b"]}}, ["c", ""], ["a", "b", 1])
    check({"not": {"const": None}}, [0, False, ""], [None])
    check({"type": "boolean", "not": {"const": True}}, [False], [True])
    check({"type": "integer", "not": {"const": 5}}, [4, 6], [5])
    check({"type": "string", "not": {"pattern": "^tmp"}}, ["x", "atmp"], ["tmp1"])
    check({"type": "string", "not": {"minLength": 3}}, ["ab"], ["abc"])
    check({"type": "number", "not": {"minimum": 3}}, [2.9], [3, 4])
    check({"not": {"required": ["a"]}}, [{}, {"b": 1}], [{"a": 1}, 3])
    check({"not": {"properties": {"a": {"type": "string"}}}}, [{"a": 1}],
          [{}, {"a": "x"}, 3, {"b": 1}])  # fmt: skip
    check({"not": {"not": {"type": "string"}}}, ["a"], [1])
    check({"not": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, [1, []], ["a", None])
    check({"type": "array", "not": {"minItems": 2}}, [[], [1]], [[1, 2]])
    check({"type": "array", "not": {"contains": {"type": "null"}}}, [[], [1]], [[None], [1, None]])
    check({"type": "object", "not": {"minProperties": 2}}, [{}, {"a": 1}], [{"a": 1, "b": 2}])
    assert problem({"not": {}}).code == "unsatisfiable"


def test_not_of_what_no_complement_exists_for_is_refused_at_its_place() -> None:
    found = problem({"type": "object", "properties": {"n": {"type": "array",
                     "not": {"uniqueItems": True}}}})  # fmt: skip
    assert (found.code, found.origin.pointer) == ("unsupported-keyword", "/properties/n/not")


def test_not_of_integers_and_of_multiples() -> None:
    check({"not": {"type": "integer"}}, [1.5, -0.25, "1", None, [1]], [1, 1.0, -3, 0])
    check({"type": "integer", "not": {"multipleOf": 3}}, [1, -2, 100], [0, 3, -6, 1.5])
    check({"type": "number", "not": {"multipleOf": 0.5}}, [0.25, 1.1], [0, 0.5, 2, -1.5])
    check({"type": "number", "multipleOf": 0.25, "not": {"multipleOf": 0.5}},
          [0.25, -1.75], [0.5, 0, 1, 0.3])  # fmt: skip
    check({"not": {"type": "integer", "multipleOf": 4, "minimum": 0}},
          [5, -4, 4.5, -4.5, None], [0, 4, 8])  # fmt: skip
    check({"not": {"not": {"type": "integer"}}}, [3, -1], [3.5, None])
    check({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]},
          [1, -5, 2.5, 99.125], [2, 3, 1.5])  # fmt: skip
    check({"oneOf": [{"multipleOf": 3}, {"multipleOf": 5}], "type": "integer"},
          [3, 5, -6, 10], [0, 15, -30, 7])  # fmt: skip
    check({"type": "integer", "minimum": 3, "maximum": 6,
           "allOf": [{"not": {"multipleOf": 2}}, {"not": {"multipleOf": 5}}]},
          [3], [2, 4, 5, 6, 7])  # fmt: skip


def test_excluded_multiples_that_leave_nothing_are_told() -> None:
    whole = problem({"type": "integer", "not": {"multipleOf": 0.5}})
    assert whole.message == (
        "type integer and not multipleOf 0.5 exclude each other: no value can match"
    )
    between = problem(
        {
            "type": "integer",
            "minimum": 4,
            "maximum": 6,
            "allOf": [{"not": {"multipleOf": 2}}, {"not": {"multipleOf": 5}}],
        }
    )
    assert between.message.startswith(
        "no whole number that is a multiple of none of 2, 5 lies between minimum 4 and maximum 6"
    )
    both = problem({"type": "number", "multipleOf": 6, "not": {"multipleOf": 3}})
    assert both.message.startswith("multipleOf 6 and not multipleOf 3 exclude each other")


def test_a_negated_closed_object_needs_some_other_key() -> None:
    closed = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    check({"type": "object", "not": closed}, [{"b": 1}, {"a": 1, "b": 2}], [{}, {"a": 1}])
    check(
        {"type": "object", "properties": {"a": {}, "c": {"type": "null"}}, "required": ["a"],
         "additionalProperties": False, "not": closed},
        [{"a": 1, "c": None}], [{"a": 1}, {"c": None}],
    )  # fmt: skip
    check(
        {"type": "object", "not": {"propertyNames": {"not": {"enum": ["x", "y"]}}}},
        [{"x": 1}, {"y": 1, "z": 2}], [{}, {"z": 1}],
    )  # fmt: skip
    check({"type": "object", "not": {"patternProperties": {"^x": False}}},
          [{"x": 1}, {"a": 1, "xy": 2}], [{}, {"a": 1, "bx": 2}])  # fmt: skip


def test_some_open_key_must_be_of_a_kind() -> None:
    check({"type": "object", "not": {"additionalProperties": {"type": "integer"}}},
          [{"a": "x"}, {"a": 1, "b": None}, {"a": 1.5}], [{}, {"a": 1}, {"a": 1, "b": 2}],
          )  # fmt: skip
    check({"type": "object", "properties": {"n": {"type": "integer"}},
           "not": {"patternProperties": {"^k": {"minimum": 3}}, "minProperties": 1}},
          [{}, {"k": 2}, {"n": 1, "kk": 1}, {"k": 4, "k2": 0}],
          [{"n": 1}, {"k": 4}, {"a": 1, "k": "x"}])  # fmt: skip
    check({"type": "object", "oneOf": [{"additionalProperties": {"type": "string"}},
                                       {"patternProperties": {"^n": {"type": "integer"}}}]},
          [{"a": 1}, {"n": "x"}, {"a": 1, "n": 2}, {"a": None, "n": 1}],
          [{}, {"a": "x"}, {"n": None}, {"n": 1.5, "a": 1}])  # fmt: skip
    check({"if": {"additionalProperties": {"type": "null"}}, "then": {"maxProperties": 1},
           "else": {"required": ["z"]}},
          [{}, {"a": None}, {"z": 1}, {"a": None, "z": 1}, 3],
          [{"a": 1}, {"a": None, "b": None}, {"a": 1, "b": None}])  # fmt: skip


def test_several_keys_of_a_kind_are_counted_with_the_others() -> None:
    kinds = {"type": "object", "allOf": [{"not": {"patternProperties": {p: False}}} for p in "ab"]}
    check(kinds, [{"ab": 1}, {"a": 1, "b": 2}, {"ba": 1, "c": 2}], [{}, {"a": 1}, {"b": 1}])
    check({**kinds, "maxProperties": 1}, [{"ab": 1}, {"xbxa": 1}], [{"a": 1}, {"a": 1, "b": 1}])
    check({**kinds, "minProperties": 3}, [{"ab": 1, "c": 1, "d": 1}, {"a": 1, "b": 1, "c": 1}],
          [{"ab": 1}, {"a": 1, "b": 1}, {"a": 1, "aa": 1, "c": 1}])  # fmt: skip
    check({**kinds, "propertyNames": {"pattern": "^[abc]$"}}, [{"a": 1, "b": 1}],
          [{"c": 1}, {"a": 1, "c": 1}])  # fmt: skip
    named = {**kinds, "properties": {"a": {"type": "integer"}, "q": {}}, "maxProperties": 2}
    check(named, [{"a": 1, "b": 1}, {"ab": 1, "q": 1}], [{"a": 1, "q": 1}, {"a": "x", "b": 1}])
    nothing = problem({**kinds, "maxProperties": 1, "propertyNames": {"maxLength": 1}})
    assert nothing.code == "unsatisfiable"


def test_few_names_of_which_the_values_matter_are_refused() -> None:
    given = {"type": "object", "propertyNames": {"pattern": "^[a-z]$"},
             "not": {"additionalProperties": {"type": "integer"}}}  # fmt: skip
    found = problem(given)
    assert (found.code, found.origin.pointer) == ("unsupported-keyword", "/not")
    check({**given, "propertyNames": {"enum": ["a", "b"]}}, [{"a": "x"}, {"a": 1, "b": "x"}],
          [{}, {"a": 1, "b": 2}])  # fmt: skip


def test_a_demand_that_cannot_be_said_is_refused_where_it_leaves_no_choice() -> None:
    found = problem({"type": "object", "propertyNames": {"maxLength": 0},
                     "not": {"additionalProperties": {"uniqueItems": True}}})  # fmt: skip
    assert (found.code, found.message) == ("unsupported-keyword", "`not` is not supported here")


def test_what_a_clause_brings_along_and_cannot_be_said_is_refused() -> None:
    listed = {"enum": [{"k": 0}], "required": ["k"]}
    inner = {"dependentSchemas": {"x": {"type": "null"}, "y": {}},
             "oneOf": [{"minProperties": 1}, listed],
             "properties": {"y": False, "z": {"maxLength": 2}}}  # fmt: skip
    found = problems({"type": "object", "propertyNames": {"type": "number"},
                      "oneOf": [{"not": inner}, {}]})  # fmt: skip
    assert {p.code for p in found} == {"unsupported-keyword"}
    assert {p.origin.pointer for p in found} == {"/oneOf/0/not", "/oneOf/0/not/oneOf"}


KINDS = [
    {"type": "object", "properties": {"kind": {"type": "string"}, name: {"type": "integer"},
                                      f"{name}2": {"maxLength": 2}}, "required": [name]}
    for name in "abcdefg"
]  # fmt: skip
"""Objects that are told apart by any of three keys each."""


def test_what_many_objects_are_not_is_one_object_with_conditions() -> None:
    for kinds in (KINDS[:3], KINDS):
        check({"type": "object", "not": {"anyOf": kinds}},
              [{}, {"a": "x"}, {"a": 1, "a2": "long"}, {"a": 1, "kind": 3}],
              [{"a": 1}, {"b": 2, "a": "x"}, {"c": 1, "c2": "ab", "a": 1, "a2": "long"}],
              )  # fmt: skip
        check({"oneOf": kinds}, [{"a": 1}, {"b": 1, "a": "x"}, {"a": 1, "b": 1, "b2": "long"}],
              [{}, {"a": 1, "b": 2}, {"a": "x"}, {"a": 1, "kind": 1}])  # fmt: skip


def test_listed_containers_are_negated_too() -> None:
    check({"not": {"const": {}}}, [{"a": 1}, [], 0], [{}])
    check({"items": {"not": {"enum": [{}, []]}}}, [[{"a": 1}, [1]], {}], [[{}], [1, []]])
    check({"not": {"const": [1, "a"]}}, [[], [1], [1, "b"], [1, "a", 2], 1], [[1, "a"], [1.0, "a"]])
    check({"not": {"enum": [{"a": [1]}, {"b": None}, [2], 3]}},
          [{}, {"a": [1], "b": None}, {"a": [1, 1]}, {"b": 1}, [3], 2],
          [{"a": [1]}, {"b": None}, [2], 3])  # fmt: skip
    check({"type": "array", "items": {"type": "integer"}, "not": {"const": [1, 2]}},
          [[1], [2, 1], [1, 2, 3]], [[1, 2], ["a"]])  # fmt: skip


def test_what_is_not_expressible_does_not_matter_where_it_is_cut_away() -> None:
    check({"type": ["integer", "string"], "not": {"multipleOf": 3, "type": "integer"},
           "enum": ["a", 3, 4]}, ["a", 4], [3, 5])  # fmt: skip


def test_if_then_else() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"enum": ["file", "text"]}, "path": {}, "body": {}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "file"}}},
        "then": {"required": ["path"]},
        "else": {"required": ["body"]},
    }
    check(schema, [{"kind": "file", "path": 1}, {"kind": "text", "body": 1}],
          [{"kind": "file"}, {"kind": "text", "path": 1}, {"path": 1}])  # fmt: skip
    check({"if": {"type": "string"}, "then": {"maxLength": 2}}, ["ab", 3], ["abc"])
    check({"if": {"type": "string"}, "else": {"type": "null"}}, ["ab", None], [3])
    check({"if": {"type": "string"}, "then": False}, [3], ["a"])
    check({"then": {"type": "null"}, "else": False}, [1], [])


@pytest.mark.parametrize("keyword", ["dependentRequired", "dependencies"])
def test_dependencies_between_keys(keyword: str) -> None:
    schema: dict[str, Any] = {"type": "object", keyword: {"card": ["address", "name"]}}
    if keyword == "dependencies":
        schema["$schema"] = "http://json-schema.org/draft-07/schema#"
    check(schema, [{}, {"address": 1}, {"card": 1, "address": 1, "name": 1}],
          [{"card": 1}, {"card": 1, "name": 2}])  # fmt: skip


def test_dependent_schemas() -> None:
    schema = {"dependentSchemas": {"a": {"properties": {"b": {"type": "integer"}},
              "required": ["b"]}}}  # fmt: skip
    check(schema, [{}, {"b": "x"}, {"a": 1, "b": 2}, 5], [{"a": 1}, {"a": 1, "b": "x"}])
    check({"dependencies": {"a": {"maxProperties": 1}, "b": ["c"]}}, [{"a": 1}, {"b": 1, "c": 1}],
          [{"a": 1, "z": 1}, {"b": 1}], jsonschema_agrees=False)  # fmt: skip


def test_unevaluated_properties_see_through_applicators() -> None:
    base = [{"properties": {"foo": {"type": "integer"}}}, {"properties": {"bar": {}}}]
    check({"type": "object", "allOf": base, "unevaluatedProperties": False},
          [{}, {"foo": 1, "bar": "x"}], [{"baz": 1}, {"foo": "x"}])  # fmt: skip
    check({"type": "object", "anyOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]},
           {"properties": {"b": {"const": 2}}, "required": ["b"]}],
           "unevaluatedProperties": False},
          [{"a": 1}, {"b": 2}, {"a": 1, "b": 2}], [{}, {"a": 1, "b": 3}, {"a": 1, "c": 1}],
          )  # fmt: skip
    check({"properties": {"a": {}}, "unevaluatedProperties": {"type": "integer"}},
          [{"a": "x"}, {"b": 1}], [{"b": "x"}])  # fmt: skip
    check({"if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
           "then": {"properties": {"b": {}}}, "unevaluatedProperties": False},
          [{"a": 1}, {"a": 1, "b": 2}, {}], [{"b": 2}, {"a": 2}, {"a": 1, "c": 1}])  # fmt: skip
    check({"$ref": "#/$defs/x", "unevaluatedProperties": False,
           "$defs": {"x": {"patternProperties": {"^p": {}}}}}, [{"p1": 1}, {}], [{"q": 1}],
          )  # fmt: skip
    check({"allOf": [{"additionalProperties": {"type": "integer"}}],
           "unevaluatedProperties": False}, [{"z": 1}], [{"z": "x"}])  # fmt: skip
    check({"not": {"properties": {"a": {"const": 1}}, "required": ["a"]},
           "unevaluatedProperties": False}, [{}], [{"a": 2}, {"b": 1}])  # fmt: skip


def test_what_is_negated_twice_evaluates_nothing() -> None:
    whole = {"patternProperties": {"^a": {}}, "additionalProperties": {"type": "integer"}}
    check({"not": {"not": whole}, "unevaluatedProperties": False}, [{}, 3], [{"a": 1}, {"b": 1}])
    check({"not": {"oneOf": [{"type": "string"}, {"not": whole}]},
           "unevaluatedProperties": {"type": "null"}}, [{}, {"a": None}], [{"a": 1}, {"b": None}],
          )  # fmt: skip
    check({"oneOf": [{"maxProperties": 2}, {"not": whole}], "unevaluatedProperties": False},
          [{}], [{"a": 1}, {"b": 1}, {"b": "x"}])  # fmt: skip


def test_unevaluated_items() -> None:
    check({"prefixItems": [{"type": "integer"}], "unevaluatedItems": False},
          [[], [1], "x"], [["x"], [1, 2]])  # fmt: skip
    check({"allOf": [{"prefixItems": [{}, {}]}], "unevaluatedItems": {"type": "null"}},
          [[1, 2], [1, 2, None]], [[1, 2, 3]])  # fmt: skip
    check({"contains": {"type": "string"}, "minContains": 0, "unevaluatedItems": False},
          [["a", "b"], []], [["a", 1], [1]])  # fmt: skip


def test_unevaluated_items_are_those_that_no_contains_matches() -> None:
    text, whole = {"type": "string"}, {"type": "integer"}
    check({"contains": text, "unevaluatedItems": whole},
          [["a"], ["a", 1], [1, 2, "b"], "x"], [[], [1], ["a", None], ["a", 1.5]])  # fmt: skip
    check({"allOf": [{"contains": {"multipleOf": 4}}, {"contains": {"multipleOf": 6}}],
           "unevaluatedItems": {"multipleOf": 7}},
          [[4, 6], [12], [12, 7], [4, 7, 6, 8]], [[4], [6, 7], [4, 6, 5], [12, 3]])  # fmt: skip
    check({"prefixItems": [whole], "contains": text, "unevaluatedItems": False},
          [[1, "a"], [1, "a", "b"]], [["a"], [1], [1, "a", 2], [1, 2, "a"]])  # fmt: skip
    check({"if": {"contains": {"const": 1}}, "then": {"contains": {"const": 2}},
           "else": {"contains": {"const": 3}}, "unevaluatedItems": False},
          [[1, 2], [2, 1, 1], [3], [3, 3]], [[], [1], [2], [1, 3], [1, 2, 3], [3, 4]])  # fmt: skip


def test_what_contains_matches_is_evaluated_unless_a_negation_asks() -> None:
    never = {"type": "integer", "pattern": "a", "enum": ["x"]}
    check({"if": {"minItems": 1, "items": never}, "unevaluatedItems": False},
          [[], "x"], [[1], ["x", None]])  # fmt: skip
    check({"anyOf": [{"maxContains": 1}, {"contains": {"type": "string"}}],
           "unevaluatedItems": False}, [[], ["a"], ["a", "b"]], [[1], ["a", 1]])  # fmt: skip


def test_openapi_keywords_are_annotations_unless_asked_for() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}}
    check(schema, [{"a": "x"}], [{"a": None}])
    check(schema, [{"a": "x"}, {"a": None}], [{"a": 1}], jsonschema_agrees=False, openapi=True)
    tagged = {
        "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
        "discriminator": {"propertyName": "kind", "mapping": {"d": "#/components/schemas/Dog"}},
        "components": {"schemas": {
            "Cat": {"type": "object", "properties": {"kind": {"type": "string"}, "lives": {}}},
            "Dog": {"type": "object", "properties": {"kind": {"type": "string"}, "bark": {}}},
        }},
    }  # fmt: skip
    check(tagged, [{"kind": "Cat", "lives": 9}, {"kind": "d"}], [{"kind": "Dog"}, {"lives": 1}],
          jsonschema_agrees=False, openapi=True)  # fmt: skip


def test_a_key_that_a_negation_demands_counts() -> None:
    other = {"not": {"patternProperties": {"^$": {"type": "boolean"}}}}
    one = {"type": "object", "maxProperties": 1, **other}
    check(one, [{"": 1}], [{}, {"": True}, {"a": 1}, {"": 1, "a": 1}])
    # Counts that leave no room for it: no object, and no way into one that cannot end.
    for crowded in ({**one, "maxProperties": 0}, {**one, "required": ["a"]}):
        assert problem(crowded).code == "unsatisfiable"
        value = check({"properties": {"x": crowded}}, [{}, {"y": 1}], [{"x": {}}, {"x": {"": 1}}])
        assert isinstance(value.value, UnionValue)
        (found,) = (v for v in value.value.options if isinstance(v, ObjectValue))
        assert not found.keys
