"""Lenient reading: what is recovered, what it is excused for, and what is left alone."""

from __future__ import annotations

import time
from typing import Any

import pytest

import calligram
from calligram.targets import parser
from calligram.targets.parser import ParseResult

TOOLS: list[dict[str, Any]] = [
    {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "minimum": 1},
                "cold": {"type": "boolean"},
            },
            "required": ["city"],
        },
    },
    {"name": "stop", "parameters": {"type": "object", "properties": {}}},
]


def reader(dialect: str) -> parser.Reader:
    return parser.compile(calligram.compile_tools(TOOLS, dialect, tool_choice="auto"))


HERMES = reader("hermes-json")
OSLO = ("weather", {"city": "Oslo"})


def calls(result: ParseResult) -> list[tuple[str, Any]]:
    return [(c["name"], c["arguments"]) for c in result.calls]


def told(reading: parser.Reader, text: str, size: int) -> tuple[list[parser.Delta], ParseResult]:
    """The deltas of a lenient stream fed in pieces of so many bytes, and its result."""
    stream, data = reading.stream(lenient=True), text.encode()
    deltas = [d for at in range(0, len(data), size) for d in stream.feed(data[at : at + size])]
    result = stream.close()
    return [*deltas, *stream.rest], result


@pytest.mark.parametrize(
    ("text", "found", "codes"),
    [
        ('<tool_call> weather (city: "Oslo", days: 3) </tool_call>',
         [("weather", {"city": "Oslo", "days": 3})], ["other-shape"]),
        ('<tool_call>\n```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```\n'
         "</tool_call>", [OSLO], ["code-fence"]),
        ("<tool_call>\n{'name': 'stop', 'arguments': {}}\n</tool_call>",
         [("stop", {})], ["single-quotes"] * 3),
        ('<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo", "cold": True}}\n'
         "</tool_call>", [("weather", {"city": "Oslo", "cold": True})], ["python-literal"]),
        ('<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo",}}\n</tool_call>',
         [OSLO], ["trailing-comma"]),
        ('<tool_call>\n{"name": "weather", "arguments": {city: "Oslo"}}\n</tool_call>',
         [OSLO], ["unquoted-key"]),
        ('<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}', [OSLO],
         ["missing-closer"]),
        ('<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}\n</tool_call>', [OSLO],
         ["missing-bracket"]),
        ('<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}}\n</tool_call>', [OSLO],
         ["extra-bracket"]),
        ('<tool_call>{"name": "weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}</tool_call>',
         [OSLO], ["quoted-arguments"]),
        ('<tool_call>[{"name": "weather", "arguments": {"city": "Oslo"}}, {"name": "stop"}]'
         "</tool_call>", [OSLO, ("stop", {})], ["other-shape", "other-shape"]),
        ("<tool_call>weather(city=Oslo, days=3)</tool_call>",
         [("weather", {"city": "Oslo", "days": 3})], ["unquoted-value", "other-shape"]),
        ('<tool_call>weather({"city": "Oslo"})</tool_call>', [OSLO], ["other-shape"]),
        # Escapes that JSON does not know are backslashes; a quote behind one is a quote.
        ('<tool_call>\n{"name": "weather", "arguments": {"city": "C:\\Users\\x41\\u12\\new\\\\"}}\n'
         "</tool_call>", [("weather", {"city": "C:\\Users\\x41\\u12\new\\"})], ["unknown-escape"]),
        ('<tool_call>\n{"name": "weather", "arguments": {"city": "L\\\'Aquila"}}\n</tool_call>',
         [("weather", {"city": "L'Aquila"})], ["python-escape"]),
    ],
)  # fmt: skip
def test_recovered(text: str, found: list[Any], codes: list[str]) -> None:
    result = HERMES.parse("Sure. " + text, lenient=True)
    assert calls(result) == found
    assert [r.code for r in result.recoveries] == codes
    assert (result.content, result.problems, result.incomplete) == ("Sure. ", (), None)
    assert all(r.end <= len(text) + 6 and r.start >= 6 for r in result.recoveries)
    # Strict reading takes none of it for a call.
    strict = HERMES.parse("Sure. " + text)
    assert (strict.calls, strict.recoveries) == ([], ())


@pytest.mark.parametrize(
    "text",
    [
        # No marker, or a marker that is only spoken of.
        'weather(city="Oslo")', '{"name": "weather", "arguments": {"city": "Oslo"}}',
        'Write <tool_call> and then weather (city: "Oslo").', "A <tool_call> is a tag.",
        # No tool of that name.
        '<tool_call> whether (city: "Oslo") </tool_call>', "<tool_call>weatherman()</tool_call>",
        # Values that do not end, or that nobody says the type of.
        '<tool_call>weather(city="Os', "<tool_call>weather(city=Oslo, x=what)</tool_call>",
        '<tool_call>weather(city="Oslo", days=1', "<tool_call>weather(city=)</tool_call>",
        '<tool_call>weather("Oslo")</tool_call>', "<tool_call>{]</tool_call>",
        '<tool_call>{"name": "weather", "arguments": "Oslo"}</tool_call>',
        "<tool_call>[]</tool_call>", "<tool_call>" * 50,
    ],
)  # fmt: skip
def test_left_alone(text: str) -> None:
    result = HERMES.parse(text, lenient=True)
    assert (result.calls, result.recoveries, result.content) == ([], (), text)


@pytest.mark.parametrize(
    ("dialect", "text", "found", "codes"),
    [
        ("qwen3-coder-xml", "<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>",
         [OSLO], ["loose-header"]),
        ("qwen3-coder-xml", "<function=weather>\n<parameter=city>\nOslo\n<parameter=days>\n3\n"
         "</function>\n</tool_call>", [("weather", {"city": "Oslo", "days": 3})],
         ["missing-closer", "missing-closer"]),
        ("qwen3-coder-xml", '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n'
         "</tool_call>", [OSLO], ["other-shape"]),
        ("glm45-xml", "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>",
         [OSLO], ["missing-closer"]),
        ("lfm2-pythonic", '<|tool_call_start|>weather(city="Oslo")<|tool_call_end|>', [OSLO],
         ["loose-header"]),
        ("lfm2-pythonic", '<|tool_call_start|>[weather(city: "Oslo")]<|tool_call_end|>', [OSLO],
         ["other-spelling"]),
        ("harmony", '<|channel|>commentary to=weather <|constrain|>json<|message|>{"city": "Oslo"}'
         "<|call|>", [OSLO], ["loose-header"]),
        ("mistral-args", '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Oslo"}}]', [OSLO],
         ["other-shape"]),
        ("gemma4", '<|tool_call>call:weather{"city": "Oslo"}<tool_call|>', [OSLO],
         ["other-spelling"]),
        ("llama4-pythonic", '[weather(city: "Oslo"), stop()]', [OSLO, ("stop", {})],
         ["other-spelling"]),
        ("bare-json-array", '[{"name": "weather", "arguments": {"city": "Oslo",}}]', [OSLO],
         ["trailing-comma"]),
        ("paren-json", 'weather({"city": "Oslo",})', [OSLO], ["trailing-comma"]),
        # Where nothing marks a call, the beginning of the message does.
        ("llama3-json", '{"function": "weather", "parameters": {"city": "Oslo"}}', [OSLO],
         ["loose-header"]),
        ("llama3-json", '```json\n{"name": "weather", "parameters": {"city": "Oslo"}}\n```',
         [OSLO], ["code-fence"]),
        ("llama4-pythonic", 'weather(city="Oslo")', [OSLO], ["missing-closer"]),
        ("deepseek-v32-dsml", '<｜DSML｜function_calls>\n<｜DSML｜invoke name="weather">\n'
         '<｜DSML｜parameter name="city" string="true">Oslo\n</｜DSML｜invoke>\n'
         "</｜DSML｜function_calls>", [OSLO], ["missing-closer"]),
    ],
)  # fmt: skip
def test_recovered_in_other_dialects(
    dialect: str, text: str, found: list[Any], codes: list[str]
) -> None:
    result = reader(dialect).parse(text, lenient=True)
    assert calls(result) == found
    assert [r.code for r in result.recoveries] == codes


def test_what_is_recovered_is_judged_and_located() -> None:
    text = "<tool_call>weather(city='Oslo', days=0)</tool_call>"
    result = HERMES.parse(text, lenient=True)
    (problem,) = result.problems
    assert (problem.code, problem.origin.pointer) == ("invalid-arguments", "/arguments/days")
    assert problem.origin.span is not None
    assert text[slice(*problem.origin.span)] == "0"


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_lenient_reading_of_good_turns_is_strict_reading(dialect: str) -> None:
    reading = reader(dialect)
    text = reading.grammar.render([{"name": "weather", "arguments": {"city": "Oslo", "days": 3}}])
    for turn in (text, "Well, then."):
        assert reading.parse(turn, lenient=True) == reading.parse(turn)


MIXED = (
    'First <tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call> then '
    '<tool_call> weather (city: "Rom") </tool_call> and <tool_call>\n{"name": "stop", "arguments": '
    "{}}\n</tool_call>."
)


@pytest.mark.parametrize("text", [MIXED, MIXED[:150], "A <tool_call> here."], ids=len)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_lenient_stream_tells_what_lenient_parsing_finds(text: str, size: int) -> None:
    expected = HERMES.parse(text, lenient=True)
    deltas, result = told(HERMES, text, size)
    assert result == expected
    assert "".join(d.text for d in deltas if d.kind == "content") == result.content
    gone = {d.index for d in deltas if d.kind == "broken"}
    names = [d.name for d in deltas if d.kind == "call" and d.index not in gone]
    assert names[: len(result.calls)] == [c["name"] for c in result.calls]


def test_all_are_found_in_the_order_of_the_text() -> None:
    result = HERMES.parse(MIXED, lenient=True)
    assert [c["arguments"] for c in result.calls] == [{"city": "Oslo"}, {"city": "Rom"}, {}]
    assert [(r.code, r.call) for r in result.recoveries] == [("other-shape", 1)]
    assert result.recoveries[0].to_json()["call"] == 1


def test_a_call_that_broke_is_told_anew() -> None:
    text = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo",}}\n</tool_call>'
    deltas, _ = told(HERMES, text, 1)
    kinds = [(d.kind, d.index) for d in deltas if d.kind != "arguments"]
    assert kinds == [("call", 0), ("broken", 0), ("call", 1)]
    assert "".join(d.text for d in deltas if d.index == 1) == '{"city": "Oslo"}'


def test_nothing_is_told_from_a_marker_on_until_the_end() -> None:
    stream = HERMES.stream(lenient=True)
    out = stream.feed("Now: <tool_call> weather (") + stream.feed(
        'city: "Oslo") </tool_call> Done.'
    )
    assert "".join(d.text for d in out) == "Now: "
    stream.close()
    assert [d.kind for d in stream.rest] == ["call", "arguments", "content"]
    assert stream.rest == []


# Cut off ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", calligram.dialects())
@pytest.mark.parametrize("ended", [False, True], ids=["text", "turn"])
def test_no_clean_call_comes_out_of_cut_text(dialect: str, ended: bool) -> None:
    """Wherever a call is cut, what looks like a whole turn has all that was written."""
    reading = reader(dialect)
    tokens = reading.dialect.turn_end.tokens
    if ended and not tokens:
        pytest.skip("nothing ends the turn")
    end = tokens[0] if ended else ""
    arguments = {"city": "Oslo", "days": 3}
    text = reading.grammar.render([{"name": "weather", "arguments": arguments}])
    for at in range(len(text)):
        result = reading.parse(text[:at] + end, lenient=True)
        if result.finish_reason == "tool_calls":
            assert calls(result) == [("weather", arguments)], text[:at]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        # Values, and arguments, that nothing ends.
        ("qwen3-coder-xml", "<tool_call>\n<function=weather>\n<parameter=city><|im_end|>"),
        ("qwen3-coder-xml", "<tool_call>\n<function=weather>\n<parameter=city>\nabcd\n</par"
         "<|im_end|>"),
        ("qwen3-coder-xml", "<tool_call>\n<function=stop<|im_end|>"),
        ("hermes-json", '<tool_call>\n{"name": "stop"<|im_end|>'),
        ("hermes-json", '<tool_call>\n{"name": "stop"</tool_call>'),
        ("hermes-json", '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"<|im_end|>'),
        ("hermes-json", '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}<|im_end|>'),
        ("kimi-k2", "<|tool_calls_section_begin|><|tool_call_begin|>functions.stop<|im_end|>"),
        ("lfm2-pythonic", "<|tool_call_start|>[stop<|im_end|>"),
        ("lfm2-pythonic", '<|tool_call_start|>[weather(city="Oslo"<|im_end|>'),
    ],
)  # fmt: skip
def test_the_end_of_the_turn_ends_no_value(dialect: str, text: str) -> None:
    assert reader(dialect).parse(text, lenient=True).calls == []


@pytest.mark.parametrize("end", ["", "\n</func", "<|im_end|>", "\n</func<|im_end|>"])
def test_arguments_that_nothing_ends_are_not_all(end: str) -> None:
    head = "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>"
    result = reader("qwen3-coder-xml").parse(head + end, lenient=True)
    assert calls(result) == [OSLO]
    assert [r.code for r in result.recoveries] == ["missing-closer"]
    assert (result.finish_reason, result.incomplete is not None) == ("length", True)


def test_what_should_stand_around_whole_calls_is_missed() -> None:
    whole = "<|tool_call_start|>[stop()]<|tool_call_end|>"
    result = reader("lfm2-pythonic").parse(f"{whole}\n{whole[:-18]}", lenient=True)
    assert (calls(result), result.finish_reason) == ([("stop", {})] * 2, "length")


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        ('{"name": "weather", "args": {"city": \'Oslo\'}}', [OSLO]),
        ('{"name": "weather", "arguments": {"city": "Oslo"}}', [OSLO]),
        ('{"city": "Oslo"}', [OSLO]),
        ("{'name': 'stop', 'args': {}}", []),
        ('{"name": "weather"}', []),
        ('{"name": "weather", "args": "Oslo"}', []),
    ],
)
def test_an_object_around_the_arguments_is_none_of_them(inside: str, found: list[Any]) -> None:
    text = f"<|message_model|>weather<|content_invoke_tool_json|>{inside}<|end_message|>"
    result = reader("inkling").parse(text, lenient=True)
    assert calls(result) == found
    assert bool(result.recoveries) == bool(found)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("hermes-json", '<tool_call>\n{"name": "stop", "arguments": {}}\n</tol_call>'),
        ("deepseek-v31", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>stop<｜tool▁sep｜>{}<｜tool"),
        ("solar-open", "<|tool_calls|><|tool_call:begin|>1<|tool_call:name|>stop<|tool_call:args|>"
         "{}<|tool_ca)l:end|>"),
    ],
)  # fmt: skip
def test_a_call_that_was_read_after_all_did_not_break_off(dialect: str, text: str) -> None:
    strict, result = (
        reader(dialect).parse(text + "!"),
        reader(dialect).parse(text + "!", lenient=True),
    )
    assert [p.code for p in strict.problems] == ["broken-call"]
    assert (calls(result), result.problems) == ([("stop", {})], ())


def test_a_call_that_was_not_read_broke_off_beside_one_that_was() -> None:
    text = '<tool_call>\n{"name": "weather", "arguments": {"city" Oslo}}\n</tool_call>\n'
    text += '<tool_call>\n{"name": "stop", "arguments": {},}\n</tool_call>'
    result = HERMES.parse(text, lenient=True)
    assert calls(result) == [("stop", {})]
    assert [(p.code, p.origin.tool) for p in result.problems] == [("broken-call", "weather")]


BARE = [d for d in calligram.dialects() if reader(d).marks.bare is not None]


def test_dialects_without_markers() -> None:
    assert {"llama3-json", "llama4-pythonic", "paren-json", "bare-json-array"} <= set(BARE)
    assert not {"hermes-json", "qwen3-coder-xml", "lfm2-pythonic"} & set(BARE)


NEAR = '{"function": "weather", "parameters": {"city": "Oslo"}}'


@pytest.mark.parametrize(
    ("dialect", "text", "notes"),
    [
        ("llama3-json", NEAR, [("weather", True)]),
        ("llama3-json", "Sure: " + NEAR, [("weather", False)]),
        ("llama3-json", f"{NEAR} and {NEAR}", [("weather", False), ("weather", False)]),
        ("llama3-json", f"{NEAR}\nand {NEAR}", [("weather", True), ("weather", False)]),
        ("llama4-pythonic", 'weather(city="Oslo")', [("weather", True)]),
        ("hermes-json", "So: <tool_call> stop() </tool_call>", [("stop", True)]),
        # What is a problem anyway, what names no tool, and what is no call.
        ("llama3-json", '{"name": "weather", "parameters": {"city": "Oslo",}}', []),
        ("llama3-json", NEAR.replace("weather", "whether"), []),
        ("llama4-pythonic", "The function weather(city) tells it, as stop( does.", []),
        ("hermes-json", "A <tool_call> is a tag, and weather a word.", []),
        # Where markers stand before all calls: without them, or in those of other dialects.
        (
            "hermes-json",
            'Sure: {"name": "weather", "arguments": {"city": "Oslo"}}',
            [("weather", False)],
        ),
        (
            "glm45-xml",
            '```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```',
            [("weather", False)],
        ),
        (
            "mistral-args",
            '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>',
            [("weather", False)],
        ),
        (
            "hermes-json",
            "<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>",
            [("weather", False)],
        ),
        (
            "kimi-k2",
            '<invoke name="weather"><parameter name="city">Oslo</parameter></invoke>',
            [("weather", False)],
        ),
        ("deepseek-v31", "[TOOL_CALLS]weather{}", [("weather", False)]),
        ("deepseek-v31", "[TOOL_CALLS]weather[ARGS]{'city': 'Oslo'}", [("weather", False)]),
        (
            "qwen3-coder-xml",
            '<|tool_call_start|>[weather(city="Oslo")]<|tool_call_end|>',
            [("weather", False)],
        ),
        (
            "hermes-json",
            "<tool_call>weather\n<arg_key>city</arg_key></tool_call>",
            [("weather", False)],
        ),
        (
            "hermes-json",
            '<|channel|>commentary to=functions.weather <|message|>{"city": "Oslo"}',
            [("weather", False)],
        ),
        ("hermes-json", "In <b>weather</b>, [weather](x) and weather(city) nothing is called.", []),
        ("hermes-json", '{"name": "whether", "arguments": {}} <function=whether>', []),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_content_that_looks_like_a_call_is_noted(
    dialect: str, text: str, notes: list[tuple[str, bool]], size: int
) -> None:
    """Strictly it is content, and that is said; where lenient reading takes it for one is said too,
    and so it is."""
    reading = reader(dialect)
    result = reading.parse(text)
    assert (result.calls, result.content) == ([], text)
    found = [(n.origin.tool, "lenient reading takes it" in (n.hint or "")) for n in result.notices]
    assert found == notes
    assert {(n.code, n.severity) for n in result.notices} <= {("near-miss", "note")}
    assert bool(result.problems) == (reading.grammar.check(text).accepted is False)
    stream, data = reading.stream(), text.encode()
    for at in range(0, len(data), size):
        stream.feed(data[at : at + size])
    assert stream.close() == result
    deltas, lenient = told(reading, text, size)
    assert lenient == reading.parse(text, lenient=True)
    assert len(lenient.calls) >= sum(read for _, read in notes)
    assert len(lenient.notices) == sum(not read for _, read in notes)
    assert "".join(d.text for d in deltas if d.kind == "content") == lenient.content


def test_few_near_misses_are_told_of_one_text() -> None:
    text = ("<function=weather>" + NEAR) * 300
    assert 100 <= len(HERMES.parse(text).notices) <= 200


PLAIN = [d for d in BARE if reader(d).dialect.triggers[0].at == "message_start"]


@pytest.mark.parametrize("dialect", PLAIN)
@pytest.mark.parametrize(
    "text",
    [
        "stop() tells it to stop.", "stop(), and it stops.", "Then stop()", "`stop()` stops it.",
        "stop({}) stops it.", 'weather(city="Oslo") is what you call.',
        '{"function": "stop", "arguments": {}} is a call.',
        'A call: {"name": "stop", "arguments": {}}',
        "```\nstop()\nand more\n```", "```python\nstop() # stops\n```", "```\nstop()\n``` is it.",
        "1. stop()", "> stop()", "- stop()\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 1000])
def test_prose_that_speaks_of_a_call_is_none(dialect: str, text: str, size: int) -> None:
    """Without a marker a call is all of the message, of a code fence or of its lines."""
    deltas, result = told(reader(dialect), text, size)
    assert (result.calls, result.recoveries, result.content) == ([], (), text)
    assert "".join(d.text for d in deltas) == text
    assert all("lenient reading takes it" not in (n.hint or "") for n in result.notices)


@pytest.mark.parametrize("dialect", PLAIN)
@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("weather(city='Oslo')", ""), ("  weather(city='Oslo') \n", "\n"),
        ("```\nweather(city='Oslo')\n```", ""), ("```tool_code\nweather(city='Oslo')\n```\n", "\n"),
        ('```json\n{"name": "weather", "arguments": {"city": \'Oslo\'}}\n```\nDone.', "\nDone."),
        ("```\nweather(city='Oslo')", ""), ("weather(city='Oslo')\nSo it is.", "\nSo it is."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 1000])
def test_a_call_that_stands_apart_is_one(dialect: str, text: str, content: str, size: int) -> None:
    deltas, result = told(reader(dialect), text, size)
    assert (calls(result), result.content.lstrip(" ")) == ([OSLO], content)
    assert result.recoveries
    assert ("code-fence" in {r.code for r in result.recoveries}) == ("```" in text)
    assert "".join(d.text for d in deltas if d.kind == "content") == result.content


def test_a_fence_around_a_call_that_broke_off_is_taken_with_it() -> None:
    text = "Sure:\n```\nweather({'city': 'Oslo'})\n```\nDone."
    result = reader("paren-json").parse(text, lenient=True)
    assert (calls(result), result.content) == ([OSLO], "Sure:\n\nDone.")
    in_prose = "[weather(city: 'Oslo')] is how."
    assert reader("llama4-pythonic").parse(in_prose, lenient=True).content == in_prose


@pytest.mark.parametrize("dialect", ["paren-json", "phi4-mini-functools", "firefunction-v2"])
@pytest.mark.parametrize("size", [1, 1000])
def test_a_fence_around_calls_as_they_should_be_is_none_of_the_content(
    dialect: str, size: int
) -> None:
    good = reader(dialect).grammar.render([{"name": "weather", "arguments": {"city": "Oslo"}}])
    for text, content in ((f"```\n{good}\n```", ""), (f"```json\n{good}\n```\n", "\n")):
        deltas, result = told(reader(dialect), text, size)
        assert (calls(result), result.content.strip(" "), result.problems) == ([OSLO], content, ())
        assert [r.code for r in result.recoveries] == ["code-fence"]
        assert "".join(d.text for d in deltas if d.kind == "content") == result.content
        assert result == reader(dialect).parse(text, lenient=True)
    prose = f"```\n{good} and more\n```"
    assert "```" in reader(dialect).parse(prose, lenient=True).content


@pytest.mark.parametrize("dialect", BARE)
@pytest.mark.parametrize("text", ["wea", "weather", "weather is nice", " [1]", "{", "", " ", "```"])
@pytest.mark.parametrize("size", [1, 3])
def test_prose_that_begins_as_a_call_is_told(dialect: str, text: str, size: int) -> None:
    deltas, result = told(reader(dialect), text, size)
    assert (result.calls, result.notices) == ([], ())
    assert "".join(d.text for d in deltas if d.kind == "content") == result.content


@pytest.mark.parametrize(
    "text", [NEAR, "weather(a=[ ", "weather(city='Oslo')", '{"name": "weather", "a": '], ids=len
)
def test_notes_take_linear_time(text: str) -> None:
    reading = reader("llama4-pythonic")
    reading.parse("x" + text)

    def seconds(times: int) -> float:
        taken = []
        for _ in range(3):  # The quickest: the others waited for something else.
            begun = time.process_time()
            reading.parse("x " + text * times)
            taken.append(time.process_time() - begun)
        return min(taken)

    assert seconds(8000) < 10 * max(seconds(2000), 0.05)
