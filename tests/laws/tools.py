"""Six tools that between them use what tools use: the matter on which the laws are tried."""

from __future__ import annotations

from typing import Any

from calligram.compiler.spec_loader import load_dialect


def tool(name: str, properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    """An OpenAI tool definition."""
    parameters = {"type": "object", "properties": properties, "required": list(required), **more}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def named_by_keys(dialect: str) -> bool:
    """Do elements say their key at both ends, so that only declared keys can be enforced?"""
    return (load_dialect(dialect).args.param or "").count("{key}") > 1


def leaves_null_out(dialect: str) -> bool:
    """Are members that are null not written?"""
    return load_dialect(dialect).args.null == "omit"


BOOK = tool(
    "book",
    {
        "class": {"enum": ["eco", "economy", "first"]},
        "window": {"type": "boolean"},
        "fare": {"const": "pro"},
        "bags": {"enum": [0, 1, 2, None, "many"]},
        "note": {"type": ["string", "null"], "maxLength": 12},
    },
    "class",
    "bags",
)

ROUTE = tool(
    "route",
    {
        "stops": {
            "type": "array",
            "minItems": 1,
            "maxItems": 3,
            "items": {
                "type": "object",
                "properties": {
                    "place": {"type": "string", "minLength": 1},
                    "at": {
                        "type": "array",
                        "prefixItems": [{"type": "integer"}, {"type": "number"}],
                        "items": False,
                        "minItems": 2,
                    },
                },
                "required": ["place"],
                "additionalProperties": False,
            },
        },
        "options": {
            "type": "object",
            "properties": {"fast": {"type": "boolean"}, "via": {"type": "null"}},
        },
    },
    "stops",
)

MEASURE = tool(
    "measure",
    {
        "count": {"type": "integer", "minimum": -3, "maximum": 120},
        "step": {"type": "integer", "multipleOf": 5, "exclusiveMinimum": 0},
        "ratio": {"type": "number", "exclusiveMinimum": 0, "maximum": 1.5},
        "any": {"type": "number"},
        "big": {"type": "integer"},
    },
    "count",
)

REGISTER = tool(
    "register",
    {
        "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{1,3}$"},
        "day": {"type": "string", "format": "date"},
        "id": {"type": "string", "format": "uuid"},
        "text": {"type": "string", "minLength": 2, "maxLength": 5},
        "free": {"type": "string"},
        "holds": {"type": "string", "pattern": "b<c"},
    },
    "code",
)

LABEL = tool(
    "label",
    {
        "größe": {"type": "integer"},
        "日本": {"enum": ["東京", "京都"]},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "x": {
            "type": "object",
            "patternProperties": {"^x-": {"type": "boolean"}},
            "additionalProperties": False,
            "maxProperties": 2,
        },
    },
    "größe",
)

SEARCH = tool(
    "search",
    {
        "query": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "filter": {"$ref": "#/$defs/filter"},
        "extra": {},
    },
    "query",
    **{
        "$defs": {
            "filter": {
                "type": "object",
                "properties": {
                    "field": {"enum": ["a", "b"]},
                    "not": {"$ref": "#/$defs/filter"},
                },
                "required": ["field"],
            }
        }
    },
)

_CHOICES: dict[str, Any] = {
    "flags": {
        "type": "object",
        "properties": {name: {"type": ["boolean", "null"]} for name in "abc"},
        "not": {
            "anyOf": [
                {
                    "properties": {name: {"type": "boolean"} for name in pair},
                    "required": [pair[0]],
                }
                for pair in ("ab", "bc", "ca")
            ]
            * 2
        },
    },
    "labels": {
        "type": "object",
        "additionalProperties": {"enum": [1, 2]},
        "allOf": [{"not": {"patternProperties": {p: False}}} for p in ("x", "y")],
    },
    "marks": {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 99},
        "allOf": [
            {"contains": {"maximum": 9}, "maxContains": 2},
            {"contains": {"multipleOf": 5}, "minContains": 2},
        ],
    },
}
CHOOSE = tool("choose", _CHOICES, "labels", "marks")
"""Conditions on keys and items that some of them meet."""
CHOOSE_DECLARED = tool("choose", {n: _CHOICES[n] for n in ("flags", "marks")}, "marks")
"""The same without conditions on undeclared keys."""

TOOLS = [BOOK, ROUTE, MEASURE, REGISTER, LABEL, SEARCH]
