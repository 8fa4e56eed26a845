"""Schema documents as plain JSON: how deep they nest, whether two are the same."""

from __future__ import annotations

from typing import Any, TypeAlias

from ..errors import LimitExceeded, SchemaError
from ..origin import Origin, escape_pointer

# The way down a document, the last step outside: ((), "properties"), "a" is /properties/a.
_Path: TypeAlias = "tuple[()] | tuple[_Path, str | int]"

# JSON nesting of a whole document, annotations included, in levels of schemas.
_LEVELS_PER_SCHEMA = 3


def check_shape(schema: Any, origin: Origin, max_depth: int) -> None:
    """Refuse a document that nests too deep for anyone to walk, or has a key that is no string."""
    limit = max_depth * _LEVELS_PER_SCHEMA
    level: list[tuple[Any, _Path]] = [] if isinstance(schema, bool) else [(schema, ())]
    depth = 0
    while level:
        depth += 1
        if depth > limit:
            raise LimitExceeded.at(
                "schema-too-deep", f"the schema document nests deeper than {limit}", origin
            )
        # One Python object may stand in many places: once a level is enough to measure depth.
        below: dict[int, tuple[Any, _Path]] = {}
        for node, path in level:
            for key, value in node.items() if isinstance(node, dict) else enumerate(node):
                if isinstance(node, dict) and not isinstance(key, str):
                    raise SchemaError.at(
                        "invalid-schema", f"{key!r} is no JSON key", _at(origin, path)
                    )
                if isinstance(value, (dict, list)):
                    below[id(value)] = (value, (path, key))
        level = list(below.values())


def _at(origin: Origin, path: _Path) -> Origin:
    """The origin of what stands at `path` below `origin`."""
    tail = ""
    while path:
        path, token = path
        tail = f"/{escape_pointer(token)}{tail}"
    return Origin(origin.pointer + tail, origin.tool, origin.file)


def same(a: Any, b: Any) -> bool:
    """Whether two documents say the same: equal, and of the same types (1, 1.0, true differ)."""
    pairs = [(a, b)]
    seen: set[tuple[int, int]] = set()
    for x, y in pairs:
        if x is y or (id(x), id(y)) in seen:
            continue
        seen.add((id(x), id(y)))
        if type(x) is not type(y):
            return False
        if isinstance(x, dict):
            if x.keys() != y.keys():
                return False
            pairs += [(v, y[k]) for k, v in x.items()]
        elif isinstance(x, list):
            if len(x) != len(y):
                return False
            pairs += zip(x, y, strict=True)
        elif x != y:
            return False
    return True
