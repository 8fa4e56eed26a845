"""Typed values -> elements within elements: the tree notation. The enforcing strictness.

Each member and item is written through its template, and containers are the elements inside. The
forms of a value differ in what the type mark says and in how the value is written together, so the
two cannot disagree. What no automaton can say is narrowed or refused: see :func:`declared_only` and
:func:`nulls_left_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..grammar import EMPTY, Expr, Literal, Member, Members, Repeat, choice, sequence
from ..ir import (
    AnyValue,
    ArrayValue,
    BooleanValue,
    EnumValue,
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
    alternatives,
)
from ..origin import Problem
from ..regular.language import Language
from ..spec import TokenSpec
from ..template import Hole, Part, literal_after
from .arguments import TYPE_OF, ArgumentsLowering, attribute_of, json_type
from .constant import constant
from .elements import CONTAINERS, RAW, Elements
from .keys import MAX_KEY
from .layout import Layout
from .objects import may_be_empty, object_members
from .plain import PlainValues
from .shape import Shape, markup
from .shared import Shared
from .spelling import PLAIN
from .tree_objects import declared_only, nulls_left_out
from .values import ValueLowering
from .writer import not_carryable

Form = tuple[str | None, Expr]
"""What the type mark says, and the value."""
_ANY_TYPES = ("string", "number", "boolean", "null", "array", "object")


class TreeArguments(ArgumentsLowering):
    """Lowers a tool's arguments for a shape whose notation is a tree."""

    def __init__(
        self,
        shared: Shared,
        shape: Shape,
        layout: Layout,
        definitions: Mapping[str, Value],
        hint: str,
        tokens: tuple[TokenSpec, ...],
    ) -> None:
        super().__init__(shared, shape, layout, definitions, hint, tokens)
        elements = Elements.of(shape, self.avoid)
        self.tree = TreeValues(shared, layout, definitions, hint, elements, tokens)
        self.values = self.tree

    def is_plain(self, value: Value) -> bool:
        """Elements have their own ways to fail, so they are lowered at once."""
        return False

    def _container(self, value: ObjectValue) -> Expr | None:
        args, depth = self.shape.args, self.tree.depth
        if not self.tree.fits(value, depth):
            return None
        members = self.tree.members(value, depth)
        if members is None:
            return None
        opening, closing = markup(args.open, self.tokens), markup(args.close, self.tokens)
        if not members.keys and not members.open:
            return Literal(args.empty) if args.empty is not None else sequence(opening, closing)
        if args.empty is None or not may_be_empty(members):
            return sequence(opening, members, closing)
        some = sequence(opening, replace(members, min_count=1), closing)
        return choice(Literal(args.empty), some)


class TreeValues(ValueLowering):
    """Lowers the values of one tool in one tree."""

    def __init__(
        self,
        shared: Shared,
        layout: Layout,
        definitions: Mapping[str, Value],
        hint: str,
        elements: Elements,
        tokens: tuple[TokenSpec, ...],
    ) -> None:
        super().__init__(shared, layout, definitions, hint)
        self.plain = PlainValues.none(layout)
        self.elements = elements
        self.tokens = tokens
        args = elements.args
        self._tag = (elements.param, elements.item, args.type_attr, args.null)
        self._pieces_of: dict[str, dict[str, list[Value]]] = {}
        self._built: set[tuple[object, ...]] = set()

    def like(self, layout: Layout, definitions: Mapping[str, Value]) -> TreeValues:
        return TreeValues(self.shared, layout, definitions, self.hint, self.elements, self.tokens)

    def with_one_spelling(self, value: ArrayValue) -> tuple[ValueLowering, ArrayValue]:
        reason = None
        if self.elements.holds_loose_tokens(self.tokens):
            reason = "hold tokens"
        elif not self.elements.remembers:
            reason = "say the type before the key"
        if reason is not None:
            message = f"`uniqueItems` is not supported in a notation whose elements {reason}"
            at = value.origin.child("uniqueItems")
            self.shared.problems.append(Problem("unsupported-keyword", message, at))
        return super().with_one_spelling(value)

    # Containers -----------------------------------------------------------------------------

    def bracketed(self, opening: str, inside: Expr, closing: str) -> Expr:
        """A container is what it holds."""
        return inside

    def item(self, value: Value, depth: int) -> Expr | None:
        """An item of an array as an element."""
        parts = self.elements.item
        return self._element(parts, self._forms(value, depth, parts, member=False), None)

    def object(self, value: ObjectValue, depth: int) -> Expr | None:
        """The members of an object."""
        members = self.members(value, depth)
        if members is None or members.keys or members.open:
            return members
        return EMPTY

    def members(self, value: ObjectValue, depth: int) -> Members | None:
        """The members of an object that the notation can write."""
        if self.elements.repeats_key:
            value = declared_only(value, self.shared.problems)
        if self.elements.omits_null:
            value = nulls_left_out(value, self.definitions, self.shared.problems)
        named = self.named_member if self.elements.remembers else None
        return object_members(self, value, depth, EMPTY, self.member, named)

    def member(self, member: Key | OpenKeys, depth: int) -> Expr | None:
        """A member as an element."""
        parts = self.elements.param
        key = self._key(member)
        forms = self._forms(member.value, depth, parts, member=True)
        return None if key is None else self._element(parts, forms, key)

    def named_member(self, member: OpenKeys, depth: int) -> tuple[Expr, Expr] | None:
        """An undeclared member: the element up to its key, and the rest."""
        parts = self.elements.param
        forms = self._forms(member.value, depth, parts, member=True)
        return self._named(member, forms)

    def _named(self, member: OpenKeys, forms: Sequence[Form]) -> tuple[Expr, Expr] | None:
        parts = self.elements.param
        at = next(i for i, p in enumerate(parts) if isinstance(p, Hole) and p.name == "key")
        # Names are remembered as text, so the markers in them are text too.
        head = sequence(*(Literal(p) for p in parts[:at] if isinstance(p, str)))
        key = self._key(member)
        rest = self._element(parts[at + 1 :], forms, key)
        return None if key is None or rest is None else (sequence(head, key), rest)

    def _element(
        self, parts: Sequence[Part], forms: Sequence[Form], key: Expr | None
    ) -> Expr | None:
        """An element in each of the forms that its value has."""
        options = [
            sequence(*(self._part(part, key, attribute, value) for part in parts))
            for attribute, value in forms
        ]
        return choice(*options) if options else None

    def _part(self, part: Part, key: Expr | None, attribute: str | None, value: Expr) -> Expr:
        match part:
            case str():
                return Literal(part) if self.layout.one_spelling else markup(part, self.tokens)
            case Hole(name="value"):
                return value
            case Hole(name="type"):
                return Literal(attribute or "")
            case _:
                assert key is not None
                return key

    def _key(self, member: Key | OpenKeys) -> Expr | None:
        if self.elements.key_form == "json":
            keys = self.keys
            return keys.key(member) if isinstance(member, Key) else keys.open_key(member)
        if isinstance(member, OpenKeys):
            names = member.names & self.elements.key_names
            return self.texts.raw(names, PLAIN, "", 0, None, member.origin, MAX_KEY)
        if not self.elements.carries_key(member.name):
            message = f"the key {member.name!r} cannot be written in this notation"
            self.shared.problems += not_carryable(message, member.origin).problems
            return None
        return Literal(member.name)

    # Forms ----------------------------------------------------------------------------------

    def _forms(
        self, value: Value, depth: int, parts: Sequence[Part], *, member: bool
    ) -> list[Form]:
        """The ways to write a value in an element, each with what the type mark says of it."""
        closer = literal_after(tuple(parts), "value")
        pieces = self._pieces(value) if self.fits(value, depth) else []
        return self._marked(
            ((name, partial(self._piece, name, piece, depth, closer)) for name, piece in pieces),
            member=member,
        )

    def _marked(
        self, pieces: Iterable[tuple[str, Callable[[], Expr | None]]], *, member: bool
    ) -> list[Form]:
        """The pieces of a value, by JSON type, as forms."""
        found: dict[str | None, list[Expr]] = {}
        for name, build in pieces:
            if name == "null" and self.elements.omits_null:
                expr: Expr | None = None if member else EMPTY
            else:
                expr = build()
            if expr is not None:
                attribute = attribute_of(self.elements.args.type_attr, name)
                found.setdefault(attribute, []).append(expr)
        return [(attribute, choice(*exprs)) for attribute, exprs in found.items()]

    def _pieces(self, value: Value) -> list[tuple[str, Value]]:
        """A value taken apart by JSON type, in order of appearance; references and untyped values
        once for each type that they may be of."""
        found: list[tuple[str, Value]] = []
        todo = [value]
        while todo:
            part = todo.pop(0)
            match part:
                case UnionValue(options):
                    todo[:0] = options
                case AnyValue():
                    found += [(name, part) for name in _ANY_TYPES]
                case ReferenceValue(name):
                    found += [(kind, part) for kind in self._definition(name)]
                case EnumValue(values, origin):
                    for kind in dict.fromkeys(map(json_type, values)):
                        members = tuple(v for v in values if json_type(v) == kind)
                        found.append((kind, EnumValue(members, origin)))
                case NeverValue():
                    pass
                case _:
                    found.append((TYPE_OF[type(part)], part))
        return found

    def _definition(self, name: str) -> dict[str, list[Value]]:
        """The pieces of a recursive definition by type, references at its top followed."""
        found = self._pieces_of.get(name)
        if found is None:
            found = {}
            for part in alternatives(ReferenceValue(name), self.definitions):
                for kind, piece in self._pieces(part):
                    found.setdefault(kind, []).append(piece)
            self._pieces_of[name] = found
        return found

    def _piece(self, name: str, value: Value, depth: int, closer: str) -> Expr | None:
        """A value of one JSON type."""
        match value:
            case AnyValue():
                bounds = self.shared.bounds
                return self._any_piece(name, bounds.depth if bounds else -1, closer)
            case ReferenceValue(definition):
                return self._of_definition(definition, name, depth, closer)
            case StringValue():
                return self.texts.string(value, RAW, closer)
            case EnumValue(values) if name in CONTAINERS:
                found = [self.value(constant(v, value.origin), depth) for v in values]
                options = [e for e in found if e is not None]
                return choice(*options) if options else None
            case EnumValue():
                return self.texts.enum(value, RAW, closer)
            case _:
                return self.value(value, depth)

    def _of_definition(self, definition: str, name: str, depth: int, closer: str) -> Expr | None:
        """What a recursive definition is of one JSON type, as a rule."""
        left = depth - 1 if depth > 0 else depth
        pieces = [
            piece
            for piece in self._definition(definition)[name]
            if depth and self.fits(piece, left)
        ]
        if not pieces:
            return None
        place = (id(self.definitions), self.layout, self._tag, definition, name)
        key = ("tree-ref", *place, left, closer)
        found = self.shared.memo.get(key)
        if found is None:
            tail = definition.rsplit("/", 1)[-1]
            rule = self.shared.names.fresh(self.hint, tail, name, str(max(left, 0)))

            def build() -> Expr:
                found = (self._piece(name, piece, left, closer) for piece in pieces)
                options = [e for e in found if e is not None]
                return choice(*options) if options else EMPTY

            found = self.shared.memo[key] = self.shared.rules.define(rule, build)
            if (*place, closer) not in self._built:
                self._built.add((*place, closer))
                self.shared.unbuilt.append(found)
        return found

    # Untyped values -------------------------------------------------------------------------

    def _any_piece(self, name: str, levels: int, closer: str) -> Expr | None:
        """Any value of one JSON type with so many more levels of nesting (-1: any)."""
        match name:
            case "string":
                return self.texts.string(StringValue(), RAW, closer)
            case "number":
                return self.value(NumberValue(), 0)
            case "boolean":
                return self.value(BooleanValue(), 0)
            case "null":
                return self.value(NullValue(), 0)
            case _ if levels == 0 or (name == "object" and self.elements.repeats_key):
                # Of objects only the empty one, where no unknown key can be closed.
                return EMPTY
            case "array":
                build = self._any_array
            case _:
                build = self._any_object
        hint = f"any-{name}" if levels < 0 else f"any-{name}-{levels}"
        key = ("tree-any", name, self.layout, self._tag, levels)
        return self.shared.named(key, hint, lambda: build(levels - 1 if levels > 0 else levels))

    def _any_forms(self, levels: int, parts: Sequence[Part], *, member: bool) -> list[Form]:
        closer = literal_after(tuple(parts), "value")
        return self._marked(
            ((name, partial(self._any_piece, name, levels, closer)) for name in _ANY_TYPES),
            member=member,
        )

    def _any_array(self, levels: int) -> Expr:
        parts = self.elements.item
        item = self._element(parts, self._any_forms(levels, parts, member=False), None)
        assert item is not None
        bounds = self.shared.bounds
        return Repeat(item, 0, bounds.items if bounds else None)

    def _any_object(self, levels: int) -> Expr:
        forms = self._any_forms(levels, self.elements.param, member=True)
        bounds = self.shared.bounds
        most = bounds.keys if bounds else None
        if not self.layout.one_spelling:
            key = self._key(OpenKeys(Language.any(), AnyValue()))
            member = self._element(self.elements.param, forms, key)
            assert key is not None and member is not None
            return Repeat(member, 0, most)
        # Keys that have a place of their own, then the others in the order of their bytes.
        named = self.layout.named_keys
        keys = []
        for name in named:
            text = self._key(Key(name, AnyValue(), False))
            body = None if text is None else self._element(self.elements.param, forms, text)
            if body is not None:
                keys.append(Member(name, body, False))
        names = Language.any() - Language.words(named) if named else Language.any()
        found = self._named(OpenKeys(names, AnyValue()), forms)
        assert found is not None
        return Members(tuple(keys), EMPTY, (found[1],), most, names=(found[0],), memory="ascending")
