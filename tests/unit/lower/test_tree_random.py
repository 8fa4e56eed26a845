"""Random schemas in trees: accepted texts have valid readings, and what is written comes back."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import calligram
from calligram.compiler.errors import CalligramError
from calligram.compiler.lower.tree_writer import difference
from calligram.targets import parser
from tests.sampling import Sampler, Stuck, dice, fuzzed
from tests.unit.json_schema.oracle import Judge, exact
from tests.unit.json_schema.wide_schemas import Guided, instance, schema
from tests.unit.lower.helpers import tool
from tests.unit.lower.test_tree import BOTH

REFUSALS = {"not-carryable", "unsatisfiable", "unsupported-keyword"}
ROUNDED = re.compile(r"[0-9]{16}|[eE][+-]?[0-9]{3}")
"""Numbers that a double does not hold, whose neighbour may break the schema."""


def wrapped(rng: Any) -> tuple[dict[str, Any], Judge] | None:
    """A tool's parameters with one random value, and what decides about it; None where the schema
    refers to itself, since it is not at the root."""
    made, draft = schema(rng)
    if '$ref"' in json.dumps(made):
        return None
    parameters = {"type": "object", "properties": {"v": made}, "required": ["v"]}
    if "$schema" in made:
        parameters["$schema"] = made["$schema"]
    return parameters, Judge(made, draft)


@BOTH
@pytest.mark.fuzz
def test_what_is_accepted_is_valid_and_what_is_written_comes_back(dialect: Any) -> None:
    tried = 0
    for number in range(fuzzed(40)):
        rng = dice("tree", dialect.id, number)
        given = wrapped(rng)
        if given is None:
            continue
        parameters, judge = given
        options: dict[str, Any] = {"key_order": "any", "formats": "annotate", "max_calls": 1}
        try:
            made = calligram.compile_tools(
                [tool("f", parameters)], dialect, open_objects=True, **options
            )
        except CalligramError as error:
            assert {p.code for p in error.problems} <= REFUSALS, (parameters, error)
            continue
        tried += 1
        reader = parser.compile(made)
        sampler = Sampler(made.enforced.rules, rng, 60)
        for _ in range(3):
            try:
                text = sampler.text(made.enforced.start)
            except (Stuck, RecursionError):
                break
            if ROUNDED.search(text):
                continue
            result = reader.parse(text)
            assert not result.problems and len(result.calls) == 1, (parameters, text)
            found = result.calls[0]["arguments"]
            assert judge(exact(found["v"])) is not False, (parameters, text)
            again = reader.parse(made.render([{"name": "f", "arguments": found}]))
            assert difference(found, again.calls[0]["arguments"]) is None, (parameters, text)
        guided = Guided(rng, parameters["properties"]["v"])
        for value in (instance(rng), *(guided.value(guided.root) for _ in range(3))):
            try:
                text = made.render([{"name": "f", "arguments": {"v": value}}])
            except CalligramError:
                continue
            assert judge(exact(value)) is not False, (parameters, value)
            result = reader.parse(text)
            assert not result.problems, (parameters, value)
            back = result.calls[0]["arguments"]
            assert difference({"v": value}, back) is None, (parameters, value)
    assert tried > fuzzed(40) / 3
