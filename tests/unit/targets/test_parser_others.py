"""A model that writes another dialect than the one that is read: it does not pass in silence."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import calligram
from calligram.targets import parser

TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_weather",
        "description": "",
        "inputSchema": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
    {"name": "clock", "description": "", "inputSchema": {"type": "object", "properties": {}}},
]
PROSE = [
    "The clock shows ten; ask get_weather for more.",
    "A tool (clock) and another one: get_weather.",
    "clock\n\nis one of the tools\n{so they say}",
    '<div class="clock" id="get_weather">x</div> and <a href="clock">it</a>',
    "The function get_weather takes a city; call it, or call clock.",
    'It has {"city": "Paris"} as arguments, and "tool": "clock" in its log.',
    "1. clock\n2. get_weather\n",
    "get_weather (of {many} cities) and `clock`",
]


@cache
def grammar(dialect: str) -> calligram.CompiledGrammar:
    return calligram.compile_tools(TOOLS, dialect, tool_choice="auto")


@cache
def texts() -> dict[str, str]:
    call = {"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}
    return {dialect: grammar(dialect).render([call]) for dialect in calligram.dialects()}


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_each_dialects_calls_are_told_in_all_others(dialect: str) -> None:
    reader = parser.compile(grammar(dialect))
    silent = []
    for other, text in texts().items():
        read = reader.parse(text)
        if not (read.calls or read.problems or read.notices or read.incomplete):
            silent.append(other)
        for notice in read.notices:
            assert notice.origin.tool == "get_weather"
            start, end = notice.origin.span or (0, 0)
            assert b"get_weather" in text.encode()[start:end]
    assert not silent


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_prose_that_names_tools_is_no_call(dialect: str) -> None:
    reader = parser.compile(grammar(dialect))
    spec = grammar(dialect).dialect
    assert spec is not None
    for text in PROSE:
        read = reader.parse(f"{spec.content.open}{text}")
        assert not read.calls
        assert not read.notices, (text, read.notices)
