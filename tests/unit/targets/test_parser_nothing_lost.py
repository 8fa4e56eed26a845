"""No call is made of a part of one, and of nothing else that would lose a value in silence."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

import calligram
from calligram.targets import parser
from calligram.targets.parser import ParseResult

TOOLS: list[dict[str, Any]] = [
    {
        "name": "search",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "n": {"type": "integer"}},
        },
    },
    {"name": "clock", "parameters": {"type": "object", "properties": {}}},
    {
        "name": "forecast",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {"type": "string"},
                "unit": {"type": "string"},
                "days": {"type": "integer"},
            },
            "required": ["location"],
        },
    },
]
FULL = {"location": "Oslo", "unit": "C", "days": 3}


@cache
def reader(dialect: str) -> parser.Reader:
    return parser.compile(calligram.compile_tools(TOOLS, dialect, tool_choice="auto"))


TAGGED = [d for d in calligram.dialects() if reader(d).dialect.args.notation == "tagged"]
BY_NAME = ["gemma3-pythonic", "llama4-pythonic", "paren-json"]


def calls(result: ParseResult) -> list[tuple[str, Any]]:
    return [(c["name"], c["arguments"]) for c in result.calls]


def is_told(result: ParseResult) -> bool:
    """Does the result say that something is not as it should?"""
    return bool(result.problems or result.notices or result.incomplete)


def marked(dialect: str, body: str) -> str:
    """An object behind a marker of the dialect, if it has any."""
    return (reader(dialect).marks.safe or (b"",))[-1].decode() + body


LOSING = [
    '{"name": "search", "query": "x"}',
    '{"name": "search", "params": {"query": "x"}}',
    '{"function": "search", "query": "x"}',
    '{"type": "function", "function": {"name": "search", "query": "x"}}',
    '{"function": {"name": "search", "arguments": {}}, "query": "x"}',
    '{"name": "search", "arguments": {}, "parameters": {"query": "x"}}',
    '{"name": "search", "arguments": {"query": "x"}, "n": 3}',
    '{"name": "search", "arguments": {"query": "x"}, "arguments": {}}',
    '{"name": "search", "name": "clock", "arguments": {"query": "x"}}',
    '{"name": "search", "tool": "clock", "arguments": {"query": "x"}}',
    '{"name": "search", "arguments": {"query": "x", "query": "y"},}',
    '{"name": "search", "arguments": "{\\"query\\": \\"x\\", \\"query\\": \\"y\\"}"}',
    '{"name": "search", "arguments": ["x"]}',
    '{"name": "clock", "type": "antique"}',
    '{"name": "search", "type": "dog", "age": 3}',
    '{"name": "clock", "color": "red"}',
    '{"name": "clock", "id": {"color": "red"}}',
]


@pytest.mark.parametrize("dialect", calligram.dialects())
@pytest.mark.parametrize("body", LOSING)
def test_an_object_is_no_call_if_something_of_it_would_be_lost(dialect: str, body: str) -> None:
    text = marked(dialect, body)
    for given in (text, f"[{body}]", body):
        result = reader(dialect).parse(given, lenient=True)
        assert not [c for c in result.calls if c["name"] in reader(dialect).tools], given
        assert is_told(result), given


@pytest.mark.parametrize("dialect", ["hermes-json", "qwen3-coder-xml", "mistral-args"])
@pytest.mark.parametrize(
    ("body", "call"),
    [
        ('{"type": "function", "function": {"name": "search", "arguments": {"query": "x"}}}',
         {"name": "search", "arguments": {"query": "x"}, "id": None}),
        ('{"id": "a1", "type": "function", "index": 0, "function": {"name": "search", "arguments": '
         '"{\\"query\\": \\"x\\"}"}}', {"name": "search", "arguments": {"query": "x"}, "id": "a1"}),
        ('{"type": "tool_use", "id": "b", "name": "search", "input": {"query": "x"}}',
         {"name": "search", "arguments": {"query": "x"}, "id": "b"}),
        ('{"name": "clock"}', {"name": "clock", "arguments": {}, "id": None}),
    ],
)  # fmt: skip
def test_an_object_is_a_call_if_all_of_it_is_understood(
    dialect: str, body: str, call: dict[str, Any]
) -> None:
    marker = {"mistral-args": "[TOOL_CALLS]"}.get(dialect, "<tool_call>\n")
    result = reader(dialect).parse(marker + body, lenient=True)
    assert (result.calls, result.problems) == ([call], ())
    assert result.recoveries


@pytest.mark.parametrize("dialect", ["llama3-json", "llama4-pythonic", "bare-json-array"])
def test_a_name_alone_is_no_call_without_a_marker(dialect: str) -> None:
    for text in ('{"name": "clock"}', '[{"name": "clock"}]'):
        result = reader(dialect).parse(text, lenient=True)
        assert (result.calls, result.content) == ([], text)
        (note,) = result.notices
        assert (note.code, note.origin.tool) == ("near-miss", "clock")
        assert "neither arguments nor what marks a call" in (note.hint or "")


def test_why_an_object_is_no_call_is_said() -> None:
    (note,) = reader("llama3-json").parse('{"name": "search", "params": {}}').notices
    assert (note.origin.span, note.origin.tool) == ((0, 32), "search")
    assert note.hint == (
        "no call is made of it: 'params' beside the name is neither its arguments nor part of a "
        "call"
    )


def is_part(arguments: dict[str, Any]) -> bool:
    """Are these some of the arguments, as they were?"""
    return arguments != FULL and arguments.items() <= FULL.items()


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_a_fault_in_a_call_leaves_no_part_of_it(dialect: str) -> None:
    """Whatever one character does to a call, and wherever it is cut off: what is read of it has all
    its arguments, or the turn counts as cut off."""
    text = reader(dialect).grammar.render([{"name": "forecast", "arguments": FULL}])
    spoilt = [text[:at] + text[at + 1 :] for at in range(len(text))]
    spoilt += [text[:at] + "x" + text[at:] for at in range(0, len(text), 2)]
    for given in spoilt:
        result = reader(dialect).parse(given, lenient=True)
        lost = [c for c in result.calls if is_part(c["arguments"])]
        assert not lost or result.problems, given
    for end in range(len(text)):
        result = reader(dialect).parse(text[:end], lenient=True)
        lost = [c for c in result.calls if is_part(c["arguments"])]
        assert not lost or result.incomplete is not None, text[:end]


@pytest.mark.parametrize("dialect", TAGGED)
@pytest.mark.parametrize("stray", ["stray", "days: 3", "<days>3</days>", "<param=days>3</param>"])
def test_what_stands_between_arguments_in_tags_may_be_one(dialect: str, stray: str) -> None:
    reading = reader(dialect)
    text = reading.grammar.render([{"name": "forecast", "arguments": FULL}])
    parts = [m.start() for m in re.finditer(re.escape("days"), text)]
    begin = max(m.start() for m in reading.marks.params[0].begin.finditer(text.encode()))
    at = len(text.encode()[:begin].decode())
    assert parts and at < parts[0]
    result = reading.parse(f"{text[:at]}{stray}\n{text[at:]}", lenient=True)
    assert not any(is_part(arguments) for _, arguments in calls(result))
    assert is_told(result)


@pytest.mark.parametrize(
    ("end", "found"),
    [
        ("", True), ("\n", True), ("\n</inv", True), ("\n</", True),
        ("\n<", False), ("\n<para", False), ("\n<parameter name=", False), ("\nAnd", False),
        ("\n<parameter name=days>3</parameter>\n</invoke>", False),
    ],
)  # fmt: skip
def test_arguments_in_tags_are_all_there_where_only_their_end_is_missing(
    end: str, found: bool
) -> None:
    head = '<function_calls>\n<invoke name="forecast">\n<parameter name="location">Oslo</parameter>'
    result = reader("anthropic-invoke-xml").parse(head + end, lenient=True)
    assert calls(result) == ([("forecast", {"location": "Oslo"})] if found else [])
    assert (result.incomplete is not None) == (not end.startswith(("\nA", "\n<parameter name=d")))
    assert found or is_told(result)


@pytest.mark.parametrize(
    "inside",
    [
        'clock() # then\nforecast(location="a")',
        "clock() and then another one",
        '{"name": "clock", "arguments": {}} {"name": "search", "query": "x"}',
        '{"name": "clock", "arguments": {},} and more',
    ],
)
def test_what_stands_between_a_call_and_its_end_is_not_passed_over(inside: str) -> None:
    text = f"<tool_call>\n{inside}\n</tool_call>"
    for given in (text, text.replace("\n", "")):
        result = reader("hermes-json").parse(given, lenient=True)
        assert (result.calls, result.content) == ([], given)
        assert is_told(result)


def test_what_is_wrong_with_the_bytes_is_said_of_a_call_that_was_recovered() -> None:
    text = b'<tool_call>\n{"name": "search", "arguments": {"query": "x\xff",}}\n</tool_call>'
    result = reader("hermes-json").parse(text, lenient=True)
    assert calls(result) == [("search", {"query": "x\ufffd"})]
    assert [(p.code, p.origin.span) for p in result.problems] == [("not-utf-8", (56, 57))]


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_messages_count_the_bytes_that_were_given(dialect: str) -> None:
    text = reader(dialect).grammar.render([{"name": "forecast", "arguments": FULL}]).encode()
    for end in range(1, len(text), 5):
        for lenient in (False, True):
            given = b"\xff\xfe\xfd. " + text[:end] + b"\x00 " + text[end:]
            result = reader(dialect).parse(given, lenient=lenient)
            for problem in result.problems:
                found = re.search(r"at byte (\d+)", problem.message)
                if found is not None and problem.origin.span is not None:
                    assert int(found[1]) == problem.origin.span[0], (given, problem)


def test_a_call_that_breaks_off_behind_what_is_no_text_does_so_at_the_byte_that_was_given() -> None:
    text = b'\xff\xfe\xfd<tool_call>\n{"name": "search", "arguments": {"query" "x"}}\n</tool_call>'
    (_, problem) = reader("hermes-json").parse(text).problems
    at = text.index(b'"x"')
    assert (problem.code, problem.origin.span) == ("broken-call", (at, at))
    assert f" at byte {at}: " in problem.message


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("dialect", BY_NAME)
@pytest.mark.parametrize("form", ["{}", " {}\n", "```tool_code\n{}\n```", "```\n{}```"])
def test_a_call_of_another_tool_is_noted_where_only_names_tell_calls(
    dialect: str, form: str, lenient: bool
) -> None:
    reading = reader(dialect)
    good = reading.grammar.render([{"name": "forecast", "arguments": FULL}])
    text = form.format(good.replace("forecast", "forcast"))
    for given in (text, text + "".join(t.decode() for t in reading.marks.turn_ends[:1])):
        result = reading.parse(given, lenient=lenient)
        assert (result.calls, result.content.strip()) == ([], text.strip())
        (note,) = result.notices
        assert (note.code, note.severity, note.origin.tool) == ("near-miss", "note", "forcast")
        assert note.hint == "did you mean `forecast`?"
        assert note.origin.span is not None
        assert given.encode()[slice(*note.origin.span)].startswith(b"forcast(")


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    ("dialect", "text", "named"),
    [
        ("llama4-pythonic", '[forecast(location="Oslo"), nosuch(a=1)]', "nosuch"),
        ("paren-json", 'forecast({"location": "Oslo"})\nnosuch({"a": 1})', "nosuch"),
    ],
)
def test_a_call_of_another_tool_behind_calls_is_noted(
    dialect: str, text: str, named: str, lenient: bool
) -> None:
    result = reader(dialect).parse(text, lenient=lenient)
    assert calls(result) == [("forecast", {"location": "Oslo"})]
    assert [n.origin.tool for n in result.notices] == [named]


@pytest.mark.parametrize("dialect", BY_NAME)
@pytest.mark.parametrize(
    "text",
    [
        "Use print(x=1).",
        "print(1)",
        "f(x=1) is one",
        "f(x=",
        "[1, 2]",
        "x",
        "(a=1)",
        "[f]",
        "f (x)",
    ],
)
def test_prose_and_code_are_no_calls_of_other_tools(dialect: str, text: str) -> None:
    assert reader(dialect).parse(text).notices == ()


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_line_ends_as_in_windows_are_not_part_of_values(dialect: str) -> None:
    text = reader(dialect).grammar.render([{"name": "forecast", "arguments": FULL}])
    given = text.replace("\n", "\r\n")
    result = reader(dialect).parse(given, lenient=True)
    assert calls(result) == [("forecast", FULL)] or (not result.calls and is_told(result))
    assert given == text or result.recoveries or not result.calls


def test_lines_inside_a_value_stay_as_they_are() -> None:
    text = (
        "<tool_call>\r\n<function=search>\r\n<parameter=query>\r\na\r\n\r\nb\r\n</parameter>\r\n"
        "</function>\r\n</tool_call>"
    )
    result = reader("qwen3-coder-xml").parse(text, lenient=True)
    assert (calls(result), result.problems) == ([("search", {"query": "a\r\n\r\nb"})], ())
    assert [r.code for r in result.recoveries] == ["loose-space"]
    (recovery,) = result.recoveries
    assert text.encode()[recovery.start : recovery.end] == b"\r\n"
