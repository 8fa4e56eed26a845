"""Membership: whether an alternative lets a value through."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from ..ir import Json
from .forms import (
    Alternative,
    Arrays,
    Booleans,
    Contains,
    Goal,
    Nulls,
    Numbers,
    Objects,
    Strings,
    Values,
)
from .json_values import is_container, is_multiple, json_key, json_type
from .lookup import lookup

if TYPE_CHECKING:
    from .reading import Reader


def admits(reader: Reader, x: Alternative, value: Json) -> bool:
    """Whether `x` lets `value` through (residues and goals included)."""
    match x:
        case Values():
            good = _listed(reader, x, value)
        case Nulls():
            good = value is None
        case Booleans():
            good = isinstance(value, bool)
        case Numbers():
            good = json_type(value) == "number" and _number(x, value)
        case Strings():
            good = isinstance(value, str) and _string(x, value)
        case Arrays():
            good = isinstance(value, list) and _array(reader, x, value)
        case Objects():
            good = isinstance(value, dict) and _object(reader, x, value)
    return good and all(r.holds(value) for r in x.residues)


def satisfies(reader: Reader, goal: Goal, value: Json) -> bool:
    """Whether a value satisfies all atoms of a goal."""
    return not goal or any(admits(reader, x, value) for x in reader.form(goal).alternatives)


def _listed(reader: Reader, x: Values, value: Json) -> bool:
    key = json_key(value)
    if not any(json_key(v) == key for v in x.values):
        return False
    return not is_container(value) or all(
        any(admits(reader, y, value) for y in check) for check in x.checks
    )


def _number(x: Numbers, value: Json) -> bool:
    assert isinstance(value, (int, Decimal))
    number = Decimal(value)
    if x.kind == "integer" and number != number.to_integral_value():
        return False
    if x.low is not None and (number < x.low or (x.low_open and number == x.low)):
        return False
    if x.high is not None and (number > x.high or (x.high_open and number == x.high)):
        return False
    if x.multiple is not None and not is_multiple(number, x.multiple):
        return False
    return not any(is_multiple(number, factor) for factor in x.avoid)


def _string(x: Strings, value: str) -> bool:
    if len(value) < x.shortest or (x.longest is not None and len(value) > x.longest):
        return False
    return x.language is None or x.language.accepts(value)


def _array(reader: Reader, x: Arrays, value: list[Json]) -> bool:
    if len(value) < x.shortest or (x.longest is not None and len(value) > x.longest):
        return False
    if x.unique is not None and len({json_key(v) for v in value}) < len(value):
        return False
    for i, member in enumerate(value):
        item = x.at(i)
        if item is None or not satisfies(reader, item.goal, member):
            return False
    return all(_contains(reader, c, value) for c in x.contains)


def _contains(reader: Reader, c: Contains, value: list[Json]) -> bool:
    found = sum(satisfies(reader, c.goal, v) for v in value[c.start :])
    return found >= c.minimum and (c.maximum is None or found <= c.maximum)


def _object(reader: Reader, x: Objects, value: dict[str, Json]) -> bool:
    if len(value) < x.fewest or (x.most is not None and len(value) > x.most):
        return False
    if any(m.required and name not in value for name, m in x.members.items()):
        return False
    for name, inner in value.items():
        goal = lookup(x, name).goal
        if goal is None or not satisfies(reader, goal, inner):
            return False
    return not any(admits(reader, b.shape, value) for b in x.beyond)
