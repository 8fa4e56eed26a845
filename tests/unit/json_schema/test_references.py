"""$ref in all its forms, and recursion."""

from __future__ import annotations

from typing import Any

import pytest

from calligram.compiler.ir import ObjectValue, ReferenceValue
from tests.unit.json_schema.helpers import accepts, check, problem, problems, read

NODE = {
    "type": "object",
    "properties": {"v": {"type": "integer"},
                   "kids": {"type": "array", "items": {"$ref": "#/$defs/N"}}},
    "required": ["v"],
    "additionalProperties": False,
}  # fmt: skip


def test_a_reference_stands_for_the_schema_it_points_to() -> None:
    schema = {"$defs": {"Color": {"enum": ["red", "green"]}}, "type": "object",
              "properties": {"c": {"$ref": "#/$defs/Color", "description": "…"}},
              "required": ["c"]}  # fmt: skip
    value = check(schema, [{"c": "red"}], [{"c": "blue"}, {"c": {}}])
    assert value.definitions == {}


def test_siblings_of_a_reference_hold_too() -> None:
    schema: dict[str, Any] = {"$defs": {"s": {"type": "string"}}, "$ref": "#/$defs/s",
                              "maxLength": 2}  # fmt: skip
    check(schema, ["ab"], ["abc", 1])


def test_draft_7_ignores_the_siblings_of_a_reference() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#",
              "definitions": {"s": {"type": "string"}},
              "properties": {"p": {"$ref": "#/definitions/s", "maxLength": 2}}}  # fmt: skip
    check(schema, [{"p": "abc"}], [{"p": 1}])


@pytest.mark.parametrize(
    "reference", ["#/$defs/a~1b", "#/$defs/a%2Fb", "#/$defs/c~0d", "#/$defs/per%25cent"]
)
def test_pointers_with_escapes(reference: str) -> None:
    text = {"type": "string"}
    schema = {"$defs": {"a/b": text, "c~d": text, "per%cent": text}, "$ref": reference}
    if reference == "#/$defs/a%2Fb":
        # A decoded slash separates: there is no `a` with a `b` inside.
        assert problem(schema).code == "unresolved-reference"
        return
    check(schema, ["x"], [1])


def test_pointers_through_lists_and_outside_of_defs() -> None:
    schema = {"anyOf": [{"type": "string"}, {"type": "object",
              "properties": {"again": {"$ref": "#/anyOf/0"}}}]}  # fmt: skip
    check(schema, ["x", {"again": "y"}], [{"again": 1}, 1])
    assert problem({"anyOf": [{"$ref": "#/anyOf/01"}]}).code == "unresolved-reference"


def test_anchors_and_ids_inside_the_document() -> None:
    schema = {
        "$id": "https://example.com/root",
        "type": "object",
        "properties": {
            "a": {"$ref": "#text"},
            "b": {"$ref": "other"},
            "c": {"$ref": "https://example.com/other#/$defs/n"},
            "d": {"$ref": "urn:calligram:x"},
        },
        "$defs": {
            "t": {"$anchor": "text", "type": "string"},
            "o": {"$id": "other", "type": "integer", "allOf": [{"$ref": "#/$defs/n"}],
                  "$defs": {"n": {"minimum": 3}}},
            "u": {"$id": "urn:calligram:x", "type": "null"},
        },
    }  # fmt: skip
    check(schema, [{"a": "x", "b": 3, "c": 4, "d": None}],
          [{"a": 1}, {"b": 2}, {"c": 2}, {"d": 0}])  # fmt: skip


def test_a_dangling_reference_is_located_where_it_is_used() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/Missing"}}}
    found = problem(schema)
    assert found.code == "unresolved-reference"
    assert found.origin.pointer == "/properties/a/$ref"
    assert found.message == "'#/$defs/Missing' does not resolve"
    assert problem({"$ref": "https://example.com/far"}).code == "unresolved-reference"
    assert problem({"properties": {"a": {"$ref": "#nope"}}}).code == "unresolved-reference"
    assert problem({"enum": [[1]], "$ref": "#/enum/0"}).code == "unresolved-reference"


def test_a_tree_is_a_definition() -> None:
    schema = {"$defs": {"N": NODE}, "$ref": "#/$defs/N"}
    value = check(schema, [{"v": 1}, {"v": 1, "kids": [{"v": 2, "kids": []}, {"v": 3}]}],
                  [{"kids": []}, {"v": 1, "kids": [{"v": "x"}]}, {"v": 1, "kids": [{}]}],
                  )  # fmt: skip
    assert list(value.definitions) == ["N"]
    assert isinstance(value.value, ObjectValue)


def test_a_reference_to_the_root() -> None:
    schema = {"type": "object", "properties": {"child": {"$ref": "#"}},
              "additionalProperties": False}  # fmt: skip
    value = check(schema, [{}, {"child": {"child": {}}}], [{"child": 1}, {"child": {"x": 1}}])
    assert isinstance(value.value, ObjectValue)
    assert value.value.keys[0].value == ReferenceValue("root", value.value.keys[0].value.origin)


def test_mutual_recursion() -> None:
    schema = {
        "$defs": {
            "even": {"type": "object", "properties": {"n": {"$ref": "#/$defs/odd"}},
                     "additionalProperties": False},
            "odd": {"type": "object", "properties": {"n": {"$ref": "#/$defs/even"}},
                    "required": ["n"], "additionalProperties": False},
        },
        "$ref": "#/$defs/even",
    }  # fmt: skip
    check(schema, [{}, {"n": {"n": {}}}], [{"n": {}}, {"n": {"n": {"n": {}}}}])


def test_a_conjunction_with_a_recursive_reference_ends() -> None:
    schema = {
        "$defs": {"N": {"type": "object", "properties": {"v": {"type": "integer"},
                  "next": {"$ref": "#/$defs/N"}}, "required": ["v"]}},
        "allOf": [{"$ref": "#/$defs/N"}, {"properties": {"v": {"minimum": 3},
                  "next": {"properties": {"v": {"maximum": 9}}}}}],
    }  # fmt: skip
    check(schema, [{"v": 3}, {"v": 3, "next": {"v": 0, "next": {"v": 100}}}],
          [{"v": 2}, {"v": 3, "next": {"v": 10}}, {"v": 3, "next": {"v": 1, "next": {}}}],
          )  # fmt: skip
    both = {
        "$defs": {
            "A": {"type": "object", "properties": {"k": {"$ref": "#/$defs/A"}, "a": {"const": 1}}},
            "B": {"type": "object", "properties": {"k": {"$ref": "#/$defs/B"}, "b": {"const": 2}}},
        },
        "allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}],
    }
    value = check(both, [{}, {"a": 1, "b": 2, "k": {"a": 1, "k": {"b": 2}}}],
                  [{"a": 2}, {"k": {"k": {"b": 1}}}])  # fmt: skip
    assert len(value.definitions) == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#/$defs/b"},
                                                     "b": {"oneOf": [{"$ref": "#/$defs/a"}]}}},
        {"not": {"$ref": "#"}},
    ],
)  # fmt: skip
def test_a_schema_that_refers_to_itself_with_no_way_out(schema: Any) -> None:
    assert {p.code for p in problems(schema)} == {"unsatisfiable"}


def test_recursion_without_a_finite_value_is_unsatisfiable() -> None:
    schema = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    assert problem(schema).code == "unsatisfiable"
    assert problem({"type": "array", "items": {"$ref": "#"}, "minItems": 1}).code == "unsatisfiable"
    endless = {**schema, "properties": {"next": {"$ref": "#/$defs/endless"}}}
    optional = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/endless"}},
        "$defs": {"endless": endless},
    }
    check(optional, [{}, {"b": 1}], [{"a": {}}])


def test_dynamic_and_recursive_references_without_a_choice() -> None:
    check({"$dynamicAnchor": "node", "type": "object", "additionalProperties": False,
           "properties": {"k": {"$dynamicRef": "#node"}}},
          [{}, {"k": {"k": {}}}], [{"k": 1}])  # fmt: skip
    check({"$schema": "https://json-schema.org/draft/2019-09/schema", "type": "object",
           "properties": {"k": {"$recursiveRef": "#"}}, "additionalProperties": False},
          [{}, {"k": {}}], [{"k": 1}, {"z": 1}])  # fmt: skip


GENERIC = {
    "$id": "generic",
    "type": "array",
    "items": {"$dynamicRef": "#item"},
    "$defs": {"any": {"$dynamicAnchor": "item"}},
}


def a_list_of(name: str, item: dict[str, Any]) -> dict[str, Any]:
    item = {"$dynamicAnchor": "item", **item}
    return {"$id": name, "$ref": "generic", "$defs": {"item": item}}


def test_a_dynamic_reference_takes_the_outermost_anchor_of_its_path() -> None:
    schema = {
        "$id": "https://example.com/lists",
        "type": "object",
        "additionalProperties": False,
        "properties": {"texts": {"$ref": "texts"}, "wholes": {"$ref": "wholes"},
                       "all": {"$ref": "generic"}, "nested": {"$ref": "outer"}},
        "$defs": {
            "generic": GENERIC,
            "texts": a_list_of("texts", {"type": "string"}),
            "wholes": a_list_of("wholes", {"type": "integer"}),
            "outer": {"$id": "outer", "$ref": "texts",
                      "$defs": {"item": {"$dynamicAnchor": "item", "type": "boolean"}}},
        },
    }  # fmt: skip
    check(schema, [{"texts": ["a"], "wholes": [1], "all": ["a", 1, None], "nested": [True]}],
          [{"texts": [1]}, {"wholes": ["a"]}, {"nested": ["a"]}, {"all": 1}])  # fmt: skip


def test_a_dynamic_reference_to_a_plain_anchor_or_by_pointer_is_a_plain_one() -> None:
    for reference in ("#item", "#/$defs/any"):
        plain = {**GENERIC, "items": {"$dynamicRef": reference},
                 "$defs": {"any": {"$anchor": "item", "type": "null"}}}  # fmt: skip
        schema = {"$id": "https://example.com/plain", "$ref": "texts",
                  "$defs": {"g": plain, "t": a_list_of("texts", {"type": "string"})}}  # fmt: skip
        check(schema, [[None]], [["a"]])


def test_a_dynamic_reference_leaves_with_its_resource() -> None:
    schema = {
        "$id": "https://example.com/branches",
        "if": {"$id": "first", "required": ["a"],
               "$defs": {"x": {"$dynamicAnchor": "x", "type": "null"}}},
        "then": {"$id": "second", "properties": {"a": {"$ref": "use"}},
                 "$defs": {"x": {"$dynamicAnchor": "x", "type": "integer"}}},
        "$defs": {"use": {"$id": "use", "$dynamicRef": "#x",
                          "$defs": {"x": {"$dynamicAnchor": "x"}}}},
    }  # fmt: skip
    check(schema, [{"a": 1}, {"b": 1}], [{"a": None}, {"a": "x"}])


def test_a_recursive_reference_extends_the_tree_it_is_in() -> None:
    tree = {
        "$id": "tree",
        "$recursiveAnchor": True,
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$recursiveRef": "#"}}},
    }
    for anchored, accept in ((True, False), (False, True)):
        schema = {
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "$id": "https://example.com/strict",
            "$recursiveAnchor": anchored,
            "$ref": "tree",
            "unevaluatedProperties": False,
            "$defs": {"t": tree},
        }
        value = check(schema, [{}, {"kids": [{"kids": []}]}], [{"x": 1}, {"kids": [1]}])
        assert accepts(value, {"kids": [{"x": 1}]}) is accept


def test_references_to_an_id_that_is_a_reference_itself() -> None:
    schema = {
        "$id": "https://example.com/a/base.json",
        "$ref": "nested/one.json",
        "$defs": {"one": {"$id": "nested/one.json", "$ref": "./two.json"},
                  "two": {"$id": "nested/two.json", "type": "number"}},
    }  # fmt: skip
    check(schema, [1], ["a"])


def test_metaschemas_are_at_hand() -> None:
    check({"$ref": "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"},
          [0, 5], [-1, "x"])  # fmt: skip
    keyword = "https://json-schema.org/draft/2020-12/meta/validation"
    check({"properties": {"maxLength": {"$ref": f"{keyword}#/properties/maxLength"}}},
          [{"maxLength": 3}], [{"maxLength": -3}])  # fmt: skip
    whole = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
    check(whole, [True, {"minLength": 1, "properties": {"a": {"items": {}}}}, {"required": ["a"]}],
          [1, {"minLength": -1}, {"properties": {"a": {"type": "text"}}},
           {"required": ["a", "a"]}])  # fmt: skip


def test_a_document_that_extends_a_metaschema_is_what_its_dynamic_references_mean() -> None:
    schema = {
        "$id": "https://example.com/dialect",
        "$dynamicAnchor": "meta",
        "$ref": "https://json-schema.org/draft/2020-12/meta/applicator",
        "properties": {"note": {"type": "string"}},
    }
    check(schema, [{"not": {"note": "n"}}], [{"note": 1}, {"not": {"note": 1}}])


def test_shared_diamonds_do_not_multiply() -> None:
    depth = 60
    defs = {f"d{i}": {"type": "object", "properties": {
        "l": {"$ref": f"#/$defs/d{i + 1}"}, "r": {"$ref": f"#/$defs/d{i + 1}"}}}
        for i in range(depth)}  # fmt: skip
    defs[f"d{depth}"] = {"type": "null"}
    value = read({"$defs": defs, "$ref": "#/$defs/d0"})
    assert accepts(value, {"l": {"r": {}}}) and not accepts(value, {"l": {"r": 1}})
    assert value.definitions == {}
