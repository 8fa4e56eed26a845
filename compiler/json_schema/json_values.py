"""JSON values as Python objects: exact numbers, types, equality.

Numbers are ``int`` or ``Decimal``; a float means the decimal number that its ``repr`` spells.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction
from typing import Literal, TypeAlias

from ..errors import LimitExceeded, SchemaError
from ..ir import Json
from ..origin import Origin

JsonType: TypeAlias = Literal["null", "boolean", "number", "string", "array", "object"]

MAX_EXPONENT = 400
MAX_VALUE_DEPTH = 64
# A whole number written as 1.0 or 1e3 becomes an int unless that would spell this many digits.
_WHOLE_DIGITS = 20


def exact_number(value: object) -> Decimal | None:
    """`value` as an exact decimal number, or None if it is none (booleans, NaN, infinities)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return value if value.is_finite() else None
    return None


def is_multiple(number: int | Decimal, factor: Decimal) -> bool:
    """Whether a number is a whole multiple of `factor`, exactly."""
    return (Fraction(number) / Fraction(factor)).denominator == 1


def is_huge(number: Decimal) -> bool:
    """Whether arithmetic on `number` could write out more digits than is sensible."""
    return bool(number) and (
        abs(number.adjusted()) > MAX_EXPONENT or len(number.as_tuple().digits) > 2 * MAX_EXPONENT
    )


def exact_json(value: object, origin: Origin, depth: int = 0) -> Json:
    """`value` with exact numbers.

    Raises:
        SchemaError: it holds something that is not JSON.
        LimitExceeded: it nests deeper than 64, or a number has an exponent beyond 400.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (list, dict)):
        if depth >= MAX_VALUE_DEPTH:
            raise LimitExceeded.at(
                "value-too-deep", f"a value nests deeper than {MAX_VALUE_DEPTH}", origin
            )
        if isinstance(value, list):
            return [exact_json(v, origin, depth + 1) for v in value]
        for key in value:
            if not isinstance(key, str):
                raise SchemaError.at("invalid-schema", f"{key!r} is no JSON key", origin)
        return {k: exact_json(v, origin, depth + 1) for k, v in value.items()}
    number = exact_number(value)
    if number is None:
        raise SchemaError.at("invalid-schema", f"{value!r} is no JSON value", origin)
    if is_huge(number):
        raise LimitExceeded.at("number-too-large", "a number beyond 1e±400", origin)
    whole = isinstance(value, int) or (
        number == number.to_integral_value() and number.adjusted() < _WHOLE_DIGITS
    )
    return int(number) if whole else number


def json_type(value: Json) -> JsonType:
    """The JSON type of a value; whole numbers are "number" too."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    if isinstance(value, dict):
        return "object"
    return "number"


def json_key(value: Json) -> Hashable:
    """Equal for values that JSON Schema calls equal: 1 and 1.0 are, true and 1 are not."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return (value,)
    if isinstance(value, list):
        return ("array", tuple(json_key(v) for v in value))
    if isinstance(value, dict):
        return ("object", frozenset((k, json_key(v)) for k, v in value.items()))
    return ("number", value)


def distinct(values: list[Json]) -> list[Json]:
    """The values without repeats, first occurrences kept."""
    first: dict[Hashable, Json] = {}
    for value in values:
        first.setdefault(json_key(value), value)
    return list(first.values())


def is_container(value: Json) -> bool:
    """Whether it is an array or an object."""
    return isinstance(value, (list, dict))


def show(value: Json, width: int = 40) -> str:
    """The value as JSON in a message, cut if long."""
    if isinstance(value, str):
        text = '"' + value + '"'
    elif value is None or isinstance(value, bool):
        text = {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, list):
        text = "[" + ", ".join(show(v) for v in value[:5]) + "]"
    elif isinstance(value, dict):
        text = "{" + ", ".join(f'"{k}": {show(v)}' for k, v in list(value.items())[:5]) + "}"
    else:
        text = str(value)
    return text if len(text) <= width else text[: width - 1] + "…"
