"""What becomes of each keyword: docs/reference/keywords.md is generated from here.

Tests compare this table with the keywords that are read, with the drafts' metaschemas, and each
example with what a compile says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Narrowed:
    """How the grammar allows less; `example` is a schema of which that is reported."""

    how: str
    example: Any


@dataclass(frozen=True, slots=True)
class Refused:
    """When the keyword is refused; `example` is a schema that is, with that problem's `code`."""

    when: str
    example: Any
    code: str = "unsupported-keyword"


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one keyword.

    Attributes:
        meaning: what is enforced, or, for an annotation, what is made of it.
        asserts: it says something about values.
        narrowed: how less is allowed than the schema lets through.
        refused: when it is refused.
    """

    meaning: str
    asserts: bool = True
    narrowed: Narrowed | None = None
    refused: Refused | None = None


def _note(meaning: str = "") -> Fate:
    return Fate(meaning, asserts=False)


_TEXT = {"type": "string"}
_OBJECT = {"type": "object"}
_SHORTEST = "characters in their shortest spelling only"
_OPEN = {"additionalProperties": {"type": "integer"}}
_REMEMBERED = "; keys are remembered where it matters what undeclared ones hold, which GBNF cannot"
_ONCE = "such keys have one spelling, and none is written twice"
_MANY = "more than ten conditions on the keys of one object"
_TEN = [
    {"properties": {name: _TEXT, name.upper(): _TEXT}, "required": [name]} for name in "abcdefghijk"
]
_RESOLVED = "a place in the schema, in a document given or in a draft's metaschema"
_BOUND = "without an upper bound, that of `Bounds`"

VALUES: Final[Mapping[str, Fate]] = {
    "type": Fate(
        "exact; 1.0 is an integer (not in draft 4), which `compile_tools` writes as 1; integers "
        "are written without an exponent, as 1e400 is read as no number at all by many",
        narrowed=Narrowed(
            "digits, exponents and the depth of untyped JSON as in `Bounds`; integers, and numbers "
            "with bounds or a step, are written without exponent",
            {"type": "integer"},
        ),
        refused=Refused("a name that is none of the seven", {"type": "strin"}, "unknown-type"),
    ),
    "enum": Fate(
        "exact, together with what stands beside it",
        narrowed=Narrowed("members in one spelling only", {"enum": ["a", "b"]}),
    ),
    "const": Fate(
        "exact; as an `enum` of one",
        narrowed=Narrowed("in one spelling only", {"const": "a"}),
    ),
}

NUMBERS: Final[Mapping[str, Fate]] = {
    "minimum": Fate("exact, as decimal numbers; draft 4's boolean `exclusiveMinimum` too"),
    "maximum": Fate("exact, as decimal numbers; draft 4's boolean `exclusiveMaximum` too"),
    "exclusiveMinimum": Fate("exact; as a boolean in draft 4"),
    "exclusiveMaximum": Fate("exact; as a boolean in draft 4"),
    "multipleOf": Fate(
        "exact, decimal steps too; GBNF refuses whole numbers of more than 8,000 remainders and "
        "digits",
        refused=Refused(
            "a step that is not whole takes more than 100,000 states",
            {"type": "number", "multipleOf": 0.123456789},
            "number-too-large",
        ),
    ),
}

STRINGS: Final[Mapping[str, Fate]] = {
    "minLength": Fate("exact, in code points"),
    "maxLength": Fate("exact, in code points", narrowed=Narrowed(_BOUND, _TEXT)),
    "pattern": Fate(
        "exact, as ECMA-262 has it, with lengths, formats and other patterns beside it",
        narrowed=Narrowed(_SHORTEST, {"type": "string", "pattern": "^a+b$"}),
        refused=Refused(
            "back-references, and lookaround that is not regular",
            {"type": "string", "pattern": "^(a)\\1$"},
            "unsupported-pattern",
        ),
    ),
    "format": Fate(
        'formats that are known ([list](#formats)); `formats="annotate"` only reports them',
        narrowed=Narrowed(
            "to what every authority calls so, see the list",
            {"type": "string", "format": "date-time"},
        ),
    ),
}

ARRAYS: Final[Mapping[str, Fate]] = {
    "prefixItems": Fate("exact"),
    "items": Fate("exact; the older list of schemas as `prefixItems`"),
    "additionalItems": Fate("exact, beside the older form of `items`"),
    "minItems": Fate("exact"),
    "maxItems": Fate(
        "exact", narrowed=Narrowed(_BOUND, {"type": "array", "items": {"type": "null"}})
    ),
    "uniqueItems": Fate(
        "exact; items of many values are remembered, which GBNF cannot and says so",
        narrowed=Narrowed(
            "remembered items have one spelling each, and their keys one order",
            {"type": "array", "items": _TEXT, "uniqueItems": True},
        ),
        refused=Refused(
            "beside `contains`, over items of many values",
            {
                "type": "array",
                "items": _TEXT,
                "uniqueItems": True,
                "contains": {"type": "string", "minLength": 3},
            },
        ),
    ),
    "contains": Fate(
        "exact, in arrays of any length",
        refused=Refused(
            "counts, positions and several `contains` at once that take more than 2,048 states",
            {"contains": {"type": "integer"}, "minContains": 3000},
        ),
    ),
    "minContains": Fate("exact, as far as `contains` is"),
    "maxContains": Fate("exact, as far as `contains` is"),
    "unevaluatedItems": Fate(
        "exact, whatever evaluates items: `$ref`, `allOf`, `contains`, `if` and so on"
    ),
}

OBJECTS: Final[Mapping[str, Fate]] = {
    "properties": Fate(
        "exact; an optional key that can have no value is left out, and reported",
        narrowed=Narrowed(
            'keys come in the schema\'s order; `key_order="any"` lifts it',
            {"properties": {"a": _TEXT, "b": _TEXT}, **_OBJECT},
        ),
    ),
    "patternProperties": Fate(
        "exact",
        refused=Refused(
            "patterns that overlap in more than 64 ways",
            {"patternProperties": {c: {"minLength": i} for i, c in enumerate("abcdefghijk")}},
            "too-many-key-classes",
        ),
    ),
    "additionalProperties": Fate(
        "exact",
        narrowed=Narrowed(
            "absent beside `properties`, `compile_tools` reads it as `false`; "
            "`open_objects=True` lifts that",
            {"properties": {"a": _TEXT}, **_OBJECT},
        ),
    ),
    "required": Fate("exact"),
    "propertyNames": Fate(
        "exact",
        refused=Refused(
            "names by a schema that is inside itself",
            {"type": "object", "propertyNames": {"$ref": "#/properties/x"}},
        ),
    ),
    "minProperties": Fate(
        "exact; undeclared keys that count are remembered, which GBNF cannot and says so",
        narrowed=Narrowed(
            "undeclared keys that count come in ascending order",
            {"type": "object", "minProperties": 2},
        ),
    ),
    "maxProperties": Fate(
        "exact", narrowed=Narrowed(f"undeclared keys {_BOUND}", {"additionalProperties": _TEXT})
    ),
    "dependentRequired": Fate("exact"),
    "dependentSchemas": Fate("exact"),
    "dependencies": Fate("exact, both forms; in every draft"),
    "unevaluatedProperties": Fate(
        "exact, whatever evaluates keys: `$ref`, `allOf`, `if` and so on"
    ),
}

COMBINATIONS: Final[Mapping[str, Fate]] = {
    "allOf": Fate("exact: schemas are put together keyword by keyword"),
    "anyOf": Fate(
        "exact",
        refused=Refused(
            "more than 5 options beside `unevaluated…`",
            {"anyOf": [{"properties": {c: {}}} for c in "abcdef"], "unevaluatedProperties": False},
        ),
    ),
    "oneOf": Fate(
        f"exact: each option without the others{_REMEMBERED}",
        narrowed=Narrowed(_ONCE, {"oneOf": [_OPEN, {"additionalProperties": {"minimum": 2}}]}),
        refused=Refused(_MANY, {"oneOf": [*_TEN, _OBJECT]}),
    ),
    "not": Fate(
        f"exact{_REMEMBERED}",
        narrowed=Narrowed(_ONCE, {"not": _OPEN}),
        refused=Refused(_MANY, {"not": {"anyOf": _TEN}}),
    ),
    "if": Fate(
        f"exact{_REMEMBERED}",
        narrowed=Narrowed(_ONCE, {"if": _OPEN, "then": {"maxProperties": 1}}),
        refused=Refused(_MANY, {"if": {"anyOf": _TEN}, "then": False}),
    ),
    "then": Fate("exact, beside `if`"),
    "else": Fate("exact, beside `if`"),
}

REFERENCES: Final[Mapping[str, Fate]] = {
    "$ref": Fate(
        f"exact: {_RESOLVED}; up to draft 7 its siblings are ignored, and reported so",
        refused=Refused("it leads nowhere", {"$ref": "urn:x:nowhere"}, "unresolved-reference"),
    ),
    "$dynamicRef": Fate(
        f"exact: {_RESOLVED}",
        refused=Refused("it leads nowhere", {"$dynamicRef": "#no"}, "unresolved-reference"),
    ),
    "$recursiveRef": Fate("exact"),
    "$id": _note("names the schema for references"),
    "id": _note("draft 4's `$id`"),
    "$anchor": _note("names the schema for references"),
    "$dynamicAnchor": _note("names the schema for `$dynamicRef`"),
    "$recursiveAnchor": _note("marks the schema for `$recursiveRef`"),
    "$schema": _note("decides the draft; without it keywords of all drafts are read"),
    "$vocabulary": _note("ignored"),
    "$defs": _note("read where a reference leads to it"),
    "definitions": _note("read where a reference leads to it"),
}

DESCRIPTIONS: Final[Mapping[str, Fate]] = {
    **{
        name: _note("ignored")
        for name in (
            "title", "description", "default", "examples", "example", "deprecated", "readOnly",
            "writeOnly", "$comment", "xml", "externalDocs",
        )
    },
    "contentEncoding": _note("describes what a text holds; not enforced"),
    "contentMediaType": _note("describes what a text holds; not enforced"),
    "contentSchema": _note("describes what a text holds; not enforced"),
    "nullable": _note("`openapi=True` lets null through, as OpenAPI 3.0 says"),
    "discriminator": _note("`openapi=True` reads it as OpenAPI 3.0 says"),
}  # fmt: skip

FATES: Final[Mapping[str, Mapping[str, Fate]]] = {
    "Values": VALUES,
    "Numbers": NUMBERS,
    "Strings": STRINGS,
    "Arrays": ARRAYS,
    "Objects": OBJECTS,
    "Combinations": COMBINATIONS,
    "References": REFERENCES,
    "Descriptions": DESCRIPTIONS,
}
"""Every keyword of the drafts, by what it is about."""
