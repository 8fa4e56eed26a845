"""Reading turns: what comes out of good, broken, cut and hostile texts."""

from __future__ import annotations

import json
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
                "unit": {"enum": ["c", "f"]},
                "place": {"type": "object", "properties": {"lat": {"type": "number"}}},
            },
            "required": ["city"],
        },
    },
    {"name": "stop", "parameters": {"type": "object", "properties": {}}},
]


def reader(dialect: str, tools: Any = TOOLS, **options: Any) -> parser.Reader:
    return parser.compile(calligram.compile_tools(tools, dialect, **options))


HERMES = reader("hermes-json", tool_choice="auto")


def call(arguments: str, name: str = "weather") -> str:
    """A call as Hermes writes it."""
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


GOOD = call('{"city": "Oslo", "days": 3}')


def codes(result: ParseResult) -> list[str]:
    return [p.code for p in result.problems]


def calls(result: ParseResult) -> list[tuple[str, Any]]:
    return [(c["name"], c["arguments"]) for c in result.calls]


OSLO = ("weather", {"city": "Oslo", "days": 3})


@pytest.mark.parametrize(
    ("text", "found", "content", "reasoning"),
    [
        ("", [], "", ""),
        ("Hello.", [], "Hello.", ""),
        (GOOD, [OSLO], "", ""),
        (GOOD + "<|im_end|>", [OSLO], "", ""),
        ("One moment.\n" + GOOD, [OSLO], "One moment.", ""),
        ("<think>\nOslo, then.\n</think>\n\n" + GOOD, [OSLO], "", "Oslo, then."),
        (GOOD + "\n" + call("{}", "stop"), [OSLO, ("stop", {})], "", ""),
        ("A <tool_call> and a <think>.", [], "A <tool_call> and a <think>.", ""),
        (f"<think>I could say {GOOD} now.</think>No.", [], "No.", f"I could say {GOOD} now."),
        ("I <3 {\"name\": \"weather\"}", [], 'I <3 {"name": "weather"}', ""),
    ],
)  # fmt: skip
def test_good_turns(text: str, found: list[Any], content: str, reasoning: str) -> None:
    result = HERMES.parse(text)
    assert (calls(result), result.content, result.reasoning) == (found, content, reasoning)
    assert (result.problems, result.incomplete) == ((), None)


@pytest.mark.parametrize(
    ("text", "code", "pointer", "hint"),
    [
        (call("{}", "wether"), "unknown-tool", "/0/name", "weather"),
        (call('{"city": 5}'), "invalid-arguments", "/arguments/city", None),
        (call('{"city": "Oslo", "days": 0}'), "invalid-arguments", "/arguments/days", None),
        (call('{"city": "Oslo", "unit": "k"}'), "invalid-arguments", "/arguments/unit", None),
        (call('{"days": 3}'), "invalid-arguments", "/arguments", None),
        (call('{"city": "Oslo", "day": 3}'), "unknown-key", "/arguments/day", "days"),
        (call('{"city": "Oslo", "place": {"lot": 1}}'), "unknown-key", "/arguments/place/lot",
         "lat"),
        (call('{"city": "Oslo", "city": "Rome"}'), "duplicate-key", "/arguments", None),
        (call('{"city": "Oslo", "place": {"lat": 1, "lat": 2}}'), "duplicate-key", "/arguments",
         None),
    ],
)  # fmt: skip
def test_what_breaks_the_schema_is_read_and_located(
    text: str, code: str, pointer: str, hint: str | None
) -> None:
    result = HERMES.parse(text)
    assert len(result.calls) == 1
    assert result.incomplete is None
    problem = next(p for p in result.problems if p.code == code)
    assert problem.origin.pointer == pointer
    assert (hint or "") in (problem.hint or "")


@pytest.mark.parametrize(
    ("arguments", "at"),
    [
        ('{"city": "C:\\Users"}', "Users"), ('{"city": "\\u12 "}', ' "}'),
        ('{"city": "\\\'"}', "'"),
        ('{"c\\ity": "Oslo"}', "ity"), ('{"city": ["\\x41"]}', "x41"),
        ('{"city": "Oslo", "days": 03}', "3}"), ('{"days": -00}', "0}"), ('{"days": NaN}', "NaN"),
        ('{"days": -Infinity}', "Infinity"), ('{"cold": True}', "True"),
    ],
)  # fmt: skip
def test_what_stands_for_no_value_breaks_the_call_where_it_stands(arguments: str, at: str) -> None:
    """No value is lost and none made up: the text stays, and what follows it is read."""
    result = HERMES.parse(call(arguments) + "\n" + GOOD)
    assert (calls(result), result.content) == ([OSLO], call(arguments))
    (problem,) = result.problems
    assert (problem.code, problem.origin.tool) == ("broken-call", "weather")
    assert problem.origin.span is not None
    assert call(arguments)[problem.origin.span[0] :].startswith(at)


@pytest.mark.parametrize("dialect", ["hermes-json", "mistral-args", "lfm2-pythonic", "kimi-k2"])
def test_what_cannot_be_read_is_content_and_what_follows_is_read(dialect: str) -> None:
    tools = [{"name": "f", "parameters": {"properties": {"a": {}}}}]
    read = reader(dialect, tools, bounds=None)
    text = read.grammar.render([{"name": "f", "arguments": {"a": [[n]]}} for n in (1, 2)])
    result = read.parse(text.replace("[[1]]", "[" * 129 + "]" * 129))
    assert calls(result) == [("f", {"a": [[2]]})]
    assert codes(result) == ["invalid-json"]
    assert "[" * 129 + "]" * 129 in result.content


def test_wrong_arguments_are_handed_on_as_they_are() -> None:
    result = HERMES.parse(call('{"city": 5, "x": [1, null]}'))
    assert result.calls[0]["arguments"] == {"city": 5, "x": [1, None]}
    assert codes(result) == ["invalid-arguments", "unknown-key"]
    twice = HERMES.parse(call('{"city": "Oslo", "city": "Rome"}'))
    assert twice.calls[0]["arguments"] == {"city": "Rome"}


def test_one_bad_call_does_not_spoil_the_next() -> None:
    result = HERMES.parse(call('{"city": 5}') + "\n" + GOOD)
    assert calls(result) == [("weather", {"city": 5}), OSLO]
    assert [(p.code, p.origin.pointer) for p in result.problems] == [
        ("invalid-arguments", "/arguments/city")
    ]


@pytest.mark.parametrize(
    ("text", "found", "content"),
    [
        (call('{"city": Oslo}') + "\n" + GOOD, [OSLO], call('{"city": Oslo}')),
        (call('{"city" "Oslo"}'), [], call('{"city" "Oslo"}')),
        ("Well. " + call("[1]"), [], "Well. " + call("[1]")),
    ],
)
def test_a_broken_call_is_given_back_as_content(text: str, found: list[Any], content: str) -> None:
    result = HERMES.parse(text)
    assert calls(result) == found
    assert result.content.strip() == content
    assert result.problems


def test_a_broken_call_says_where_and_what_was_expected() -> None:
    text = "Hm. " + call('{"city": Oslo}')
    (problem,) = [p for p in HERMES.parse(text).problems if p.code == "broken-call"]
    assert problem.origin.tool == "weather"
    assert f"byte {text.index('Oslo')}" in problem.message
    assert 'expected white space or `"`' in problem.message
    assert problem.message.endswith("found 'O'")


def test_text_behind_calls_is_content_and_a_problem_of_hermes() -> None:
    result = HERMES.parse(GOOD + "\nThat is all.")
    assert calls(result) == [OSLO]
    assert result.content.strip() == "That is all."
    assert codes(result) == ["not-accepted"]


def test_where_calls_are_owed_content_is_a_problem_and_still_read() -> None:
    required = reader("hermes-json")
    assert codes(required.parse("Hello.")) == ["not-accepted"]
    result = required.parse("Hello. " + GOOD)
    assert (calls(result), result.content) == ([OSLO], "Hello. ")
    assert codes(result) == ["not-accepted"]
    assert codes(required.parse(GOOD)) == []


def test_a_tool_that_was_not_offered_is_told_from_an_unknown_one() -> None:
    choice = {"type": "function", "function": {"name": "stop"}}
    named = reader("hermes-json", tool_choice=choice)
    assert "not offered" in named.parse(GOOD).problems[0].message
    assert "not among the tools" in named.parse(call("{}", "x")).problems[0].message


def test_calls_beyond_the_limit_are_read_and_counted() -> None:
    one = reader("hermes-json", parallel_tool_calls=False)
    result = one.parse(GOOD + "\n" + GOOD)
    assert len(result.calls) == 2
    assert "too-many-calls" in codes(result)


# Cut off ----------------------------------------------------------------------------------------

WHOLE: dict[str, Any] = {"city": "Ås", "days": 3, "unit": "c", "place": {"lat": 1.5}}


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_every_beginning_of_a_call_is_incomplete_or_content(dialect: str) -> None:
    read = reader(dialect, tool_choice="auto")
    text = read.grammar.render([{"name": "weather", "arguments": WHOLE}])
    data = text.encode()
    assert not read.parse(data).problems
    for end in range(len(data)):
        result = read.parse(data[:end])
        accepted = read.grammar.check(data[:end]).accepted
        assert (result.problems == ()) == accepted, data[:end]
        if result.calls:
            # The call is whole; what stands around calls is still open.
            assert calls(result) == [("weather", WHOLE)]
            assert result.incomplete is not None
        if result.incomplete is not None and result.incomplete.name is not None:
            assert result.incomplete.name == "weather"
            assert result.incomplete.arguments in data[:end].decode("utf-8", "ignore")


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        (GOOD[:-12], "weather", '{"city": "Oslo", "days": 3}'),
        (call('{"city": "Os')[:-14], "weather", '{"city": "Os'),
        ('<tool_call>\n{"name": "weather", "arguments": {', "weather", "{"),
    ],
)
def test_what_is_known_of_a_call_cut_short(text: str, name: str, arguments: str) -> None:
    result = HERMES.parse(text)
    assert result.calls == []
    assert result.incomplete is not None
    assert result.incomplete.name == name
    assert result.incomplete.arguments.strip() == arguments
    assert codes(result) == ["incomplete"]


def test_reasoning_that_is_not_closed_is_kept() -> None:
    result = HERMES.parse("<think>\nLet me")
    assert result.reasoning == "Let me"
    assert result.incomplete is not None and result.incomplete.name is None
    assert codes(result) == ["incomplete"]


# Reasoning opened by the prompt -----------------------------------------------------------------


def test_reasoning_that_the_prompt_opened() -> None:
    opened = reader("hermes-json", tool_choice="auto", reasoning="opened")
    result = opened.parse("Hm.\n</think>\n\n" + GOOD)
    assert (result.reasoning, calls(result), codes(result)) == ("Hm.", [OSLO], [])
    unclosed = opened.parse("Hm. " + GOOD)
    assert unclosed.calls == []
    assert unclosed.reasoning == "Hm. " + GOOD
    assert unclosed.incomplete is not None


def test_a_call_out_of_an_unclosed_block_where_the_dialect_knows_it() -> None:
    kimi = reader("kimi-k2", tool_choice="auto")
    text = kimi.grammar.render([{"name": "stop", "arguments": {}}])
    result = kimi.parse("<think>So stop." + text)
    assert (result.reasoning, calls(result), codes(result)) == ("So stop.", [("stop", {})], [])


# Hostile texts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_hostile_bytes_are_problems_not_exceptions(dialect: str) -> None:
    read = reader(dialect, tool_choice="auto")
    text = read.grammar.render([{"name": "weather", "arguments": WHOLE}])
    data = text.encode()
    for junk in (b"\xff", b"\xed\xa0\x80", b"\xc3(", b"\xf4\x90\x80\x80", b"\x00"):
        for at in (0, len(data) // 2, len(data)):
            broken = data[:at] + junk + data[at:]
            result = read.parse(broken)
            assert (result.problems == ()) == read.grammar.check(broken).accepted, broken
            json.dumps(result.openai())


def test_bytes_that_are_no_utf8_are_named_by_their_place() -> None:
    result = HERMES.parse(b"a\xc3\xa9b\xffc\xfe")
    assert result.content == "aéb\ufffdc\ufffd"
    assert [str(p) for p in result.problems] == ["error[not-utf-8]: byte 4 is no UTF-8"]
    assert HERMES.parse("a\ufffd").problems == ()
    assert codes(HERMES.parse("a\ud800b")) == ["not-utf-8"]
    assert codes(HERMES.parse("é".encode()[:1])) == ["incomplete"]


@pytest.mark.parametrize("value", ["[" * 10_000, '{"k":' * 10_000, "[" * 10_000 + "]" * 10_000])
def test_deep_nesting_is_a_problem_and_soon(value: str) -> None:
    started = time.perf_counter()
    result = HERMES.parse(call('{"city": ' + value + "}"))
    assert result.problems
    assert time.perf_counter() - started < 20


@pytest.mark.parametrize("dialect", ["hermes-json", "lfm2-pythonic", "gemma4", "glm45-xml"])
@pytest.mark.parametrize(("depth", "problems"), [(100, []), (130, ["invalid-json"])])
def test_nesting_that_is_accepted_but_not_read_is_named(
    dialect: str, depth: int, problems: list[str]
) -> None:
    tools = [{"name": "f", "parameters": {"properties": {"a": {"type": "array"}}}}]
    read = reader(dialect, tools, bounds=None)
    text = read.grammar.render([{"name": "f", "arguments": {"a": [[1]]}}])
    deep = text.replace("[[1]]", "[" * depth + "1" + "]" * depth)
    assert read.grammar.check(deep)
    assert codes(read.parse(deep))[:1] == problems


@pytest.mark.parametrize(
    ("value", "read"),
    [("1e400", 10**400), ("1E9", 1e9), ("-0", 0), ("1" * 400, int("1" * 400)), ("1e99999", None)],
)
def test_numbers_beyond_a_float(value: str, read: Any) -> None:
    anything = reader("hermes-json", [{"name": "f", "parameters": {"properties": {"a": {}}}}])
    result = anything.parse(call(f'{{"a": {value}}}', "f"))
    assert [c["arguments"] for c in result.calls] == ([] if read is None else [{"a": read}])
    assert ("invalid-json" in codes(result)) == (read is None)
    assert result.content == ("" if read is not None else call(f'{{"a": {value}}}', "f"))


# Forms ------------------------------------------------------------------------------------------


def test_openai_form() -> None:
    result = HERMES.parse("<think>Hm.</think>Here: " + GOOD)
    message = result.openai()
    assert message["role"] == "assistant"
    assert message["content"].strip() == "Here:"
    assert message["reasoning_content"] == "Hm."
    (made,) = message["tool_calls"]
    assert made == {
        "id": "call_0",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"city": "Oslo", "days": 3}'},
    }
    assert HERMES.parse("").openai() == {"role": "assistant", "content": None}


def test_a_counter_is_the_id() -> None:
    kimi = reader("kimi-k2")
    rendered = [{"name": "stop", "arguments": {}}] * 2
    text = kimi.grammar.render(rendered)
    assert [c["id"] for c in kimi.parse(text).calls] == ["0", "1"]
    later = text.replace("stop:0", "stop:7").replace("stop:1", "stop:8")
    result = kimi.parse(later)
    assert [c["id"] for c in result.calls] == ["7", "8"]
    assert codes(result) == []
    assert [c["id"] for c in result.openai()["tool_calls"]] == ["7", "8"]
    assert kimi.grammar.render(result.calls) == later
    for other in ("call_7", "07", "12345", 7):
        assert kimi.grammar.render([{**rendered[0], "id": other}]) == kimi.grammar.render(
            rendered[:1]
        )


ID_SPEC = (
    "id: with-id\ncall: '<c>{name} {id} {args}</c>'\nargs: {notation: json}\n"
    "call_id: {kind: pattern, pattern: '^[a-z]{3}[0-9]$'}\ntriggers: [{text: '<c>'}]\n"
)


def test_ids_of_a_pattern() -> None:
    from calligram.compiler.spec_loader import load_spec_text

    read = reader(load_spec_text(ID_SPEC).spec)  # type: ignore[arg-type]
    good = read.parse("<c>stop abc1 {}</c>")
    assert [c["id"] for c in good.calls] == ["abc1"]
    assert codes(good) == []
    bad = read.parse("<c>stop x {}</c>")
    assert [c["id"] for c in bad.calls] == ["x"]
    assert codes(bad) == ["not-accepted"]
    text = read.grammar.render([{"name": "stop", "arguments": {}, "id": "xyz9"}])
    assert text == "<c>stop xyz9 {}</c>"
    with pytest.raises(calligram.RenderError, match="does not match"):
        read.grammar.render([{"name": "stop", "arguments": {}, "id": "nope"}])


def test_whitespace_that_models_vary_is_read() -> None:
    for text in (
        '<tool_call>{"name":"stop","arguments":{}}</tool_call>',
        '<tool_call>\n  { "name" : "stop" ,\n "arguments" : { } }\n</tool_call>\n',
    ):
        result = HERMES.parse(text)
        assert calls(result) == [("stop", {})], text
        assert codes(result) == ["not-accepted"]


def test_a_grammar_of_one_value_has_no_reader() -> None:
    with pytest.raises(calligram.TargetError) as caught:
        parser.compile(calligram.compile_schema({"type": "object"}))
    assert caught.value.problems[0].code == "unsupported-feature"


def test_the_convenience_compiles_once_and_takes_any_order_of_keys() -> None:
    text = call('{"days": 3, "city": "Oslo"}')
    for _ in range(2):
        result = parser.parse(text, tools=TOOLS, dialect="hermes-json")
        assert calls(result) == [OSLO]
        assert codes(result) == []
    assert parser.parse("Hello.", tools=TOOLS, dialect="hermes-json").problems == ()
    with pytest.raises(TypeError, match="dialect"):
        parser.Stream()


# Streams ----------------------------------------------------------------------------------------


def test_deltas_of_a_json_dialect_are_slices_of_the_text() -> None:
    stream = HERMES.stream()
    out = []
    for piece in ("<think>Hm", ".</think>Here: <tool", '_call>\n{"name": "weather", "argu',
                  'ments": {"city": "Os', 'lo", "days": 3}', "}\n</tool_call>"):  # fmt: skip
        out += stream.feed(piece)
    result = stream.close()
    out += stream.rest
    assert "".join(d.text for d in out if d.kind == "reasoning") == "Hm."
    assert "".join(d.text for d in out if d.kind == "content").strip() == "Here:"
    assert [d.name for d in out if d.kind == "call"] == ["weather"]
    pieces = [d.text for d in out if d.kind == "arguments"]
    assert "".join(pieces) == '{"city": "Oslo", "days": 3}'
    assert len(pieces) > 1
    assert calls(result) == [OSLO]


def test_deltas_of_a_tagged_dialect_come_as_one_json_text() -> None:
    read = reader("qwen3-coder-xml")
    text = read.grammar.render([{"name": "weather", "arguments": {"city": "Oslo", "days": 3}}])
    stream = read.stream()
    out = [d for char in text for d in stream.feed(char)]
    stream.close()
    out += stream.rest
    assert [d.name for d in out if d.kind == "call"] == ["weather"]
    assert json.loads("".join(d.text for d in out if d.kind == "arguments")) == OSLO[1]


def test_closing_twice_gives_the_same_result() -> None:
    stream = HERMES.stream()
    stream.feed(GOOD)
    assert stream.close() is stream.close()


@pytest.mark.parametrize(
    ("dialect", "text", "content"),
    [
        ("llama4-pythonic", '[weather(city: "Oslo")]', '[weather(city: "Oslo")]'),
        ("lfm2-pythonic", "Now. <|tool_call_start|>[weather(city=)]<|tool_call_end|>",
         "Now. <|tool_call_start|>[weather(city=)]<|tool_call_end|>"),
        ("kimi-k2", "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0"
         '<|tool_call_argument_begin|>{"city" 1}<|tool_call_end|>',
         "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0"
         '<|tool_call_argument_begin|>{"city" 1}<|tool_call_end|>'),
        # The opener belongs to the call before, which is whole.
        ("lfm2-pythonic", '<|tool_call_start|>[weather(city="Oslo"), weather(=)]', "weather(=)]"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 1000])
def test_what_opened_a_call_that_breaks_off_is_not_lost(
    dialect: str, text: str, content: str, size: int
) -> None:
    reading = reader(dialect, tool_choice="auto")
    result = reading.parse(text)
    assert result.content == content
    assert [p.code for p in result.problems][:1] == ["broken-call"]
    stream, data = reading.stream(), text.encode()
    deltas = [d for at in range(0, len(data), size) for d in stream.feed(data[at : at + size])]
    assert stream.close() == result
    told = "".join(d.text for d in [*deltas, *stream.rest] if d.kind == "content")
    assert told == content
