"""References among documents. Verdicts are by hand and, where asked, from jsonschema's registry."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
from referencing.jsonschema import specification_with

from calligram.compiler.errors import CalligramError, LimitExceeded, SchemaError, ToolError
from calligram.compiler.findings import Finding, Findings
from calligram.compiler.ir import SchemaValue
from calligram.compiler.json_schema import ReadOptions, read_schema
from calligram.compiler.json_schema.documents import Documents
from calligram.compiler.origin import Origin, Problem
from calligram.compiler.validation import validator
from tests.unit.json_schema.helpers import accepts

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
HOST = "http://localhost:1234"


def read(schema: Any, documents: Mapping[str, Any], **options: Any) -> SchemaValue:
    given = ReadOptions(documents=Documents(documents), **options)
    return read_schema(schema, origin=Origin(), options=given, findings=Findings())


def findings(schema: Any, documents: Mapping[str, Any], **options: Any) -> list[Finding]:
    found = Findings()
    given = ReadOptions(documents=Documents(documents), **options)
    try:
        read_schema(schema, origin=Origin(), options=given, findings=found)
    except SchemaError:
        pass
    return list(found)


def problems(schema: Any, documents: Any) -> tuple[Problem, ...]:
    with pytest.raises(CalligramError) as caught:
        read(schema, documents)
    return caught.value.problems


def problem(schema: Any, documents: Any) -> Problem:
    found = problems(schema, documents)
    assert len(found) == 1, [str(p) for p in found]
    return found[0]


def plain_validator(schema: Any, documents: Mapping[str, Any]) -> Any:
    """jsonschema with the documents just as they are."""
    kind = validator_for(schema, default=Draft202012Validator)
    default = str(kind.META_SCHEMA.get("$schema"))
    resources = []
    for uri, document in documents.items():
        stated = document.get("$schema", default) if isinstance(document, dict) else default
        resources.append((uri, specification_with(stated).create_resource(document)))
    return kind(schema, registry=REGISTRY.with_resources(resources))


def check(
    schema: Any,
    documents: Mapping[str, Any],
    accept: Iterable[Any],
    reject: Iterable[Any],
    *,
    plainly: bool = True,
) -> SchemaValue:
    """The verdicts here, from jsonschema with the documents as they are (`plainly`), and from it
    as the compiler sets it up."""
    before = copy.deepcopy((schema, documents))
    value = read(schema, documents)
    known = Documents(documents)
    judges = [lambda v: accepts(value, v), validator(schema, known).is_valid]
    if plainly:
        judges.append(plain_validator(schema, documents).is_valid)
    assert (schema, documents) == before, "reading must not change what was given"
    for n, judge in enumerate(judges):
        for expected, instances in ((True, accept), (False, reject)):
            for instance in instances:
                assert judge(instance) is expected, (n, schema, instance)
    return value


INTEGER = {"type": "integer"}
PARTS = {
    "$defs": {
        "integer": {"type": "integer"},
        "toInteger": {"$ref": "#/$defs/integer"},
        "a/b ~c": {"type": "null"},
    }
}


# -- in the manner of the official suite's refRemote groups


def test_a_whole_document() -> None:
    check({"$ref": f"{HOST}/integer.json"}, {f"{HOST}/integer.json": INTEGER}, [1], ["a"])


def test_a_part_of_a_document_and_a_reference_inside_it() -> None:
    documents = {f"{HOST}/parts.json": PARTS}
    for part in ("integer", "toInteger"):
        check({"$ref": f"{HOST}/parts.json#/$defs/{part}"}, documents, [1], ["a"])
    escaped = f"{HOST}/parts.json#/$defs/a~1b%20~0c"
    check({"$ref": escaped}, documents, [None], ["a"])


def test_an_anchor_in_a_document() -> None:
    document = {"$defs": {"x": {"$anchor": "foo", "type": "integer"}}}
    check({"$ref": f"{HOST}/anchored.json#foo"}, {f"{HOST}/anchored.json": document}, [1], ["a"])


def test_an_older_drafts_anchor_in_a_document() -> None:
    document = {"$schema": DRAFT_7, "definitions": {"x": {"$id": "#foo", "type": "integer"}}}
    documents = {f"{HOST}/anchored.json": document}
    check({"$schema": DRAFT_7, "$ref": f"{HOST}/anchored.json#foo"}, documents, [1], ["a"])


def test_the_base_uri_changes_with_a_nested_id() -> None:
    schema = {
        "$id": f"{HOST}/",
        "items": {"$id": "baseUriChange/", "items": {"$ref": "folderInteger.json"}},
    }
    documents = {f"{HOST}/baseUriChange/folderInteger.json": INTEGER}
    check(schema, documents, [[[1]]], [[["a"]]])


def test_the_base_uri_changes_with_the_folder_of_a_definition() -> None:
    schema = {
        "$id": f"{HOST}/scope.json",
        "type": "object",
        "properties": {"list": {"$ref": "folder/"}},
        "$defs": {"x": {"$id": "folder/", "type": "array", "items": {"$ref": "item.json"}}},
    }
    check(schema, {f"{HOST}/folder/item.json": INTEGER}, [{"list": [1]}], [{"list": ["a"]}])


def test_a_reference_in_a_document_is_relative_to_that_document() -> None:
    documents = {
        f"{HOST}/nested/foo.json": {"type": "object", "properties": {"n": {"$ref": "./bar.json"}}},
        f"{HOST}/nested/bar.json": {"type": "string", "$ref": "../top.json#/$defs/short"},
        f"{HOST}/top.json": {"$defs": {"short": {"maxLength": 2}}},
    }
    check({"$ref": f"{HOST}/nested/foo.json"}, documents, [{"n": "ab"}], [{"n": "abc"}, {"n": 1}])


def test_an_id_inside_a_document_can_be_referred_to() -> None:
    documents = {
        f"{HOST}/bundle.json": {
            "$defs": {"i": {"$id": "inner.json", "$ref": "#/$defs/t", "$defs": {"t": INTEGER}}}
        }
    }
    check({"$ref": f"{HOST}/bundle.json#/$defs/i"}, documents, [1], ["a"])
    # jsonschema finds it only once it has been in the bundle.
    value = read({"$ref": f"{HOST}/inner.json"}, documents)
    assert accepts(value, 1) and not accepts(value, "a")


def test_what_a_document_calls_itself_counts_beside_what_it_is_given_as() -> None:
    documents = {
        "http://found.example/here/doc.json": {
            "$id": "http://called.example/there/doc.json",
            "$defs": {"a": {"$ref": "other.json"}},
        },
        "http://called.example/there/other.json": INTEGER,
    }
    for uri in ("http://found.example/here/doc.json", "http://called.example/there/doc.json"):
        # jsonschema itself would look for other.json beside where it found the document.
        plainly = "called" in uri
        check({"$ref": f"{uri}#/$defs/a"}, documents, [1], ["a"], plainly=plainly)


def test_a_document_of_an_older_draft_is_read_in_it() -> None:
    old = {
        "$schema": DRAFT_7,
        "definitions": {
            "pair": {"items": [{"type": "integer"}, {"type": "string"}], "additionalItems": False},
            "text": {"$ref": "#/definitions/any", "maxLength": 1},
            "any": {"type": "string"},
        },
        "type": "object",
        "prefixItems": "not a keyword of draft 7",
    }
    documents = {f"{HOST}/old.json": old}
    check({"$schema": DRAFT_2020, "$ref": f"{HOST}/old.json"}, documents, [{}], [1])
    # By pointer jsonschema alone would go on in the draft that it came from.
    pair = {"$schema": DRAFT_2020, "$ref": f"{HOST}/old.json#/definitions/pair"}
    check(pair, documents, [[1, "a"], [1]], [["a"], [1, "a", 2]], plainly=False)
    text = {"$schema": DRAFT_2020, "$ref": f"{HOST}/old.json#/definitions/text"}
    check(text, documents, ["abc"], [1], plainly=False)


def test_a_newer_document_is_read_in_its_draft_from_an_older_schema() -> None:
    documents = {f"{HOST}/new.json": {"$schema": DRAFT_2020, "$defs": {"pair": {
        "prefixItems": [{"type": "integer"}], "items": False}}}}  # fmt: skip
    schema = {"$schema": DRAFT_7, "$ref": f"{HOST}/new.json#/$defs/pair"}
    check(schema, documents, [[1], []], [["a"], [1, 2]], plainly=False)


def test_a_document_without_a_draft_has_that_of_the_schema_which_is_read() -> None:
    documents = {f"{HOST}/d.json": {"dependentRequired": {"a": ["b"]}}}
    newer = {"$schema": DRAFT_2019, "$ref": f"{HOST}/d.json"}
    check(newer, documents, [{"a": 1, "b": 1}], [{"a": 1}])
    older = {"$schema": DRAFT_7, "$ref": f"{HOST}/d.json"}
    check(older, documents, [{"a": 1}], [])


def test_draft_4_calls_documents_by_id() -> None:
    documents = {"http://found.example/x": {"$schema": DRAFT_4, "id": "http://called.example/x",
                 "minimum": 3, "exclusiveMinimum": True}}  # fmt: skip
    check({"$schema": DRAFT_4, "$ref": "http://called.example/x"}, documents, [4], [3],
          plainly=False)  # fmt: skip


TREE = {
    "$schema": DRAFT_2020,
    "$id": f"{HOST}/tree.json",
    "$dynamicAnchor": "node",
    "type": "object",
    "properties": {"data": True, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
}


def test_a_dynamic_reference_across_documents_takes_the_outermost_anchor() -> None:
    strict = {
        "$schema": DRAFT_2020,
        "$id": f"{HOST}/strict-tree.json",
        "$dynamicAnchor": "node",
        "$ref": "tree.json",
        "unevaluatedProperties": False,
    }
    documents = {f"{HOST}/tree.json": TREE}
    check(strict, documents, [{"children": [{"data": 1}]}],
          [{"children": [{"daat": 1}]}, {"daat": 1}])  # fmt: skip
    both = {**documents, f"{HOST}/strict-tree.json": strict}
    misspelt = {"children": [{"daat": 1}]}
    check({"$ref": f"{HOST}/strict-tree.json"}, both, [{"children": []}], [misspelt])
    check({"$ref": f"{HOST}/tree.json"}, both, [misspelt], [{"children": [1]}])


def test_a_generic_list_is_filled_by_the_document_that_uses_it() -> None:
    generic = {
        "$id": f"{HOST}/list.json",
        "type": "array",
        "items": {"$dynamicRef": "#item"},
        "$defs": {"default": {"$dynamicAnchor": "item"}},
    }
    texts = {
        "$id": f"{HOST}/texts.json",
        "$ref": "list.json",
        "$defs": {"item": {"$dynamicAnchor": "item", "type": "string"}},
    }
    documents = {f"{HOST}/list.json": generic, f"{HOST}/texts.json": texts}
    schema = {
        "type": "object",
        "properties": {
            "any": {"$ref": f"{HOST}/list.json"},
            "texts": {"$ref": f"{HOST}/texts.json"},
        },
    }
    check(schema, documents, [{"any": [1, "a"], "texts": ["a"]}], [{"texts": [1]}, {"any": 1}])


def test_a_recursive_reference_across_documents() -> None:
    tree = {
        "$schema": DRAFT_2019,
        "$id": f"{HOST}/tree.json",
        "$recursiveAnchor": True,
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$recursiveRef": "#"}}},
    }
    strict = {
        "$schema": DRAFT_2019,
        "$id": f"{HOST}/strict.json",
        "$recursiveAnchor": True,
        "$ref": "tree.json",
        "unevaluatedProperties": False,
    }
    check(strict, {f"{HOST}/tree.json": tree}, [{"kids": [{}]}], [{"kids": [{"x": 1}]}, {"x": 1}])


def test_a_tree_across_two_documents() -> None:
    documents = {
        f"{HOST}/tree.json": {
            "type": "object",
            "properties": {"meta": {"type": "string"},
                           "nodes": {"type": "array", "items": {"$ref": "node.json"}}},
            "required": ["meta", "nodes"],
        },
        f"{HOST}/node.json": {
            "type": "object",
            "properties": {"value": {"type": "number"}, "subtree": {"$ref": "tree.json"}},
            "required": ["value"],
        },
    }  # fmt: skip
    leaf = {"meta": "m", "nodes": [{"value": 1}]}
    value = check(
        {"$ref": f"{HOST}/tree.json"}, documents,
        [leaf, {"meta": "m", "nodes": [{"value": 1, "subtree": leaf}]}],
        [{"meta": "m", "nodes": [{"value": 1, "subtree": {"meta": 1, "nodes": []}}]},
         {"meta": "m", "nodes": [{"subtree": leaf}]}],
    )  # fmt: skip
    assert list(value.definitions) == ["tree.json"]


def test_a_document_may_refer_back_to_the_schema() -> None:
    schema = {
        "$id": f"{HOST}/root.json",
        "type": "object",
        "properties": {"kids": {"$ref": "kids.json"}},
        "additionalProperties": False,
    }
    documents = {f"{HOST}/kids.json": {"type": "array", "items": {"$ref": "root.json"}}}
    check(schema, documents, [{"kids": [{"kids": []}]}], [{"kids": [{"x": 1}]}, {"kids": {}}])
    # The schema itself among the documents, as where a whole folder is passed in.
    check(schema, {**documents, f"{HOST}/root.json": copy.deepcopy(schema)},
          [{"kids": [{"kids": []}]}], [{"kids": [{"x": 1}]}])  # fmt: skip


def test_relative_names_without_any_base() -> None:
    documents = {
        "schemas/person.json": {"type": "object", "properties": {"home": {"$ref": "place.json"}}},
        "schemas/place.json": {"type": "string"},
    }
    check({"$ref": "schemas/person.json"}, documents, [{"home": "x"}], [{"home": 1}],
          plainly=False)  # fmt: skip


@pytest.mark.parametrize("base", ["app://host/a", "urn:example:a"])
def test_schemes_that_urllib_does_not_join(base: str) -> None:
    documents = {base: {"$id": base, "$ref": "#x", "$defs": {"x": {"$anchor": "x", **INTEGER}}}}
    check({"$ref": base}, documents, [1], ["a"])
    if base.startswith("app"):
        documents = {base: {"$ref": "b#/$defs/x"}, "app://host/b": {"$defs": {"x": INTEGER}}}
        check({"$ref": base}, documents, [1], ["a"], plainly=False)


def test_true_and_false_are_documents_and_an_empty_fragment_is_none() -> None:
    schema = {"properties": {"a": {"$ref": "urn:t"}, "b": {"$ref": "urn:f"}}}
    check(schema, {"urn:t#": True, "urn:f": False}, [{"a": 1}, {}], [{"b": 1}], plainly=False)


def test_a_document_may_extend_a_metaschema_or_stand_for_it() -> None:
    documents = {f"{HOST}/strict.json": {"$ref": DRAFT_7, "required": ["type"]}}
    value = read({"$ref": f"{HOST}/strict.json"}, documents, on_unsupported="relax")
    assert accepts(value, {"type": "string"}) and not accepts(value, {})
    assert not accepts(value, {"type": "strin"})
    check({"$ref": DRAFT_7}, {DRAFT_7: {"type": "null"}}, [None], [{}], plainly=False)


# -- what is wrong


def test_an_unresolved_reference_names_documents_near_it() -> None:
    documents = {f"{HOST}/colour.json": {"$defs": {"Dark": {"$anchor": "dark"}}}}
    schema = {"properties": {"a": {"$ref": f"{HOST}/color.json"}}}
    found = problem(schema, documents)
    assert (found.code, found.origin.pointer) == ("unresolved-reference", "/properties/a/$ref")
    assert found.hint == (f"no document is '{HOST}/color.json'; did you mean `{HOST}/colour.json`?")
    far = problem({"$ref": "urn:x"}, documents)
    assert far.hint == f"no document is 'urn:x'; there are {HOST}/colour.json"
    none = problem({"$ref": "urn:x"}, {})
    assert none.hint == "no document is 'urn:x'; pass it in: documents={\"urn:x\": …}"


@pytest.mark.parametrize(
    ("fragment", "hint"),
    [
        ("/$defs/Drak", "did you mean `urn:c#/$defs/Dark`?"),
        ("/defs/Dark", "did you mean `urn:c#/$defs/Dark`?"),
        ("/$defs/a~1c", "did you mean `urn:c#/$defs/a~1b`?"),
        ("drak", "did you mean `urn:c#dark`?"),
        ("/$defs/qqqqqq", None),
        ("/title", "that is no schema"),
    ],
)
def test_an_unresolved_part_names_parts_near_it(fragment: str, hint: str | None) -> None:
    documents = {"urn:c": {"$defs": {"Dark": {"$anchor": "dark"}, "a/b": {}}, "title": "t"}}
    assert problem({"$ref": f"urn:c#{fragment}"}, documents).hint == hint


def test_a_part_of_the_schema_itself_is_hinted_at_too() -> None:
    found = problem({"$defs": {"Dark": {}}, "$ref": "#/$defs/Drak"}, {})
    assert found.hint == "did you mean `#/$defs/Dark`?"


def test_problems_and_findings_name_the_document() -> None:
    documents = {"urn:d": {"properties": {"a": {"maxLength": "x"}, "b": {"format": "date"}}}}
    found = problem({"$ref": "urn:d"}, documents)
    assert found.origin.pointer == "urn:d#/properties/a/maxLength"
    pointers = {f.origin.pointer: f.status for f in findings({"$ref": "urn:d"}, documents)}
    assert pointers["urn:d#/properties/b/format"] == "narrowed"
    nested = problem({"$ref": "urn:d"}, {"urn:d": {"$ref": "urn:e"}})
    assert nested.origin.pointer == "urn:d#/$ref"


@pytest.mark.parametrize(
    ("documents", "pointers"),
    [
        ({"urn:a": 1, "urn:b": [], "urn:c": None}, ["urn:a#", "urn:b#", "urn:c#"]),
        ({"": {}}, ["#"]),
        ({"#": {}}, ["#"]),
        ({"/a.json": {}}, ["/a.json#"]),
        ({"urn:a#/x": {}}, ["urn:a#"]),
        ({1: {}}, [""]),
    ],
)  # fmt: skip
def test_what_is_no_document(documents: Any, pointers: list[str]) -> None:
    found = problems({"type": "string"}, documents)
    assert [p.code for p in found] == ["invalid-document"] * len(pointers)
    assert [p.origin.pointer for p in found] == pointers


def test_documents_are_a_mapping() -> None:
    with pytest.raises(ToolError) as caught:
        Documents([{"$id": "urn:a"}])
    assert caught.value.problems[0].code == "invalid-option"


def test_a_key_that_is_no_string_is_located_in_its_document() -> None:
    found = problem(True, {"urn:a": {"properties": {"x": {1: 2}}}})
    assert (found.code, found.origin.pointer) == ("invalid-schema", "urn:a#/properties/x")


@pytest.mark.parametrize(
    "documents",
    [
        {"urn:a": {"type": "string"}, "urn:b": {"$id": "urn:a", "type": "null"}},
        {"urn:a": {"$id": "urn:c", "type": "string"}, "urn:b": {"$id": "urn:c", "type": "null"}},
        {"urn:a": {"const": 1}, "urn:a#": {"const": True}},
    ],
)
def test_two_documents_that_differ_have_one_uri(documents: Any) -> None:
    found = problem(True, documents)
    assert found.code == "duplicate-document"
    assert found.origin.pointer == f"{list(documents)[1].removesuffix('#')}#"


def test_one_document_under_two_uris_is_fine() -> None:
    document = {"$id": "urn:c", "type": "string"}
    check({"$ref": "urn:b"}, {"urn:a": document, "urn:b": copy.deepcopy(document)}, ["x"], [1])


def test_a_document_that_has_the_schemas_own_uri_must_say_the_same() -> None:
    found = problem({"$id": "urn:a", "type": "string"}, {"urn:a": {"type": "null"}})
    assert found.code == "duplicate-document"


# -- hostile documents


def test_a_cycle_of_references_among_documents_is_unsatisfiable() -> None:
    for size, code in ((2, "unsatisfiable"), (30, "unsatisfiable"), (500, "schema-too-deep")):
        documents = {f"urn:{i}": {"$ref": f"urn:{(i + 1) % size}"} for i in range(size)}
        found = problem({"$ref": "urn:0"}, documents)
        assert found.code == code and found.origin.pointer.startswith("urn:")
    wrapped = {f"urn:{i}": {"allOf": [{"$ref": f"urn:{(i + 1) % 3}"}]} for i in range(3)}
    assert {p.code for p in problems({"$ref": "urn:0"}, wrapped)} == {"unsatisfiable"}


def test_a_long_chain_of_documents_ends_at_a_limit_or_is_followed() -> None:
    documents: dict[str, Any] = {f"urn:{i}": {"$ref": f"urn:{i + 1}"} for i in range(2000)}
    documents["urn:2000"] = INTEGER
    value = read({"$ref": "urn:0"}, documents)
    assert accepts(value, 1) and not accepts(value, "a")
    deep = {f"urn:{i}": {"$ref": f"urn:{i + 1}", "minimum": i} for i in range(200)}
    with pytest.raises(LimitExceeded) as caught:
        read({"$ref": "urn:0"}, {**deep, "urn:200": INTEGER})
    assert caught.value.problems[0].code == "schema-too-deep"
    assert caught.value.problems[0].origin.pointer.startswith("urn:")


def test_anchors_that_decide_each_other_do_not_multiply_without_end() -> None:
    names = 12
    documents = {
        f"urn:{i}:{bit}": {
            "properties": {
                str(b): {"$ref": f"urn:{(i + 1) % names}:{b}"} for b in range(2)
            },
            "$defs": {"x": {"$dynamicAnchor": f"n{i}", "const": bit}},
        }
        for i in range(names)
        for bit in range(2)
    }  # fmt: skip
    with pytest.raises(LimitExceeded):
        read({"$ref": "urn:0:0"}, documents, max_steps=3_000)


def test_a_document_that_nests_too_deep_is_located() -> None:
    deep: Any = {}
    for _ in range(1000):
        deep = {"items": deep}
    with pytest.raises(LimitExceeded) as caught:
        Documents({"urn:a": deep})
    assert caught.value.problems[0].origin.pointer == "urn:a#"


def test_a_python_object_that_unfolds_without_end_is_stopped() -> None:
    node: Any = {"type": "string"}
    for _ in range(40):
        node = {"properties": {"l": node, "r": node}}
    with pytest.raises(LimitExceeded) as caught:
        read({"$ref": "urn:a"}, {"urn:a": node})
    assert caught.value.problems[0].code == "schema-too-large"
