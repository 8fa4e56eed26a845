"""JSON Schema -> typed call IR: the entry point."""

from __future__ import annotations

from typing import Any

from ..errors import SchemaError
from ..findings import Findings
from ..ir import NeverValue, SchemaValue
from ..json_text import file_hint
from ..origin import Origin
from .build import only_objects, schema_value
from .forms import Goal, Objects, Values
from .notes import findings_of
from .options import ReadOptions
from .plain import read_plain
from .reading import Reader
from .shape import check_shape


def read_schema(
    schema: Any, *, origin: Origin, options: ReadOptions, findings: Findings
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
        message = f"a schema is an object or a boolean, not {kind}"
        hint = file_hint(schema, parsed=True)
        raise SchemaError.at("invalid-schema", message, origin, hint)
    plain = read_plain(schema, origin, options)
    if plain is not None:
        value, note = plain
        findings.later(lambda: findings_of(note, origin))
        return value
    return read_any(schema, origin=origin, options=options, findings=findings)


def read_any(
    schema: dict[str, Any] | bool, *, origin: Origin, options: ReadOptions, findings: Findings
) -> SchemaValue:
    """What :func:`read_schema` does, also with plain schemas by the way of all others."""
    check_shape(schema, origin, options.max_depth)
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


__all__ = ["read_schema"]
