"""Plain JSON Schemas -> typed call IR, in one pass.

Most schemas of tools say nothing but what type each value has, which keys an object has, and which
texts a string may be. No two of their keywords have to be put together, nothing leads back to
itself, and each has a value. They are read here, node by node, in a tenth of the time that the
goals and forms of :mod:`.reading` take. What comes out is the same, findings included; any schema
of which that is not plain to see is left to the reader.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

from ..errors import CalligramError
from ..ir import (
    AnyValue,
    ArrayValue,
    BooleanValue,
    EnumValue,
    IntegerValue,
    Key,
    NullValue,
    NumberValue,
    ObjectValue,
    OpenKeys,
    SchemaValue,
    StringValue,
    UnionValue,
    Value,
)
from ..origin import Origin, escape_pointer
from ..regular.language import Language
from .build import string_value
from .forms import NOWHERE, Strings
from .keywords import ANNOTATIONS, IMPLEMENTED
from .languages import format_status, known_format
from .lookup import open_names
from .notes import Note
from .options import ReadOptions
from .shape import check_shape

MAX_DEPTH = 24
"""Schemas inside one another; deeper ones are left to the reader, who walks without recursion."""

MAX_NODES = 5_000
"""Schemas of one document; the reader's limits lie far above."""

_MAX_NUMBER = 10**15

_KEYWORDS = {
    "string": frozenset(("type", "enum", "minLength", "maxLength", "format", "pattern")),
    "integer": frozenset(("type", "enum", "minimum", "maximum")),
    "number": frozenset(("type", "enum", "minimum", "maximum")),
    "boolean": frozenset(("type", "enum")),
    "null": frozenset(("type", "enum")),
    "array": frozenset(("type", "items", "minItems", "maxItems")),
    "object": frozenset(("type", "properties", "required", "additionalProperties")),
}
"""By type, the keywords that are read here."""

_READ = frozenset().union(*_KEYWORDS.values())
_LISTED = frozenset(("type", "enum"))
_ALL_TYPES = ("null", "boolean", "number", "string", "array", "object")
_SCALARS: dict[type, str] = {
    str: "string",
    int: "integer",
    bool: "boolean",
    type(None): "null",
}
_NAMES = frozenset(("$id", "id"))
"""What names a document; that changes nothing where nothing refers to it."""
# What says something about values, or about how other schemas are found and read.
_MEANINGFUL = IMPLEMENTED | _NAMES | {"$anchor", "$dynamicAnchor", "$recursiveAnchor"}
_DEFINITION = re.compile(r"#/(definitions|\$defs)/([A-Za-z0-9_.-]+)")
_MORE = "additionalProperties"
_ANY = AnyValue()
_EVERY = Language.any()
_NONE: dict[str, Any] = {}
_NONE_REQUIRED: list[str] = []


class _NotPlainError(Exception):
    """The schema is left to the reader."""


def read_plain(
    schema: dict[str, Any] | bool, origin: Origin, options: ReadOptions
) -> tuple[SchemaValue, Note] | None:
    """The value of a plain schema, and what its findings are made of; None if it is not plain."""
    if type(schema) is not dict or options.openapi:
        return None
    if options.arguments and schema.get("type") != "object":
        return None
    try:
        made = _Plain(schema, origin, options)
        value, note = made.value(schema, origin, 0)
    except _NotPlainError:
        return None
    if made.containers:
        check_shape(schema, origin, options.max_depth)
    return SchemaValue(value, {}), note


class _Plain:
    """Reads one document. ``containers``: annotations hold arrays or objects, unchecked so far."""

    def __init__(self, schema: dict[str, Any], origin: Origin, options: ReadOptions) -> None:
        self.root = schema
        self.options = options
        self.base = origin.pointer
        self.tool, self.file = origin.tool, origin.file
        self.containers = False
        self._most_depth = min(MAX_DEPTH, options.max_depth)
        # Definitions by name; None while they are read.
        self._defined: dict[tuple[str, str], tuple[Value, Note] | None] = {}
        self._left = min(MAX_NODES, options.max_nodes, options.max_steps // 4)

    def value(self, schema: dict[str, Any], origin: Origin, depth: int) -> tuple[Value, Note]:
        """The value of one schema, which stands at `origin`."""
        self._left -= 1
        if depth > self._most_depth or self._left < 0:
            raise _NotPlainError
        kinds = _types(schema)
        try:
            known = _KEYWORDS[kinds[0]] if len(kinds) == 1 else _together(kinds)
        except KeyError:
            raise _NotPlainError from None
        for keyword in schema:
            if keyword not in known:
                self._annotation(keyword, schema[keyword], depth)
        note = Note(origin.pointer, tuple(schema))
        if "enum" in schema:
            return self._enum(schema, kinds, origin), note
        if len(kinds) == 1:
            return self._of_type(kinds[0], schema, origin, note, depth), note
        options = [self._of_type(kind, schema, origin, note, depth) for kind in kinds]
        if len(kinds) == len(_ALL_TYPES) and all(map(_says_nothing, options)):
            return AnyValue(origin), note
        return UnionValue(tuple(options), origin), note

    def _of_type(
        self, kind: str, schema: dict[str, Any], origin: Origin, note: Note, depth: int
    ) -> Value:
        match kind:
            case "string":
                return self._string(schema, origin, note)
            case "integer":
                low, high = _bounds(schema)
                return IntegerValue(low, high, None, (), origin)
            case "number":
                low, high = _bounds(schema)
                least = None if low is None else Decimal(low)
                most = None if high is None else Decimal(high)
                return NumberValue(least, most, origin=origin)
            case "boolean":
                return BooleanValue(origin)
            case "null":
                return NullValue(origin)
            case "array":
                return self._array(schema, origin, note, depth)
            case _:
                return self._object(schema, origin, note, depth)

    def _annotation(self, keyword: object, given: object, depth: int) -> None:
        """A keyword that says nothing about the value; else the schema is not plain."""
        if type(keyword) is not str or keyword in _MEANINGFUL:
            if depth or keyword not in _NAMES or self.options.documents:
                raise _NotPlainError
        if isinstance(given, (dict, list)):
            self.containers = True

    def _enum(self, schema: dict[str, Any], kinds: tuple[str, ...], origin: Origin) -> Value:
        given = schema["enum"]
        if type(given) is not list or not given or not _READ.intersection(schema) <= _LISTED:
            raise _NotPlainError
        for value in given:
            kind = _SCALARS.get(type(value))
            if kind not in kinds and not (kind == "integer" and "number" in kinds):
                raise _NotPlainError
            if kind == "integer" and abs(value) >= _MAX_NUMBER:
                raise _NotPlainError
        if {bool, int} <= set(map(type, given)):
            raise _NotPlainError  # True and 1 are not equal here.
        return EnumValue(tuple(dict.fromkeys(given)), self._at(origin.pointer + "/enum"))

    def _string(self, schema: dict[str, Any], origin: Origin, note: Note) -> Value:
        shortest, longest = _counts(schema, "minLength", "maxLength")
        if "format" not in schema and "pattern" not in schema:
            return StringValue(shortest, longest, None, origin)
        if shortest or longest is not None or ("format" in schema and "pattern" in schema):
            raise _NotPlainError
        language = self._format(schema, note) if "format" in schema else self._pattern(schema, note)
        return string_value(Strings(0, None, language, 1, origin))

    def _format(self, schema: dict[str, Any], note: Note) -> Language | None:
        name = schema["format"]
        if type(name) is not str or not (known_format(name) or self._ignores_formats):
            raise _NotPlainError
        language, said = format_status(name, self.options)
        if said is not None:
            note.said["format"] = said
        return language

    @property
    def _ignores_formats(self) -> bool:
        return self.options.unknown_formats == "annotate"

    def _pattern(self, schema: dict[str, Any], note: Note) -> Language:
        source = schema["pattern"]
        if type(source) is not str:
            raise _NotPlainError
        try:
            return Language.pattern(source, origin=self._at(note.pointer + "/pattern"))
        except CalligramError:
            raise _NotPlainError from None

    def _array(self, schema: dict[str, Any], origin: Origin, note: Note, depth: int) -> Value:
        low, high = _counts(schema, "minItems", "maxItems")
        if high == 0:
            raise _NotPlainError
        items: Value = _ANY
        if "items" in schema:
            items = self._inner(schema["items"], self._at(origin.pointer + "/items"), note, depth)
        return ArrayValue((), items, low, high, origin)

    def _object(self, schema: dict[str, Any], origin: Origin, note: Note, depth: int) -> Value:
        properties = schema.get("properties", _NONE)
        required = schema.get("required", _NONE_REQUIRED)
        if type(properties) is not dict or type(required) is not list:
            raise _NotPlainError
        if any(type(name) is not str for name in required):
            raise _NotPlainError
        pointer, owed = origin.pointer, set(required)
        keys = []
        for name, inner in properties.items():
            if type(name) is not str:
                raise _NotPlainError
            at = self._at(f"{pointer}/properties/{escape_pointer(name)}")
            keys.append(Key(name, self._inner(inner, at, note, depth), name in owed, at))
        declares = bool(properties) or (
            "properties" in schema and self.options.arguments and depth == 0
        )
        more: Value | None = _ANY
        at = origin
        if _MORE in schema:
            given = schema[_MORE]
            at = self._at(f"{pointer}/{_MORE}")
            more = None if given is False else self._inner(given, at, note, depth)
        elif "properties" not in schema and "required" not in schema:
            at = NOWHERE
        for name in dict.fromkeys(required):
            if name not in properties:
                if more is None:
                    raise _NotPlainError
                keys.append(Key(name, more, True, at))
        if _MORE not in schema and self.options.closed_objects and declares:
            note.closed = True
            more = None
        opened: tuple[OpenKeys, ...] = ()
        if more is not None:
            names = open_names(None, {key.name: key for key in keys})
            opened = (OpenKeys(_EVERY if names is None else names, more, at),)
        return ObjectValue(tuple(keys), opened, 0, None, origin)

    def _inner(self, schema: object, at: Origin, outer: Note, depth: int) -> Value:
        """What a key or an item may be."""
        if schema is True:
            return _ANY
        if type(schema) is not dict:
            raise _NotPlainError
        if not schema:
            return _ANY
        if "type" not in schema and ANNOTATIONS.issuperset(schema):
            for keyword, given in schema.items():
                self._annotation(keyword, given, depth + 1)
            outer.inner.append(Note(at.pointer, tuple(schema), silent=True))
            return _ANY
        if "$ref" in schema:
            outer.inner.append(Note(at.pointer, tuple(schema), silent=True))
            value, note = self._referred(schema, depth)
        else:
            value, note = self.value(schema, at, depth + 1)
        outer.inner.append(note)
        return value

    def _referred(self, schema: dict[str, Any], depth: int) -> tuple[Value, Note]:
        """What a reference to one of the document's own definitions leads to."""
        given = schema["$ref"]
        found = _DEFINITION.fullmatch(given) if type(given) is str and len(schema) == 1 else None
        if found is None:
            raise _NotPlainError
        where, name = found.groups()
        if (where, name) not in self._defined:
            definitions = self.root.get(where)
            if type(definitions) is not dict or not _NAMES.isdisjoint(definitions):
                raise _NotPlainError
            target = definitions.get(name)
            if type(target) is not dict:
                raise _NotPlainError
            self._defined[where, name] = None
            at = self._at(f"{self.base}/{where}/{name}")
            self._defined[where, name] = self.value(target, at, depth + 1)
        made = self._defined[where, name]
        if made is None:
            raise _NotPlainError  # It is recursive.
        return made

    def _at(self, pointer: str) -> Origin:
        return Origin(pointer, self.tool, self.file)


def _counts(schema: dict[str, Any], least: str, most: str) -> tuple[int, int | None]:
    """Both bounds of a number of characters or items."""
    low, high = schema.get(least, 0), schema.get(most)
    if type(low) is not int or low < 0:
        raise _NotPlainError
    if most in schema and (type(high) is not int or high < low):
        raise _NotPlainError
    return low, high


def _bounds(schema: dict[str, Any]) -> tuple[int | None, int | None]:
    """Both bounds of a number, where they are whole."""
    low, high = schema.get("minimum"), schema.get("maximum")
    for keyword, bound in (("minimum", low), ("maximum", high)):
        if keyword in schema and (type(bound) is not int or abs(bound) >= _MAX_NUMBER):
            raise _NotPlainError
    if low is not None and high is not None and low > high:
        raise _NotPlainError
    return low, high


def _types(schema: dict[str, Any]) -> tuple[str, ...]:
    """The types of a schema, in order."""
    given = schema.get("type")
    if type(given) is str:
        return (given,)
    if "type" not in schema and not _READ.isdisjoint(schema):
        return _ALL_TYPES
    if type(given) is not list or not 0 < len(given) < len(_ALL_TYPES):
        raise _NotPlainError
    if any(type(name) is not str for name in given):
        raise _NotPlainError
    # Integers are numbers.
    return tuple(dict.fromkeys(n for n in given if n != "integer" or "number" not in given))


def _says_nothing(value: Value) -> bool:
    """Whether a value of one type may be any of that type."""
    match value:
        case StringValue():
            return value.language is None and not value.min_length and value.max_length is None
        case NumberValue():
            return value.minimum is None and value.maximum is None
        case ArrayValue():
            return value.items is _ANY and not value.min_items and value.max_items is None
        case ObjectValue(keys, opened):
            free = bool(opened) and all(kind.value is _ANY for kind in opened)
            return free and all(key.value is _ANY and not key.required for key in keys)
        case _:
            return True


@lru_cache(maxsize=64)
def _together(kinds: tuple[str, ...]) -> frozenset[str]:
    return frozenset().union(*(_KEYWORDS[kind] for kind in kinds))
