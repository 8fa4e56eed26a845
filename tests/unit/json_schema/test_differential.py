"""Random schemas: refused with a place, or every verdict is jsonschema's, both ways.

Formats are annotations here, as jsonschema has them by default. ``CALLIGRAM_FUZZ`` multiplies the
number of schemas.
"""

from __future__ import annotations

import os
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from calligram.compiler.errors import LimitExceeded, SchemaError
from calligram.compiler.ir import SchemaValue
from tests.unit.json_schema.helpers import accepts, read
from tests.unit.json_schema.random_schemas import instance, sample, schema

SCHEMAS = 150
BATCHES = 4 * int(os.environ.get("CALLIGRAM_FUZZ", "1"))

# What an unsatisfiable schema lets through.
NOTHING = read({"const": "there is no value like this one"})


def read_or_refusal(given: Any, **options: Any) -> SchemaValue | None:
    """The value of a schema, None if it is refused as it should be: located, with a known code."""
    try:
        return read(given, formats="annotate", **options)
    except SchemaError as error:
        codes = {p.code for p in error.problems}
        assert codes <= {"unsupported-keyword", "unsatisfiable"}, (given, error)
        assert all(p.origin.pointer or p.code == "unsatisfiable" for p in error.problems)
        # jsonschema follows a reference to itself without end only where a value leads there.
        endless = any("refers to itself" in p.message for p in error.problems)
        return None if endless or "unsupported-keyword" in codes else NOTHING
    except LimitExceeded:
        return None


def verdict(validator: Draft202012Validator, value: Any) -> bool | None:
    """jsonschema's verdict, None where it follows an endless reference."""
    try:
        return validator.is_valid(value)
    except RecursionError:
        return None
    except BaseException as error:
        # The map below jsonschema turns a RecursionError into a panic of its own.
        if type(error).__name__ != "PanicException":
            raise
        return None


def plain(value: Any) -> Any:
    """Exact numbers as the floats that jsonschema calculates with."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return float(value) if isinstance(value, Decimal) else value


@pytest.mark.fuzz
@pytest.mark.parametrize("batch", range(BATCHES))
def test_verdicts_agree_with_jsonschema(batch: int) -> None:
    rng = Random(f"verdicts {batch}")
    read_ones = 0
    for _ in range(SCHEMAS):
        given = schema(rng)
        value = read_or_refusal(given)
        if value is None:
            continue
        read_ones += 1
        validator = Draft202012Validator(given)
        for _ in range(12):
            x = instance(rng)
            expected = verdict(validator, x)
            assert expected is None or accepts(value, x) is expected, (given, x, expected)
    assert read_ones > SCHEMAS / 2


@pytest.mark.fuzz
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("batch", range(BATCHES))
def test_what_the_ir_says_validates(batch: int, closed: bool) -> None:
    rng = Random(f"samples {batch} {closed}")
    drawn = 0
    for _ in range(SCHEMAS):
        given = schema(rng)
        value = read_or_refusal(given, closed_objects=closed)
        if value is None or value is NOTHING:
            continue
        validator = Draft202012Validator(given)
        for _ in range(6):
            try:
                x = plain(sample(rng, value))
            except LookupError:
                continue
            drawn += 1
            assert accepts(value, x), (given, x)
            assert verdict(validator, x) is not False, (given, x)
    assert drawn > SCHEMAS
