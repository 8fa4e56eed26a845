"""Calls begun as objects behind a marker, of which something cannot be read, are told."""

from __future__ import annotations

from typing import Any

import pytest

import calligram
from calligram.targets import parser

TOOLS: list[dict[str, Any]] = [
    {
        "name": "write",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
    }
]


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("value", ["010", "(1, 2)", "r'a'", "'a' 'b'", "'it's'", "'no end"])
@pytest.mark.parametrize("dialect", ["hermes-json", "exaone4-json"])
def test_what_cannot_be_read_is_told(dialect: str, value: str, lenient: bool) -> None:
    text = f"Look: <tool_call>{{'name': 'write', 'arguments': {{'n': {value}}}}}</tool_call>"
    grammar = calligram.compile_tools(TOOLS, dialect=dialect, tool_choice="auto")
    result = parser.compile(grammar).parse(text, lenient=lenient)
    assert not result.calls
    assert result.content == text
    assert [notice.origin.tool for notice in result.notices] == ["write"]


def test_prose_about_a_marker_is_not_told() -> None:
    text = "With <tool_call> a call of write begins, {'name': 'write' follows."
    grammar = calligram.compile_tools(TOOLS, dialect="hermes-json", tool_choice="auto")
    result = parser.compile(grammar).parse(text)
    assert (result.content, result.problems, result.notices) == (text, (), ())


@pytest.mark.parametrize("step", [1, 2, 3, 16, 200])
def test_a_marker_that_ends_as_it_begins_is_held(step: int) -> None:
    """A lenient stream tells nothing from the first marker in content on, however it is cut."""
    # A whole marker, which is no call, before a call that breaks off.
    text = '\uff5cDSML\uff5c<\uff5cDSML\uff5c calls>\n<\uff5cDSML\uff5c invoke name="write">\n<x'
    grammar = calligram.compile_tools(TOOLS, dialect="deepseek-v41-dsml", tool_choice="auto")
    stream = parser.compile(grammar).stream(lenient=True)
    data = text.encode()
    told = [d for at in range(0, len(data), step) for d in stream.feed(data[at : at + step])]
    result = stream.close()
    assert not told
    assert [(d.kind, d.text) for d in stream.rest] == [("content", text)]
    assert result.content == text
