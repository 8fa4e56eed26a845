"""Texts beyond what is read: they cost little, and what stands behind them is read."""

from __future__ import annotations

from typing import Any

import pytest

import calligram
from calligram.compiler.limits import MAX_NESTING
from calligram.targets import parser

NESTED = {
    "name": "grow",
    "parameters": {
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            }
        },
    },
}
STOP = {"name": "stop", "parameters": {"properties": {"what": {"type": "string"}}}}
BEHIND = {"name": "stop", "arguments": {"what": "now"}}


def reader(dialect: str, *tools: Any, **options: Any) -> parser.Reader:
    return parser.compile(
        calligram.compile_tools(list(tools), dialect, tool_choice="auto", **options)
    )


def named(result: parser.ParseResult) -> list[tuple[str, Any]]:
    return [(c["name"], c["arguments"]) for c in result.calls]


@pytest.mark.parametrize("dialect", ["hermes-json", "minimax-m3-tree", "gemma4", "lfm2-pythonic"])
def test_what_nests_beyond_all_reading_costs_little_and_spoils_nothing_behind_it(
    dialect: str,
) -> None:
    read = reader(dialect, NESTED, STOP)
    roots: list[Any] = [{"kids": [{"kids": []}]}, {"kids": [{"kids": [{"kids": []}]}]}]
    once, twice = (
        read.grammar.render([{"name": "grow", "arguments": {"root": root}}]) for root in roots
    )
    at = once.index("kids") + len("kids")
    level = twice[at : twice.index("kids", at) + len("kids")]
    behind = read.grammar.render([BEHIND])
    result = read.parse(once[:at] + level * 3_000 + " and so on\n" + behind)
    assert named(result) == [("stop", BEHIND["arguments"])]
    assert result.problems[0].code == "broken-call"
    # Each level needs continuations of its own; most of these are none.
    assert read._automaton.core.size < 60_000


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_values_nest_as_deep_as_they_are_read(dialect: str) -> None:
    read = reader(dialect, NESTED, bounds=None)
    root: dict[str, Any] = {}
    for _ in range(MAX_NESTING // 2 - 2):
        root = {"kids": [root]}
    text = read.grammar.render([{"name": "grow", "arguments": {"root": root}}])
    assert named(read.parse(text)) == [("grow", {"root": root})]
