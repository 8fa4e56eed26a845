"""Arrays and objects."""

from __future__ import annotations

from typing import Any

import pytest

from calligram.compiler.ir import ArrayValue, ObjectValue
from tests.unit.json_schema.helpers import check, problem, read

POINT = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}


def keys(schema: Any, **options: Any) -> list[tuple[str, bool]]:
    value = read(schema, **options).value
    assert isinstance(value, ObjectValue)
    return [(k.name, k.required) for k in value.keys]


def test_items_and_counts() -> None:
    check({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
          [[1], [1, 2, 3]], [[], [1, 2, 3, 4], ["1"], {}])  # fmt: skip
    check({"type": "array", "items": False}, [[]], [[1]])


def test_prefix_items_close_and_reach() -> None:
    schema = {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]}
    check(schema, [[], [1], [1, "a"], [1, "a", None]], [["a"], [1, 2]])
    check({**schema, "items": False, "minItems": 1}, [[1], [1, "a"]], [[], [1, "a", 0]])
    check({**schema, "items": {"type": "null"}}, [[1, "a", None]], [[1, "a", 0]])
    check({**schema, "maxItems": 1}, [[], [1]], [[1, "a"]])


def test_an_impossible_item_ends_the_array() -> None:
    never = {"type": "integer", "minimum": 1, "maximum": 0}
    check({"type": "array", "items": never}, [[]], [[1]])
    check({"type": "array", "prefixItems": [{}, False]}, [[], [1]], [[1, 2]])
    assert problem({"type": "array", "items": never, "minItems": 1}).code == "unsatisfiable"
    assert problem({"type": "array", "items": False, "minItems": 2}).message.startswith(
        "minItems 2 is more than the 0 items"
    )


def test_array_form_of_items_is_a_tuple() -> None:
    schema: dict[str, Any] = {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}
    accept: list[Any] = [["a", 1], ["a"], [], ["a", 1, True]]
    reject: list[Any] = [[1], ["a", "b"], {}]
    check(schema, accept, reject, jsonschema_agrees=False)
    schema["additionalItems"] = False
    check(schema, accept[:-1], [*reject, accept[-1]], jsonschema_agrees=False)
    schema["$schema"] = "http://json-schema.org/draft-07/schema#"
    check(schema, accept[:-1], [*reject, accept[-1]])
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found = problem(schema)
    assert (found.code, found.origin.pointer) == ("invalid-schema", "/items")


def test_unique_items_over_few_values_is_listed() -> None:
    schema = {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True}
    check({**schema, "minItems": 2}, [["a", "b"], ["c", "a", "b"]],
          [["a"], ["a", "a"], ["a", "b", "a"], ["d", "a"]])  # fmt: skip
    value = read({**schema, "maxItems": 1}).value
    assert isinstance(value, ArrayValue) and value.max_items == 1
    check({"type": "array", "uniqueItems": True, "prefixItems": [{"type": "boolean"}],
           "items": {"type": "null"}}, [[], [True], [False, None]], [[None], [True, None, None]],
          )  # fmt: skip
    check({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 2},
           "uniqueItems": True}, [[], [1], [2, 1]], [[1, 1], [3]])  # fmt: skip
    assert problem({**schema, "minItems": 4}).code == "unsatisfiable"


def test_unique_items_over_many_values_are_left_to_the_grammar() -> None:
    value = check({"type": "array", "items": {"type": "string"}, "uniqueItems": True},
                  [[], ["a", "b"], ["", "a", "aa"]], [["a", "a"], [1]]).value  # fmt: skip
    assert isinstance(value, ArrayValue) and value.unique
    check({"uniqueItems": True}, [[1, True], [0, False], "aa", [{"a": 1}, {"a": 2}]],
          [[1, 1.0], [{"a": 1, "b": 2}, {"b": 2, "a": 1}], [[], []]])  # fmt: skip
    numbers = {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 99},
               "uniqueItems": True}  # fmt: skip
    assert problem({**numbers, "minItems": 100}).code == "unsatisfiable"
    check({**numbers, "minItems": 99}, [list(range(1, 100))], [[1] * 99])
    beside = problem({**numbers, "contains": {"const": 5}})
    assert (beside.code, beside.origin.pointer) == ("unsupported-keyword", "/uniqueItems")


ONE_NULL = {"type": "array", "items": {"type": "null"}, "maxItems": 1}
FLAGS = {"properties": {"a": {"type": "boolean"}, "b": {"const": 1}},
         "type": "object", "additionalProperties": False}  # fmt: skip
RING = {"type": "array", "maxItems": 0, "items": {"$ref": "#/$defs/ring"}}
FINITE = [  # a schema of few values, and how many they are
    ({"type": "array", "maxItems": 0}, 1),
    (ONE_NULL, 2),
    ({"prefixItems": [{"type": "boolean"}, ONE_NULL], "minItems": 1, "maxItems": 2,
      "type": "array"}, 6),
    (FLAGS, 6),
    ({**FLAGS, "maxProperties": 1}, 4),
    ({**FLAGS, "required": ["a"]}, 4),
    ({**FLAGS, "minProperties": 2}, 2),
    ({"type": "string", "pattern": "^[ab]c?$"}, 4),
    ({"type": "string", "pattern": "^a*$", "maxLength": 3}, 4),
    ({"type": "number", "multipleOf": 0.1, "minimum": 0, "maximum": 0.4}, 5),
    ({"anyOf": [ONE_NULL, {"enum": [[], [None], [1]]}]}, 3),
    ({"$ref": "#/$defs/ring"}, 1),
]  # fmt: skip


@pytest.mark.parametrize(("item", "count"), FINITE)
def test_distinct_items_need_as_many_values(item: Any, count: int) -> None:
    many = {"type": "array", "uniqueItems": True, "items": item, "$defs": {"ring": RING}}
    read({**many, "minItems": count})
    refused = problem({**many, "minItems": count + 1})
    assert refused.code == "unsatisfiable"
    assert f"minItems {count + 1} is above the number of distinct items" in refused.message
    # Where nothing demands the array it is only left out.
    optional = {"properties": {"a": {**many, "minItems": count + 1}}, "$defs": {"ring": RING}}
    check(optional, [{}, {"b": 1}], [{"a": []}])


def test_each_place_needs_a_value_of_its_own() -> None:
    lists: dict[str, Any] = {"type": "array", "uniqueItems": True}
    places = [{"enum": [[1], [2]]}, {"enum": [[2]]}, {"enum": [[1], [2], [3]]}]
    check({**lists, "prefixItems": places, "minItems": 3},
          [[[1], [2], [3]], [[1], [2], [3], 0]], [[[1], [2]], [[2], [2], [3]]])  # fmt: skip
    full = {**lists, "prefixItems": [*places[:2], {"enum": [[2], [1]]}], "minItems": 3}
    assert problem(full).code == "unsatisfiable"


def test_contains_by_position_and_count() -> None:
    check({"type": "array", "contains": {"const": 1}, "maxItems": 2},
          [[1], [1, 2], [2, 1]], [[], [2], [2, 2], [1, 2, 3]])  # fmt: skip
    check({"type": "array", "contains": {}, "minContains": 2}, [[1, 2]], [[], [1]])
    check({"type": "array", "contains": {"type": "null"}, "minContains": 0}, [[], [1]], [None])
    check({"type": "array", "contains": False, "minContains": 0}, [[], [1]], [])
    check({"type": "array", "items": {"$ref": "#/$defs/n"}, "contains": {"$ref": "#/$defs/n"},
           "minItems": 1, "$defs": {"n": {"type": "integer"}}},
          [[1], [1, 2]], [[], ["a"]])  # fmt: skip
    assert problem({"type": "array", "contains": False}).code == "unsatisfiable"


def test_contains_in_arrays_of_any_length() -> None:
    one = {"type": "array", "contains": {"const": 1}}
    check(one, [[1], [2, 1], [1, 1, 3], [2, 2, 1, 2]], [[], [2], [2, 3]])
    check({**one, "maxContains": 1}, [[1], [2, 1, 3]], [[], [2], [1, 1], [1, 2, 1]])
    check({**one, "minContains": 0, "maxContains": 1}, [[], [2, 2], [1, 2]], [[1, 3, 1]])
    check({**one, "minContains": 2, "maxContains": 3},
          [[1, 1], [0, 1, 0, 1, 0], [1, 1, 1]], [[1], [1, 1, 1, 1]])  # fmt: skip
    check({**one, "minItems": 3}, [[1, 2, 3], [2, 2, 1], [2, 2, 2, 1]], [[1], [2, 1], [2, 2, 2]])
    check({**one, "prefixItems": [{"type": "integer"}, {"type": "string"}]},
          [[1], [2, "a", 1], [1, "a", "b"]], [[2], [2, "a"], ["a", "b", 1]])  # fmt: skip
    check({"type": "array", "items": {"type": "integer"}, "contains": {"minimum": 3},
           "minContains": 2}, [[3, 4], [1, 3, 2, 5]], [[3], [1, 3], [3, 4, "a"]])  # fmt: skip
    check({"type": "array", "not": {"items": {"type": "string"}}}, [[1], ["a", 1]], [[], ["a"]])
    check({"oneOf": [{"type": "array", "items": {"type": "string"}},
                     {"type": "array", "items": {"enum": ["a", 1]}}]},
          [["b"], ["a", 1], [1], ["a", "b"]], [[], ["a"], ["a", "a"], [2]])  # fmt: skip


def test_contains_beside_lengths_and_counts() -> None:
    one = {"type": "array", "contains": {"const": 1}}
    check({**one, "maxItems": 200}, [[1], [0] * 199 + [1], [1] * 200],
          [[], [0] * 200, [0] * 200 + [1]])  # fmt: skip
    check({**one, "minContains": 2, "minItems": 4, "maxItems": 5},
          [[1, 1, 0, 0], [0, 0, 1, 0, 1], [1] * 5],
          [[1, 1], [1, 0, 0, 0], [1] * 6, [1, 0, 0, 0, 0]])  # fmt: skip
    check({**one, "minContains": 20}, [[1] * 20, [0, 1] * 20, [1] * 30], [[1] * 19, [0] * 20])
    check({**one, "minContains": 3, "maxContains": 12, "prefixItems": [{"type": "string"}]},
          [["a", 1, 1, 1], ["a", *[1, 0] * 12]], [["a", 1, 1], [1, 1, 1, 1], ["a", *[1] * 13]],
          )  # fmt: skip


def test_several_contains_count_apart() -> None:
    both = {"type": "array", "allOf": [{"contains": {"minimum": 3}}, {"contains": {"maximum": 5}}]}
    check(both, [[4], [1, 9], [9, 0, 1]], [[], [1], [9], [6, 7]])
    check({**both, "maxItems": 1}, [[3], [5]], [[2], [6], [1, 9]])
    check({"type": "array", "allOf": [
        {"contains": {"type": "string"}, "minContains": 2, "maxContains": 3},
        {"contains": {"maxLength": 1, "type": "string"}, "maxContains": 1}]},
        [["a", "bc"], [0, "bc", "bd", "a"]],
        [["a"], ["a", "b"], ["ab", "cd"], ["a", "bc", "bd", "be"]])  # fmt: skip
    check({"type": "array", "contains": {"type": "string"},
           "not": {"contains": {"type": "null"}, "minContains": 2}},
          [["a"], ["a", None]], [[None], ["a", None, None], [1]])  # fmt: skip


def test_items_behind_a_tuple_are_negated_where_they_stand() -> None:
    pairs = {"type": "array", "prefixItems": [{}, {"type": "string"}], "items": {"minimum": 0}}
    check({"type": "array", "not": pairs}, [[0, 1], [0, "a", -1], [0, "a", 3, -1]],
          [[], [-1], [0, "a"], [0, "a", 1, 2]])  # fmt: skip
    check({"oneOf": [{"type": "array", "prefixItems": [{}], "items": {"type": "integer"}},
                     {"type": "array", "prefixItems": [{}], "items": {"minimum": 3}}]},
          [["x", 1], ["x", 3.5], ["x", 3, 1]], [[], ["x"], ["x", 3], ["x", 1, 3.5]])  # fmt: skip


def test_contains_that_takes_too_many_states_is_refused_at_its_place() -> None:
    one = {"type": "array", "contains": {"const": 1}}
    for more in ({"maxItems": 5000}, {"minContains": 3000},
                 {"minContains": 100, "maxItems": 200}):  # fmt: skip
        found = problem({**one, **more})
        assert (found.code, found.origin.pointer.rpartition("/")[2]) == (
            "unsupported-keyword", "contains",
        )  # fmt: skip


def test_items_with_nothing_in_common_are_unique() -> None:
    check({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}],
           "items": False, "uniqueItems": True},
          [[], ["a"], ["a", 1]], [["a", "a"], [1]])  # fmt: skip
    check({"type": "array", "prefixItems": [{"maxLength": 2, "type": "string"}], "maxItems": 2,
           "items": {"minLength": 3, "type": "string"}, "uniqueItems": True},
          [["ab", "abc"]], [["ab", "ab"], ["abc"]])  # fmt: skip


def test_declared_keys_come_in_order_then_required_ones() -> None:
    schema = {"type": "object", "required": ["z", "b"], "properties": {"b": {}, "a": {}}}
    assert keys(schema) == [("b", True), ("a", False), ("z", True)]
    check(schema, [{"b": 1, "z": 2}, {"z": 0, "a": 1, "b": 2, "q": 3}], [{}, {"b": 1}, {"z": 1}])


def test_objects_are_open_as_the_specification_says() -> None:
    check(POINT, [{}, {"x": 1}, {"x": 1, "z": "q"}], [{"x": "1"}, {"y": None}])


def test_closed_objects_take_no_undeclared_key() -> None:
    check(POINT, [{}, {"x": 1}], [{"z": 1}], jsonschema_agrees=False, closed_objects=True)
    for word in (True, {}, {"type": "string"}):
        opened = {**POINT, "additionalProperties": word}
        check(opened, [{"z": "q"}], [{"x": "q"}], closed_objects=True)
    check({"type": "object"}, [{"z": 1}], [[]], closed_objects=True)
    check({"type": "object", "properties": {}}, [{"z": 1}], [], closed_objects=True)
    check({"type": "object", "required": ["a"]}, [{"a": 1, "z": 1}], [{}], closed_objects=True)


def test_arguments_are_objects_and_empty_properties_mean_none() -> None:
    empty = {"type": "object", "properties": {}}
    check(empty, [{}], [{"a": 1}, []], jsonschema_agrees=False, closed_objects=True,
          arguments=True)  # fmt: skip
    check({"properties": {"a": {"type": "null"}}}, [{}, {"a": None}], [1, None, []],
          jsonschema_agrees=False, arguments=True)  # fmt: skip
    value = check({"enum": [{"a": 1}, {"b": 2}, 3]}, [{"a": 1}, {"b": 2}], [3, {}],
                  jsonschema_agrees=False, arguments=True)  # fmt: skip
    assert "ObjectValue" in repr(value.value) and "EnumValue(values=({" not in repr(value.value)
    assert problem({"type": "string"}, arguments=True).code == "unsatisfiable"


def test_additional_properties_in_every_form() -> None:
    check({**POINT, "additionalProperties": False}, [{}, {"x": 1, "y": 2}], [{"z": 1}])
    check({**POINT, "additionalProperties": {"type": "string"}}, [{"z": "q"}], [{"z": 1}])
    check({"type": "object", "additionalProperties": {}}, [{}, {"x": [1]}], ["x", []])
    check({"type": "object", "additionalProperties": {"minimum": 1, "maximum": 0,
           "type": "integer"}}, [{}], [{"a": 1}])  # fmt: skip


def test_pattern_properties_are_disjoint_classes() -> None:
    schema = {
        "type": "object",
        "properties": {"tag": {"type": "string"}, "n_max": {"maximum": 9}},
        "patternProperties": {"^n_": {"type": "integer"}, "x$": {"minimum": 0}},
        "additionalProperties": False,
    }
    check(schema, [{}, {"tag": "t", "n_a": 1}, {"n_x": 0}, {"x": "text"}, {"n_max": 9}],
          [{"n_a": "1"}, {"n_x": -1}, {"other": 1}, {"n_max": 10}, {"n_max": "a"}])  # fmt: skip
    value = read(schema).value
    assert isinstance(value, ObjectValue) and len(value.open_keys) == 3
    for i, a in enumerate(value.open_keys):
        for b in value.open_keys[i + 1 :]:
            assert (a.names & b.names).is_empty
        assert not any(a.names.accepts(k.name) for k in value.keys)


def test_property_names_bound_every_key() -> None:
    check({"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}},
          [{}, {"abc": 1}], [{"A": 1}, {"a1": 1}])  # fmt: skip
    check({"propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"type": "integer"}},
          [{"a": 1}, {"a": 1, "b": 2}, 7], [{"c": 1}, {"a": "x"}])  # fmt: skip
    check({"propertyNames": {"minLength": 2, "maxLength": 3}, "properties": {"a": {}}},
          [{"ab": 1}, {"abc": 1}], [{"a": 1}, {"abcd": 1}])  # fmt: skip
    check({"propertyNames": False}, [{}, 1], [{"a": 1}])
    check({"type": "object", "propertyNames": {"type": "string"}}, [{"any": 1}], [])
    found = problem({"type": "object", "properties": {"A": {}}, "required": ["A"],
                     "propertyNames": {"pattern": "^[a-z]$"}})  # fmt: skip
    assert found.message == "required key 'A' is refused by propertyNames: no value can match"


def test_counts_of_keys() -> None:
    closed = {**POINT, "additionalProperties": False}
    check({**closed, "minProperties": 1}, [{"x": 1}, {"x": 1, "y": 2}], [{}])
    check({**closed, "maxProperties": 1}, [{}, {"y": 1}], [{"x": 1, "y": 2}])
    two = {"type": "object", "minProperties": 2}
    check({**two, "required": ["a"]}, [{"a": 1, "b": 2}], [{"a": 1}, {"b": 1, "c": 2}])
    check(two, [{"a": 1, "b": 2}], [{}, {"a": 1}])
    check({**two, "properties": {"a": {}}}, [{"a": 1, "b": 2}, {"b": 1, "c": 2}], [{"b": 1}])
    check({"type": "object", "maxProperties": 0}, [{}], [{"a": 1}])
    assert problem({**closed, "minProperties": 3}).message.startswith("minProperties 3 is above")
    found = problem({"type": "object", "required": ["a", "b"], "maxProperties": 1})
    assert found.message.startswith("2 required keys is above maxProperties 1") or (
        "maxProperties 1" in found.message
    )


@pytest.mark.parametrize("never", [False, {"not": {}}, {"type": "integer", "allOf": [False]}])
def test_a_key_that_can_have_no_value_is_forbidden(never: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": never}}
    value = check(schema, [{}, {"a": 1}, {"z": 1}], [{"b": 1}, {"b": None}])
    assert isinstance(value.value, ObjectValue)
    assert [k.name for k in value.value.keys] == ["a"]
    assert not any(o.names.accepts("b") for o in value.value.open_keys)
    assert problem({**schema, "required": ["b"]}).code == "unsatisfiable"


def test_the_deepest_clash_of_a_required_key_is_named() -> None:
    inner = {"type": "string", "minLength": 4, "maxLength": 2}
    schema = {"type": "object", "properties": {"a": {"type": "object", "required": ["b"],
              "properties": {"b": inner}}}, "required": ["a"]}  # fmt: skip
    found = problem(schema)
    assert found.origin.pointer == "/properties/a/properties/b"
    assert found.message.startswith("minLength 4 is above maxLength 2")
    assert found.hint is not None and "required key 'a'" in found.hint


def test_boolean_schemas_stand_anywhere() -> None:
    check({"properties": {"a": True, "b": False}}, [{"a": 1}, {"z": 1}, 3], [{"b": 1}])
    check({"items": True}, [[1, "a"]], [])


def test_values_are_shared_and_never_is_not_seen() -> None:
    schema = {
        "$defs": {"leaf": {"type": "object", "properties": {"a": {"enum": [1, 2]}}}},
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/leaf"}, "q": {"$ref": "#/$defs/leaf"}},
    }
    value = read(schema).value
    assert isinstance(value, ObjectValue)
    assert value.keys[0].value is value.keys[1].value
    assert "NeverValue" not in repr(value)
