"""Typed values -> expressions, in one layout. The enforcing strictness.

``None`` stands for "no text at all": a value that needs more nesting than is left, or that the
notation cannot carry. Callers drop the option or the optional key it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from ..grammar import (
    Chars,
    Choice,
    Expr,
    Literal,
    Repeat,
    RuleRef,
    Sequence,
    choice,
    optional,
    sequence,
)
from ..ir import (
    AnyValue,
    ArrayValue,
    BooleanValue,
    EnumValue,
    IntegerValue,
    Key,
    NeverValue,
    NullValue,
    NumberValue,
    ObjectValue,
    OpenKeys,
    ReferenceValue,
    StringValue,
    UnionValue,
    Value,
)
from ..json_schema.json_values import is_container
from ..regular.language import Language
from .arrays import array
from .constant import constant
from .distinct import untyped_members
from .heights import Kept, heights, needed
from .keys import KeyLowering
from .layout import Layout
from .nesting import landings
from .objects import may_be_empty, object_members
from .one_spelling import OneSpelling
from .plain import PlainValues
from .scalars import number
from .shared import Shared
from .texts import TextLowering
from .writer import Writer

_SCALARS = (
    StringValue,
    IntegerValue,
    NumberValue,
    BooleanValue,
    NullValue,
    EnumValue,
    AnyValue,
)
_WHITESPACE = Chars(((0x09, 0x0A), (0x0D, 0x0D), (0x20, 0x20)))


class ValueLowering:
    """Lowers the values of one tool in one layout."""

    def __init__(
        self, shared: Shared, layout: Layout, definitions: Mapping[str, Value], hint: str
    ) -> None:
        self.shared = shared
        self.layout = layout
        self.definitions = definitions
        self.hint = hint
        self.heights = heights(definitions)
        self.texts = TextLowering(shared, layout, Writer(layout, definitions))
        self.keys = KeyLowering(shared, layout, self.texts)
        self.plain = PlainValues(layout)
        self._punctuation: dict[str, Expr] = {}
        self._met: set[str] = set()
        self._needed: Kept = {}
        self._objects: dict[tuple[int, int], RuleRef | None] = {}
        self._inside = False
        self._kept: list[Value] = []
        self._spelled: dict[int, tuple[ValueLowering, ArrayValue]] = {}

    # Entry points ---------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """How often recursive definitions may be entered."""
        bounds = self.shared.bounds
        return bounds.recursion if bounds else -1

    def fits(self, value: Value, depth: int) -> bool:
        """Can the value be written at all with so much recursion left (-1: any)?"""
        if isinstance(value, _SCALARS):
            return True
        height = needed(value, self.heights, self._needed)
        return height is not None and (depth < 0 or height <= depth)

    def value(self, value: Value, depth: int) -> Expr | None:
        """The expression of a value, or None if it cannot be said."""
        if not self.fits(value, depth):
            return None
        match value:
            case NeverValue():
                return None
            case AnyValue():
                bounds = self.shared.bounds
                return self.any(bounds.depth if bounds else -1)
            case NullValue():
                return Literal(self.layout.literals.null[0])
            case BooleanValue():
                names = self.layout.literals
                return Choice((Literal(names.true[0]), Literal(names.false[0])))
            case StringValue():
                return self.texts.string(value)
            case IntegerValue() | NumberValue():
                return number(
                    value,
                    self.shared,
                    floats=self.layout.float_integers,
                    one_spelling=self.layout.one_spelling,
                )
            case EnumValue():
                return self._enum(value, depth)
            case ArrayValue() | ObjectValue():
                return self._container(value, depth)
            case UnionValue(options):
                found = [e for o in options if (e := self.value(o, depth)) is not None]
                return choice(*found) if found else None
            case ReferenceValue(name):
                return self._reference(name, depth)
            case _:
                assert_never(value)

    def _enum(self, value: EnumValue, depth: int) -> Expr | None:
        """The members; containers part by part where white space may vary in them."""
        if not self.layout.flexible or not any(map(is_container, value.values)):
            return self.texts.enum(value)
        found: list[Expr | None] = []
        for member in value.values:
            part = constant(member, value.origin)
            found.append(
                self.texts.enum(part) if isinstance(part, EnumValue) else self.value(part, depth)
            )
        options = [e for e in found if e is not None]
        return choice(*options) if options else None

    def _reference(self, name: str, depth: int) -> Expr | None:
        left = depth - 1 if depth > 0 else depth
        key = ("ref", id(self.definitions), self.layout, name, left)
        found = self.shared.memo.get(key)
        if found is None:
            rule = self.shared.names.fresh(self.hint, name.rsplit("/", 1)[-1], str(max(left, 0)))
            body = self.definitions[name]

            def build() -> Expr:
                expr = self.value(body, left)
                # Heights promise a value; what the notation cannot carry is a problem by now.
                assert expr is not None or self.shared.problems, name
                return expr or Sequence(())

            found = self.shared.memo[key] = self.shared.rules.define(rule, build)
            if name not in self._met:
                self._met.add(name)
                self.shared.unbuilt.append(found)
        return found

    def _container(self, value: ArrayValue | ObjectValue, depth: int) -> RuleRef | None:
        """A rule of its own, so that repeats of it stay cheap in every target."""
        key = (id(value), depth)
        if key not in self._objects and self.plain.value(value):
            self._kept.append(value)
            rule = self._rule_name(value)
            self._objects[key] = self.shared.rules.define(rule, lambda: self._surely(value, depth))
        if key in self._objects:
            return self._objects[key]
        if not self._inside:
            self._inside = True
            for part in landings(value, distinct=self.layout.one_spelling):
                if self.fits(part, depth):
                    self._container(part, depth)
            made = self._container(value, depth)
            self._inside = False
            return made
        expr = self._brackets(value, depth)
        self._kept.append(value)
        found = None if expr is None else self.shared.rules.define(self._rule_name(value), expr)
        self._objects[key] = found
        return found

    def _brackets(self, value: ArrayValue | ObjectValue, depth: int) -> Expr | None:
        if isinstance(value, ArrayValue):
            return array(self, value, depth)
        return self.object(value, depth)

    def _surely(self, value: ArrayValue | ObjectValue, depth: int) -> Expr:
        found = self._brackets(value, depth)
        assert found is not None, "a plain value can be written"
        return found

    def _rule_name(self, value: ArrayValue | ObjectValue) -> str:
        return self.shared.names.fresh(self.hint, value.origin.pointer.rsplit("/", 1)[-1])

    def like(self, layout: Layout, definitions: Mapping[str, Value]) -> ValueLowering:
        """A lowering in the same notation."""
        return ValueLowering(self.shared, layout, definitions, self.hint)

    def with_one_spelling(self, value: ArrayValue) -> tuple[ValueLowering, ArrayValue]:
        """The array, and what lowers its items so that each has one text.

        Raises:
            NoOneSpelling: see :class:`~.one_spelling.OneSpelling`.
        """
        found = self._spelled.get(id(value))
        if found is None:
            one = OneSpelling(value, self.definitions, self.layout)
            lowering = self.like(one.layout, one.definitions)
            found = self._spelled[id(value)] = (lowering, one.value)
            # Rules are known by the identity of the definitions and values they are made from.
            self.shared.kept += (lowering.definitions, value)
        return found

    # Containers -----------------------------------------------------------------------------

    def gap(self) -> Expr:
        """Whitespace that may vary, or nothing."""
        if not self.layout.flexible:
            return Sequence(())
        most = self.layout.whitespace
        return self.shared.named(("gap", most), "gap", lambda: Repeat(_WHITESPACE, 0, most))

    def item(self, value: Value, depth: int) -> Expr | None:
        """An item of an array, all that stands around it included."""
        return self.value(value, depth)

    def punctuation(self, text: str) -> Expr:
        """A separator: as given, or with gaps around its visible part."""
        found = self._punctuation.get(text)
        if found is None:
            found = Literal(text)
            if self.layout.flexible:
                found = sequence(self.gap(), Literal(text.strip()), self.gap())
            self._punctuation[text] = found
        return found

    def bracketed(self, opening: str, inside: Expr, closing: str) -> Expr:
        """A container's text in its brackets."""
        if inside == Sequence(()) or not self.layout.flexible:
            return sequence(Literal(opening), self.gap(), inside, Literal(closing))
        gap = self.gap()
        if isinstance(inside, Repeat) and (inside.min, inside.max) == (0, 1):
            inside = optional(sequence(inside.item, gap))
        else:
            inside = sequence(inside, gap)
        return sequence(Literal(opening), gap, inside, Literal(closing))

    def object(self, value: ObjectValue, depth: int) -> Expr | None:
        """An object in braces."""
        comma = self.punctuation(self.layout.comma)
        members = object_members(self, value, depth, comma, self.member, self.named_member)
        if members is None:
            return None
        if not members.keys and not members.open:
            return self.bracketed("{", Sequence(()), "}")
        if not self.layout.flexible or not may_be_empty(members):
            return self.bracketed("{", members, "}")
        some = replace(members, min_count=1)
        return self.bracketed("{", optional(some), "}")

    def member(self, member: Key | OpenKeys, depth: int) -> Expr | None:
        """A member in braces: key, colon, value."""
        inner = self.value(member.value, depth)
        if inner is None:
            return None
        name = self.keys.key(member)
        if name is None:
            return None
        return sequence(name, self.punctuation(self.layout.colon), inner)

    def named_member(self, member: OpenKeys, depth: int) -> tuple[Expr, Expr] | None:
        """An undeclared member in braces: its key in one spelling; colon and value."""
        inner = self.value(member.value, depth)
        name = self.keys.open_key(member)
        if inner is None or name is None:
            return None
        return name, sequence(self.punctuation(self.layout.colon), inner)

    # Untyped JSON ---------------------------------------------------------------------------

    def any(self, depth: int) -> Expr:
        """Any JSON value with `depth` more levels of nesting (-1: any depth)."""
        key = ("any", self.layout, depth)
        hint = f"any-{depth}" if depth >= 0 else "any"
        return self.shared.named(key, hint, lambda: self._any(depth))

    def _any(self, depth: int) -> Expr:
        scalars = [
            self.value(kind, 0)
            for kind in (StringValue(), NumberValue(), BooleanValue(), NullValue())
        ]
        options = [s for s in scalars if s is not None]
        if depth == 0:
            options += [self.bracketed("[", Sequence(()), "]")]
            options += [self.bracketed("{", Sequence(()), "}")]
            return choice(*options)
        inner = self.any(depth - 1 if depth > 0 else depth)
        comma = self.punctuation(self.layout.comma)
        bounds = self.shared.bounds
        most = bounds.items - 1 if bounds else None
        items = optional(sequence(inner, Repeat(sequence(comma, inner), 0, most)))
        options.append(self.bracketed("[", items, "]"))
        if self.layout.one_spelling:
            options.append(self.bracketed("{", untyped_members(self, inner, comma), "}"))
            return choice(*options)
        name = self.keys.key(OpenKeys(Language.any(), AnyValue()))
        assert name is not None
        member = sequence(name, self.punctuation(self.layout.colon), inner)
        keys = bounds.keys - 1 if bounds else None
        members = optional(sequence(member, Repeat(sequence(comma, member), 0, keys)))
        options.append(self.bracketed("{", members, "}"))
        return choice(*options)
