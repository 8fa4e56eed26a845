"""White space that is not as the dialect has it: said strictly, overlooked leniently."""

from __future__ import annotations

import re
from typing import Any

import pytest

import calligram
from calligram.targets import parser

TOOLS: list[dict[str, Any]] = [
    {
        "name": "weather",
        "parameters": {
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    }
]
CALLS = [
    {"name": "weather", "arguments": {"city": "New  York", "days": 3}},
    {"name": "weather", "arguments": {"city": "é\n"}},
]


def reader(dialect: str) -> parser.Reader:
    return parser.compile(calligram.compile_tools(TOOLS, dialect, tool_choice="auto"))


def variants(text: str, tokens: list[str]) -> list[str]:
    """The text with white space taken away, doubled, replaced, and put between tags, though not
    into a token."""
    out = []
    for found in re.finditer(r"\s+", text):
        for other in ("", "\n" * 2, "\t", found[0] + " "):
            out.append(text[: found.start()] + other + text[found.end() :])
    for found in re.finditer(r"(?<=[>\]}{:,(])(?=[<\[\"{}])", text):
        out += [text[: found.start()] + other + text[found.start() :] for other in (" ", "\n")]
    whole = {token: text.count(token) for token in tokens}
    return [v for v in out if v != text and all(v.count(t) == n for t, n in whole.items())]


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_white_space_is_all_that_is_wrong_where_the_calls_are_the_same(dialect: str) -> None:
    """What strict reading reads as the same calls, though the grammar does not take it, differs in
    white space. Strictly that is the problem, with its place; leniently it is overlooked."""
    reading = reader(dialect)
    one = CALLS[:1] if reading.dialect.calls.max == 1 else CALLS
    text = reading.grammar.render(one)
    wanted = [c["arguments"] for c in one]
    for variant in variants(text, [t.text for t in reading.dialect.tokens]):
        strict, lenient = reading.parse(variant), reading.parse(variant, lenient=True)
        if [c["arguments"] for c in strict.calls] != wanted or not strict.problems:
            continue
        (problem,) = strict.problems
        assert (problem.code, strict.recoveries) == ("not-accepted", ()), variant
        assert "white space is not as the dialect has it" in problem.message, variant
        assert (lenient.calls, lenient.problems) == (strict.calls, ()), variant
        (recovery,) = lenient.recoveries
        assert (recovery.code, (recovery.start, recovery.end)) == (
            "loose-space",
            problem.origin.span,
        )
        assert not variant.encode()[recovery.start : recovery.end].strip()


@pytest.mark.parametrize(
    ("text", "at", "expected", "found"),
    [
        ('<tool_call>{"name": "weather", "arguments": {"city": "A"}}</tool_call>', 11, "\n", ""),
        ('<tool_call>\n{"name": "weather", "arguments": {"city": "A"}}</tool_call>', 59, "\n", ""),
        ('<tool_call>\n{"name":"weather", "arguments": {"city": "A"}}\n</tool_call>', 20, " ", ""),
        ('<tool_call>\n{"name": "weather", "arguments": {"city":\n"A"}}\n</tool_call>', 53, " ",
         "\n"),
        ('Hm.\n<tool_call>\n\n{"name": "weather", "arguments": {"city": "A"}}\n</tool_call>', 15,
         "\n", "\n\n"),
    ],
)  # fmt: skip
def test_what_differs_is_said(text: str, at: int, expected: str, found: str) -> None:
    (problem,) = reader("hermes-json").parse(text).problems
    span = (at, at + len(found))
    assert (problem.code, problem.origin.span) == ("not-accepted", span)
    shown = [repr(space) if space else "none" for space in (expected, found)]
    assert problem.message.endswith("expected {}, found {}".format(*shown))
    assert problem.hint == "lenient reading takes it"
    result = reader("hermes-json").parse(text, lenient=True)
    assert [(r.code, r.start, r.end, r.call) for r in result.recoveries] == [
        ("loose-space", *span, 0)
    ]
    assert (result.problems, [c["arguments"] for c in result.calls]) == ((), [{"city": "A"}])


@pytest.mark.parametrize(
    "arguments",
    ['{"city":"a\nb"}', '{"city":"A","days":0.5}', '{"city":"A","city":"B"}', '{"days":3}'],
)
def test_what_else_is_wrong_is_not_overlooked(arguments: str) -> None:
    text = f'<tool_call>{{"name": "weather", "arguments": {arguments}}}</tool_call>'
    result = reader("hermes-json").parse(text, lenient=True)
    assert result.problems and not result.recoveries


# A call for a name ------------------------------------------------------------------------------

AS_JSON = '{"name": "weather", "arguments": {"city": "A"}}'


@pytest.mark.parametrize("dialect", ["glm45-xml", "glm47-xml"])
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_call_that_stands_where_the_name_should_is_read(dialect: str, size: int) -> None:
    reading = reader(dialect)
    good = reading.grammar.render(CALLS[:1])
    text = f"Hm.<tool_call>{AS_JSON}</tool_call>{good}"
    (strict, _), (lenient, other) = (reading.parse(text, lenient=n).calls for n in (False, True))
    assert (strict["name"], lenient["name"], other["name"]) == (AS_JSON, "weather", "weather")
    stream = reading.stream(lenient=True)
    told = [d for at in range(0, len(text), size) for d in stream.feed(text[at : at + size])]
    result = stream.close()
    told += stream.rest
    assert result == reading.parse(text, lenient=True)
    assert [r.code for r in result.recoveries] == ["other-shape"]
    assert result.problems == ()
    assert result.content == "Hm." == "".join(d.text for d in told if d.kind == "content")
    assert [d.name for d in told if d.kind == "call"] == ["weather", "weather"]


@pytest.mark.parametrize("lenient", [False, True])
def test_a_tool_that_is_not_offered_is_a_call_with_a_problem(lenient: bool) -> None:
    for dialect in ("glm45-xml", "hermes-json", "qwen3-coder-xml", "kimi-k2", "mistral-args"):
        reading = reader(dialect)
        text = reading.grammar.render(CALLS[:1]).replace("weather", "whether")
        result = reading.parse(text, lenient=lenient)
        assert [c["name"] for c in result.calls] == ["whether"]
        assert [p.code for p in result.problems] == ["unknown-tool"]
        assert (result.recoveries, result.content) == ((), "")


@pytest.mark.parametrize("dialect", calligram.dialects())
@pytest.mark.parametrize("between", ["", "\n"])
def test_a_second_section_is_no_part_of_the_first(dialect: str, between: str) -> None:
    """No name, key or value swallows what closes one section and opens the next."""
    reading = reader(dialect)
    text = reading.grammar.render(CALLS[:1])
    result = reading.parse(text + between + text)
    assert {c["name"] for c in result.calls} == {"weather"}
    assert [c["arguments"] for c in result.calls] == [CALLS[0]["arguments"]] * len(result.calls)


@pytest.mark.parametrize("size", [1, 1000])
def test_a_call_of_no_offered_tool_that_breaks_off_is_told_as_content(size: int) -> None:
    text = 'functools[{"name": "whether", "arguments": {"city": "A'
    for end in ("", " }]", '"} {"name": "weather"'):
        stream = reader("phi4-mini-functools").stream(lenient=True)
        whole = text + end
        told = [d for at in range(0, len(whole), size) for d in stream.feed(whole[at : at + size])]
        result = stream.close()
        told += stream.rest
        assert "".join(d.text for d in told if d.kind == "content") == result.content
