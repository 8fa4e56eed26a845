"""The enforcement report."""

from __future__ import annotations

import json
from typing import Any

import calligram
from calligram import Bounds

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "code": {"type": "string", "pattern": "^[a-z]{2}$"},
        "list": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "any": {},
    },
    "required": ["text"],
}


def grammar(**options: Any) -> Any:
    tools = [{"name": "f", "parameters": SCHEMA}]
    return calligram.compile_tools(tools, "mistral-args", **options)


def test_each_keyword_is_reported_with_its_place() -> None:
    report = grammar().report
    found = {(f.keyword, f.origin.pointer): f.status for f in report.findings}
    for pointer in ("/properties/code/pattern", "/properties/list/items/minimum", "/required"):
        keyword = pointer.rsplit("/", 1)[-1]
        assert (keyword, pointer) in found, pointer
    assert {f.origin.tool for f in report.findings} == {"f"}


def test_default_bounds_are_narrowings_that_lifting_them_takes_away() -> None:
    narrowed = [f.how for f in grammar().report.by_status("narrowed")]
    for words in ("8192 code points", "256 items", "8 deep", "20 digits"):
        assert any(words in how for how in narrowed), words
    lifted = " ".join(f.how for f in grammar(bounds=None).report.by_status("narrowed"))
    for words in ("code points", "256 items", "8 deep", "digits"):
        assert words not in lifted, words


def test_counts_add_up() -> None:
    report = grammar().report
    assert sum(report.counts().values()) == len(report.findings)
    for status, count in report.counts().items():
        assert len(report.by_status(status)) == count


def test_as_json() -> None:
    report = grammar(bounds=Bounds(string=10, calls=1)).report
    data = json.loads(json.dumps(report.to_json()))
    assert data["bounds"]["string"] == 10 and data["bounds"]["items"] == 256
    assert data["longest_call_bytes"] == report.longest_call > 0
    assert data["dropped_tools"] == []
    assert len(data["findings"]) == len(report.findings)
    assert grammar(bounds=None).report.to_json()["bounds"] is None


def test_as_text() -> None:
    text = str(grammar(bounds=Bounds(calls=1, string=10, items=2, digits=3, depth=1)).report)
    first = text.splitlines()[0]
    assert first.startswith("longest call: ") and first.endswith(" bytes")
    assert "enforced" in text and "narrowed[" in text


def test_it_is_made_once() -> None:
    made = grammar()
    assert made.report is made.report


def narrowed(schema: Any) -> dict[str, str]:
    found = calligram.compile_schema(schema).report.by_status("narrowed")
    return {f.origin.pointer: f.how for f in found if f.keyword == "type"}


def test_numbers_that_are_written_in_fewer_ways_are_narrowed() -> None:
    assert narrowed({"type": "integer"}) == {"/type": "written without an exponent"}
    assert narrowed({"multipleOf": 3}) == {"": "written without an exponent"}
    assert narrowed({"type": "number"}) == {}
    found = grammar().report.by_status("narrowed")
    (how,) = [f.how for f in found if f.origin.pointer == "/properties/list/items/type"]
    assert how == "written without fraction or exponent; at most 20 digits by default"


def test_what_is_whole_but_no_integer_in_draft_4_is_narrowed() -> None:
    draft_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}
    assert narrowed({"type": "integer", **draft_4}) == {
        "/type": "written without fraction or exponent"
    }
    for without in ({"type": "integer"}, {"type": "integer", "multipleOf": 2}):
        schema = {"type": "number", "not": without}
        assert narrowed({**schema, **draft_4})["/type"].startswith("numbers like 1.0 are taken")
        assert not calligram.compile_schema({**schema, **draft_4}).check("2.0")
        assert "draft 4" not in narrowed(schema)["/type"]


def test_an_optional_key_without_a_value_is_in_the_text() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "enum": ["x"]}}}
    text = str(calligram.compile_schema(schema).report)
    assert "/properties/a: enforced[properties]: no object can have the key" in text
