"""Calls that stand in the strings of other calls: quoted text, whatever becomes of the others."""

from __future__ import annotations

from typing import Any

import pytest

import calligram
from calligram.targets import parser
from calligram.targets.parser import ParseResult

TOOLS: list[dict[str, Any]] = [
    {
        "name": "write",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    },
    {"name": "clock", "parameters": {"type": "object", "properties": {}}},
]
SECTION = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"

INNER = {
    "hermes-json": '<tool_call>{"name": "clock", "arguments": {}}</tool_call>',
    "kimi-k2": "<|tool_call_begin|>functions.clock:0<|tool_call_argument_begin|>{}"
    "<|tool_call_end|>",
    "mistral-args": "[TOOL_CALLS]clock[ARGS]{}",
    "lfm2-pythonic": "<|tool_call_start|>[clock()]<|tool_call_end|>",
    "qwen3-coder-xml": "<tool_call>\n<function=clock>\n</function>\n</tool_call>",
    "minicpm5-xml": '<function name="clock"></function>',
}
"""A whole call, as the dialect has it."""

OUTER = {
    # Single quotes, a comma too many, what ends the call missing; {} is the string.
    "hermes-json": [
        "<tool_call>{'name': 'write', 'arguments': {'text': '%s'}}</tool_call>",
        "<tool_call>{'name': 'write', 'arguments': {'text': '%s',}}</tool_call>",
        "<tool_call>{'name': 'write', 'arguments': {'text': '%s'}}",
    ],
    "kimi-k2": [
        SECTION[0] + "<|tool_call_begin|>functions.write:0<|tool_call_argument_begin|>"
        "{'text': '%s'}<|tool_call_end|>" + SECTION[1],
        SECTION[0] + "<|tool_call_begin|>functions.write:0<|tool_call_argument_begin|>"
        '{"text": "%s",}<|tool_call_end|>' + SECTION[1],
    ],
    "mistral-args": [
        "[TOOL_CALLS]write[ARGS]{'text': '%s'}",
        '[TOOL_CALLS]write[ARGS]{"text": "%s",}',
    ],
    "lfm2-pythonic": [
        '<|tool_call_start|>[write(text: "%s")]<|tool_call_end|>',
        '<|tool_call_start|>write(text="%s")<|tool_call_end|>',
    ],
    "qwen3-coder-xml": [
        "<function=write>\n<parameter=text>\n%s\n</parameter>\n</function>\n</tool_call>",
        "<function=write>\n<parameter=text>\n%s\n</parameter>\n</function>",
    ],
    "minicpm5-xml": [
        '<function name="write"> <param name="text"><![CDATA[%s]]></param></function>',
    ],
}  # fmt: skip
"""Calls that are read, but only leniently."""

BROKEN = {
    "hermes-json": [
        '<tool_call>{"name": "write", "arguments": {"text": "%s"} x}</tool_call>',
        '<tool_call>{"name": "write", "arguments": {"text": "%s", "more": }}</tool_call>',
        '<tool_call>{"name": "write", "arguments": {"text": "%s"}, "why": 1, }</tool_call>',
        '<tool_call>{"name": "write", "arguments": {"text": "%s',
    ],
    "kimi-k2": [
        SECTION[0] + "<|tool_call_begin|>functions.write:0<|tool_call_argument_begin|>"
        '{"text": "%s", "more": }<|tool_call_end|>' + SECTION[1],
    ],
    "mistral-args": ['[TOOL_CALLS]write[ARGS]{"text": "%s", "more": }'],
    "lfm2-pythonic": ['<|tool_call_start|>[write(text="%s", more=)]<|tool_call_end|>'],
    "minicpm5-xml": [
        '<function name="write"><param name="text"><![CDATA[%s]]></param> x </function>',
    ],
}  # fmt: skip
"""Calls that are not read."""


def reading(dialect: str) -> parser.Reader:
    return parser.compile(calligram.compile_tools(TOOLS, dialect, tool_choice="auto"))


def streamed(reader: parser.Reader, text: str, size: int) -> ParseResult:
    stream, data = reader.stream(lenient=True), text.encode()
    for at in range(0, len(data), size):
        stream.feed(data[at : at + size])
    return stream.close()


def quoted(dialect: str, outer: str) -> str:
    """A string of the outer call that holds a call, and what stands for it in the text."""
    inner = INNER[dialect]
    return inner.replace('"', '\\"') if '"%s' in outer else inner


@pytest.mark.parametrize(("dialect", "outer"), [(d, o) for d, all_ in OUTER.items() for o in all_])
@pytest.mark.parametrize("around", ["%s", "a %s b", "a %s b %s c"])
def test_a_call_in_a_string_is_text_of_the_call_that_is_read(
    dialect: str, outer: str, around: str
) -> None:
    reader = reading(dialect)
    string = around.replace("%s", INNER[dialect])
    text = outer.replace("%s", around.replace("%s", quoted(dialect, outer)))
    for result in (reader.parse(text, lenient=True), *(streamed(reader, text, s) for s in (1, 7))):
        assert [(c["name"], c["arguments"]) for c in result.calls] == [("write", {"text": string})]
        assert result.recoveries


@pytest.mark.parametrize(("dialect", "outer"), [(d, o) for d, all_ in BROKEN.items() for o in all_])
@pytest.mark.parametrize("around", ["%s", "a %s b", "a %s b %s c"])
def test_a_call_in_a_string_is_none_if_the_call_around_it_is_none(
    dialect: str, outer: str, around: str
) -> None:
    reader = reading(dialect)
    text = outer.replace("%s", around.replace("%s", quoted(dialect, outer)))
    for result in (reader.parse(text, lenient=True), *(streamed(reader, text, s) for s in (1, 7))):
        assert not result.calls
        assert result.problems


@pytest.mark.parametrize("around", ['x = "%s" y', "x = %s y", "%s", "a %s b %s c"])
@pytest.mark.parametrize("dialect", ["hermes-json", "kimi-k2", "mistral-args", "lfm2-pythonic"])
def test_no_call_comes_out_of_quotes_that_are_not_escaped_without_a_problem(
    dialect: str, around: str
) -> None:
    reader = reading(dialect)
    outer = next(o for o in (*BROKEN[dialect], *OUTER[dialect]) if '"%s"' in o)
    text = outer.replace(" x}", "}").replace(", more=)", ")").replace(', "more": ', "")
    text = text.replace("%s", around.replace("%s", INNER[dialect]))
    for result in (reader.parse(text, lenient=True), *(streamed(reader, text, s) for s in (1, 7))):
        clocks = [c for c in result.calls if c["name"] == "clock"]
        assert not clocks or result.problems


def test_a_call_behind_one_that_is_not_read_is_one() -> None:
    """Only what stands inside is none."""
    reader = reading("hermes-json")
    good = "<tool_call>{'name': 'clock', 'arguments': {}}</tool_call>"
    for broken in (
        '<tool_call>{"name": "write", "arguments": {"text": }}</tool_call>',
        '<tool_call>{"name": "write", "arguments": {"text": "a"\n',
    ):
        result = reader.parse(broken + good, lenient=True)
        assert [c["name"] for c in result.calls] == ["clock"]
        assert [p.code for p in result.problems] == ["broken-call"]


SECTIONS = ["kimi-k2", "deepseek-v31", "hunyuan-a13b-array", "longcat-json"]


def spoilt(reader: parser.Reader, number: int) -> str:
    """Three calls as the dialect has them, in one of them a comma too many."""
    call = {"name": "write", "arguments": {"text": "abc"}}
    text = reader.grammar.render([call] * 3)
    parts = text.split('"abc"')
    return '"abc"'.join(parts[: number + 1]) + '"abc",' + '"abc"'.join(parts[number + 1 :])


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("dialect", SECTIONS)
def test_what_ends_all_calls_is_no_content(dialect: str, number: int) -> None:
    reader = reading(dialect)
    text = spoilt(reader, number)
    for result in (reader.parse(text, lenient=True), *(streamed(reader, text, s) for s in (1, 7))):
        assert [c["arguments"] for c in result.calls] == [{"text": "abc"}] * 3
        assert (result.content.strip(), result.problems) == ("", ())
        assert "trailing-comma" in [r.code for r in result.recoveries]


@pytest.mark.parametrize("dialect", ["kimi-k2", "hermes-json", "longcat-json"])
def test_a_call_right_behind_one_that_was_recovered_is_not_excused_with_it(dialect: str) -> None:
    reader = reading(dialect)
    text = spoilt(reader, 0)
    first, second, third = (at for at in range(len(text)) if text.startswith('"abc"', at))
    # The second one has no value.
    text = text[:second] + text[second + len('"abc"') :]
    result = reader.parse(text, lenient=True)
    assert [c["arguments"] for c in result.calls] == [{"text": "abc"}] * 2
    assert [p.code for p in result.problems] == ["broken-call"]
    assert first < second < third
