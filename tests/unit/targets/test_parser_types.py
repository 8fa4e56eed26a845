"""Types of values: from the schema in tagged notations, from the notation elsewhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

import calligram
from calligram.compiler.spec_loader import load_spec_text
from calligram.targets import parser

TAGGED = {
    "glm45-xml": "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>{}</arg_value>\n</tool_call>",
    "qwen3-coder-xml": "<tool_call>\n<function=f>\n<parameter=a>\n{}\n</parameter>\n</function>\n"
    "</tool_call>",
}


def read(dialect: str, kind: Any, text: str) -> tuple[Any, list[str], bool]:
    """The argument `a`, the problems' codes, and whether the grammar accepts the text."""
    schema = {"type": "object", "properties": {"a": kind}}
    grammar = calligram.compile_tools([{"name": "f", "parameters": schema}], dialect)
    result = parser.compile(grammar).parse(text)
    assert len(result.calls) == 1, result
    codes = [p.code for p in result.problems]
    return result.calls[0]["arguments"]["a"], codes, grammar.check(text).accepted


@pytest.mark.parametrize("dialect", TAGGED)
@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ({"type": "string"}, "123", "123"),
        ({"type": "string"}, "true", "true"),
        ({"type": "string"}, "null", "null"),
        ({"type": "string"}, '"quoted"', '"quoted"'),
        ({"type": "string"}, "[1]", "[1]"),
        ({"type": "string"}, "", ""),
        ({"type": "string"}, " a ", " a "),
        ({"enum": ["1", "2"]}, "1", "1"),
        ({"type": "integer"}, "123", 123),
        ({"type": "number"}, "1.50", 1.5),
        ({"type": "number"}, "2", 2),
        ({"type": "boolean"}, "true", True),
        ({"type": "null"}, "null", None),
        ({"type": "array", "items": {"type": "string"}}, '["1"]', ["1"]),
        ({"type": "object", "properties": {"x": {"type": "integer"}}}, '{"x": 1}', {"x": 1}),
        ({"enum": [1, "a", None]}, "1", 1),
        ({"enum": [1, "a", None]}, "a", "a"),
        ({"enum": [1, "a", None]}, "null", None),
        # Either: JSON where the schema takes it, else the text.
        ({"type": ["string", "integer"]}, "5", 5),
        ({"type": ["string", "integer"]}, "5.5", "5.5"),
        ({"type": ["string", "integer"]}, "x", "x"),
        ({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 5}]}, "4", "4"),
        ({"type": ["string", "null"]}, "null", None),
        ({"type": ["string", "boolean"]}, "true", True),
        ({}, "5", 5),
        ({}, "five", "five"),
        ({}, '{"x": [null]}', {"x": [None]}),
    ],
)
def test_types_come_from_the_schema(dialect: str, kind: Any, text: str, value: Any) -> None:
    found, codes, accepted = read(dialect, kind, TAGGED[dialect].format(text))
    assert (found, type(found)) == (value, type(value))
    assert codes == []
    assert accepted


@pytest.mark.parametrize("dialect", TAGGED)
@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ({"type": "integer"}, "many", "many"),
        ({"type": "integer"}, '"3"', "3"),
        ({"type": "integer"}, "3.5", 3.5),
        ({"type": "boolean"}, "yes", "yes"),
        ({"type": "array", "items": {"type": "string"}}, "[1]", [1]),
        ({"type": "object"}, "[1]", [1]),
    ],
)
def test_what_does_not_fit_is_handed_on_with_a_problem(
    dialect: str, kind: Any, text: str, value: Any
) -> None:
    found, codes, accepted = read(dialect, kind, TAGGED[dialect].format(text))
    assert (found, type(found)) == (value, type(value))
    assert codes and not accepted


@pytest.mark.parametrize(
    ("text", "value"),
    [("True", True), ("False", False), ("None", None), ("true", True)],
)
def test_literals_that_the_dialect_reads_too(text: str, value: Any) -> None:
    kind = {"type": ["boolean", "null"]}
    found, codes, accepted = read("qwen3-coder-xml", kind, TAGGED["qwen3-coder-xml"].format(text))
    assert found is value
    assert accepted == (text == "true")
    assert (codes == []) == accepted


@pytest.mark.parametrize(
    ("text", "value", "accepted"),
    [
        ('"a"', "a", True),
        ("'a'", "a", True),
        ("'it\\'s'", "it's", True),
        ('"\\n\\x41\\u00e9\\U0001F600"', "\nAé😀", True),
        ("True", True, True),
        ("None", None, True),
        ("true", True, False),
        ("null", None, False),
        ("-1.5e3", -1500.0, True),
        ("[1, 'a', {'k': None}]", [1, "a", {"k": None}], True),
        ('{"k": (1)}', None, False),
        ("{}", {}, True),
        ("[1,2]", [1, 2], False),
    ],
)
def test_python_values(text: str, value: Any, accepted: bool) -> None:
    schema = {"type": "object", "properties": {"a": {}}}
    grammar = calligram.compile_tools([{"name": "f", "parameters": schema}], "lfm2-pythonic")
    whole = f"<|tool_call_start|>[f(a={text})]<|tool_call_end|>"
    assert grammar.check(whole).accepted == accepted
    result = parser.compile(grammar).parse(whole)
    if text.endswith("(1)}"):
        assert result.calls == [] and [p.code for p in result.problems] == ["broken-call"]
        return
    found = result.calls[0]["arguments"]["a"]
    assert (found, type(found)) == (value, type(value))
    assert (result.problems == ()) == accepted


@pytest.mark.parametrize(
    ("written", "kind", "value", "accepted"),
    [
        ('string="true">5<', {"type": "string"}, "5", True),
        ('string="false">5<', {"type": "integer"}, 5, True),
        ('string="true">5<', {"type": ["string", "integer"]}, "5", True),
        ('string="false">5<', {"type": ["string", "integer"]}, 5, True),
        ('string="true">5<', {"type": "integer"}, "5", False),
        ('string="false">"5"<', {"type": "string"}, "5", False),
        ('string="true">null<', {}, "null", True),
        ('string="false">null<', {}, None, True),
    ],
)
def test_a_notation_that_marks_strings_is_believed(
    written: str, kind: Any, value: Any, accepted: bool
) -> None:
    d = "｜DSML｜"
    text = (
        f'<{d}function_calls>\n<{d}invoke name="f">\n<{d}parameter name="a" {written}/{d}parameter>'
        f"\n</{d}invoke>\n</{d}function_calls>"
    )
    found, codes, said = read("deepseek-v32-dsml", kind, text)
    assert (found, type(found), said) == (value, type(value), accepted)
    assert (codes == []) == accepted


@pytest.mark.parametrize(
    ("text", "value", "accepted"),
    [
        ('<|"|>5<|"|>', "5", True),
        ("5", 5, True),
        ("null", None, True),
        ("None", None, False),
        ('{k:<|"|>v<|"|>,l:[1,true]}', {"k": "v", "l": [1, True]}, True),
        ("{ k : 1 }", {"k": 1}, False),
    ],
)
def test_bare_dictionaries(text: str, value: Any, accepted: bool) -> None:
    whole = f"<|tool_call>call:f{{a:{text}}}<tool_call|>"
    found, codes, said = read("gemma4", {}, whole)
    assert (found, type(found), said) == (value, type(value), accepted)
    assert (codes == []) == accepted


@pytest.mark.parametrize(
    ("text", "value", "accepted"),
    [
        ("null", None, True), ("true", True, True), ('"None"', "None", True),
        # Further spellings are read where they are whole arguments.
        ("None", None, False), ("yes", True, False), ("off", False, False),
        ('{"a": [null]}', {"a": [None]}, True),
    ],
)  # fmt: skip
def test_literals_beside_json(text: str, value: Any, accepted: bool) -> None:
    spec = load_spec_text(
        "id: x\nextends: gemma3-pythonic\nargs:\n  containers: json\n  literals:\n"
        '    "null": [null, None]\n    "true": [true, yes]\n    "false": [false, off]\n'
    ).spec
    grammar = calligram.compile_tools(
        [{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}], spec
    )
    result = parser.compile(grammar).parse(f"[f(a={text})]")
    assert [c["arguments"] for c in result.calls] == [{"a": value}]
    assert (grammar.check(f"[f(a={text})]").accepted, not result.problems) == (accepted, accepted)
    assert grammar.render(result.calls) == f"[f(a={json.dumps(value)})]"
