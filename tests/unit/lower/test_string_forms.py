"""Strings in several forms: which one is written, and that no text has two readings."""

from __future__ import annotations

from typing import Any

import pytest

import calligram
from calligram.compiler.compiled import CompiledGrammar
from calligram.compiler.spec_loader import load_spec_text
from calligram.targets import gbnf, parser
from tests.engine import Engine
from tests.laws.tools import tool

SPEC = """
id: two-forms
call: "<c {name}>{args}</c>"
args:
  notation: tagged
  param: "<p {key}>{value}</p>"
  string:
    escape: none
    alternatives: [{open: "<[", close: "]>", when: ["<", "\\n"]}]
triggers: [{text: "<c "}]
"""


def grammar(value: dict[str, Any]) -> CompiledGrammar:
    spec = load_spec_text(SPEC).spec
    return calligram.compile_tools([tool("f", {"x": value}, "x")], spec)


def text(inside: str) -> str:
    return f"<c f><p x>{inside}</p></c>"


TEXT = {"type": "string"}
EITHER = {"type": ["string", "integer", "object"]}


@pytest.mark.parametrize(
    ("kind", "value", "inside"),
    [
        (TEXT, "plain", "plain"),
        (TEXT, "", ""),
        (TEXT, "a\nb", "<[a\nb]>"),
        (TEXT, "a</p>b", "<[a</p>b]>"),
        (TEXT, "a]>b", "a]>b"),
        (TEXT, "<[", "<[<[]>"),
        (TEXT, "3", "3"),
        (EITHER, "3", "<[3]>"),
        (EITHER, 3, "3"),
        (EITHER, "{}", "<[{}]>"),
        ({"enum": ["</p>", "a", "<["]}, "</p>", "<[</p>]>"),
        ({"enum": ["</p>", "a", "<["]}, "<[", "<[<[]>"),
    ],
)
def test_a_form_that_carries_the_text_is_written(
    kind: dict[str, Any], value: Any, inside: str, engine: Engine
) -> None:
    made = grammar(kind)
    call = {"name": "f", "arguments": {"x": value}}
    written = made.render([call])
    assert written == text(inside)
    assert made.check(written).accepted
    assert engine.accepted(gbnf.emit(made), [written]) == [True]
    result = parser.compile(made).parse(written)
    assert not result.problems
    assert [c["arguments"] for c in result.calls] == [{"x": value}]


@pytest.mark.parametrize("value", ["</p>]>", "<[]>"])
def test_what_no_form_carries_is_refused(value: str) -> None:
    with pytest.raises(calligram.CalligramError) as caught:
        grammar(TEXT).render([{"name": "f", "arguments": {"x": value}}])
    assert [p.code for p in caught.value.problems] == ["not-carryable"]


@pytest.mark.parametrize(
    ("inside", "value"),
    [
        ("<[a]>", "a"),
        ("<", "<"),
        ("a<[b]>", "a<[b]>"),
        ("<[a", None),
        ("<[a]> b", None),
        ("<[a]>]>", None),
    ],
)
def test_what_opens_a_form_is_in_that_form(inside: str, value: str | None, engine: Engine) -> None:
    made = grammar(TEXT)
    accepted = value is not None
    assert made.check(text(inside)).accepted is accepted
    assert engine.accepted(gbnf.emit(made), [text(inside)]) == [accepted]
    calls = parser.compile(made).parse(text(inside)).calls
    assert [c["arguments"] for c in calls] == ([{"x": value}] if accepted else [])


def test_patterns_and_lengths_hold_in_each_form() -> None:
    made = grammar({"type": "string", "pattern": "^[a<\\[]*$", "maxLength": 3})
    right, wrong = ["aaa", "<a[", "<[a<[]>", "<[]>"], ["aaaa", "<[a", "<[aaaa]>", "<[ab]>"]
    assert [made.check(text(t)).accepted for t in right + wrong] == [True] * 4 + [False] * 4


def test_strings_in_JSON_escapes_are_decoded_in_any_quotes() -> None:
    spec = load_spec_text(
        """
id: json-escapes
call: "[{name}({args})]"
args:
  notation: kwargs
  param: "{key}={value}"
  separator: ", "
  string: {open: "'", close: "'", escape: json}
triggers: [{text: "[{name}(", per_tool: true}]
"""
    ).spec
    nested = {"type": "object", "additionalProperties": TEXT}
    made = calligram.compile_tools([tool("f", {"x": TEXT, "o": nested}, "x")], spec)
    value = {"x": 'a"b\\\n\u00e9', "o": {'k"': "\t"}}
    written = made.render([{"name": "f", "arguments": value}])
    (call,) = parser.compile(made).parse(written).calls
    assert call["arguments"] == value
    # An escape that JSON does not know breaks the call, where it stands; nothing is lost.
    result = parser.compile(made).parse("[f(x='\\q')]")
    (problem,) = result.problems
    assert (problem.code, problem.origin.span) == ("broken-call", (7, 7))
    assert (result.calls, result.content) == ([], "[f(x='\\q')]")


def test_a_long_closer_makes_no_large_grammar() -> None:
    """Free keys cannot hold the closer, and their bound is a default one."""
    free = {"type": "object", "additionalProperties": {"type": "string"}}
    tools = [tool("f", {"o": free}, "o")]
    spec = load_spec_text(SPEC.replace("</p>", "</a-very-long-name-of-an-element>")).spec
    assert len(gbnf.emit(calligram.compile_tools(tools, spec))) < 150_000
