"""JSON Schema -> typed call IR: the entry point."""

from __future__ import annotations

from typing import Any, TypeAlias

from ..errors import LimitExceeded, SchemaError
from ..findings import Finding
from ..ir import NeverValue, SchemaValue
from ..origin import Origin, escape_pointer
from .build import only_objects, schema_value
from .forms import Goal, Objects, Values
from .options import ReadOptions
from .reading import Reader

# The way down a document, the last step outside: ((), "properties"), "a" is /properties/a.
_Path: TypeAlias = "tuple[()] | tuple[_Path, str | int]"

# JSON nesting of a whole document, annotations included, in levels of schemas.
_LEVELS_PER_SCHEMA = 3


def read_schema(
    schema: Any, *, origin: Origin, options: ReadOptions, findings: list[Finding]
) -> SchemaValue:
    """The values that a JSON Schema lets through, as IR.

    `schema` is a dict or a boolean, numbers as Python has them (Decimal and float are exact
    decimals). One finding per keyword is appended to `findings`, also when the schema is refused.

    Raises:
        SchemaError: all problems of the schema: invalid, unsupported, unresolved or unsatisfiable.
        LimitExceeded: a limit of `options`, at once.
    """
    if not isinstance(schema, (dict, bool)):
        kind = type(schema).__name__
        raise SchemaError.at(
            "invalid-schema", f"a schema is an object or a boolean, not {kind}", origin
        )
    _check_shape(schema, origin, options.max_depth)
    reader = Reader(schema, origin, options)
    try:
        value = schema_value(reader, _root_goal(reader))
    finally:
        findings.extend(reader.findings())
    if reader.problems:
        raise SchemaError(dict.fromkeys(reader.problems))
    assert not isinstance(value.value, NeverValue)
    if options.arguments:
        return SchemaValue(only_objects(value.value, origin), value.definitions)
    return value


def _root_goal(reader: Reader) -> Goal:
    root = reader.document.root
    goal: Goal = (reader.target(root).atom,)
    if not reader.options.arguments:
        return goal
    for x in reader.form(goal).alternatives:
        objects = isinstance(x, Objects) or (
            isinstance(x, Values) and all(isinstance(v, dict) for v in x.values)
        )
        if not objects:
            return goal + reader.synthetic({"type": "object"}, root)
    return goal


def _check_shape(schema: Any, origin: Origin, max_depth: int) -> None:
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


__all__ = ["read_schema"]
