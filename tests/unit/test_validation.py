"""The validator of parsed calls reads documents as the compiler does."""

from __future__ import annotations

from typing import Any

import pytest

import calligram
from calligram.compiler.json_schema.documents import Documents
from calligram.compiler.validation import validator
from calligram.targets import parser

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
TAGS = {
    "type": "array",
    "items": {"type": "string"},
    "contains": {"type": "string", "maxLength": 1},
    "uniqueItems": True,
}
UNIQUE = {"$defs": {"tags": TAGS}}


def tool(parameters: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": "t", "input_schema": parameters}]


def written(arguments: str) -> str:
    return f'<tool_call>\n{{"name": "t", "arguments": {arguments}}}\n</tool_call>'


@pytest.mark.parametrize("uri", ["https://example.com/defs.json", "app://x/defs", "defs.json"])
def test_what_is_relaxed_in_a_document_is_checked_after_parsing(uri: str) -> None:
    schema = {"type": "object", "properties": {"tags": {"$ref": f"{uri}#/$defs/tags"}}}
    documents = {uri: UNIQUE}
    with pytest.raises(calligram.SchemaError) as caught:
        calligram.compile_tools(tool(schema), "hermes-json", documents=documents)
    problem = caught.value.problems[0]
    assert problem.code == "unsupported-keyword"
    assert problem.origin.pointer == f"{uri}#/$defs/tags/uniqueItems"
    assert problem.origin.tool == "t"
    grammar = calligram.compile_tools(
        tool(schema), "hermes-json", documents=documents, on_unsupported="relax"
    )
    relaxed = grammar.report.by_status("relaxed")
    assert [f.origin.pointer for f in relaxed] == [f"{uri}#/$defs/tags/uniqueItems"]
    reader = parser.compile(grammar)
    assert reader.parse(written('{"tags": ["a", "b"]}')).problems == ()
    found = reader.parse(written('{"tags": ["a", "a"]}')).problems
    assert [(p.code, p.origin.pointer) for p in found] == [("invalid-arguments", "/arguments/tags")]


def test_an_unconstrained_call_is_held_against_the_document() -> None:
    documents = {"urn:size": {"type": "integer", "maximum": 9}}
    schema = {"type": "object", "properties": {"size": {"$ref": "urn:size"}}}
    grammar = calligram.compile_tools(tool(schema), "hermes-json", documents=documents)
    found = parser.compile(grammar).parse(written('{"size": 12}')).problems
    assert [(p.code, p.message) for p in found] == [
        ("invalid-arguments", "12 is greater than the maximum of 9")
    ]


def test_siblings_of_a_reference_count_as_the_schemas_own_draft_says() -> None:
    parts = {"t": {"type": "object"}, "s": {"$ref": "#/definitions/t", "required": ["a"],
             "properties": {"b": {"type": "null"}}, "allOf": [{"minProperties": 1}]}}  # fmt: skip
    old, new = {"$schema": DRAFT_7, "definitions": parts}, {"definitions": parts}
    documents = Documents({"urn:old": old, "urn:new": new})
    for root in ({}, {"$schema": "https://json-schema.org/draft/2020-12/schema"}):
        ignoring = validator({**root, "$ref": "urn:old#/definitions/s"}, documents)
        assert ignoring.is_valid({}) and not ignoring.is_valid(1)
        heeding = validator({**root, "$ref": "urn:new#/definitions/s"}, documents)
        assert heeding.is_valid({"a": 1})
        for wrong in ({}, {"b": None}, {"a": 1, "b": 1}, 1):
            assert not heeding.is_valid(wrong)


def test_names_that_are_keywords_are_left_alone() -> None:
    documents = Documents({"urn:d": {
        "properties": {"$ref": {"$ref": "#/$defs/enum"}, "$id": {"type": "integer"}},
        "const": {"$ref": "x", "$id": "y"},
        "$defs": {"enum": {"type": "string"}},
    }})  # fmt: skip
    judge = validator({"$ref": "urn:d"}, documents)
    assert judge.is_valid({"$ref": "x", "$id": "y"}) is False  # $id is to be an integer
    whole = validator({"$ref": "urn:d#/properties/$ref"}, documents)
    assert whole.is_valid("x") and not whole.is_valid(1)


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*_: Any, **__: Any) -> None:
        raise AssertionError("a validator must not open URLs")

    monkeypatch.setattr("urllib.request.urlopen", no_network)
    for documents in (None, Documents({"urn:d": True})):
        judge = validator({"$ref": "https://example.com/nowhere.json"}, documents)
        with pytest.raises(Exception, match="Unresolvable"):
            judge.is_valid(1)
    with pytest.raises(calligram.SchemaError) as caught:
        calligram.compile_schema({"$ref": "https://example.com/nowhere.json"})
    assert caught.value.problems[0].code == "unresolved-reference"
