"""What a turn may hold, by tool_choice, reasoning and placement of content."""

from __future__ import annotations

from typing import Any

import pytest

import calligram
from calligram.targets import parser
from tests.unit.lower.helpers import arguments, codes, compiled, spec, table, tool, tools

F = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
G = F.replace('"f"', '"g"')
END = "<|im_end|>"
THINK = "<think>\nhm\n</think>\n\n"


@pytest.mark.parametrize(
    ("options", "accept", "reject"),
    [
        ({"tool_choice": "required"},
         [F, G, "\n" + F, F + "\n" + G, F + END, THINK + F, THINK + "\n" + F + END,
          "<think></think>" + F, "<think>x</think>\n" + F],
         ["", "hi", "hi" + F, F + F, F + "\n", F + "\n\n" + G, F + END + END, F + "hi", F[:-1],
          END, "<think>x" + F, THINK, THINK + "hi" + F, "x</think>" + F, "\n\n" + F, END + F,
          F + END + "\n" + G]),
        ({"tool_choice": "required", "reasoning": "none"},
         [F, "\n" + F, F + END], [THINK + F, "<think></think>" + F, "hi" + F]),
        ({"tool_choice": "required", "reasoning": "opened"},
         ["</think>" + F, "x</think>\n\n" + F + END, "x\ny</think>\n" + F],
         [F, "x" + F, "</think>", "</think>hi" + F, "</think></think>" + F]),
        ({"tool_choice": "auto"},
         ["", "hi", "hi" + END, END, F, "hi" + F, "hi\n" + F, "hi\n" + F + "\n" + G + END, THINK,
          THINK + "hi", THINK + "hi" + F, THINK + F, "a < b, <tool_call", "{\"name\": \"f\"}"],
         [F[:-1], F + "hi", "hi" + F + "hi", "<tool_call>\n", "hi<tool_call>\n{}", THINK + F + "x",
          "<tool_call>\n" + F,
          "<think>x", "<think>x" + F, F + "\n" + THINK + F]),
        ({"tool_choice": "auto", "reasoning": "none"},
         ["", "hi", F, "hi" + F, "hi <think> there"], [THINK, THINK + F, "<think>", "<think>x"]),
        ({"tool_choice": "auto", "reasoning": "opened"},
         ["</think>", "x</think>hi" + F, "</think>" + F + END], ["", "hi", F, "x" + F]),
        ({"tool_choice": "none"},
         ["", "hi", "hi" + END, THINK + "hi", THINK, "<tool_call", "f(a=1)"],
         [F, "hi" + F, "<tool_call>\n", THINK + F, "hi<tool_call>\n{}"]),
        ({"tool_choice": {"type": "function", "function": {"name": "g"}}},
         [G, G + "\n" + G, THINK + G], [F, G + "\n" + F, "", "hi" + G]),
        ({"tool_choice": {"type": "allowed_tools", "allowed_tools":
                          {"mode": "auto", "tools": [{"type": "function", "name": "f"}]}}},
         ["hi", F, "hi" + F], [G, F + "\n" + G]),
    ],
)  # fmt: skip
def test_turns(options: dict[str, Any], accept: list[str], reject: list[str]) -> None:
    table(compiled("hermes-json", "f", "g", **options), accept, reject)


@pytest.mark.parametrize(
    ("options", "accept", "reject"),
    [
        ({}, [1, 2, 16], [0, 17]),
        ({"max_calls": 2}, [1, 2], [0, 3]),
        ({"max_calls": 20}, [20], [21]),
        ({"parallel_tool_calls": False}, [1], [0, 2]),
        ({"parallel_tool_calls": False, "max_calls": 5}, [1], [2]),
        ({"bounds": calligram.Bounds(calls=3)}, [3], [4]),
        ({"bounds": None}, [1, 40], [0]),
        ({"tool_choice": "auto", "max_calls": 2}, [0, 1, 2], [3]),
    ],
)
def test_how_many_calls(options: dict[str, Any], accept: list[int], reject: list[int]) -> None:
    grammar = compiled("hermes-json", "f", **options)
    table(grammar, ["\n".join([F] * n) for n in accept], ["\n".join([F] * n) for n in reject])


LLAMA = '{"name": "f", "parameters": {"a": 1}}'


def test_a_dialect_of_one_call_has_one_and_its_content_stands_alone() -> None:
    grammar = compiled("llama3-json", "f", tool_choice="auto")
    table(
        grammar,
        ["", "hi", LLAMA, LLAMA + "<|eot_id|>", "hi " + LLAMA],
        [LLAMA + LLAMA, LLAMA + "hi", LLAMA + "; " + LLAMA, '{"name": '],
    )
    # Behind content the same text is prose: nothing but the message's start arms.
    assert parser.compile(grammar).parse("hi " + LLAMA).calls == []


PLAIN = 'id: x\ncall: "<c>{name} {args}</c>"\nargs: {notation: json}\ntriggers: [{text: "<c>"}]\n'
CALL = '<c>f {"a": 1}</c>'


@pytest.mark.parametrize(
    ("content", "accept", "reject"),
    [
        ("", ["", "hi", CALL, "hi" + CALL], [CALL + "hi", "<c>", "hi<c>"]),
        ("content: {with_calls: exclusive}\n", ["", "hi", CALL], ["hi" + CALL, CALL + "hi"]),
        ('content: {open: "[", close: "]"}\n',
         ["", "[]", "[hi]", "[hi", CALL, "[hi]" + CALL, "[" + "]" + CALL],
         ["hi", "hi" + CALL, "[hi" + CALL, "[hi]" + CALL + "[hi]", "[<c>]", "[hi][ho]" + CALL]),
        ('content: {open: "[", close: "]", with_calls: exclusive}\n',
         ["[hi]", CALL], ["[hi]" + CALL]),
        ('content: {open: "[", close: "]", alternatives: [{open: "(", close: ")"}]}\n',
         ["", "[hi]", "(hi)", "(hi", "[hi]" + CALL, "(hi)" + CALL, CALL],
         ["hi", "(hi" + CALL, "(hi]" + CALL, "[hi](ho)" + CALL, "(<c>)"]),
    ],
)  # fmt: skip
def test_placement_of_content(content: str, accept: list[str], reject: list[str]) -> None:
    table(compiled(spec(PLAIN + content), "f", tool_choice="auto"), accept, reject)
    # Where calls are owed, content is not.
    required = compiled(spec(PLAIN + content), "f")
    table(required, [CALL], [t for t in (*accept, *reject) if t != CALL])


@pytest.mark.parametrize(
    ("trigger", "accept", "reject"),
    [
        ('{text: "<c>"}', ["x<c", "hi<c"], ["hi<c>x", "<c>"]),
        ('{text: "<c>", at: message_start}', ["x<c>y", "hi", CALL], ["<c>x"]),
        ('{pattern: "<c>|<d>"}', ["<e>", "<c"], ["<c>", "<d>", "x<d>y"]),
        ('{pattern: "<c>|<d>", at: message_start}', ["<e>", "x<d>y", "x<c>"], ["<c>", "<d>y"]),
    ],
)  # fmt: skip
def test_content_holds_no_trigger_where_it_arms(
    trigger: str, accept: list[str], reject: list[str]
) -> None:
    text = PLAIN.replace('{text: "<c>"}', trigger)
    table(compiled(spec(text), "f", tool_choice="auto"), accept, reject)


PAREN_CALL = 'f({"a": 1})'


def test_a_name_alone_marks_a_call_where_a_word_begins() -> None:
    grammar = compiled("paren-json", "f", "off", tool_choice="auto")
    table(
        grammar,
        ["", "hi", PAREN_CALL, "I say " + PAREN_CALL, "gf(x)", "f (x)", "off", 'off({"a": 2})'],
        ["f(x)", "so f(", "hi " + PAREN_CALL + "!"],
    )


def test_turn_ends_are_accepted_once_whichever_it_is() -> None:
    grammar = compiled("glm45-xml", "f")
    call = "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>"
    ends = ["<|observation|>", "<|user|>", "<|endoftext|>"]
    table(grammar, [call, *(call + e for e in ends)], [call + ends[0] + ends[1], *ends])


# Tools whose body is raw text -------------------------------------------------------------------

RECIPIENT = spec(
    'id: recipient\ncontent: {open: ">>>all\\n"}\nprefill: ">>>"\ncall: ">>>{name}\\n{args}"\n'
    'args: {notation: json}\ntriggers: [{text: ">>>", not: ["all\\n"]}]\n'
    'turn_end: {tokens: ["<|eot_id|>"]}\n'
    "tool_kinds:\n"
    '  python: {names: [python], call: ">>>python\\n{body}", raw_until: [">>>"]}\n'
)
CODE = tool("python", arguments(code={"type": "string"}))
RECIPIENT_TOOLS = [*tools("f"), CODE]


@pytest.mark.parametrize(
    ("tool_choice", "accept", "reject"),
    [
        ("required",
         ['f\n{"a": 1}', 'f\n{"a": 1}>>>f\n{"a": 2}', 'f\n{"a": 1}<|eot_id|>', "python\nprint(1)",
          "python\n", "python\nx > y >> 2", "python\nx<|eot_id|>"],
         ["", '>>>f\n{"a": 1}', ">>>python\nx", "all\nhi", 'python\nx>>>f\n{"a": 1}',
          'f\n{"a": 1}>>>python\nx', "f\nx", "python", '{"code": "x"}', "hi"]),
        ("auto",
         ["all\nhi", 'all\nhi>>>f\n{"a": 1}', "all\nhi>>>python\nx", 'f\n{"a": 1}', "python\nx",
          "all\nhi<|eot_id|>", "all\n>> x"],
         ["", "hi", "all\nhi >>> there", 'f\n{"a": 1}>>>all\nhi', "all"]),
        ("none", ["all\nhi", "all\n"], ["", "hi", 'f\n{"a": 1}', 'all\nhi>>>f\n{"a": 1}']),
    ],
)  # fmt: skip
def test_prefilled_turns_with_raw_bodies(
    tool_choice: str, accept: list[str], reject: list[str]
) -> None:
    grammar = calligram.compile_tools(RECIPIENT_TOOLS, RECIPIENT, tool_choice=tool_choice)
    table(grammar, accept, reject)


def test_a_tool_whose_call_begins_as_text_does_is_refused() -> None:
    with pytest.raises(calligram.ToolError) as caught:
        compiled(RECIPIENT, "f", "all")
    assert codes(caught.value) == ["not-carryable"]
    assert compiled(RECIPIENT, "f", "alls").check('alls\n{"a": 1}')


def test_a_tool_with_more_than_its_body_is_called_as_the_others_are() -> None:
    parameters = arguments(code={"type": "string"}, a={"type": "integer"})
    grammar = calligram.compile_tools([tool("python", parameters)], RECIPIENT)
    table(grammar, ['python\n{"code": "x", "a": 1}'], ["python\nx"])


def test_raw_bodies_take_their_schema_and_write_themselves() -> None:
    short = tool("python", arguments(code={"type": "string", "maxLength": 3}))
    grammar = calligram.compile_tools([short], RECIPIENT)
    table(grammar, ["python\nabc", "python\n"], ["python\nabcd"])
    text = grammar.render([{"name": "python", "arguments": {"code": "é\n"}}])
    assert text == "python\né\n"
    for bad in ({"code": "a>>>b"}, {"code": "<|eot_id|>"}, {"code": 1}, {}, {"code": "", "x": 1}):
        with pytest.raises(calligram.RenderError) as caught:
            grammar.render([{"name": "python", "arguments": bad}], validate=False)
        assert codes(caught.value) == ["not-carryable"]


# Names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_names_that_begin_others_and_unicode_names_are_told_apart(dialect: str) -> None:
    names = ["get", "get_all", "get-all.x", "größe", "東京"]
    grammar = compiled(dialect, *names)
    reader = parser.compile(grammar)
    for name in names:
        text = grammar.render([{"name": name, "arguments": {"a": 1}}])
        result = reader.parse(text)
        assert [c["name"] for c in result.calls] == [name]
        assert not result.problems
    shown = grammar.render([{"name": "get_all", "arguments": {"a": 1}}])
    assert not grammar.check(shown.replace("get_all", "get_al"))


@pytest.mark.parametrize(
    ("dialect", "bad", "good"),
    [
        ("hermes-json", [], ['a"b', "a\nb", "a b", "a\\b", " a"]),
        ("llama3-json", [], ['a"b', "a\tb"]),
        ("mistral-args", ["a[ARGS]b", "a\nb", " a", "a "], ["a b", 'a"b', "a[b"]),
        ("qwen3-coder-xml", ["a>\nb", "a\nb"], ["a b", "a=b", "a<b"]),
        ("glm45-xml", ["a\nb", "a</tool_call>"], ["a b", "a>b"]),
        ("deepseek-v32-dsml", ['a">\nb', "｜DSML｜"], ["a b", "a>b"]),
        ("gemma4", ["a{b", '<|"|>'], ["a b", "a:b"]),
        ("kimi-k2", ["a:b"], ["a b", "a.b"]),
        ("lfm2-pythonic", ["a(b"], ["a.b"]),
        ("harmony", ["a <|constrain|>json<|message|>"], ["a.b"]),
    ],
)
def test_names_that_the_notation_ends_early_are_refused(
    dialect: str, bad: list[str], good: list[str]
) -> None:
    for name in good:
        compiled(dialect, name)
    for name in bad:
        with pytest.raises(calligram.ToolError) as caught:
            compiled(dialect, name, "fine")
        assert set(codes(caught.value)) == {"not-carryable"}, name
        problem = caught.value.problems[0]
        assert repr(name) in problem.message and dialect in problem.message
        assert problem.origin.tool == name


def test_all_the_names_that_cannot_be_written_are_told_at_once() -> None:
    with pytest.raises(calligram.ToolError) as caught:
        compiled("kimi-k2", "a:b", "fine", "c:d")
    assert [p.origin.tool for p in caught.value.problems] == ["a:b", "c:d"]
