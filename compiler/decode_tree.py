"""Trees of elements back to values, as the schema says: the inverse of the tree notation.

A tree without type marks says little: an empty element is "", [], {} or null, and raw text is a
string or what it spells. A node is read as each alternative of its type in turn, in the schema's
order, and the first reading that satisfies the schema counts. Raw text that is not empty is read as
JSON first, then as the string it is. So a text that the grammar accepts has a valid reading.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any, Final, Literal, TypeAlias

from .decode import Undecodable, decode_json, decode_literal
from .ir import (
    AnyValue,
    ArrayValue,
    EnumValue,
    ObjectValue,
    StringValue,
    UnionValue,
    Value,
    alternatives,
)
from .json_schema.json_values import is_container
from .lower.constant import constant
from .membership import contains
from .spec import LiteralsSpec

MAX_READINGS: Final = 8
"""Readings of one part that are tried."""
MAX_COMBINED: Final = 256
"""Combinations of the parts' readings that are tried for one container."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """Raw text. ``form``: a string for sure ("raw"), a JSON scalar ("json"), or "untyped"."""

    text: str
    form: Literal["raw", "json", "untyped"]


@dataclass(frozen=True, slots=True)
class Branch:
    """Elements in order: ``members`` with keys, or items, whose key is None.

    ``form``: an object or array for sure, or "untyped": an array only if every key is `item`.
    """

    form: Literal["object", "array", "untyped"]
    members: tuple[tuple[str | None, Node], ...]
    item: str | None = None
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        below = (n.depth for _, n in self.members if isinstance(n, Branch))
        object.__setattr__(self, "depth", 1 + max(below, default=0))

    @property
    def may_be_array(self) -> bool:
        """Can its elements be items?"""
        return self.form != "object" and all(k is None or k == self.item for k, _ in self.members)

    @property
    def may_be_object(self) -> bool:
        """Can its elements be members?"""
        return self.form != "array" and all(key is not None for key, _ in self.members)


Node: TypeAlias = Leaf | Branch


class TreeDecoder:
    """Reads trees of one tool.

    Args:
        definitions: what references mean.
        literals: the notation's spellings of null, true and false.
        omits_null: members that are null are not written, and items that are null are empty.
    """

    def __init__(
        self, definitions: Mapping[str, Value], literals: LiteralsSpec, *, omits_null: bool
    ) -> None:
        self._definitions = definitions
        self._literals = literals
        self._omits_null = omits_null
        # By identity; what is keyed is kept alive beside it.
        self._alternatives: dict[int, tuple[Value, list[Value]]] = {}
        self._stepped: dict[int, tuple[ArrayValue, Value]] = {}
        self._found: dict[tuple[int, int], _Kept] = {}

    def decode(self, node: Node, kind: Value | None) -> Any:
        """The first reading that `kind` allows, else the nearest one.

        Args:
            node: no deeper than values may nest.
            kind: the typed value it stands for; None if nothing is declared.
        """
        value = self._closest(node, _ANY if kind is None else kind)
        self._found.clear()
        return value

    def _options(self, kind: Value) -> list[Value]:
        """The alternatives of a type in the schema's order, references followed; listed values
        that are containers are containers of their parts."""
        known = self._alternatives.get(id(kind))
        if known is not None:
            return known[1]
        out: list[Value] = []
        for part in alternatives(kind, self._definitions):
            if isinstance(part, EnumValue):
                out += [
                    constant(v, part.origin) if is_container(v) else EnumValue((v,), part.origin)
                    for v in part.values
                ]
            else:
                out.append(part)
        self._alternatives[id(kind)] = (kind, out)
        return out

    def _readings(self, node: Node, kind: Value, *, item: bool = False) -> Iterator[Any]:
        """The readings that the type allows: raw text as JSON first; everything else as the
        alternatives of the type have it, one after the other."""
        options = self._options(kind)
        if isinstance(node, Leaf) and (node.text or node.form == "raw"):
            for value in self._spelled(node):
                if any(contains(option, self._definitions, value) for option in options):
                    yield value
            return
        for option in options:
            key = (id(node), id(option))
            if key not in self._found:
                self._found[key] = _Kept(self._tried(node, option, item=item))
            yield from self._found[key]

    def _tried(self, node: Node, option: Value, *, item: bool) -> Iterator[Any]:
        """The readings that one alternative allows."""
        match node, option:
            case Leaf(form="untyped"), ObjectValue():
                return self._object(_EMPTY, option)
            case Leaf(), _:
                found = self._empty(node, item=item)
                return (v for v in found if contains(option, self._definitions, v))
            case _, ObjectValue() if node.may_be_object:
                return self._object(node, option)
            case _, ArrayValue() if node.may_be_array:
                return self._array(node, option)
            case _, AnyValue() if node.may_be_array:
                return self._array(node, _ANY_ARRAY)
            case _, AnyValue() if node.may_be_object:
                return self._object(node, None)
            case _:
                return iter(())

    # Leaves ---------------------------------------------------------------------------------

    def _spelled(self, leaf: Leaf) -> Iterator[Any]:
        """What a text that is not empty can stand for, whatever the schema says."""
        value = _NOTHING if leaf.form == "raw" else self._json(leaf.text)
        container = isinstance(value, (list, dict))
        # JSON where elements belong, or null where it is left out: only where no string may stand.
        last = container or (value is None and self._omits_null)
        if value is not _NOTHING and not last:
            yield value
        if value is _NOTHING or leaf.form != "json":
            yield leaf.text
        if last:
            yield value

    def _json(self, text: str) -> Any:
        try:
            return decode_json(text)
        except Undecodable:
            found = decode_literal(text, self._literals)
            return _NOTHING if found is None else found[0]

    def _empty(self, leaf: Leaf, *, item: bool) -> Iterator[Any]:
        """What an empty element can stand for; only an `item` can be null."""
        if leaf.form == "untyped":
            yield ""
        if item and self._omits_null:
            yield None
        if leaf.form == "untyped":
            yield []

    # Containers -----------------------------------------------------------------------------

    def _object(self, branch: Branch, kind: ObjectValue | None) -> Iterator[dict[str, Any]]:
        """The objects of these members that the type allows; the last of equal keys counts."""
        nodes = {key: node for key, node in branch.members if key is not None}
        kinds = self._kinds(kind, nodes)
        if len(kinds) < len(nodes) or (kind is not None and _repeats(branch, kind)):
            return
        missing = dict.fromkeys(self._restored(kind, nodes))
        parts = [self._readings(node, kinds[key]) for key, node in nodes.items()]
        for values in _combined(parts):
            made = dict(zip(nodes, values, strict=True)) | missing
            if kind is None or self._allows(kind, made):
                yield made

    def _array(self, branch: Branch, kind: ArrayValue) -> Iterator[list[Any]]:
        count = len(branch.members)
        if count < kind.min_items or (kind.max_items is not None and count > kind.max_items):
            return
        parts: list[Iterator[Any]] = []
        for at, (_, node) in enumerate(branch.members):
            value = self._item(kind, at)
            if value is None:
                return
            parts.append(self._readings(node, value, item=True))
        whole = kind.unique or bool(kind.steps)
        for values in _combined(parts):
            if not whole or contains(kind, self._definitions, values):
                yield values

    def _kinds(self, kind: ObjectValue | None, names: Iterable[str]) -> dict[str, Value]:
        """The types of the keys that the object can have."""
        if kind is None:
            return dict.fromkeys(names, _ANY)
        declared = {key.name: key.value for key in kind.keys}
        found: dict[str, Value] = {}
        for name in names:
            opened = (o.value for o in kind.open_keys if o.names.accepts(name))
            value = declared[name] if name in declared else next(opened, None)
            if value is not None:
                found[name] = value
        return found

    def _item(self, kind: ArrayValue, at: int) -> Value | None:
        """The type of the item at a place; None if there can be no item."""
        if not kind.steps:
            return kind.prefix[at] if at < len(kind.prefix) else kind.items
        known = self._stepped.get(id(kind))
        if known is None:
            values = {id(s.value): s.value for row in kind.steps for s in row}
            known = self._stepped[id(kind)] = (kind, UnionValue(tuple(values.values())))
        return known[1]

    def _restored(self, kind: ObjectValue | None, present: Container[str]) -> list[str]:
        """The required keys that are missing and so are null."""
        if kind is None or not self._omits_null:
            return []
        return [
            key.name
            for key in kind.keys
            if key.required
            and key.name not in present
            and contains(key.value, self._definitions, None)
        ]

    def _allows(self, kind: ObjectValue, made: dict[str, Any]) -> bool:
        """Whether the object is allowed, its members being so."""
        if kind.conditions:
            return contains(kind, self._definitions, made)
        if len(made) < kind.min_keys or (kind.max_keys is not None and len(made) > kind.max_keys):
            return False
        return all(key.name in made for key in kind.keys if key.required)

    # What no alternative allows -------------------------------------------------------------

    def _closest(self, node: Node, kind: Value, *, item: bool = False) -> Any:
        for value in self._readings(node, kind, item=item):
            return value
        options = self._options(kind)
        if isinstance(node, Leaf):
            if node.text or node.form != "untyped":
                tried = self._spelled(node) if node.text else self._empty(node, item=item)
                return next(tried, node.text)
            kinds = (o for o in options if isinstance(o, (ObjectValue, ArrayValue, StringValue)))
            match next(kinds, None):
                case ObjectValue() as found:
                    return self._any_object(_EMPTY, found)
                case ArrayValue():
                    return []
                case _:
                    return ""
        for option in options:
            if isinstance(option, ObjectValue) and node.may_be_object:
                return self._any_object(node, option)
            if isinstance(option, ArrayValue) and node.may_be_array:
                return self._any_array(node, option)
        if node.may_be_array:
            return self._any_array(node, _ANY_ARRAY)
        return self._any_object(node, None)

    def _any_object(self, branch: Branch, kind: ObjectValue | None) -> dict[str, Any]:
        kinds = self._kinds(kind, [key or "" for key, _ in branch.members])
        made = {
            key or "": self._closest(node, kinds.get(key or "", _ANY))
            for key, node in branch.members
        }
        return made | dict.fromkeys(self._restored(kind, made))

    def _any_array(self, branch: Branch, kind: ArrayValue) -> list[Any]:
        return [
            self._closest(node, self._item(kind, at) or _ANY, item=True)
            for at, (_, node) in enumerate(branch.members)
        ]


def _repeats(branch: Branch, kind: ObjectValue) -> bool:
    """Does a declared key come twice?"""
    if len(branch.members) == len(dict(branch.members)):
        return False
    declared = {key.name for key in kind.keys}
    found = [key for key, _ in branch.members if key in declared]
    return len(found) > len(set(found))


def repeated_keys(node: Node, value: Any) -> Iterator[str]:
    """The keys that come twice in one object of the tree, `value` being what it was read as."""
    if isinstance(node, Leaf):
        return
    if isinstance(value, list):
        for (_, child), inner in zip(node.members, value, strict=True):
            yield from repeated_keys(child, inner)
    elif isinstance(value, dict):
        last = dict(node.members)
        seen: set[str | None] = set()
        for key, child in node.members:
            if key in seen:
                yield key or ""
            seen.add(key)
            if last[key] is child:
                yield from repeated_keys(child, value[key or ""])


def _combined(parts: list[Iterator[Any]]) -> Iterator[list[Any]]:
    """One reading of each part, the first ones first; few combinations of the others."""
    first: list[Any] = []
    for part in parts:
        for value in part:
            first.append(value)
            break
        else:
            return
    yield first
    lists = [
        [value, *islice(part, MAX_READINGS - 1)] for value, part in zip(first, parts, strict=True)
    ]
    for values in islice(product(*lists), 1, MAX_COMBINED):
        yield list(values)


class _Kept:
    """What an iterator gives, to be walked more than once, as far as was asked for."""

    def __init__(self, source: Iterator[Any]) -> None:
        self._source = source
        self._known: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        at = 0
        while at < MAX_READINGS:
            if at == len(self._known):
                for value in self._source:
                    self._known.append(value)
                    break
                else:
                    return
            yield self._known[at]
            at += 1


class _Nothing:
    """No reading; None is a value."""


_NOTHING: Final = _Nothing()
_EMPTY: Final = Branch("object", ())
_ANY: Final = AnyValue()
_ANY_ARRAY: Final = ArrayValue(items=_ANY)
