"""Writing values as elements within elements: the inverse of reading a tree.

Beside the text it gives the tree of nodes that reading takes from the text, so that it can be seen
at once whether the values come back. See :class:`~.writer.Writer` for what leads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from ..decode_tree import Branch, Leaf, Node
from ..ir import AnyValue, EnumValue, NumberValue, ObjectValue, Value
from ..json_schema.json_values import is_container, json_key
from ..limits import MAX_NESTING
from ..origin import Origin
from ..template import Hole, Part, literal_after
from .arguments import attribute_of, json_type
from .constant import constant
from .elements import CONTAINERS, RAW, Elements
from .layout import JSON_STRING, Layout
from .spelling import raw_fits
from .tree_objects import listed_keys
from .writer import Writer, not_carryable, write_string

Members = tuple[tuple[str | None, Node], ...]


class TreeWriter(Writer):
    """Writes values in one tree.

    `declared_only`: keys that no grammar of the notation lets through are refused.
    """

    def __init__(
        self,
        layout: Layout,
        definitions: Mapping[str, Value],
        elements: Elements,
        *,
        declared_only: bool,
    ) -> None:
        super().__init__(layout, definitions)
        self.elements = elements
        self.declared_only = declared_only

    def like(self, layout: Layout, definitions: Mapping[str, Value]) -> TreeWriter:
        return TreeWriter(layout, definitions, self.elements, declared_only=self.declared_only)

    def members(
        self, value: dict[str, Any], kind: Value | None, origin: Origin, depth: int = 0
    ) -> tuple[str, Members]:
        """The members of an object, and the nodes that they are read as.

        Raises:
            RenderError: code ``not-carryable``.
        """
        texts: list[str] = []
        nodes: list[tuple[str | None, Node]] = []
        self._check_keys(value, kind, origin)
        for name, inner in self.ordered(value, kind):
            if value[name] is None and self.elements.omits_null:
                continue
            at = origin.child(name)
            parts = self.elements.param
            text, node = self._element(parts, value[name], inner, at, depth, name)
            texts.append(text)
            nodes.append((name, node))
        return "".join(texts), tuple(nodes)

    def _check_keys(self, value: dict[str, Any], kind: Value | None, origin: Origin) -> None:
        legal: set[str] = set()
        if isinstance(kind, ObjectValue):
            legal = {key.name for key in kind.keys}
            legal |= {name for o in kind.open_keys for name in listed_keys(o) or ()}
        for name in value:
            if not isinstance(name, str):
                raise not_carryable(f"the key {name!r} is no string", origin)
            at = origin.child(name)
            if not self.elements.carries_key(name):
                raise not_carryable(f"the key {name!r} cannot be written in this notation", at)
            if self.declared_only and self.elements.repeats_key and name not in legal:
                message = f"the key {name!r} is not declared"
                hint = "elements say their key at both ends, so only declared keys can be written"
                raise not_carryable(message, at, hint)

    def _element(
        self,
        parts: Sequence[Part],
        value: Any,
        kind: Value | None,
        origin: Origin,
        depth: int,
        key: str | None = None,
    ) -> tuple[str, Node]:
        closer = literal_after(tuple(parts), "value")
        name, text, node = self._content(value, kind, origin, closer, depth + 1)
        filled: list[str] = []
        for part in parts:
            match part:
                case str():
                    filled.append(part)
                case Hole(name="value"):
                    filled.append(text)
                case Hole(name="type"):
                    filled.append(attribute_of(self.elements.args.type_attr, name) or "")
                case Hole(form="json"):
                    filled.append(write_string(key or "", JSON_STRING, "", self.layout, origin))
                case _:
                    filled.append(key or "")
        return "".join(filled), node

    def _content(
        self, value: Any, kind: Value | None, origin: Origin, closer: str, depth: int
    ) -> tuple[str, str, Node]:
        """The JSON type of a value, its text between the ends of its element, and its node."""
        if depth > MAX_NESTING:
            raise not_carryable(f"nested more than {MAX_NESTING} deep", origin)
        kind = self.resolve(kind, value) or _ANY
        if isinstance(kind, EnumValue):
            wanted = json_key(value)
            # The member as the schema spells it.
            value = next((v for v in kind.values if json_key(v) == wanted), value)
            kind = constant(value, origin) if is_container(value) else kind
        name = json_type(value)
        if isinstance(value, dict):
            text, members = self.members(value, kind, origin, depth)
            return name, text, self._branch(name, members)
        if isinstance(value, (list, tuple)):
            text, members = self._items(list(value), kind, origin, depth)
            return "array", text, self._branch("array", members)
        if name == "integer" and isinstance(kind, (NumberValue, AnyValue)):
            name = "number"
        if value is None and self.elements.omits_null:
            text = ""
        elif value is None or isinstance(value, (str, int, float, Decimal)):
            text = self.write(value, kind, origin, closer, RAW[0])
            if not raw_fits(text, closer, self.layout.avoid):
                raise not_carryable("the value holds a marker, which would end it early", origin)
        else:
            raise not_carryable(f"{type(value).__name__} is no JSON value", origin)
        return name, text, Leaf(text, self.elements.leaf_form(self.elements.types_beside(name)))

    def _items(
        self, value: list[Any], kind: Value | None, origin: Origin, depth: int
    ) -> tuple[str, Members]:
        writer, kind = self._for_items(kind)
        assert isinstance(writer, TreeWriter)
        parts = self.elements.item
        found = [
            writer._element(parts, item, writer._item(kind, i), origin.child(i), depth)
            for i, item in enumerate(value)
        ]
        return "".join(text for text, _ in found), tuple((None, node) for _, node in found)

    def _branch(self, name: str, members: Members) -> Node:
        """The node that a container is read as; without type marks it is not told which it is."""
        types = self.elements.types_beside(name)
        both, leaves = types >= CONTAINERS, types - CONTAINERS
        if not members and leaves:
            return Leaf("", self.elements.leaf_form(types))
        item = self.elements.item_name
        if both and (item is not None or not members):
            named = tuple((item if key is None else key, node) for key, node in members)
            return Branch("untyped", named, item)
        return Branch("array" if name == "array" else "object", members)

    def _sorted(self, value: Mapping[str, Any]) -> list[str]:
        ranks = {name: i for i, name in enumerate(self.layout.named_keys)}
        return sorted(value, key=lambda name: (ranks.get(name, len(ranks)), name.encode()))


def difference(
    value: Any, other: Any, path: tuple[str | int, ...] = ()
) -> tuple[tuple[str | int, ...], Any, Any] | None:
    """Where two JSON values first differ, and what stands there; None if they are equal. A key
    that only one of them has is `MISSING` in the other."""
    if isinstance(value, dict) and isinstance(other, dict):
        for name in (*value, *(n for n in other if n not in value)):
            pair = value.get(name, MISSING), other.get(name, MISSING)
            found = difference(*pair, (*path, name))
            if found is not None:
                return found
        return None
    if isinstance(value, (list, tuple)) and isinstance(other, list) and len(value) == len(other):
        for at, pair in enumerate(zip(value, other, strict=True)):
            found = difference(*pair, (*path, at))
            if found is not None:
                return found
        return None
    if value is MISSING or other is MISSING:
        return None if value is other else (path, value, other)
    if json_key(value) == json_key(other) or _one_number(value, other):
        return None
    return path, value, other


def _one_number(value: Any, other: Any) -> bool:
    """Are they numbers that no reader of JSON tells apart?"""
    numbers = (int, float, Decimal)
    if isinstance(value, bool) or isinstance(other, bool):
        return False
    try:
        both = isinstance(value, numbers) and isinstance(other, numbers)
        return both and float(value) == float(other)
    except OverflowError:
        return False


class _Missing:
    def __repr__(self) -> str:
        return "missing"


_ANY = AnyValue()
MISSING = _Missing()
"""No value at all."""
