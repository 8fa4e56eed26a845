"""The vocabulary: which keywords mean something, in which drafts, and for which type."""

from __future__ import annotations

from functools import lru_cache

from ..origin import did_you_mean
from .resources import Draft

TYPES = ("null", "boolean", "number", "integer", "string", "array", "object")

# What people write for a type, and what they mean.
TYPE_HINTS = {
    "dict": "object", "map": "object", "record": "object", "hashmap": "object", "struct": "object",
    "float": "number", "double": "number", "decimal": "number", "real": "number",
    "int": "integer", "long": "integer", "bigint": "integer", "uint": "integer",
    "str": "string", "text": "string", "char": "string", "date": "string", "datetime": "string",
    "bool": "boolean", "list": "array", "tuple": "array", "set": "array", "arraylist": "array",
    "none": "null", "nil": "null", "nonetype": "null", "undefined": "null",
}  # fmt: skip

NUMBER_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
STRING_KEYWORDS = ("minLength", "maxLength", "pattern", "format")
ARRAY_KEYWORDS = (
    "prefixItems", "items", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains",
    "minContains", "maxContains",
)  # fmt: skip
OBJECT_KEYWORDS = (
    "properties", "patternProperties", "additionalProperties", "required", "propertyNames",
    "minProperties", "maxProperties",
)  # fmt: skip
VALUE_KEYWORDS = ("enum", "const")
APPLICATORS = (
    "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
    "dependentRequired", "dependentSchemas", "dependencies",
)  # fmt: skip
UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")

IMPLEMENTED = frozenset(
    (
        "type",
        *VALUE_KEYWORDS,
        *NUMBER_KEYWORDS,
        *STRING_KEYWORDS,
        *ARRAY_KEYWORDS,
        *OBJECT_KEYWORDS,
        *APPLICATORS,
        *UNEVALUATED,
    )  # fmt: skip
)

ANNOTATIONS = frozenset(
    (
        "$schema",
        "$id",
        "id",
        "$anchor",
        "$dynamicAnchor",
        "$recursiveAnchor",
        "$comment",
        "$vocabulary",
        "$defs",
        "definitions",
        "title",
        "description",
        "default",
        "examples",
        "example",
        "deprecated",
        "readOnly",
        "writeOnly",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "nullable",
        "discriminator",
        "xml",
        "externalDocs",
    )  # fmt: skip
)

NO_MORE_KEYS = "absent: no undeclared key is written"
"""What to say of an object that is closed because it declares keys."""

_KNOWN = tuple(sorted(IMPLEMENTED | ANNOTATIONS))

_SINCE = {
    "const": Draft.DRAFT_6, "contains": Draft.DRAFT_6, "propertyNames": Draft.DRAFT_6,
    "if": Draft.DRAFT_7, "then": Draft.DRAFT_7, "else": Draft.DRAFT_7,
    "dependentRequired": Draft.DRAFT_2019, "dependentSchemas": Draft.DRAFT_2019,
    "minContains": Draft.DRAFT_2019, "maxContains": Draft.DRAFT_2019,
    "unevaluatedProperties": Draft.DRAFT_2019, "unevaluatedItems": Draft.DRAFT_2019,
    "$recursiveRef": Draft.DRAFT_2019, "prefixItems": Draft.DRAFT_2020,
    "$dynamicRef": Draft.DRAFT_2020,
}  # fmt: skip
# `dependencies` goes on to be understood: the later drafts keep it for compatibility.
_UNTIL = {
    "additionalItems": Draft.DRAFT_2019, "$recursiveRef": Draft.DRAFT_2019,
}  # fmt: skip


def applies(keyword: str, draft: Draft, stated: bool) -> bool:
    """Whether the keyword means something in the draft; unless the draft is stated, all do."""
    if not stated:
        return True
    return _SINCE.get(keyword, draft) <= draft <= _UNTIL.get(keyword, draft)


@lru_cache(maxsize=1024)
def annotation_note(keyword: str) -> str:
    """What to say about a keyword that asserts nothing."""
    if keyword in ANNOTATIONS:
        if keyword.startswith("content"):
            return "describes what the text holds, asserts nothing"
        if keyword == "nullable":
            return 'OpenAPI keyword ignored; use type ["…", "null"], or read with openapi=True'
        if keyword == "discriminator":
            return "OpenAPI keyword ignored; the options alone decide, or read with openapi=True"
        return ""
    close = did_you_mean(keyword, _KNOWN)
    return "unknown keyword: ignored" + (f"; {close}" if close else "")
