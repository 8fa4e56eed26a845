"""Each keyword gets a status at its pointer; nothing is dropped in silence."""

from __future__ import annotations

from typing import Any

from calligram.compiler.findings import Finding
from calligram.compiler.membership import contains
from calligram.compiler.origin import Origin
from tests.unit.json_schema.helpers import check, read, read_findings


def statuses(schema: Any, **options: Any) -> dict[str, str]:
    return {f.origin.pointer: f.status for f in read_findings(schema, **options)}


def how(schema: Any, pointer: str, **options: Any) -> str:
    return next(f.how for f in read_findings(schema, **options) if f.origin.pointer == pointer)


def test_every_keyword_occurrence_has_one_finding() -> None:
    schema = {
        "title": "t", "type": "object", "required": ["a"], "additionalProperties": False,
        "properties": {"a": {"type": "string", "maxLength": 3, "default": "x"},
                       "b": {"anyOf": [{"const": 1}, {"type": "null"}], "x-note": 1}},
    }  # fmt: skip
    assert statuses(schema) == {
        "/title": "annotation", "/type": "enforced", "/required": "enforced",
        "/additionalProperties": "enforced", "/properties": "enforced",
        "/properties/a/type": "enforced", "/properties/a/maxLength": "enforced",
        "/properties/a/default": "annotation", "/properties/b/anyOf": "enforced",
        "/properties/b/x-note": "annotation", "/properties/b/anyOf/0/const": "enforced",
        "/properties/b/anyOf/1/type": "enforced",
    }  # fmt: skip
    pointers = [f.origin.pointer for f in read_findings(schema)]
    assert len(pointers) == len(set(pointers))


def test_annotations_of_schemas_without_conditions_are_found_too() -> None:
    assert statuses({"items": {"description": "d"}})["/items/description"] == "annotation"
    nested = statuses({"$defs": {"s": {"type": "string"}},
                       "properties": {"p": {"$ref": "#/$defs/s", "title": "t"}}})  # fmt: skip
    assert nested["/properties/p/$ref"] == "enforced"
    assert nested["/properties/p/title"] == "annotation"
    assert nested["/$defs/s/type"] == "enforced"


def test_a_misspelt_keyword_is_reported_with_a_hint() -> None:
    assert how({"maxlength": 3}, "/maxlength") == (
        "unknown keyword: ignored; did you mean `maxLength`?"
    )


def test_closing_is_reported_as_narrowed() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}}}}
    found = [f for f in read_findings(schema, closed_objects=True) if f.status == "narrowed"]
    assert [(f.keyword, f.origin.pointer) for f in found] == [
        ("additionalProperties", ""), ("additionalProperties", "/properties/a"),
    ]  # fmt: skip
    assert not [f for f in read_findings(schema) if f.status == "narrowed"]


def impossible(schema: Any, **options: Any) -> dict[str, str]:
    """The keys that are reported as ones that no object can have, and why."""
    found = [f for f in read_findings(schema, **options) if f.how.startswith("no object can")]
    assert {(f.status, f.keyword) for f in found} <= {("enforced", "properties")}
    return {f.origin.pointer: f.how.partition(": ")[2] for f in found}


def test_an_optional_key_without_a_value_is_left_out_and_reported() -> None:
    schema = {
        "properties": {
            "list": {"type": "array", "enum": ["x", "y"]},
            "text": {"type": "string", "minLength": 3, "maxLength": 2},
            "fine": {"type": "string"},
            "shut": False,
        },
        "required": ["fine"],
    }
    assert impossible(schema) == {
        "/properties/list": "no listed value is of type array",
        "/properties/text": "minLength 3 is above maxLength 2",
    }
    check(schema, [{"fine": ""}], [{"fine": "", "list": "x"}, {"fine": "", "list": []}])


def test_closed_schemas_side_by_side_leave_each_other_no_key() -> None:
    parts = [{"properties": {k: {}}, "additionalProperties": False} for k in "ab"]
    assert impossible({"allOf": parts}).keys() == {"/allOf/0/properties/a", "/allOf/1/properties/b"}


def test_a_key_that_some_alternative_has_is_possible() -> None:
    tests = {
        "properties": {"kind": {"enum": ["x", "y"]}, "n": {"type": "integer"}},
        "if": {"properties": {"kind": {"const": "x"}}},
        "else": {"properties": {"n": False}},
    }
    assert not impossible(tests)
    tagged = [{"properties": {"kind": {"const": k}, k: {"type": "null"}}} for k in "xy"]
    assert not impossible({"oneOf": tagged})


def test_what_is_dropped_is_relaxed_and_what_is_refused_says_so() -> None:
    schema = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    assert statuses(schema)["/uniqueItems"] == "narrowed"
    assert statuses(schema, on_unsupported="relax")["/uniqueItems"] == "relaxed"
    assert read(schema, on_unsupported="relax")
    pattern = {"type": "string", "pattern": "^(a)\\1$"}
    assert statuses(pattern)["/pattern"] == "refused"
    assert statuses(pattern, on_unsupported="relax")["/pattern"] == "relaxed"


def test_formats_say_whether_they_are_asserted() -> None:
    for name, status in [("date", "narrowed"), ("uuid", "enforced"), ("regex", "narrowed"),
                         ("int64", "annotation"), ("my-own", "annotation")]:  # fmt: skip
        assert statuses({"type": "string", "format": name})["/format"] == status
    assert statuses({"format": "date"}, formats="annotate")["/format"] == "annotation"


def test_older_forms_are_told_by_their_shape() -> None:
    assert how({"items": [{}]}, "/items") == (
        "array form is the draft-07 tuple; read as prefixItems"
    )
    assert how({"minimum": 1, "exclusiveMinimum": True}, "/exclusiveMinimum") == (
        "boolean form is draft 4"
    )


def test_keywords_of_another_draft_are_annotations() -> None:
    draft_7 = "http://json-schema.org/draft-07/schema#"
    found = statuses({"$schema": draft_7, "prefixItems": [{}], "unevaluatedProperties": False})
    assert found["/prefixItems"] == found["/unevaluatedProperties"] == "annotation"
    hidden = {"$schema": draft_7, "$ref": "#/definitions/a", "maxLength": 1,
              "definitions": {"a": {"type": "string"}}}  # fmt: skip
    assert statuses(hidden)["/maxLength"] == "annotation"
    assert how(hidden, "/maxLength") == "ignored beside $ref in draft-07"


def test_openapi_keywords_carry_a_hint() -> None:
    assert "openapi=True" in how({"type": "string", "nullable": True}, "/nullable")
    assert statuses({"type": "string", "nullable": True}, openapi=True)["/nullable"] == "enforced"


def test_a_finding_as_json_leaves_out_what_is_empty() -> None:
    found = Finding("narrowed", "items", "how", Origin("/items", tool="t"))
    assert found.to_json() == {"status": "narrowed", "keyword": "items", "tool": "t",
                               "pointer": "/items", "how": "how"}  # fmt: skip
    assert Finding("enforced", "type", "", Origin("/type")).to_json() == {
        "status": "enforced", "keyword": "type", "pointer": "/type"}  # fmt: skip


def test_what_asserts_nothing_is_reported_as_an_annotation() -> None:
    schema = {
        "type": "string", "contentEncoding": "base64", "contentMediaType": "application/json",
        "contentSchema": {"type": "object"}, "nullable": True,
        "discriminator": {"propertyName": "kind"}, "x-order": 1, "minLenght": 3, "descripton": "d",
    }  # fmt: skip
    found = statuses(schema)
    assert {p for p, status in found.items() if status == "annotation"} == {
        f"/{keyword}" for keyword in schema if keyword != "type"
    }
    # What is inside of an annotation is no schema that is read.
    assert "/contentSchema/type" not in found
    value = read(schema)
    for instance in ("", "not base64 !"):
        assert contains(value.value, value.definitions, instance)
    assert not contains(value.value, value.definitions, None)
    for keyword in ("contentEncoding", "contentMediaType", "contentSchema"):
        assert how(schema, f"/{keyword}") == "describes what the text holds, asserts nothing"
    assert how(schema, "/x-order") == "unknown keyword: ignored"
    assert how(schema, "/minLenght") == "unknown keyword: ignored; did you mean `minLength`?"
    assert how(schema, "/descripton") == "unknown keyword: ignored; did you mean `description`?"
    assert "read with openapi=True" in how(schema, "/discriminator")
