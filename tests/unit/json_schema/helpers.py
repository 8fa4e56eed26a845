"""What the schema tests share: reading a schema, and one verdict held against another."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import jsonschema
import pytest
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.validators import validator_for

from calligram.compiler.errors import CalligramError, SchemaError
from calligram.compiler.findings import Finding, Findings
from calligram.compiler.ir import SchemaValue
from calligram.compiler.json_schema import ReadOptions, read_schema
from calligram.compiler.membership import contains
from calligram.compiler.origin import Origin, Problem


def read(schema: Any, **options: Any) -> SchemaValue:
    """The schema's value, with the given options."""
    return read_schema(schema, origin=Origin(), options=ReadOptions(**options), findings=Findings())


def read_findings(schema: Any, **options: Any) -> list[Finding]:
    """The findings of a schema, whether it is refused or not."""
    found = Findings()
    try:
        read_schema(schema, origin=Origin(), options=ReadOptions(**options), findings=found)
    except SchemaError:
        pass
    return list(found)


def problems(schema: Any, **options: Any) -> tuple[Problem, ...]:
    """The problems that refuse a schema."""
    with pytest.raises(CalligramError) as caught:
        read(schema, **options)
    return caught.value.problems


def problem(schema: Any, **options: Any) -> Problem:
    """The one problem that refuses a schema."""
    found = problems(schema, **options)
    assert len(found) == 1, [str(p) for p in found]
    return found[0]


def accepts(value: SchemaValue, instance: Any) -> bool:
    """Whether the value that was read lets an instance through."""
    return contains(value.value, value.definitions, instance)


def is_valid(schema: Any, instance: Any, formats: bool = False) -> bool:
    """jsonschema's verdict, in the draft that the schema names."""
    kind = validator_for(schema, default=Draft202012Validator)
    checker = FormatChecker() if formats else None
    return bool(kind(schema, format_checker=checker).is_valid(instance))


def check(
    schema: Any,
    accept: Iterable[Any],
    reject: Iterable[Any],
    *,
    jsonschema_agrees: bool = True,
    assert_formats: bool = False,
    **options: Any,
) -> SchemaValue:
    """Both lists get the expected verdict here, and from jsonschema where it is asked too."""
    before = copy.deepcopy(schema)
    value = read(schema, **options)
    assert schema == before, "reading must not change the schema"
    for expected, instances in ((True, accept), (False, reject)):
        for instance in instances:
            assert accepts(value, instance) is expected, (schema, instance)
            if jsonschema_agrees:
                assert is_valid(schema, instance, assert_formats) is expected, (schema, instance)
    return value


__all__ = [
    "accepts", "check", "is_valid", "jsonschema", "problem", "problems", "read", "read_findings",
]  # fmt: skip
