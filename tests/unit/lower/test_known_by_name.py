"""Calls that little tells from other text: names that are blocks' names, and brackets alone."""

from __future__ import annotations

import pytest

import calligram
from calligram.compiler.spec_loader import load_spec_text
from calligram.targets import parser
from tests.laws.tools import tool

MESSAGES = """
id: messages
reasoning: {open: " to=self<m>", close: "<e>"}
content: {open: " to=user<m>", close: "<e>"}
call: " to={name}<m>{args}</m>"
args: {notation: json}
triggers: [{text: " to={name}<m>", per_tool: true}]
"""
BRACKETS = """
id: brackets
section: {open: "[", close: "]"}
calls: {separator: ", "}
call: "{name}({args})"
args: {notation: json}
triggers: [{text: "[{name}(", per_tool: true, at: message_start}]
"""
X = {"x": {"type": "string"}}


@pytest.mark.parametrize("name", ["self", "user"])
def test_a_name_that_would_begin_other_text_is_refused(name: str) -> None:
    spec = load_spec_text(MESSAGES).spec
    with pytest.raises(calligram.CalligramError) as caught:
        calligram.compile_tools([tool("f", X), tool(name, X)], spec)
    assert [p.code for p in caught.value.problems] == ["not-carryable"]
    assert f"'{name}'" in str(caught.value)


@pytest.mark.parametrize("name", ["selfie", "to", "us", "m"])
def test_other_names_are_fine(name: str) -> None:
    grammar = calligram.compile_tools([tool(name, X)], load_spec_text(MESSAGES).spec)
    text = grammar.render([{"name": name, "arguments": {"x": "a"}}])
    assert grammar.check(text).accepted
    assert [c["name"] for c in parser.compile(grammar).parse(text).calls] == [name]


@pytest.mark.parametrize(
    "text",
    ["[1] says so (there)", "[a](b)", "[clock] ticks", "[", "[ clock({})]", "Now [clock({})]"],
)
def test_prose_that_begins_with_a_bracket_is_prose(text: str) -> None:
    grammar = calligram.compile_tools(
        [tool("clock", {})], load_spec_text(BRACKETS).spec, tool_choice="auto"
    )
    result = parser.compile(grammar).parse(text)
    assert grammar.check(text).accepted
    assert (result.calls, result.content, result.problems) == ([], text, ())


def test_a_known_name_behind_the_bracket_is_a_call() -> None:
    grammar = calligram.compile_tools(
        [tool("clock", {})], load_spec_text(BRACKETS).spec, tool_choice="auto"
    )
    assert grammar.check("[clock({}), clock({})]").accepted
    assert not grammar.check("[clock({}), cl").accepted
    assert len(parser.compile(grammar).parse("[clock({}), clock({})]").calls) == 2
