"""Typed call IR: what may be said, free of any notation.

Schema reader -> **this** -> lowering. A tool's parameters become one :class:`Value`; the union of
values is closed and matched with ``match`` + ``assert_never``. Every node knows its origin.

The reader has already resolved conjunctions: siblings, ``allOf``, ``$ref`` beside keywords are
merged, pattern and format are intersected into one :class:`~.regular.language.Language`. What is
left is a tree of typed alternatives, with :class:`ReferenceValue` where a definition is recursive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias

from .origin import Origin
from .regular.language import Language

Json: TypeAlias = "None | bool | int | float | Decimal | str | list[Json] | dict[str, Json]"


_MOST = {"depth": 10_000, "recursion": 10_000, "digits": 10_000, "exponent": 100}
"""Upper limits of bounds that cost a rule or a state each; the others cost nothing."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What holds where a schema has no bound of its own (design law "it ends").

    Attributes:
        string: code points of a string.
        items: members of an array.
        keys: undeclared keys of an open object.
        depth: nesting of untyped JSON.
        recursion: nesting of one recursive definition in itself.
        digits: digits of an integer, and of a number's integer and fraction part each.
        exponent: digits of a number's exponent.
        whitespace: characters in one gap, where a layout lets whitespace vary.
        calls: calls in one turn.
    """

    string: int = 8192
    items: int = 256
    keys: int = 64
    depth: int = 8
    recursion: int = 8
    digits: int = 20
    exponent: int = 3
    whitespace: int = 32
    calls: int = 16

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            most = _MOST.get(name, 10_000_000)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not 1 <= value <= most:
                raise ValueError(
                    f"Bounds.{name} must be a whole number from 1 to {most}, not {value!r}"
                )


@dataclass(frozen=True, slots=True)
class NeverValue:
    """No value at all (the schema ``false``). The reader removes it wherever it can."""

    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class AnyValue:
    """Any JSON value, nested up to ``Bounds.depth``."""

    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class NullValue:
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class BooleanValue:
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class StringValue:
    """A string of ``min_length..max_length`` code points, in `language` if there is one.

    ``max_length`` None: the schema has no bound. ``language`` None: any text, in any spelling the
    notation has; else only the canonical spelling is said.
    """

    min_length: int = 0
    max_length: int | None = None
    language: Language | None = None
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class IntegerValue:
    """A whole number, bounds inclusive; a multiple of `multiple_of` if given (at least 1).

    It is a multiple of none of `not_multiple_of` (each at least 2).
    """

    minimum: int | None = None
    maximum: int | None = None
    multiple_of: int | None = None
    not_multiple_of: tuple[int, ...] = ()
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class NumberValue:
    """A decimal number, whole ones too; each bound is inclusive unless its flag says exclusive.

    It is a multiple of none of `not_multiple_of`: (1,) leaves the numbers that are not whole.
    """

    minimum: Decimal | None = None
    maximum: Decimal | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: Decimal | None = None
    not_multiple_of: tuple[Decimal, ...] = ()
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class EnumValue:
    """One of the listed JSON values, in the listed order, no two equal. Never empty.

    ``const`` is an enum of one. Numbers are int or Decimal (parsed without loss); objects are
    dicts whose order is the one to write.
    """

    values: tuple[Json, ...]
    origin: Origin = field(default=Origin(), compare=False)

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class ItemStep:
    """An item that is a `value`, and the state that the array is in behind it."""

    value: Value
    target: int


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """`prefix` item by item, then any number of `items` (None: no more may follow).

    ``min_items``/``max_items`` count all members, the prefix included; ``max_items`` None: the
    schema has no bound. `unique`: no two members are equal.

    With `steps`, there is neither a prefix nor `items`, and no member needs to differ: from state
    0 on each member is one of the steps of the state that the array is in, and it may end in a
    state of `ends`. A step leads to a later state or back to its own; from every state the end can
    be reached.
    """

    prefix: tuple[Value, ...] = ()
    items: Value | None = AnyValue()
    min_items: int = 0
    max_items: int | None = None
    origin: Origin = Origin()
    steps: tuple[tuple[ItemStep, ...], ...] = ()
    ends: frozenset[int] = frozenset()
    unique: bool = False


@dataclass(frozen=True, slots=True)
class Meeting:
    """A narrower value of a key, and the conditions of the object that it meets, as bits."""

    value: Value
    meets: int


@dataclass(frozen=True, slots=True)
class Condition:
    """What some member of an object must meet, or one of the keys `absent` by its absence.

    `keyword` and `origin`: what in the schema asks for it.
    """

    absent: tuple[str, ...]
    keyword: str
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Key:
    """A declared key of an object; it meets `meets`, and by values of `variants` more."""

    name: str
    value: Value
    required: bool
    origin: Origin = Origin()
    meets: int = 0
    variants: tuple[Meeting, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenKeys:
    """A class of undeclared keys with the value each takes.

    `names` never contains a declared key, and the classes of one object are pairwise disjoint, so
    a key has one value. Made from additionalProperties, patternProperties and propertyNames.
    Each key meets `meets`, and by values of `variants` more.
    """

    names: Language
    value: Value
    origin: Origin = Origin()
    meets: int = 0
    variants: tuple[Meeting, ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """An object: declared `keys` in schema order, then `open_keys` classes (none: closed).

    ``min_keys``/``max_keys`` count all keys of the object; ``max_keys`` None: no bound of its own.
    Each of `conditions` must be met; its bit is 1 shifted by its index.
    """

    keys: tuple[Key, ...] = ()
    open_keys: tuple[OpenKeys, ...] = ()
    min_keys: int = 0
    max_keys: int | None = None
    origin: Origin = Origin()
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class UnionValue:
    """One of the options; at least two, none of them a union or never."""

    options: tuple[Value, ...]
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class ReferenceValue:
    """The definition `name` of the tool's :class:`Definitions`; only where it is recursive."""

    name: str
    origin: Origin = Origin()


Value: TypeAlias = (
    NeverValue
    | AnyValue
    | NullValue
    | BooleanValue
    | StringValue
    | IntegerValue
    | NumberValue
    | EnumValue
    | ArrayValue
    | ObjectValue
    | UnionValue
    | ReferenceValue
)


def alternatives(
    value: Value, definitions: Mapping[str, Value], whole: tuple[type, ...] = ()
) -> Iterator[Value]:
    """What a value is one of, in order: unions opened up, each reference followed once.

    Args:
        whole: kinds of values; a reference to one of them is not followed.
    """
    todo, seen = [value], set()
    while todo:
        part = todo.pop(0)
        match part:
            case UnionValue(options):
                todo[:0] = options
            case ReferenceValue(name) if not isinstance(definitions[name], whole):
                if name not in seen:
                    seen.add(name)
                    todo.insert(0, definitions[name])
            case _:
                yield part


@dataclass(frozen=True, slots=True)
class SchemaValue:
    """A whole schema read: its value and the recursive definitions that the value refers to."""

    value: Value
    definitions: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that may be called. `arguments.value` is an :class:`ObjectValue` or a union of them.

    ``schema`` is the JSON Schema as given, for validation after parsing; None if it was relaxed
    away entirely.
    """

    name: str
    arguments: SchemaValue
    schema: Mapping[str, Json] | bool
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Envelope:
    """One turn: which tools may be called, how often, and what may stand beside the calls.

    Attributes:
        calls: the tools that may be called here (already narrowed by tool_choice).
        min_calls, max_calls: how many calls the turn holds; max None: no bound.
        free_content: plain text may stand before the calls, or alone.
        reasoning: "allow" a block, "none", or "opened" (the prompt has opened it).
    """

    calls: tuple[Call, ...]
    min_calls: int
    max_calls: int | None
    free_content: bool
    reasoning: str
