"""A JSON value as a typed value: what only it satisfies, container by container."""

from __future__ import annotations

from ..ir import ArrayValue, EnumValue, Json, Key, ObjectValue
from ..origin import Origin


def constant(value: Json, origin: Origin) -> EnumValue | ArrayValue | ObjectValue:
    """The value alone: a container of its parts, each alone."""
    match value:
        case list():
            parts = tuple(constant(v, origin) for v in value)
            return ArrayValue(parts, None, len(parts), len(parts), origin)
        case dict():
            keys = (Key(name, constant(v, origin), True, origin) for name, v in value.items())
            return ObjectValue(tuple(keys), origin=origin)
        case _:
            return EnumValue((value,), origin)
