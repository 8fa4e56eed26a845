"""Typed values -> expressions, in one layout. The enforcing strictness.

``None`` stands for "no text at all": a value that needs more nesting than is left, or that the
notation cannot carry. Callers drop the option or the optional key it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import assert_never

from ..errors import RenderError
from ..grammar import (
    Chars,
    Choice,
    Expr,
    Literal,
    Member,
    Members,
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
from ..origin import Origin
from ..regular.language import Language
from .constant import constant
from .distinct import distinct_items, few_keys_only, owes_open_keys, untyped_members
from .heights import Kept, heights, needed
from .layout import BARE_KEY_STOPS, Layout
from .nesting import landings
from .one_spelling import OneSpelling
from .runs import items_in_runs
from .scalars import number
from .shared import Shared
from .spelling import StringStyle
from .texts import TextLowering, plain_character
from .trie import trie
from .writer import Writer, write_key

MAX_KEY = 256
"""Code points of an undeclared key, where default bounds hold."""

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
        if not self._inside:
            self._inside = True
            for part in landings(value, distinct=self.layout.one_spelling):
                if self.fits(part, depth):
                    self._container(part, depth)
            found = self._container(value, depth)
            self._inside = False
            return found
        key = (id(value), depth)
        if key not in self._objects:
            expr = (
                self.array(value, depth)
                if isinstance(value, ArrayValue)
                else self.object(value, depth)
            )
            self._kept.append(value)
            self._objects[key] = None
            if expr is not None:
                tail = value.origin.pointer.rsplit("/", 1)[-1]
                name = self.shared.names.fresh(self.hint, tail)
                self._objects[key] = self.shared.rules.define(name, expr)
        return self._objects[key]

    def with_one_spelling(self, value: ArrayValue) -> tuple[ValueLowering, ArrayValue]:
        """The array, and what lowers its items so that each has one text.

        Raises:
            TooManyKeys: alternatives that would have to agree on the order of too many keys.
        """
        found = self._spelled.get(id(value))
        if found is None:
            one = OneSpelling(value, self.definitions, self.layout)
            lowering = ValueLowering(self.shared, one.layout, one.definitions, self.hint)
            found = self._spelled[id(value)] = (lowering, one.value)
            # Rules are known by the identity of the definitions and values they are made from.
            self.shared.kept += (lowering, value)
        return found

    # Containers -----------------------------------------------------------------------------

    def gap(self) -> Expr:
        """Whitespace that may vary, or nothing."""
        if not self.layout.flexible:
            return Sequence(())
        most = self.layout.whitespace
        return self.shared.named(("gap", most), "gap", lambda: Repeat(_WHITESPACE, 0, most))

    def punctuation(self, text: str) -> Expr:
        """A separator: as given, or with gaps around its visible part."""
        if not self.layout.flexible:
            return Literal(text)
        return sequence(self.gap(), Literal(text.strip()), self.gap())

    def array(self, value: ArrayValue, depth: int) -> Expr | None:
        """An array: the prefix one by one, then repeated items."""
        comma = self.punctuation(self.layout.comma)
        low = value.min_items
        if value.unique:
            inside = distinct_items(self, value, depth, comma)
            return None if inside is None else self._bracketed("[", inside, "]")
        if value.runs:
            bounds = self.shared.bounds
            most = bounds.items if bounds else None
            inside = items_in_runs(value, lambda v: self.value(v, depth), comma, most)
            return None if inside is None else self._bracketed("[", inside, "]")
        extent = self.extent(value, depth)
        if extent is None:
            return None
        prefix, items, high = extent
        count = len(prefix)
        tail: Expr = Sequence(())
        if items is not None and (high is None or high > count):
            more = None if high is None else high - count
            owed = max(low - count, 0)
            if count:
                tail = Repeat(sequence(comma, items), owed, more)
            else:
                rest = Repeat(
                    sequence(comma, items), max(owed - 1, 0), None if more is None else more - 1
                )
                tail = sequence(items, rest)
                if low == 0:
                    tail = optional(tail)
        for at in range(count - 1, -1, -1):
            tail = sequence(*((comma,) if at else ()), prefix[at], tail)
            if at >= low:
                tail = optional(tail)
            if at % 16 == 15:  # Long tuples nest in rules, not in the interpreter's stack.
                tail = self.shared.rules.define(self.shared.names.fresh(self.hint, "tuple"), tail)
        return self._bracketed("[", tail, "]")

    def extent(
        self, value: ArrayValue, depth: int
    ) -> tuple[list[Expr], Expr | None, int | None] | None:
        """The prefix, the items that may follow it, and the most members of all; None where they
        are fewer than there must be."""
        bounds = self.shared.bounds
        high = value.max_items
        items = None if value.items is None else self.value(value.items, depth)
        prefix: list[Expr] = []
        for member in value.prefix:
            expr = self.value(member, depth)
            if expr is None:
                items = None
                break
            prefix.append(expr)
        if high is None and bounds is not None:
            high = max(bounds.items, value.min_items, len(prefix))
        if items is None:
            high = len(prefix) if high is None else min(high, len(prefix))
        if high is not None and high < value.min_items:
            return None
        return (prefix if high is None else prefix[:high]), items, high

    def _bracketed(self, opening: str, inside: Expr, closing: str) -> Expr:
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
        members = self.members(value, depth, comma, self.member, self.named_member)
        if members is None:
            return None
        if not members.keys and not members.open:
            return self._bracketed("{", Sequence(()), "}")
        if not self.layout.flexible or not may_be_empty(members):
            return self._bracketed("{", members, "}")
        some = replace(members, min_count=1)
        return self._bracketed("{", optional(some), "}")

    def members(
        self,
        value: ObjectValue,
        depth: int,
        separator: Expr,
        member: Callable[[Key | OpenKeys, int], Expr | None],
        named: Callable[[OpenKeys, int], tuple[Expr, Expr] | None] | None = None,
    ) -> Members | None:
        """The members of an object, without what stands around them.

        `member(key or open keys, depth)` spells one, or gives None if it cannot be said; `named`
        spells the key and the rest of an undeclared one, for where keys must be remembered.
        """
        keys = []
        for key in value.keys:
            body = member(key, depth)
            if body is not None:
                keys.append(Member(key.name, body, key.required))
            elif key.required:
                return None
        one = self.layout.one_spelling
        names: tuple[Expr, ...] = ()
        if value.open_keys and (one or owes_open_keys(value)):
            if named is None:
                self.shared.problems.append(few_keys_only(value))
                return None
            pairs = [p for o in value.open_keys if (p := named(o, depth)) is not None]
            names = tuple(name for name, _ in pairs)
            opened = [rest for _, rest in pairs]
        else:
            opened = [b for o in value.open_keys if (b := member(o, depth)) is not None]
        bounds = self.shared.bounds
        max_open = None
        if opened and bounds is not None and value.max_keys is None:
            max_open = max(bounds.keys, value.min_keys)
        room = len(keys) + (0 if not opened else value.min_keys)
        if room < value.min_keys:
            return None
        return Members(
            tuple(keys),
            separator,
            tuple(opened),
            max_open,
            "any" if self.shared.order == "any" and not one else "schema",
            value.min_keys,
            value.max_keys,
            value.origin,
            names,
            "ascending" if one else "distinct",
        )

    def member(self, member: Key | OpenKeys, depth: int) -> Expr | None:
        """A member in braces: key, colon, value."""
        inner = self.value(member.value, depth)
        if inner is None:
            return None
        name = self.key(member)
        if name is None:
            return None
        return sequence(name, self.punctuation(self.layout.colon), inner)

    def named_member(self, member: OpenKeys, depth: int) -> tuple[Expr, Expr] | None:
        """An undeclared member in braces: its key in one spelling; colon and value."""
        inner = self.value(member.value, depth)
        name = self.open_key(member)
        if inner is None or name is None:
            return None
        return name, sequence(self.punctuation(self.layout.colon), inner)

    def key(self, member: Key | OpenKeys) -> Expr | None:
        """The spelled key."""
        if isinstance(member, Key):
            try:
                texts = {
                    write_key(member.name, self.layout, member.origin, style): None
                    for style in self.layout.keys
                }
            except RenderError as error:
                self.shared.problems += error.problems
                return None
            return trie([(text, Sequence(())) for text in texts])
        found = [e for s in self.layout.keys if (e := self._open_key(member, s)) is not None]
        return choice(*found) if found else None

    def open_key(self, member: OpenKeys) -> Expr | None:
        """Any key of the class in the one way that it is written."""
        return self._open_key(member, self.layout.keys[0])

    def _open_key(self, member: OpenKeys, style: StringStyle) -> Expr | None:
        """Any key of the class, in its canonical spelling."""
        bounds = self.shared.bounds
        high = min(bounds.string, MAX_KEY) if bounds else None
        names = member.names
        if self.layout.stops and style.escape == "json":
            names = names & Language.avoiding(self.layout.stops)
        if style.escape == "none":
            language = names & bare_keys() if not style.open else names
            body = self.texts.raw(language, style.close or ":", 0, high, member.origin)
        elif names.is_any:
            body = Repeat(plain_character(self.shared, style), 0, high)
        else:
            body = self.texts.inside(names, style, "", 0, high, member.origin)
        if body is None:
            return None
        return sequence(Literal(style.open), body, Literal(style.close))

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
            options += [self._bracketed("[", Sequence(()), "]")]
            options += [self._bracketed("{", Sequence(()), "}")]
            return choice(*options)
        inner = self.any(depth - 1 if depth > 0 else depth)
        comma = self.punctuation(self.layout.comma)
        bounds = self.shared.bounds
        most = bounds.items - 1 if bounds else None
        items = optional(sequence(inner, Repeat(sequence(comma, inner), 0, most)))
        options.append(self._bracketed("[", items, "]"))
        if self.layout.one_spelling:
            options.append(self._bracketed("{", untyped_members(self, inner, comma), "}"))
            return choice(*options)
        name = self.key(OpenKeys(Language.any(), AnyValue()))
        assert name is not None
        member = sequence(name, self.punctuation(self.layout.colon), inner)
        keys = bounds.keys - 1 if bounds else None
        members = optional(sequence(member, Repeat(sequence(comma, member), 0, keys)))
        options.append(self._bracketed("{", members, "}"))
        return choice(*options)


def may_be_empty(members: Members) -> bool:
    """Can an object of these members have none?"""
    return members.min_count == 0 and not any(k.required for k in members.keys)


@lru_cache(maxsize=1)
def solid_text() -> Language:
    """Texts that are not empty, without white space at their ends."""
    return Language.pattern(r"^[^ \t\r\n]([\s\S]*[^ \t\r\n])?$", origin=Origin())


@lru_cache(maxsize=1)
def bare_keys() -> Language:
    """Keys that can stand without quotes."""
    return Language.avoiding(BARE_KEY_STOPS) & solid_text()
