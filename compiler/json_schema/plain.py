"""Plain JSON Schemas -> typed call IR, in one pass.

Most schemas of tools say nothing but what type each value has, which keys an object has, and which
texts a string may be. No two of their keywords have to be put together, nothing in them refers to
anything, and each has a value. They are read here, node by node, in a tenth of the time that the
goals and forms of :mod:`.reading` take. What comes out is the same, findings included; any schema
of which that is not plain to see is left to the reader.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ..findings import Finding
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
from .forms import NOWHERE
from .keywords import ANNOTATIONS, IMPLEMENTED, NO_MORE_KEYS, annotation_note
from .lookup import open_names
from .options import ReadOptions
from .shape import check_shape

MAX_DEPTH = 24
"""Schemas inside one another; deeper ones are left to the reader, who walks without recursion."""

MAX_NODES = 5_000
"""Schemas of one document; the reader's limits lie far above."""

_MAX_NUMBER = 10**15

_KEYWORDS = {
    "string": frozenset(("type", "enum", "minLength", "maxLength")),
    "integer": frozenset(("type", "enum", "minimum", "maximum")),
    "number": frozenset(("type", "enum", "minimum", "maximum")),
    "boolean": frozenset(("type",)),
    "null": frozenset(("type", "enum")),
    "array": frozenset(("type", "items", "minItems", "maxItems")),
    "object": frozenset(("type", "properties", "required", "additionalProperties")),
}
"""By type, the keywords that are read here."""

_READ = frozenset().union(*_KEYWORDS.values())
_LISTED = frozenset(("type", "enum"))
_SCALARS: dict[type, str] = {str: "string", int: "integer", type(None): "null"}
_NAMES = frozenset(("$id", "id"))
"""What names a document; that changes nothing where nothing refers to it."""
# What says something about values, or about how other schemas are found and read.
_MEANINGFUL = IMPLEMENTED | _NAMES | {"$anchor", "$dynamicAnchor", "$recursiveAnchor"}
_CLOSED = "additionalProperties"
_ANY = AnyValue()
_EVERY = Language.any()
_NONE: dict[str, Any] = {}


class _NotPlainError(Exception):
    """The schema is left to the reader."""


@dataclass(slots=True, eq=False)
class Note:
    """The keywords of one schema, as they stood when it was read, for its findings.

    Attributes:
        pointer: where the schema stands.
        keywords: all of them, in order.
        inner: the schemas inside, in the order of reading.
        silent: it says nothing about values.
        closed: it is an object that is closed because it says nothing of undeclared keys.
    """

    pointer: str
    keywords: tuple[str, ...]
    inner: list[Note] = field(default_factory=list)
    silent: bool = False
    closed: bool = False


def read_plain(
    schema: dict[str, Any] | bool, origin: Origin, options: ReadOptions
) -> tuple[SchemaValue, Note] | None:
    """The value of a plain schema, and what its findings are made of; None if it is not plain."""
    if type(schema) is not dict or options.openapi:
        return None
    kind = schema.get("type")
    if kind != "object" and (options.arguments or type(kind) is not str):
        return None
    try:
        made = _Plain(origin, options)
        value, note = made.value(schema, origin, 0)
    except _NotPlainError:
        return None
    if made.containers:
        check_shape(schema, origin, options.max_depth)
    return SchemaValue(value, {}), note


def plain_findings(root: Note, origin: Origin) -> list[Finding]:
    """What became of each keyword, in the order in which the reader finds it."""
    found: dict[tuple[str, str], Finding] = {}
    queue = [root]
    for note in queue:
        _add(found, note, origin)
        for inner in note.inner:
            if inner.silent:
                _add(found, inner, origin)
            else:
                queue.append(inner)
        if note.closed:
            at = Origin(note.pointer, origin.tool, origin.file)
            found[at.pointer, _CLOSED] = Finding("narrowed", _CLOSED, NO_MORE_KEYS, at)
    return list(found.values())


def _add(found: dict[tuple[str, str], Finding], note: Note, origin: Origin) -> None:
    for keyword in note.keywords:
        at = Origin(f"{note.pointer}/{escape_pointer(keyword)}", origin.tool, origin.file)
        if keyword in IMPLEMENTED:
            made = Finding("enforced", keyword, "", at)
        else:
            made = Finding("annotation", keyword, annotation_note(keyword), at)
        found.setdefault((at.pointer, keyword), made)


class _Plain:
    """Reads one document. ``containers``: annotations hold arrays or objects, unchecked so far."""

    def __init__(self, origin: Origin, options: ReadOptions) -> None:
        self.tool, self.file = origin.tool, origin.file
        self.arguments = options.arguments
        self.closed_objects = options.closed_objects
        self.documents = bool(options.documents)
        self.containers = False
        self._most_depth = min(MAX_DEPTH, options.max_depth)
        self._left = min(MAX_NODES, options.max_nodes, options.max_steps // 4)

    def value(self, schema: dict[str, Any], origin: Origin, depth: int) -> tuple[Value, Note]:
        """The value of one schema, which stands at `origin`."""
        self._left -= 1
        if depth > self._most_depth or self._left < 0:
            raise _NotPlainError
        given = schema.get("type")
        kinds = (given,) if type(given) is str else _types(schema)
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
        return UnionValue(tuple(options), origin), note

    def _of_type(
        self, kind: str, schema: dict[str, Any], origin: Origin, note: Note, depth: int
    ) -> Value:
        match kind:
            case "string":
                shortest, longest = _counts(schema, "minLength", "maxLength")
                return StringValue(shortest, longest, None, origin)
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
            if depth or keyword not in _NAMES or self.documents:
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
        return EnumValue(tuple(dict.fromkeys(given)), self._at(origin.pointer + "/enum"))

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
        required = schema.get("required", ())
        if type(properties) is not dict or type(required) not in (list, tuple):
            raise _NotPlainError
        if any(type(name) is not str or name not in properties for name in required):
            raise _NotPlainError
        pointer = origin.pointer
        keys = []
        for name, inner in properties.items():
            if type(name) is not str:
                raise _NotPlainError
            at = self._at(f"{pointer}/properties/{escape_pointer(name)}")
            value = self._inner(inner, at, note, depth)
            keys.append(Key(name, value, name in required, at))
        opened: tuple[OpenKeys, ...] = ()
        more = schema.get("additionalProperties")
        if "additionalProperties" in schema:
            if more is not False:
                at = self._at(pointer + "/additionalProperties")
                opened = (self._open(properties, self._inner(more, at, note, depth), at),)
        elif self.closed_objects and (
            properties or ("properties" in schema and self.arguments and depth == 0)
        ):
            note.closed = True
        else:
            bare = "properties" not in schema and "required" not in schema
            opened = (self._open(properties, _ANY, NOWHERE if bare else origin),)
        return ObjectValue(tuple(keys), opened, 0, None, origin)

    def _open(self, properties: dict[str, Any], value: Value, at: Origin) -> OpenKeys:
        names = open_names(None, properties)
        return OpenKeys(_EVERY if names is None else names, value, at)

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
        value, note = self.value(schema, at, depth + 1)
        outer.inner.append(note)
        return value

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
    """The types of a list of them, in order."""
    given = schema.get("type")
    if type(given) is not list or not 0 < len(given) < 6:
        raise _NotPlainError
    if any(type(name) is not str for name in given):
        raise _NotPlainError
    # Integers are numbers.
    return tuple(dict.fromkeys(n for n in given if n != "integer" or "number" not in given))


def _together(kinds: tuple[str, ...]) -> frozenset[str]:
    return frozenset().union(*(_KEYWORDS[kind] for kind in kinds))
