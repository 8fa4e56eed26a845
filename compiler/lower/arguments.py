"""The arguments of one tool, in the notation of one shape. The enforcing strictness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ..errors import RenderError
from ..grammar import Expr, Literal, choice, sequence
from ..ir import (
    AnyValue,
    ArrayValue,
    BooleanValue,
    EnumValue,
    IntegerValue,
    Json,
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
from ..regular.language import Language
from ..spec import TokenSpec, TypeAttrSpec
from ..template import Hole
from .keys import MAX_KEY, solid_text
from .layout import Layout
from .objects import may_be_empty, object_members
from .plain import is_word
from .shape import Shape, markup
from .shared import Shared
from .spelling import PLAIN
from .values import ValueLowering
from .writer import not_carryable

_PARAM_HOLES = ("key", "type", "value")


class ArgumentsLowering:
    """Lowers a tool's arguments for one shape."""

    def __init__(
        self,
        shared: Shared,
        shape: Shape,
        layout: Layout,
        definitions: Mapping[str, Value],
        hint: str,
        tokens: tuple[TokenSpec, ...],
    ) -> None:
        self.values = ValueLowering(shared, layout, definitions, hint)
        self.shared = shared
        self.shape = shape
        self.tokens = tokens
        self.avoid = tuple(t.text for t in tokens if t.match == "require")

    def arguments(self, value: Value) -> Expr | None:
        """The whole container; None if no arguments can be written."""
        options = [
            expr
            for part in object_parts(value, self.values.definitions)
            if (expr := self._container(part)) is not None
        ]
        return choice(*options) if options else None

    def surely(self, value: Value) -> Expr:
        """The whole container of plain arguments."""
        found = self.arguments(value)
        assert found is not None, "plain arguments can be written"
        return found

    def is_plain(self, value: Value) -> bool:
        """Whether it is plain that the arguments can be written, an object of one key or more.

        Then they may be lowered later: see :mod:`.plain`.
        """
        plain = self.values.plain
        if self.shape.args.notation in ("json", "bare-dict"):
            return isinstance(value, ObjectValue) and bool(value.keys) and plain.value(value)
        if not isinstance(value, ObjectValue) or not value.keys or not plain.bare(value):
            return False
        if any(isinstance(p, Hole) and p.name not in _PARAM_HOLES for p in self.shape.param):
            return False
        return all(self._is_plain_param(key) for key in value.keys) and all(
            plain.value(kind.value) for kind in value.open_keys
        )

    def _is_plain_param(self, key: Key) -> bool:
        for at, part in enumerate(self.shape.param):
            if isinstance(part, Hole) and part.name == "key":
                if part.form == "json":
                    carried = self.values.plain.key(key)
                else:
                    following = self._behind(at)
                    carried = self.shape.carries_key(key.name, following, self.avoid)
                if not carried:
                    return False
        return self._is_plain_argument(key.value)

    def _is_plain_argument(self, value: Value) -> bool:
        plain = self.values.plain
        if self.shape.args.notation == "kwargs":
            return plain.value(value)
        styles, closer = self.shape.raw_styles(), self.shape.value_closer
        match value:
            case UnionValue(options):
                return all(map(self._is_plain_argument, options))
            case StringValue():
                return value.language is None and value.max_length is None
            case EnumValue(values):
                texts = [v for v in values if isinstance(v, str)]
                return all(is_word(v) for v in values if not isinstance(v, str)) and all(
                    plain.text(text, styles, closer) for text in texts
                )
            case _:
                return plain.value(value)

    def _behind(self, at: int) -> str:
        """The literal behind a part of the `param` template."""
        following = self.shape.param[at + 1] if at + 1 < len(self.shape.param) else ""
        return following if isinstance(following, str) else ""

    def _container(self, value: ObjectValue) -> Expr | None:
        args = self.shape.args
        values = self.values
        depth = values.depth
        if not values.fits(value, depth):
            return None
        if args.notation in ("json", "bare-dict"):
            whole = values.object(value, depth)
            if args.empty is None or whole is None:
                return whole
            members = object_members(values, value, depth, Literal(""), values.member)
            if members is None or not may_be_empty(members):
                return whole
            return choice(Literal(args.empty), whole)
        members = object_members(values, value, depth, Literal(args.separator), self._param)
        if members is None:
            return None
        opening, closing = markup(args.open, self.tokens), markup(args.close, self.tokens)
        if args.empty is None or not may_be_empty(members):
            return sequence(opening, members, closing)
        some = sequence(opening, replace(members, min_count=1), closing)
        if not members.keys and not members.open:
            return Literal(args.empty)
        return choice(Literal(args.empty), some)

    # Tagged and keyword arguments -------------------------------------------------------------

    def _param(self, member: Key | OpenKeys, depth: int) -> Expr | None:
        """One argument by the `param` template."""
        if not self.values.fits(member.value, depth):
            return None
        forms = self._forms(member.value, depth)
        if not forms:
            return None
        options: list[Expr] = []
        # Alternatives differ in `{type}` and `{value}` together, so the two cannot disagree.
        for attribute, expr in forms:
            parts: list[Expr] = []
            for at, part in enumerate(self.shape.param):
                filled = self._fill(part, member, attribute, expr, at)
                if filled is None:
                    return None
                parts.append(filled)
            options.append(sequence(*parts))
        return choice(*options)

    def _fill(
        self, part: str | Hole, member: Key | OpenKeys, attribute: str | None, value: Expr, at: int
    ) -> Expr | None:
        if isinstance(part, str):
            return markup(part, self.tokens)
        if part.name == "value":
            return value
        if part.name == "type":
            return Literal(attribute or "")
        return self._key(member, part, self._behind(at))

    def _key(self, member: Key | OpenKeys, hole: Hole, following: str) -> Expr | None:
        if hole.form == "json":
            return self.values.keys.key(member)
        if isinstance(member, OpenKeys):
            stops = self.shape.key_stops(following)
            # White space at the ends would be taken for layout.
            names = member.names & Language.avoiding(stops) & solid_text()
            return self.values.texts.raw(names, PLAIN, following, 0, None, member.origin, MAX_KEY)
        name = member.name
        if not self.shape.carries_key(name, following, self.avoid):
            error: RenderError = not_carryable(
                f"the argument name {name!r} cannot be written in this notation", member.origin
            )
            self.shared.problems += error.problems
            return None
        return Literal(name)

    def _forms(self, value: Value, depth: int) -> list[tuple[str | None, Expr]]:
        """The ways to write a value, each with what `{type}` says of it."""
        types = self.shape.args.type_attr
        if self.shape.args.notation == "kwargs":
            pieces = split_types(value, self.values.definitions) if types else {"": value}
        else:
            pieces = split_types(value, self.values.definitions)
        found: dict[str | None, list[Expr]] = {}
        for name, piece in pieces.items():
            expr = self._piece(name, piece, depth)
            if expr is not None:
                found.setdefault(attribute_of(types, name), []).append(expr)
        return [(attribute, choice(*exprs)) for attribute, exprs in found.items()]

    def _piece(self, name: str, value: Value, depth: int) -> Expr | None:
        if name != "string" or self.shape.args.notation == "kwargs":
            return self.values.value(value, depth)
        styles, closer = self.shape.raw_styles(), self.shape.value_closer
        options = []
        for part in value.options if isinstance(value, UnionValue) else (value,):
            if isinstance(part, EnumValue):
                expr = self.values.texts.enum(part, styles, closer)
            else:
                assert isinstance(part, StringValue)
                expr = self.values.texts.string(part, styles, closer)
            if expr is not None:
                options.append(expr)
        return choice(*options) if options else None


def attribute_of(types: TypeAttrSpec | None, name: str) -> str | None:
    """What `{type}` says of a value of JSON type `name`."""
    if types is None or not name:
        return None
    found: str | None = getattr(types, name)
    if found is None and name == "integer":
        found = types.number
    return types.default if found is None else found


def object_parts(value: Value, definitions: Mapping[str, Value]) -> list[ObjectValue]:
    """The objects that a tool's arguments can be, unions and references taken apart."""
    out: list[ObjectValue] = []
    for part in alternatives(value, definitions):
        match part:
            case ObjectValue():
                out.append(part)
            case AnyValue(origin):
                anything = OpenKeys(Language.any(), AnyValue(origin), origin)
                out.append(ObjectValue((), (anything,), origin=origin))
            case EnumValue(values, origin):
                members = tuple(v for v in values if isinstance(v, dict))
                out += [_constant(m, part) for m in members]
            case _:
                pass
    return out


def _constant(members: dict[str, Json], kind: EnumValue) -> ObjectValue:
    """The object that takes exactly these members."""
    return ObjectValue(
        tuple(
            Key(name, EnumValue((value,), kind.origin), True, kind.origin)
            for name, value in members.items()
        ),
        origin=kind.origin,
    )


def split_types(value: Value, definitions: Mapping[str, Value]) -> dict[str, Value]:
    """A value taken apart by JSON type, in order of appearance; references stay whole where they
    are containers."""
    found: dict[str, list[Value]] = {}
    for part in alternatives(value, definitions, whole=(ObjectValue, ArrayValue)):
        match part:
            case ReferenceValue(name):
                found.setdefault(TYPE_OF[type(definitions[name])], []).append(part)
            case AnyValue(origin):
                for name, piece in _any_parts(part).items():
                    found.setdefault(name, []).append(piece)
            case EnumValue(values, origin):
                groups: dict[str, list[object]] = {}
                for member in values:
                    groups.setdefault(json_type(member), []).append(member)
                for name, members in groups.items():
                    found.setdefault(name, []).append(EnumValue(tuple(members), origin))  # type: ignore[arg-type]
            case NeverValue():
                pass
            case _:
                found.setdefault(TYPE_OF[type(part)], []).append(part)
    return {
        name: parts[0] if len(parts) == 1 else UnionValue(tuple(parts), value.origin)
        for name, parts in found.items()
    }


def _any_parts(value: AnyValue) -> dict[str, Value]:
    anything = OpenKeys(Language.any(), AnyValue(value.origin), value.origin)
    return {
        "string": StringValue(origin=value.origin),
        "number": NumberValue(origin=value.origin),
        "boolean": BooleanValue(value.origin),
        "null": NullValue(value.origin),
        "array": ArrayValue(origin=value.origin),
        "object": ObjectValue((), (anything,), origin=value.origin),
    }


TYPE_OF: Final[dict[type, str]] = {
    StringValue: "string",
    IntegerValue: "integer",
    NumberValue: "number",
    BooleanValue: "boolean",
    NullValue: "null",
    ArrayValue: "array",
    ObjectValue: "object",
}
"""The JSON type of a typed value that has one."""


def json_type(value: object) -> str:
    """The JSON type of a Python value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"
