"""Membership in the IR: whether a typed value lets a JSON value through.

The reference reading of :mod:`.ir`: enums are filtered with it, and tests hold every other reading
of the IR against it. Bounds that a schema does not have (:class:`~.ir.Bounds`) play no part.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, assert_never

from .ir import (
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
from .json_schema.json_values import exact_number, is_multiple, json_key


def contains(value: Value, definitions: Mapping[str, Value], instance: Any) -> bool:
    """Whether `instance` (a JSON value as Python has it) is one of the values of `value`.

    True is not 1, and 1.0 is an integer. Objects may have their keys in any order.
    """
    match value:
        case NeverValue():
            return False
        case AnyValue():
            return True
        case NullValue():
            return instance is None
        case BooleanValue():
            return isinstance(instance, bool)
        case StringValue():
            return isinstance(instance, str) and _string(value, instance)
        case IntegerValue() | NumberValue():
            number = exact_number(instance)
            return number is not None and _number(value, number)
        case EnumValue(values):
            key = json_key(_exact(instance))
            return any(json_key(v) == key for v in values)
        case ArrayValue():
            return isinstance(instance, list) and _array(value, definitions, instance)
        case ObjectValue():
            return isinstance(instance, dict) and _object(value, definitions, instance)
        case UnionValue(options):
            return any(contains(option, definitions, instance) for option in options)
        case ReferenceValue(name):
            return contains(definitions[name], definitions, instance)
        case _:
            assert_never(value)


def _exact(instance: Any) -> Any:
    """`instance` with floats as exact decimals."""
    if isinstance(instance, list):
        return [_exact(v) for v in instance]
    if isinstance(instance, dict):
        return {k: _exact(v) for k, v in instance.items()}
    if isinstance(instance, float):
        number = exact_number(instance)
        return instance if number is None else number
    return instance


def _string(value: StringValue, instance: str) -> bool:
    if len(instance) < value.min_length:
        return False
    if value.max_length is not None and len(instance) > value.max_length:
        return False
    return value.language is None or value.language.accepts(instance)


def _number(value: IntegerValue | NumberValue, number: Decimal) -> bool:
    if isinstance(value, IntegerValue) and number != number.to_integral_value():
        return False
    if value.minimum is not None and number < value.minimum:
        return False
    if value.maximum is not None and number > value.maximum:
        return False
    if isinstance(value, NumberValue):
        if value.exclusive_minimum and number == value.minimum:
            return False
        if value.exclusive_maximum and number == value.maximum:
            return False
    step = value.multiple_of
    if step is not None and not is_multiple(number, Decimal(step)):
        return False
    return not any(is_multiple(number, Decimal(factor)) for factor in value.not_multiple_of)


def _array(value: ArrayValue, definitions: Mapping[str, Value], instance: list[Any]) -> bool:
    if len(instance) < value.min_items:
        return False
    if value.max_items is not None and len(instance) > value.max_items:
        return False
    if value.unique and len({json_key(_exact(member)) for member in instance}) < len(instance):
        return False
    if value.steps:
        return _steps(value, definitions, instance)
    for i, member in enumerate(instance):
        item = value.prefix[i] if i < len(value.prefix) else value.items
        if item is None or not contains(item, definitions, member):
            return False
    return True


def _steps(value: ArrayValue, definitions: Mapping[str, Value], instance: list[Any]) -> bool:
    """Whether some way through the states reads the items."""
    states = {0}
    for member in instance:
        fits: dict[int, bool] = {}
        after: set[int] = set()
        for state in states:
            for step in value.steps[state]:
                key = id(step.value)
                if key not in fits:
                    fits[key] = contains(step.value, definitions, member)
                if fits[key]:
                    after.add(step.target)
        states = after
    return not states.isdisjoint(value.ends)


def _object(value: ObjectValue, definitions: Mapping[str, Value], instance: dict[str, Any]) -> bool:
    if len(instance) < value.min_keys:
        return False
    if value.max_keys is not None and len(instance) > value.max_keys:
        return False
    declared = {key.name: key for key in value.keys}
    if any(key.required and key.name not in instance for key in value.keys):
        return False
    for name, member in instance.items():
        key = declared.get(name)
        if key is not None:
            allowed = contains(key.value, definitions, member)
        else:
            allowed = any(
                o.names.accepts(name) and contains(o.value, definitions, member)
                for o in value.open_keys
            )
        if not allowed:
            return False
    return not value.conditions or _all_met(value, definitions, instance)


def _all_met(
    value: ObjectValue, definitions: Mapping[str, Value], instance: dict[str, Any]
) -> bool:
    """Whether the members, and the keys that are absent, meet the object's conditions."""
    met = 0
    for i, condition in enumerate(value.conditions):
        if any(name not in instance for name in condition.absent):
            met |= 1 << i
    declared = {key.name: key for key in value.keys}
    for name, member in instance.items():
        kind: Key | OpenKeys | None = declared.get(name)
        kind = kind or next((o for o in value.open_keys if o.names.accepts(name)), None)
        assert kind is not None, "every member has been found to be allowed"
        met |= kind.meets
        for variant in kind.variants:
            if variant.meets & ~met and contains(variant.value, definitions, member):
                met |= variant.meets
    return met == (1 << len(value.conditions)) - 1
