"""Values of which each has one text: what the items of a `uniqueItems` array are written as.

Equal values must be equal texts, so that remembering texts tells whether two items are equal. The
layout is exact and has one style of strings; numbers are written without exponent and needless
zeros (:func:`canonical_numbers`); keys come in one order: declared ones in one that goes with the
item's schemas, then others in the order of their bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from heapq import heapify, heappop, heappush

from ..ir import (
    AnyValue,
    ArrayValue,
    EnumValue,
    ItemStep,
    Json,
    Key,
    ObjectValue,
    OpenKeys,
    ReferenceValue,
    UnionValue,
    Value,
)
from ..json_schema.json_values import is_container
from ..origin import Origin
from ..regular.language import Language
from .layout import Layout
from .nesting import landings
from .spelling import StringStyle

MAX_RANKED = 400
"""Keys that an open object among alternatives is given by name, so that all agree on an order."""


class NoOneSpelling(Exception):
    """Items that are not given one spelling each; says in words which they are."""


@lru_cache(maxsize=1)
def canonical_numbers() -> Language:
    """The numbers written without exponent, needless zeros and a negative zero."""
    return Language.pattern(
        r"^(?:0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)\.[0-9]*[1-9])$", origin=Origin()
    )


def canonical_number(value: Json) -> Json:
    """A number as it is written: a whole one as int."""
    if isinstance(value, (float, Decimal)) and not isinstance(value, bool):
        exact = Decimal(repr(value)) if isinstance(value, float) else value
        return int(exact) if exact == exact.to_integral_value() else exact.normalize()
    return value


class OneSpelling:
    """An array's items, and the definitions they refer to, with keys in one order.

    Attributes:
        layout: the layout that the items are written in.
        value: the array with such items.
        definitions: what its references mean.

    Raises:
        NoOneSpelling: alternatives declare more than `MAX_RANKED` keys, or objects have conditions
            that some key must meet, which would come where its name stands in the order.
    """

    def __init__(self, value: ArrayValue, definitions: Mapping[str, Value], layout: Layout) -> None:
        self._source = definitions
        self._ranks: dict[str, int] = {}
        self._met: dict[str, None] = {}
        self._orders: list[tuple[str, ...]] = []
        # Values are shared: each is put in order once.
        self._done: dict[int, tuple[Value, Value]] = {}
        self._mixed = False
        self._survey(value)
        names = _merged(self._orders)
        self._ranks = {name: rank for rank, name in enumerate(names)}
        # Alternatives may hold one value both with and without naming its keys.
        self._named = names if self._mixed else ()
        if len(self._named) > MAX_RANKED:
            raise NoOneSpelling(f"alternatives of objects with more than {MAX_RANKED} keys")
        self.layout = replace(
            layout,
            strings=_raw_json(layout.strings[:1]),
            keys=_raw_json(layout.keys[:1]),
            whitespace=0,
            float_integers=False,
            indent=None,
            one_spelling=True,
            named_keys=self._named,
        )
        for whole in (value, *(definitions[name] for name in self._met)):
            for part in landings(whole, distinct=True):
                self._same(part)
        self.value: ArrayValue = self._array(value)
        self.definitions = {name: self._same(definitions[name]) for name in self._met}

    # What keys there are ------------------------------------------------------------------------

    def _survey(self, value: Value) -> None:
        todo: list[Value] = [value]
        seen: set[int] = set()
        while todo:
            part = todo.pop()
            if id(part) in seen:
                continue
            seen.add(id(part))
            match part:
                case UnionValue(options):
                    self._mixed = self._mixed or sum(map(_holds, options)) > 1
                    todo += reversed(options)
                case ReferenceValue(name):
                    self._met[name] = None
                    todo.append(self._source[name])
                case ArrayValue(prefix, items, steps=steps):
                    if part.unique:
                        # Items at one place are held against those at another.
                        places = [*prefix, *(() if items is None else (items,))]
                        self._mixed = self._mixed or sum(map(_holds, places)) > 1
                    todo += [step.value for row in reversed(steps) for step in reversed(row)]
                    todo += [] if items is None else [items]
                    todo += reversed(prefix)
                case ObjectValue(conditions=conditions) if conditions:
                    raise NoOneSpelling(f"objects in which `{conditions[0].keyword}` asks of keys")
                case ObjectValue(keys, opened):
                    self._orders.append(tuple(key.name for key in keys))
                    todo += [o.value for o in reversed(opened)]
                    todo += [key.value for key in reversed(keys)]
                case EnumValue(values):
                    for member in values:
                        self._survey_json(member)
                case _:
                    pass

    def _survey_json(self, member: Json) -> None:
        if isinstance(member, list):
            for inner in member:
                self._survey_json(inner)
        elif isinstance(member, dict):
            self._orders.append(tuple(member))
            for inner in member.values():
                self._survey_json(inner)

    # The same values, keys in order -------------------------------------------------------------

    def _same(self, value: Value) -> Value:
        found = self._done.get(id(value))
        if found is None:
            found = self._done[id(value)] = (value, self._ordered(value))
        return found[1]

    def _ordered(self, value: Value) -> Value:
        match value:
            case UnionValue(options):
                return replace(value, options=tuple(map(self._same, options)))
            case ArrayValue():
                return self._array(value)
            case ObjectValue():
                return self._object(value)
            case EnumValue(values):
                return replace(value, values=tuple(map(self._json, values)))
            case _:
                return value

    def _array(self, value: ArrayValue) -> ArrayValue:
        return replace(
            value,
            prefix=tuple(map(self._same, value.prefix)),
            items=None if value.items is None else self._same(value.items),
            steps=tuple(
                tuple(ItemStep(self._same(s.value), s.target) for s in row) for row in value.steps
            ),
        )

    def _object(self, value: ObjectValue) -> ObjectValue:
        opened = tuple(replace(o, value=self._same(o.value)) for o in value.open_keys)
        keys = [replace(key, value=self._same(key.value)) for key in value.keys]
        declared = {key.name for key in keys}
        for name in self._named:
            of = next((o for o in opened if o.names.accepts(name)), None)
            if name not in declared and of is not None:
                keys.append(Key(name, of.value, False, of.origin))
        if opened and self._named:
            opened = tuple(_without(o, self._named) for o in opened)
        keys.sort(key=lambda key: self._ranks[key.name])
        return replace(value, keys=tuple(keys), open_keys=opened)

    def _json(self, value: Json) -> Json:
        if isinstance(value, list):
            return [self._json(v) for v in value]
        if isinstance(value, dict):
            names = sorted(value, key=lambda name: self._ranks[name])
            return {name: self._json(value[name]) for name in names}
        return canonical_number(value)


def _raw_json(styles: tuple[StringStyle, ...]) -> tuple[StringStyle, ...]:
    """Styles in which no character is escaped for being beyond ASCII: words are compared raw."""
    return tuple(replace(s, escape="json") if s.escape == "ascii" else s for s in styles)


def _merged(orders: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """All the names, in an order that goes with as many of `orders` as it can.

    A name comes when all that stand right before it somewhere have come; where they wait for each
    other in a ring, the one that was met first comes.
    """
    before: dict[str, set[str]] = {name: set() for order in orders for name in order}
    for order in orders:
        for first, second in zip(order, order[1:], strict=False):
            before[second].add(first)
    behind: dict[str, list[str]] = {name: [] for name in before}
    for name, firsts in before.items():
        for first in firsts:
            behind[first].append(name)
    numbers = {name: number for number, name in enumerate(before)}
    ready = [numbers[name] for name, firsts in before.items() if not firsts]
    heapify(ready)
    names = list(before)
    left = dict.fromkeys(before)
    out: list[str] = []
    while left:
        name = names[heappop(ready)] if ready else next(iter(left))
        if name not in left:
            continue
        del left[name]
        out.append(name)
        for second in behind[name]:
            before[second].discard(name)
            if second in left and not before[second]:
                heappush(ready, numbers[second])
    return tuple(out)


def _without(opened: OpenKeys, names: tuple[str, ...]) -> OpenKeys:
    spoken = [name for name in names if opened.names.accepts(name)]
    return replace(opened, names=opened.names - Language.words(spoken)) if spoken else opened


def _holds(value: Value) -> bool:
    """May a value of it be an array or an object?"""
    match value:
        case AnyValue() | ArrayValue() | ObjectValue() | ReferenceValue():
            return True
        case EnumValue(values):
            return any(map(is_container, values))
        case UnionValue(options):
            return any(map(_holds, options))
        case _:
            return False
