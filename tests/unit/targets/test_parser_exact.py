"""Where the grammar decides exactly, the parser finds no fault that only a validator's floats and
Python's regular expressions would find."""

from __future__ import annotations

from typing import Any

import pytest

import calligram
from calligram.targets import parser


def verdicts(schema: dict[str, Any], value: str) -> tuple[bool, bool]:
    """(check accepts, the strict parser has nothing to say)."""
    tool = {
        "name": "f",
        "input_schema": {"type": "object", "properties": {"a": schema}, "required": ["a"]},
    }
    grammar = calligram.compile_tools([tool], "hermes-json")
    text = f'<tool_call>\n{{"name": "f", "arguments": {{"a": {value}}}}}\n</tool_call>'
    result = parser.compile(grammar).parse(text)
    return grammar.check(text).accepted, not result.problems and len(result.calls) == 1


@pytest.mark.parametrize(
    ("schema", "value", "accepted"),
    [
        ({"type": "number", "multipleOf": 0.01}, "19.99", True),
        ({"type": "number", "multipleOf": 0.01}, "19.995", False),
        ({"type": "string", "pattern": r"^\W$"}, '"é"', True),
        ({"type": "string", "pattern": r"^\D$"}, '"٣"', True),
        ({"type": "string", "pattern": r"^\d$"}, '"٣"', False),
        ({"type": "number", "exclusiveMinimum": 0}, "1e-400", True),
        ({"type": "number", "exclusiveMaximum": 1}, "0.99999999999999999999", True),
        ({"type": "number", "exclusiveMaximum": 1}, "1.0", False),
    ],
)
def test_one_verdict(schema: dict[str, Any], value: str, accepted: bool) -> None:
    assert verdicts(schema, value) == (accepted, accepted)


def test_what_was_relaxed_is_judged_by_the_validator() -> None:
    tool = {
        "name": "f",
        "input_schema": {
            "type": "object",
            "properties": {
                "a": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
            },
        },
    }
    grammar = calligram.compile_tools([tool], "hermes-json", on_unsupported="relax")
    text = '<tool_call>\n{"name": "f", "arguments": {"a": ["x", "x"]}}\n</tool_call>'
    assert grammar.check(text)
    (problem,) = parser.compile(grammar).parse(text).problems
    assert problem.code == "invalid-arguments"


@pytest.mark.parametrize("name", ["a<b", "f<|message|>"])
def test_names_that_hold_what_begins_the_arguments(name: str) -> None:
    with pytest.raises(calligram.CalligramError, match="not-carryable"):
        calligram.compile_tools([{"name": name}], "glm45-xml")
