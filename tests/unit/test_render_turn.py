"""Turns for prompts: what is rendered is read back."""

from __future__ import annotations

import pytest

import calligram
from calligram.targets import parser

TOOLS = [
    {"name": "f", "parameters": {"properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}}
]
CALLS = [{"name": "f", "arguments": {"b": "x", "a": 1}}]


def grammar(dialect: str) -> calligram.CompiledGrammar:
    return calligram.compile_tools(TOOLS, dialect, tool_choice="auto")


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_a_turn_is_read_back(dialect: str) -> None:
    made = grammar(dialect)
    assert made.dialect is not None
    reasoning = "Let me see." if made.dialect.reasoning else ""
    content = "One moment." if made.dialect.content.with_calls in ("before", "any") else ""
    text = made.render_turn(CALLS, content=content, reasoning=reasoning)
    result = parser.compile(made).parse(text)
    assert [c["arguments"] for c in result.calls] == [CALLS[0]["arguments"]]
    assert (result.content.strip(), result.reasoning) == (content, reasoning)
    plain = parser.compile(made).parse(made.render_turn(content="Only words."))
    assert (plain.content, plain.calls) == ("Only words.", [])


def test_history_is_spelled_as_the_dialect_spells_it() -> None:
    made = grammar("gemma4")
    assert made.render(CALLS).index("b:") < made.render(CALLS).index("a:1")
    assert made.render_turn(CALLS).index("a:1") < made.render_turn(CALLS).index("b:")


def test_a_turn_in_full() -> None:
    made = grammar("hermes-json")
    assert made.render_turn(CALLS, content="Now.", reasoning="\nHm.\n") == (
        "<think>\nHm.\n</think>\n\nNow.\n"
        '<tool_call>\n{"name": "f", "arguments": {"b": "x", "a": 1}}\n</tool_call>'
    )


@pytest.mark.parametrize(
    ("dialect", "content", "reasoning"),
    [
        ("hermes-json", "a <tool_call>\n b", ""),
        ("hermes-json", "a <think> b", ""),
        ("hermes-json", "", "a </think> b"),
        ("hermes-json", "a<|im_end|>", ""),
        ("paren-json", "", "Hm."),
        ("harmony", "Now.", ""),
    ],
)
def test_what_would_be_read_as_something_else_is_refused(
    dialect: str, content: str, reasoning: str
) -> None:
    with pytest.raises(calligram.RenderError, match="not-carryable"):
        grammar(dialect).render_turn(CALLS, content=content, reasoning=reasoning)


def test_calls_of_a_turn_are_validated() -> None:
    with pytest.raises(calligram.RenderError, match="not-accepted"):
        grammar("hermes-json").render_turn([{"name": "f", "arguments": {"b": 1}}])
    with pytest.raises(calligram.RenderError, match="no turns"):
        calligram.compile_schema({}).render_turn([])
