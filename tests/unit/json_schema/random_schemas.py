"""Random schemas over a small world of keys, words and numbers, so that keywords clash and overlap;
and values, drawn from the same world or from what was read."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any, assert_never

from calligram.compiler.ir import (
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
    SchemaValue,
    StringValue,
    UnionValue,
    Value,
)
from calligram.compiler.json_schema.json_values import is_multiple
from calligram.compiler.membership import contains
from calligram.compiler.regular.language import Language

KEYS = ("a", "b", "ab", "c")
WORDS = ("", "a", "b", "ab", "ba", "abc")
NUMBERS = (-1, 0, 1, 2, 3, 0.5, 2.5, 1.0)
PATTERNS = ("^a", "b$", "^[ab]+$", "a.?b", "^$", "^(?!ab)")
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
DEFINITIONS = ("x", "y")

Draw = Callable[[Random, int], Any]


def instance(rng: Random, depth: int = 2) -> Any:
    """A value of the small world."""
    kind = rng.randrange(6 if depth else 4)
    if kind == 4:
        return [instance(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind == 5:
        return {k: instance(rng, depth - 1) for k in rng.sample(KEYS, rng.randrange(4))}
    scalars: tuple[Any, ...] = (None, rng.random() < 0.5, rng.choice(NUMBERS), rng.choice(WORDS))
    return scalars[kind]


def _some(rng: Random, depth: int) -> list[Any]:
    return [_schema(rng, depth) for _ in range(rng.randint(1, 3))]


def _named(rng: Random, depth: int, names: tuple[str, ...] = KEYS) -> dict[str, Any]:
    return {k: _schema(rng, depth) for k in rng.sample(names, rng.randint(0, 2))}


def _key_list(rng: Random, depth: int) -> list[str]:
    return rng.sample(KEYS, rng.randint(0, 2))


def _small(rng: Random, depth: int) -> int:
    return rng.randint(0, 3)


def _number(rng: Random, depth: int) -> Any:
    return rng.choice(NUMBERS)


def _types(rng: Random, depth: int) -> Any:
    return rng.choice(TYPES) if rng.random() < 0.7 else rng.sample(TYPES, rng.randint(1, 3))


KEYWORDS: dict[str, Draw] = {
    "type": _types,
    "enum": lambda rng, depth: [instance(rng) for _ in range(rng.randint(1, 4))],
    "const": lambda rng, depth: instance(rng),
    "minimum": _number,
    "maximum": _number,
    "exclusiveMinimum": _number,
    "exclusiveMaximum": _number,
    "multipleOf": lambda rng, depth: rng.choice((1, 2, 3, 0.5)),
    "minLength": _small,
    "maxLength": _small,
    "pattern": lambda rng, depth: rng.choice(PATTERNS),
    "minItems": _small,
    "maxItems": _small,
    "uniqueItems": lambda rng, depth: rng.random() < 0.5,
    "required": _key_list,
    "minProperties": _small,
    "maxProperties": _small,
}
APPLICATORS: dict[str, Draw] = {
    "items": lambda rng, depth: _schema(rng, depth),
    "contains": lambda rng, depth: _schema(rng, depth),
    "properties": _named,
    "patternProperties": lambda rng, depth: _named(rng, depth, PATTERNS),
    "additionalProperties": lambda rng, depth: _schema(rng, depth),
    "propertyNames": lambda rng, depth: _schema(rng, depth),
    "allOf": _some,
    "anyOf": _some,
    "oneOf": _some,
    "not": lambda rng, depth: _schema(rng, depth),
    "if": lambda rng, depth: _schema(rng, depth),
    "then": lambda rng, depth: _schema(rng, depth),
    "else": lambda rng, depth: _schema(rng, depth),
    "$ref": lambda rng, depth: f"#/$defs/{rng.choice(DEFINITIONS)}",
    "prefixItems": _some,
    "minContains": _small,
    "maxContains": _small,
    "dependentRequired": lambda rng, depth: {k: _key_list(rng, depth) for k in _key_list(rng, 0)},
    "dependentSchemas": _named,
    "unevaluatedProperties": lambda rng, depth: _schema(rng, depth),
    "unevaluatedItems": lambda rng, depth: _schema(rng, depth),
}
_PLAIN = tuple(KEYWORDS)
_ALL = (*KEYWORDS, *APPLICATORS)


def _schema(rng: Random, depth: int) -> Any:
    if rng.random() < 0.1:
        return rng.random() < 0.6
    names = rng.sample(_ALL if depth else _PLAIN, rng.choice((1, 1, 2, 2, 3, 4)))
    return {n: (KEYWORDS.get(n) or APPLICATORS[n])(rng, depth - 1) for n in names}


def schema(rng: Random) -> Any:
    """A schema up to four levels deep, with definitions that may be recursive."""
    made = _schema(rng, 3)
    if isinstance(made, dict):
        made["$defs"] = {name: _schema(rng, 2) for name in DEFINITIONS}
    return made


def sample(rng: Random, read: SchemaValue) -> Any:
    """A value that the IR lets through; raises LookupError where it takes too long to find one."""
    return _sample(rng, read.value, read, 12)


def _sample(rng: Random, value: Value, read: SchemaValue, depth: int) -> Any:
    if depth < 0:
        raise LookupError
    match value:
        case NeverValue():
            raise LookupError
        case AnyValue():
            return instance(rng, min(depth, 2))
        case NullValue():
            return None
        case BooleanValue():
            return rng.random() < 0.5
        case StringValue():
            return _string(rng, value)
        case IntegerValue() | NumberValue():
            return _sample_number(rng, value)
        case EnumValue(values):
            return rng.choice(values)
        case ArrayValue(steps=steps) if steps:
            return [_sample(rng, item, read, depth - 1) for item in _walk(rng, value)]
        case ArrayValue():
            most = value.min_items + 2 if value.max_items is None else value.max_items
            length = rng.randint(value.min_items, min(most, value.min_items + 2))
            items = [*value.prefix, *[value.items or NeverValue()] * length][:length]
            made = [_sample(rng, item, read, depth - 1) for item in items]
            if value.unique and not contains(value, read.definitions, made):
                raise LookupError
            return made
        case ObjectValue():
            return _object(rng, value, read, depth)
        case UnionValue(options):
            return _sample(rng, rng.choice(options), read, depth)
        case ReferenceValue(name):
            return _sample(rng, read.definitions[name], read, depth - 1)
        case _:
            assert_never(value)


def _walk(rng: Random, value: ArrayValue) -> list[Value]:
    """The items of some way through the states: from each a later one leads to an end."""
    state, items = 0, []
    while state not in value.ends or rng.random() < 0.5:
        onwards = [s for s in value.steps[state] if s.target != state or rng.random() < 0.5]
        if not onwards:
            continue
        step = rng.choice(onwards)
        items.append(step.value)
        state = step.target
        if state in value.ends and not value.steps[state]:
            break
    return items


def _string(rng: Random, value: StringValue) -> str:
    language = value.language or Language.pattern("^[abc]*$", origin=value.origin)
    dfa = language.dfa.with_length(value.min_length, value.max_length)
    return rng.choice(dfa.words(8))


def _sample_number(rng: Random, value: IntegerValue | NumberValue) -> Any:
    step = Decimal(value.multiple_of or (1 if isinstance(value, IntegerValue) else Decimal("0.5")))
    low = Decimal(value.minimum if value.minimum is not None else -3)
    high = Decimal(value.maximum if value.maximum is not None else low + 10 * step)
    first, last = int(low / step) - 1, int(high / step) + 1
    numbers = [n * step for n in range(first, min(last, first + 20) + 1) if low <= n * step <= high]
    if isinstance(value, NumberValue):
        numbers = [n for n in numbers if not (value.exclusive_minimum and n == low)]
        numbers = [n for n in numbers if not (value.exclusive_maximum and n == high)]
    avoided = [Decimal(factor) for factor in value.not_multiple_of]
    numbers = [n for n in numbers if not any(is_multiple(n, factor) for factor in avoided)]
    if not numbers:
        raise LookupError
    chosen = rng.choice(numbers)
    return int(chosen) if chosen == chosen.to_integral_value() else float(chosen)


def _object(rng: Random, value: ObjectValue, read: SchemaValue, depth: int) -> dict[str, Any]:
    most = 9 if value.max_keys is None else value.max_keys
    made: dict[str, Any] = {}
    required = sum(k.required for k in value.keys)
    for key in value.keys:
        spare = most - required
        if key.required or (spare > len(made) and rng.random() < 0.5 and depth > 2):
            made[key.name] = _sample(rng, _way(rng, key), read, depth - 1)
    for opened in value.open_keys:
        for name in opened.names.dfa.words(3):
            if len(made) < value.min_keys or (len(made) < most and rng.random() < 0.3):
                made[name] = _sample(rng, _way(rng, opened), read, depth - 1)
    if not value.min_keys <= len(made) <= most:
        raise LookupError
    if value.conditions and not contains(value, read.definitions, made):
        raise LookupError
    return made


def _way(rng: Random, kind: Key | OpenKeys) -> Value:
    ways = [kind.value, *(variant.value for variant in kind.variants)]
    return rng.choice(ways) if kind.variants else kind.value
