"""Turns for prompts: what is rendered is read back."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram.targets import parser

TOOLS = [
    {"name": "f", "parameters": {"properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}}
]
CALLS = [{"name": "f", "arguments": {"b": "x", "a": 1}}]


@cache
def grammar(dialect: str) -> calligram.CompiledGrammar:
    return calligram.compile_tools(TOOLS, dialect, tool_choice="auto")


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_a_turn_is_read_back(dialect: str) -> None:
    made = grammar(dialect)
    assert made.dialect is not None
    reasoning = "Let me see." if made.dialect.reasoning else ""
    # Calls that are told by beginning the message have no text before them.
    anywhere = any(rule.at != "message_start" for rule in made.trigger.rules)
    before = made.dialect.content.with_calls in ("before", "any")
    content = "One moment." if before and anywhere else ""
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


@pytest.mark.parametrize(
    ("dialect", "content", "reasoning", "calls", "pointers"),
    [
        ("llama4-pythonic", "a", "", CALLS, ["/content", "/calls"]),
        ("gemma3-pythonic", "a", "", CALLS, ["/content", "/calls"]),
        ("paren-json", "a", "", CALLS, ["/content", "/calls"]),
        ("functionary-v32", "a>", "", CALLS, ["/content", "/calls"]),
        ("hermes-json", "\na", "Hm.", CALLS, ["/content"]),
        ("hermes-json", "\na", "Hm.", [], ["/content"]),
        ("firefunction-v2", "a ", "", CALLS, ["/content"]),
        ("hermes-json", "\ud83d", "", [], ["/content"]),
        ("hermes-json", "", "\ud83d", CALLS, ["/reasoning"]),
    ],
)
def test_the_part_that_would_be_read_as_something_else_is_named(
    dialect: str, content: str, reasoning: str, calls: list[Any], pointers: list[str]
) -> None:
    with pytest.raises(calligram.RenderError) as caught:
        grammar(dialect).render_turn(calls, content=content, reasoning=reasoning)
    found = [(p.code, p.origin.pointer) for p in caught.value.problems]
    assert found == [("not-carryable", pointer) for pointer in pointers]


EDGES = st.text("a >{[(\n<f", max_size=4)


@pytest.mark.parametrize("dialect", calligram.dialects())
@settings(max_examples=8, deadline=None)
@given(content=EDGES, reasoning=EDGES, calls=st.sampled_from([[], CALLS]))
def test_what_is_rendered_is_read_back(
    dialect: str, content: str, reasoning: str, calls: list[Any]
) -> None:
    made = grammar(dialect)
    if not (content or reasoning or calls):
        return
    try:
        text = made.render_turn(calls, content=content, reasoning=reasoning)
    except calligram.RenderError as error:
        assert {p.code for p in error.problems} == {"not-carryable"}
        return
    assert made.dialect is not None
    result = parser.compile(made).parse(text)
    assert [c["arguments"] for c in result.calls] == [c["arguments"] for c in calls]
    assert result.content in (content, content + made.dialect.lead_in)
    assert result.reasoning.strip() == reasoning.strip()


@pytest.mark.parametrize("reasoning", ["allow", "none", "opened"])
def test_a_turn_of_history_opens_its_block_whatever_the_next_prompt_does(
    reasoning: Literal["allow", "none", "opened"],
) -> None:
    made = calligram.compile_tools(TOOLS, "hermes-json", tool_choice="auto", reasoning=reasoning)
    text = made.render_turn(CALLS, content="Now.", reasoning="Hm.")
    assert text == grammar("hermes-json").render_turn(CALLS, content="Now.", reasoning="Hm.")


def test_calls_of_a_turn_are_validated() -> None:
    with pytest.raises(calligram.RenderError, match="not-accepted"):
        grammar("hermes-json").render_turn([{"name": "f", "arguments": {"b": 1}}])
    with pytest.raises(calligram.RenderError, match="no turns"):
        calligram.compile_schema({}).render_turn([])
    for calls in (None, CALLS[0], {}):
        with pytest.raises(calligram.RenderError, match="invalid-call"):
            grammar("hermes-json").render_turn(calls)


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_calls_come_as_openai_has_them_too(dialect: str) -> None:
    made = grammar(dialect)
    text = made.render(CALLS)
    message = parser.compile(made).parse(text).openai()
    assert made.render(message["tool_calls"]) == text
    assert made.render_turn(message["tool_calls"]) == made.render_turn(CALLS)


def test_arguments_that_are_no_json_text_are_refused() -> None:
    for arguments in ("{", "[" * 5000, "[]"):
        call = {"type": "function", "function": {"name": "f", "arguments": arguments}}
        for render in (grammar("hermes-json").render, grammar("hermes-json").render_turn):
            with pytest.raises(calligram.RenderError, match="invalid-call"):
                render([call])
