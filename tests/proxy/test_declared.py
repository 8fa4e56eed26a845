"""Places in arguments, as far as the schema names them."""

from __future__ import annotations

from typing import Any

import pytest

from calligram.proxy.declared import declared

SCHEMA: dict[str, Any] = {
    "properties": {
        "a": {"properties": {"b/c": {"type": "string"}}},
        "list": {"items": {"$ref": "#/$defs/one~1x"}},
        "map": {"additionalProperties": {"properties": {"a": {}}}},
        "some": {"anyOf": [{"type": "null"}, {"properties": {"k": {}}}]},
        "pair": {"prefixItems": [{"properties": {"p": {}}}]},
        "self": {"$ref": "#"},
    },
    "$defs": {"one/x": {"properties": {"id": {}}, "allOf": [{"$ref": "#/$defs/one~1x"}]}},
}


@pytest.mark.parametrize(
    ("pointer", "kept"),
    [
        ("/arguments/a/b~1c", None),
        ("/arguments/a/secret", "/arguments/a"),
        ("/arguments/list/3/id", None),
        ("/arguments/list/3/secret", "/arguments/list/3"),
        ("/arguments/map/secret/a", "/arguments/map"),
        ("/arguments/map/5551234", "/arguments/map"),
        ("/arguments/some/k", None),
        ("/arguments/pair/0/p", None),
        ("/arguments/pair/1", "/arguments/pair"),
        ("/arguments/self/self/list/0/id/secret", "/arguments/self/self/list/0/id"),
        ("/arguments", None),
        ("/secret", ""),
    ],
)
def test_a_place_ends_where_the_schema_does(pointer: str, kept: str | None) -> None:
    assert declared(pointer, SCHEMA) == (pointer if kept is None else kept)
    assert declared(pointer, True) in ("", "/arguments")
