"""Law 3, one bad tool does not kill the rest: on_unsupported error, relax and drop-tool."""

from __future__ import annotations

from typing import Any

import pytest

import calligram
from calligram.compiler.errors import CalligramError
from calligram.compiler.json_schema.options import ReadOptions
from calligram.targets import parser
from tests.laws.tools import BOOK, tool

UNIQUE = tool(
    "unique",
    {
        "list": {
            "type": "array",
            "items": {"type": "string"},
            "contains": {"const": "a"},
            "uniqueItems": True,
        }
    },
    "list",
)
LOOKAROUND = tool("look", {"a": {"type": "string", "pattern": "(a)\\1"}}, "a")
GOOD = {"name": "book", "arguments": {"class": "eco", "bags": None}}
TWICE = {"name": "unique", "arguments": {"list": ["a", "a"]}}
ALL = [UNIQUE, BOOK, LOOKAROUND]
PLACES = [("unique", "/properties/list/uniqueItems"), ("look", "/properties/a/pattern")]


def violations(dialect: str) -> list[str]:
    """What is wrong with the three ways to take tools of which two cannot be enforced."""
    return [*_error(dialect), *_drop(dialect), *_relax(dialect)]


def _error(dialect: str) -> list[str]:
    try:
        calligram.compile_tools(ALL, dialect)
    except calligram.SchemaError as error:
        places = [(p.origin.tool, p.origin.pointer) for p in error.problems]
        return [] if places == PLACES else [f"error: places {places}"]
    return ["error: nothing is refused"]


def _drop(dialect: str) -> list[str]:
    grammar = calligram.compile_tools(ALL, dialect, on_unsupported="drop-tool")
    out = []
    if grammar.dropped != ("unique", "look") or grammar.report.dropped != grammar.dropped:
        out.append(f"drop: dropped {grammar.dropped}")
    if not grammar.check(grammar.render([GOOD], validate=False)):
        out.append("drop: the good tool is lost")
    refused = [(f.origin.tool, f.origin.pointer) for f in grammar.report.by_status("refused")]
    if refused != PLACES:
        out.append(f"drop: the report says {refused}")
    try:
        grammar.render([TWICE])
        out.append("drop: a dropped tool can be called")
    except calligram.RenderError:
        pass
    return out


def _relax(dialect: str) -> list[str]:
    grammar = calligram.compile_tools(ALL, dialect, on_unsupported="relax")
    out = []
    relaxed = [(f.origin.tool, f.origin.pointer) for f in grammar.report.by_status("relaxed")]
    if relaxed != PLACES:
        out.append(f"relax: the report says {relaxed}")
    for call in (GOOD, TWICE):
        if not grammar.check(grammar.render([call], validate=False)):
            out.append(f"relax: {call} is refused")
    # What the grammar lets through is checked after parsing, and said.
    result = parser.compile(grammar).parse(grammar.render([TWICE], validate=False))
    found = [(p.code, p.origin.tool, p.origin.pointer) for p in result.problems]
    if found != [("invalid-arguments", "unique", "/arguments/list")]:
        out.append(f"relax: the parser finds {found}")
    return out


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_one_bad_tool_does_not_kill_the_rest(dialect: str) -> None:
    assert not violations(dialect)


def test_only_bad_tools_are_an_error_even_when_dropped() -> None:
    with pytest.raises(CalligramError) as caught:
        calligram.compile_tools([UNIQUE], "hermes-json", on_unsupported="drop-tool")
    assert "no-tools" in {p.code for p in caught.value.problems}


# The law can be broken --------------------------------------------------------------------------


def test_stopping_at_the_first_problem_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_only(problems: Any) -> CalligramError:
        return calligram.SchemaError(list(problems)[:1])

    monkeypatch.setattr("calligram.compiler.pipeline.SchemaError", first_only)
    assert violations("hermes-json") == [f"error: places {PLACES[:1]}"]


def test_relaxing_where_a_tool_was_to_be_dropped_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lenient(**options: Any) -> Any:
        return ReadOptions(**{**options, "on_unsupported": "relax"})

    monkeypatch.setattr("calligram.compiler.pipeline.ReadOptions", lenient)
    found = violations("hermes-json")
    assert "error: nothing is refused" in found
    assert "drop: dropped ()" in found
