"""The report: one status a keyword, and where default bounds narrow."""

from __future__ import annotations

from typing import Any

import pytest

import calligram


def findings(schema: Any, **options: Any) -> dict[str, tuple[str, str]]:
    """Pointer and keyword of what is narrowed, with how."""
    grammar = calligram.compile_schema(schema, bounds=calligram.Bounds(), **options)
    pointers = [(f.origin.pointer, f.keyword) for f in grammar.report.findings]
    assert len(set(pointers)) == len(pointers)
    return {f.origin.pointer: (f.keyword, f.how) for f in grammar.report.by_status("narrowed")}


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword", "how"),
    [
        ({"type": "string"}, "", "maxLength", "at most 8192 code points by default"),
        ({"type": "array", "items": {"type": "null"}}, "", "maxItems", "256 items by default"),
        ({"type": "integer"}, "/type", "type", "at most 20 digits by default"),
        ({"type": "integer", "minimum": 0}, "/type", "type", "at most 20 digits by default"),
        ({"enum": ["a"]}, "/enum", "enum", "members in one spelling only"),
        ({"const": "a"}, "/const", "const", "members in one spelling only"),
        ({"type": "string", "format": "date"}, "/format", "format", "shortest spelling only"),
        ({"type": "string", "pattern": "^a*$"}, "", "maxLength", "may repeat without end"),
        ({}, "", "type", "untyped JSON at most 8 deep by default"),
    ],
)
def test_what_narrows_is_found_at_its_keyword_or_schema(
    schema: Any, pointer: str, keyword: str, how: str
) -> None:
    found = findings(schema)
    assert found[pointer][0] == keyword
    assert how in found[pointer][1]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "maxLength": 3},
        {"type": "array", "items": {"type": "null"}, "maxItems": 3},
        {"type": "integer", "minimum": 0, "maximum": 9},
        {"type": "boolean"},
    ],
)
def test_what_has_bounds_of_its_own_is_enforced(schema: Any) -> None:
    assert findings(schema) == {}


def test_without_bounds_nothing_is_said_of_them() -> None:
    assert not calligram.compile_schema({"type": "string"}).report.by_status("narrowed")
