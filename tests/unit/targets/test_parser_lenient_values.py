"""Values of calls that are read leniently: what the dialect says of them holds there too."""

from __future__ import annotations

from typing import Any

import pytest

import calligram
from calligram.targets import parser
from calligram.targets.parser import ParseResult

D = "｜DSML｜"


def read(dialect: str, kind: Any, text: str) -> ParseResult:
    tools: list[dict[str, Any]] = [
        {"name": "put", "parameters": {"type": "object", "properties": {"x": kind, "y": {}}}},
        {"name": "clock", "parameters": {"type": "object", "properties": {}}},
    ]
    grammar = calligram.compile_tools(tools, dialect, tool_choice="auto")
    result = parser.compile(grammar).parse(text, lenient=True)
    assert not parser.compile(grammar).parse(text).recoveries
    return result


def arguments(result: ParseResult) -> list[Any]:
    assert result.recoveries
    return [c["arguments"] for c in result.calls]


TYPED = {
    # Each differs from the dialect's own by what stands before the call, or behind the name.
    "deepseek-v32-dsml": (
        f'<{D}invoke name="put"> <{D}parameter name="x" string="%s">%s</{D}parameter></{D}invoke>',
        {"string": "true", "integer": "false", "null": "false"},
    ),
    "k2-horizon-ifm": (
        "<ifm|tool_call>put <ifm|arg_key>x</ifm|arg_key>\n<ifm|arg_type>%s</ifm|arg_type>\n"
        "<ifm|arg_value>%s</ifm|arg_value>",
        {"string": "string", "integer": "integer", "null": "null"},
    ),
}


@pytest.mark.parametrize(
    ("kind", "named", "text", "value", "fits"),
    [
        (["string", "integer"], "string", "7", "7", True),
        (["string", "integer"], "integer", "7", 7, True),
        ("string", "string", "7", "7", True),
        ("string", "integer", "7", 7, False),
        ("integer", "string", "7", "7", False),
        (["string", "null"], "string", "null", "null", True),
        (["string", "null"], "null", "null", None, True),
    ],
)
@pytest.mark.parametrize("dialect", TYPED)
def test_the_type_that_a_tag_names_counts(
    dialect: str, kind: Any, named: str, text: str, value: Any, fits: bool
) -> None:
    template, names = TYPED[dialect]
    result = read(dialect, {"type": kind}, template % (names[named], text))
    assert arguments(result) == [{"x": value}]
    assert any(p.code == "invalid-arguments" for p in result.problems) is not fits


@pytest.mark.parametrize("dialect", TYPED)
def test_what_is_not_of_the_type_that_its_tag_names_is_no_value(dialect: str) -> None:
    template, names = TYPED[dialect]
    kind = {"type": ["string", "integer"]}
    result = read(dialect, kind, template % (names["integer"], "+3"))
    assert (result.calls, bool(result.problems or result.notices)) == ([], True) or result.problems


@pytest.mark.parametrize(
    "text",
    ["a <b> & c", '</param> x <param name="y">1</param>', '<function name="clock"></function>'],
)
def test_quotes_of_a_string_in_tags_are_no_part_of_it(text: str) -> None:
    call = f'<function name="put"> <param name="x"><![CDATA[{text}]]></param>'
    for kind in ({"type": "string"}, {}):
        assert arguments(read("minicpm5-xml", kind, call)) == [{"x": text}]


def test_a_quoted_string_in_tags_that_does_not_end_is_none() -> None:
    call = '<function name="put"> <param name="x"><![CDATA[a</param></function>'
    result = read("minicpm5-xml", {"type": "string"}, call)
    assert result.calls == []


TAGS = {
    "minicpm5-xml": '<function name="put"> <param name="x">%s</param>',
    "qwen3-coder-xml": "<function=put>\n<parameter=x>\n%s\n</parameter>\n</function>",
    "seed-oss-xml": "<function=put><parameter=x>%s</parameter></function>",
}
NULLABLE = {"type": ["null", "boolean", "object"]}


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (NULLABLE, "None", None),
        (NULLABLE, "True", True),
        (NULLABLE, "False", False),
        ({"type": "string"}, "None", "None"),
        # Where a string will do, that is what it is.
        ({"type": ["string", "integer"]}, "True", "True"),
    ],
)
@pytest.mark.parametrize("dialect", TAGS)
def test_literals_are_the_dialects(dialect: str, kind: Any, text: str, value: Any) -> None:
    result = read(dialect, kind, TAGS[dialect] % text)
    assert arguments(result) == [{"x": value}]
    assert result.problems == ()


@pytest.mark.parametrize("dialect", TAGS)
def test_a_key_that_stands_twice_in_a_value_loses_no_call_in_silence(dialect: str) -> None:
    result = read(dialect, {"type": "object"}, TAGS[dialect] % '{"a": 1, "a": 2}')
    assert result.calls == []
    assert result.incomplete or any("twice" in (n.hint or "") for n in result.notices)
    # A string is what it is.
    result = read(dialect, {"type": "string"}, TAGS[dialect] % '{"a": 1, "a": 2}')
    assert arguments(result) == [{"x": '{"a": 1, "a": 2}'}]


@pytest.mark.parametrize("inside", ["</function>", "</function>\n</tool_call>", "</tool_call>"])
def test_what_ends_calls_ends_no_value_that_has_its_own_end(inside: str) -> None:
    for dialect in ("qwen3-coder-xml", "minicpm5-xml"):
        value = f"a {inside} b"
        result = read(dialect, {"type": "string"}, TAGS[dialect] % value)
        assert arguments(result) == [{"x": value}]


PYTHONIC = "<|tool_call_start|>put(x=%s)<|tool_call_end|>"
JSON = '<tool_call>{"name": "put", "arguments": {"x": %s}}</tool_call>'


@pytest.mark.parametrize(("dialect", "call"), [("lfm2-pythonic", PYTHONIC), ("hermes-json", JSON)])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("+3", 3), ("0x10", 16), ("-0x10", -16), ("0b11", 3), ("1_000", 1000), (".5", 0.5),
        ("+1.5e1", 15.0), ("-.5", -0.5),
    ],
)  # fmt: skip
def test_numbers_as_python_writes_them(dialect: str, call: str, text: str, value: Any) -> None:
    for kind in ("number", ["string", "number"]):
        result = read(dialect, {"type": kind}, call % text)
        assert arguments(result) == [{"x": value}]
        assert (type(arguments(result)[0]["x"]), result.problems) == (type(value), ())
        assert "python-literal" in [r.code for r in result.recoveries]
    # Another type is never taken in silence.
    assert read(dialect, {"type": "string"}, call % text).problems


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "nan", "inf", "+007"])
@pytest.mark.parametrize(("dialect", "call"), [("lfm2-pythonic", PYTHONIC), ("hermes-json", JSON)])
def test_what_is_no_number_is_no_string_instead(dialect: str, call: str, text: str) -> None:
    for kind in ("number", ["string", "number"]):
        result = read(dialect, {"type": kind}, call % text)
        assert result.calls == [] or result.problems
        assert result.problems or result.notices or result.content


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"\x41\u00e9\101", "A\u00e9A"), (r"it\'s", "it's"), (r"a\"b", 'a"b'), ("a\\\nb", "ab"),
        (r"C:\dir", "C:\\dir"), (r"\ud83d\ude00", "\U0001f600"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("quote", "'\"")
@pytest.mark.parametrize(
    ("dialect", "before", "behind"),
    [
        ("lfm2-pythonic", "<|tool_call_start|>", "<|tool_call_end|>"),
        ("olmo3-pythonic", "<function_calls>", "</function_calls>"),
        ("hermes-json", "<tool_call>", "</tool_call>"),
    ],
)
def test_strings_of_a_python_call_are_pythons(
    dialect: str, before: str, behind: str, quote: str, written: str, text: str
) -> None:
    call = f"{before}put(x={quote}{written}{quote}, y=[{quote}{written}{quote}],){behind}"
    result = read(dialect, {"type": "string"}, call)
    assert arguments(result) == [{"x": text, "y": [text]}]


@pytest.mark.parametrize(("number", "told"), [("7", "7"), ('"7"', "7"), ("null", None)])
@pytest.mark.parametrize("dialect", ["hermes-json", "qwen3-coder-xml", "bare-json-array"])
def test_a_number_is_an_id(dialect: str, number: str, told: str | None) -> None:
    call = f'{{"name": "put", "arguments": {{"x": 1,}}, "id": {number}}}'
    text = f"[{call}]" if dialect == "bare-json-array" else f"<tool_call>{call}</tool_call>"
    result = read(dialect, {"type": "integer"}, text)
    assert [(c["arguments"], c["id"]) for c in result.calls] == [({"x": 1}, told)]
