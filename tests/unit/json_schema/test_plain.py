"""Plain schemas: both ways of reading them give the same, and each that is refused is not plain."""

from __future__ import annotations

import copy
from dataclasses import fields, is_dataclass
from random import Random
from typing import Any

import pytest

from calligram.compiler.errors import CalligramError
from calligram.compiler.findings import Finding, Findings
from calligram.compiler.json_schema.notes import findings_of
from calligram.compiler.json_schema.options import ReadOptions
from calligram.compiler.json_schema.plain import read_plain
from calligram.compiler.json_schema.read import read_any
from calligram.compiler.origin import Origin
from calligram.compiler.regular.language import Language
from tests.laws.tools import TOOLS
from tests.unit.json_schema.random_schemas import schema as random_schema

ORIGIN = Origin("/base", "a_tool", "tools.json")
OPTIONS = (
    ReadOptions(),
    ReadOptions(closed_objects=True, arguments=True),
    ReadOptions(formats="annotate"),
    ReadOptions(unknown_formats="refuse"),
)
DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def written_out(value: Any) -> Any:
    """Everything that a value holds, origins included, which equality leaves out."""
    if isinstance(value, Language):
        return ("language", value)
    if is_dataclass(value):
        return (type(value), *(written_out(getattr(value, f.name)) for f in fields(value)))
    if isinstance(value, (tuple, list)):
        return (type(value), *map(written_out, value))
    if isinstance(value, dict):
        return tuple((key, written_out(inner)) for key, inner in value.items())
    return (type(value), value)


def both_ways(schema: Any, options: ReadOptions) -> bool:
    """Whether the schema is plain; then what is read is what the reader reads."""
    before = copy.deepcopy(schema)
    plain = read_plain(schema, ORIGIN, options)
    assert schema == before
    if plain is None:
        return False
    found = Findings()
    expected = read_any(schema, origin=ORIGIN, options=options, findings=found)
    assert written_out(plain[0]) == written_out(expected), schema
    assert findings_of(plain[1], ORIGIN) == list(found), schema
    return True


ANY: list[Any] = [True, {}, {"description": "anything"}]
SCALARS: list[Any] = [
    {"type": "string"},
    {"type": "string", "minLength": 2, "maxLength": 2, "title": "x"},
    {"type": "string", "enum": ["b", "a", "b", "", "é\u2028"]},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "email"},
    {"type": "string", "format": "uri-ish"},
    {"type": "string", "format": "int32", "default": ["x", {}]},
    {"type": "string", "pattern": "^[a-z]{2,5}$"},
    {"type": "integer", "minimum": -3, "unknownKeyword": {"enum": 1}},
    {"type": "integer", "enum": [3, 1, 3]},
    {"type": "number", "minimum": 1, "maximum": 1},
    {"type": ["number", "integer", "null"]},
    {"type": ["string", "null"], "enum": ["a", None]},
    {"type": "boolean"},
    {"type": "null"},
    {"enum": ["a", 1, None, "a"]},
    {"enum": [True, "true"]},
    {"minLength": 2},
    {"properties": {"a": True}},
    {"properties": {"a": True}, "additionalProperties": False},
    {"type": ["string"], "nullable": True},
]
REFERENCES: list[Any] = [{"$ref": "#/$defs/p"}, {"$ref": "#/$defs/p"}, {"$ref": "#/definitions/q"}]
DEFINITIONS: dict[str, Any] = {
    "$defs": {"p": {"type": "object", "properties": {"a": {"$ref": "#/definitions/q"}}}},
    "definitions": {"q": {"type": "array", "items": {"type": "string"}}},
}


def plain_schema(rng: Random, depth: int) -> Any:
    """A schema of keywords that are read in one pass."""
    kind = rng.randrange(6 if depth else 3)
    if kind == 0:
        return rng.choice(ANY)
    if kind <= 2:
        return rng.choice(SCALARS)
    if kind == 3:
        return rng.choice(REFERENCES)
    if kind == 4:
        some: list[dict[str, Any]] = [{}, {"minItems": 1}, {"minItems": 2, "maxItems": 4}]
        more: dict[str, Any] = rng.choice(some)
        return {"type": "array", "items": plain_schema(rng, depth - 1), **more}
    return plain_object(rng, depth)


def plain_object(rng: Random, depth: int) -> dict[str, Any]:
    names = rng.sample(("a", "b/c", "type", "~", "additionalProperties"), rng.randrange(4))
    made: dict[str, Any] = {"type": "object"}
    if rng.random() < 0.8:
        made["properties"] = {name: plain_schema(rng, depth - 1) for name in names}
    if rng.random() < 0.6:
        made["required"] = rng.sample([*names, "undeclared"], rng.randrange(len(names) + 1))
    if rng.random() < 0.4:
        inner: list[Any] = [True, False, {}, {"type": "string"}, plain_schema(rng, 0)]
        made["additionalProperties"] = rng.choice(inner)
    if rng.random() < 0.2:
        del made["type"]
    return made


@pytest.mark.parametrize("batch", range(4))
def test_both_ways_of_reading_give_the_same(batch: int) -> None:
    rng = Random(batch)
    plain = 0
    for n in range(200):
        schema = {**plain_object(rng, 3), "type": "object", **DEFINITIONS}
        if n % 3 == 0:
            schema["$schema"] = DRAFT_4
        plain += both_ways(schema, OPTIONS[n % len(OPTIONS)])
    assert plain > 100, plain


@pytest.mark.parametrize("schema", SCALARS)
def test_each_kind_of_value_is_plain(schema: Any) -> None:
    whole = {"type": "object", "properties": {"x": schema, "y": {"type": "array", "items": schema}}}
    assert both_ways(whole, OPTIONS[0])
    assert both_ways(whole, OPTIONS[1])


def test_tools_are_plain() -> None:
    parameters = [tool["function"]["parameters"] for tool in TOOLS]
    plain = [both_ways(p, OPTIONS[1]) for p in parameters]
    assert any(plain) and not all(plain)


@pytest.mark.parametrize("batch", range(4))
def test_what_is_refused_is_not_plain(batch: int) -> None:
    rng = Random(batch)
    refused = 0
    for n in range(300):
        schema = random_schema(rng) if n % 2 else broken(rng)
        options = OPTIONS[n % len(OPTIONS)]
        try:
            read_any(schema, origin=ORIGIN, options=options, findings=Findings())
        except CalligramError:
            refused += 1
            if isinstance(schema, (dict, bool)):
                assert not is_taken(schema, options), schema
        else:
            both_ways(schema, options)
    assert refused > 50, refused


def is_taken(schema: Any, options: ReadOptions) -> bool:
    """Whether a schema is read as a plain one, not refused on the way."""
    try:
        return read_plain(schema, ORIGIN, options) is not None
    except CalligramError:
        return False


WRONG: tuple[Any, ...] = (
    None,
    1,
    -1,
    1.5,
    "x",
    "object",
    "^(",
    [],
    ["a", 1],
    {},
    {1: 2},
    True,
    False,
)


def broken(rng: Random) -> Any:
    """A plain schema with one thing in it that may be anything."""
    schema = {**copy.deepcopy(plain_object(rng, 2)), "type": "object", **copy.deepcopy(DEFINITIONS)}
    node: Any = schema
    while True:
        inner = [v for v in node.values() if isinstance(v, dict) and v]
        if not inner or rng.random() < 0.4:
            break
        node = rng.choice(inner)
    node[rng.choice([*node, "minLength", "required", "enum", "pattern"])] = rng.choice(WRONG)
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": True}},
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}},
        },
        {"type": "object", "properties": {"a": {"type": "string", "$id": "https://x.y/z"}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": []}}},
        {"type": "object", "properties": {"a": {"type": "integer", "enum": [1, True]}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": ["a", 1]}}},
        {"type": "object", "properties": {"a": False}},
        {"type": "object", "minProperties": 1},
        {"anyOf": [{"type": "string"}]},
        {"type": "object", "properties": {"a": {"type": "number", "minimum": 0.5}}},
        True,
    ],
)
def test_what_is_left_to_the_reader(schema: Any) -> None:
    assert read_plain(schema, ORIGIN, OPTIONS[0]) is None


def test_a_deep_schema_is_left_to_the_reader() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        schema = {"type": "array", "items": schema}
    assert read_plain(schema, ORIGIN, OPTIONS[0]) is None


def test_annotations_are_looked_through_for_what_is_no_json() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "default": {1: 2}}}}
    with pytest.raises(CalligramError, match="no JSON key"):
        read_plain(schema, ORIGIN, OPTIONS[0])


def test_findings_are_those_of_the_schema_as_it_was_read() -> None:
    inner: dict[str, Any] = {"type": "string", "title": "A"}
    schema: dict[str, Any] = {"type": "object", "properties": {"a": inner}}
    plain = read_plain(schema, ORIGIN, OPTIONS[0])
    assert plain is not None
    expected = Findings()
    read_any(schema, origin=ORIGIN, options=OPTIONS[0], findings=expected)
    inner["pattern"] = "x"
    del schema["type"]
    found: list[Finding] = findings_of(plain[1], ORIGIN)
    assert found == list(expected)
