"""Texts that are cut off: finished calls are given, and no marker passes for prose."""

from __future__ import annotations

import pytest

import calligram
from calligram.compiler.spec_loader import shipped_ids
from calligram.targets import parser

TOOLS = [
    {
        "name": "set_timer",
        "input_schema": {
            "type": "object",
            "properties": {"minutes": {"type": "integer"}},
            "required": ["minutes"],
        },
    }
]
CALL = {"name": "set_timer", "arguments": {"minutes": 3}}


@pytest.mark.parametrize("dialect", shipped_ids())
def test_a_missing_end_of_the_section_costs_no_call(dialect: str) -> None:
    grammar = calligram.compile_tools(TOOLS, dialect, tool_choice="auto")
    assert grammar.dialect is not None
    text = grammar.render([CALL])
    close = grammar.dialect.section.close
    result = parser.compile(grammar).parse(text.removesuffix(close) if close else text)
    assert [c["arguments"] for c in result.calls] == [{"minutes": 3}]
    assert result.content == ""
    assert (result.incomplete is not None) == bool(close)
    assert bool(result.problems) == bool(close)


@pytest.mark.parametrize("dialect", shipped_ids())
def test_no_cut_turns_markers_into_prose(dialect: str) -> None:
    grammar = calligram.compile_tools(TOOLS, dialect, tool_choice="auto")
    reader = parser.compile(grammar)
    text = grammar.render([CALL])
    triggers = [t for t in grammar.trigger.texts if text.lstrip().startswith(t)]
    begun = min((text.index(t) + len(t) for t in triggers), default=len(text))
    for end in range(begun, len(text)):
        result = reader.parse(text[:end])
        assert result.content.strip() == "", text[:end]
        assert result.incomplete is not None or result.calls, text[:end]


@pytest.mark.parametrize("key", ["parameter", "inputschema", "schema"])
def test_a_misspelt_schema_makes_no_tool_without_arguments(key: str) -> None:
    with pytest.raises(calligram.ToolError, match=f"`{key}` is no key of a tool"):
        calligram.compile_tools([{"name": "a", key: {"type": "object"}}], "hermes-json")
