"""The rows that started the project, in every shipped dialect: what models get wrong without a
grammar, and cannot with one."""

from __future__ import annotations

from typing import Any

import pytest

import calligram
from calligram.compiler.compiled import CompiledGrammar
from calligram.compiler.spec_loader import load_dialect
from calligram.targets import gbnf, parser
from tests.engine import Engine
from tests.laws.tools import tool
from tests.test_corpus import same

TOOLS = [
    tool(
        "weather",
        {
            "location": {"type": "string"},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            "days": {"type": "integer"},
        },
        "location",
    ),
    tool(
        "search",
        {"query": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
        "query",
    ),
]

# Arguments that can be said, and that come back as they are.
ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    ("weather", {"location": "Oslo"}),
    ("weather", {"location": "Oslo", "unit": "fahrenheit", "days": 3}),
    ("search", {"query": "masks", "tags": ["a", "b"]}),
    ("search", {"query": "masks", "tags": []}),
]
# What goes wrong, and the arguments with it.
REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "the required location is left out": ("weather", {"unit": "celsius"}),
    "nothing at all is given": ("weather", {}),
    "queries stands for query": ("search", {"queries": "masks"}),
    "queries stands beside query": ("search", {"query": "masks", "queries": "more"}),
    "unit is outside its enum": ("weather", {"location": "Oslo", "unit": "kelvin"}),
    "unit has another case": ("weather", {"location": "Oslo", "unit": "Celsius"}),
    "tags is text": ("search", {"query": "masks", "tags": "a, b"}),
    "tags is JSON in a string": ("search", {"query": "masks", "tags": '["a"'}),
    "days is a word": ("weather", {"location": "Oslo", "days": "three"}),
    "days is a fraction": ("weather", {"location": "Oslo", "days": 2.5}),
    "days is null": ("weather", {"location": "Oslo", "days": None}),
    "tags holds a number": ("search", {"query": "masks", "tags": ["a", 1]}),
}


def written(grammar: CompiledGrammar, name: str, arguments: dict[str, Any]) -> str:
    """The call as the dialect would write it, right or wrong."""
    return grammar.render([{"name": name, "arguments": arguments}], validate=False)


def refused_rows(dialect: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """The wrong rows that the dialect can write at all: without type marks an item that is a number
    is a string, and null may not be written."""
    args = load_dialect(dialect).args
    unwritten = ["days is null"] if args.null == "omit" else []
    if args.notation == "tree" and args.type_attr is None:
        unwritten.append("tags holds a number")
    return {name: row for name, row in REFUSED.items() if name not in unwritten}


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_the_founding_rows(dialect: str, engine: Engine) -> None:
    grammar = calligram.compile_tools(TOOLS, dialect)
    right = [written(grammar, *call) for call in ACCEPTED]
    rows = refused_rows(dialect)
    wrong = [written(grammar, *call) for call in rows.values()]
    assert [bool(grammar.check(text)) for text in right] == [True] * len(right)
    assert [name for name, text in zip(rows, wrong, strict=True) if grammar.check(text)] == []
    said = engine.accepted(gbnf.emit(grammar), right + wrong)
    assert said == [True] * len(right) + [False] * len(wrong)
    reading = parser.compile(grammar)
    for text, (name, arguments) in zip(right, ACCEPTED, strict=True):
        (call,) = reading.parse(text).calls
        assert call["name"] == name
        assert same(call["arguments"], arguments)


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_broken_rows_are_read_with_a_located_problem(dialect: str) -> None:
    reading = parser.compile(calligram.compile_tools(TOOLS, dialect))
    for what, (name, arguments) in refused_rows(dialect).items():
        problems = reading.parse(written(reading.grammar, name, arguments)).problems
        assert problems, what
        assert {p.origin.tool for p in problems} == {name}, what
        assert all(p.origin.pointer.startswith("/arguments") for p in problems), what
