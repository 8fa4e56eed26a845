"""The arguments of a tree as they are read: elements within elements, any key and any value.

What a type mark says decides whether an element is a leaf, an object or an array. Where nothing
says it, an element that begins with another one is a container, and everything else is a leaf; the
schema tells the rest when the tree is decoded (see ``decode_tree``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import (
    EMPTY,
    Capture,
    Expr,
    Literal,
    Regular,
    Repeat,
    RuleRef,
    Slot,
    choice,
    optional,
    sequence,
)
from ..regular.language import Language
from ..template import Hole, Part, literal_after
from .elements import CONTAINERS, Elements
from .layout import raw_stops
from .shape import Shape
from .spelling import spell

if TYPE_CHECKING:
    from .read_call import ReadCalls

_NESTED = 2
"""Elements inside one another, where a spec is checked."""


class ReadTree:
    """The elements of one shape."""

    def __init__(self, calls: ReadCalls, shape: Shape) -> None:
        self._calls = calls
        self._values = calls.values
        self._elements = Elements.of(shape, self._values.avoid)
        self._avoid = raw_stops(shape.args, self._values.avoid)

    def arguments(self) -> Expr:
        """The members of a call."""
        args, gap = self._elements.args, self._values.gap
        some = self._several(self._member(0))
        return sequence(
            sequence(self._calls.literal(args.open), gap) if args.open else EMPTY,
            optional(some if args.close else sequence(some, gap)),
            sequence(gap, self._calls.literal(args.close)) if args.close else EMPTY,
        )

    def _several(self, element: Expr) -> Expr:
        return sequence(element, Repeat(sequence(self._values.gap, element), 0, None))

    def _member(self, depth: int) -> RuleRef:
        parts = self._elements.param
        key = ("tree-member", self._elements, depth)
        return self._values.once(
            key, "member", lambda: Capture(Slot("member"), self._element(parts, depth))
        )

    def _item(self, depth: int) -> RuleRef:
        key = ("tree-item", self._elements, depth)
        return self._values.once(key, "item", lambda: self._element(self._elements.item, depth))

    def _element(self, parts: tuple[Part, ...], depth: int) -> Expr:
        """An element with each type mark that there is; what stands before the mark is shared."""
        groups = self._elements.groups
        if Hole("type") in parts:
            at = parts.index(Hole("type"))
        else:
            groups = ((None, frozenset(t for _, types in groups for t in types)),)
            at = parts.index(Hole("value"))
        closer = literal_after(parts, "value")
        options: list[Expr] = []
        for attribute, types in groups:
            value = self._value(types, closer, depth)
            options.append(self._filled(parts, range(at, len(parts)), attribute, value))
        return sequence(self._filled(parts, range(at), None, EMPTY), choice(*options))

    def _filled(
        self, parts: tuple[Part, ...], places: range, attribute: str | None, value: Expr
    ) -> Expr:
        filled: list[Expr] = []
        for at in places:
            part = parts[at]
            if isinstance(part, str):
                filled.append(self._calls.param_literal(parts, at))
            elif part.name == "key":
                filled.append(self._key(part))
            else:
                filled.append(Literal(attribute or "") if part.name == "type" else value)
        return sequence(*filled)

    def _key(self, hole: Hole) -> Expr:
        if hole.form == "json":
            return Capture(Slot("key", "json"), self._values.json_string())
        dfa = self._elements.key_names.dfa
        return Capture(Slot("key", "bare"), Regular(spell(dfa, "none", ""), 1, None, "a key"))

    # Values ---------------------------------------------------------------------------------

    def _value(self, types: frozenset[str], closer: str, depth: int) -> Expr:
        """What an element of one of these JSON types holds."""
        options: list[Expr] = []
        leaves = types - CONTAINERS
        if types & CONTAINERS:
            options += self._containers(types, depth, empty=not leaves)
        if leaves:
            language = Language.avoiding(self._avoid, closer)
            text = Regular(spell(language.dfa, "none", ""), 0, None, "a value")
            options.append(Capture(Slot("value", self._elements.leaf_form(leaves)), text))
        return choice(*options)

    def _containers(self, types: frozenset[str], depth: int, *, empty: bool) -> list[Expr]:
        """Objects and arrays; `empty`: without elements too, which is a leaf otherwise."""
        depth = depth + 1 if self._values.exact else 0
        name = self._elements.item_name
        both = types >= CONTAINERS
        if depth >= _NESTED:
            slot = Slot("array") if types == {"array"} else Slot("object", "untyped")
            return [Capture(slot, EMPTY)] if empty else []
        if both and name is not None:
            # Members that are written as items are: which they are the schema tells.
            inside = self._inside(self._member(depth), empty=empty)
            return [Capture(Slot("object", "untyped", name), inside)]
        options: list[Expr] = []
        if "object" in types:
            inside = self._inside(self._member(depth), empty=empty and not both)
            options.append(Capture(Slot("object"), inside))
        if "array" in types:
            inside = self._inside(self._item(depth), empty=empty and not both)
            options.append(Capture(Slot("array"), inside))
        if empty and both:
            options.append(Capture(Slot("object", "untyped"), self._values.gap))
        return options

    def _inside(self, element: Expr, *, empty: bool) -> Expr:
        gap = self._values.gap
        some = sequence(self._several(element), gap)
        return sequence(gap, optional(some) if empty else some)
