"""Calls -> text: forms, order of keys, and what the notation cannot carry."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

import calligram
from calligram.compiler.compiled import CompiledGrammar
from calligram.compiler.spec_loader import load_spec_text
from calligram.targets import parser
from tests.laws.tools import named_by_keys
from tests.sampling import spread

SCHEMA = {
    "type": "object",
    "properties": {
        "b": {"type": "number"},
        "a": {"type": "string"},
        "n": {"type": "integer"},
        "p": {"type": "number", "minimum": 1},
        "e": {"enum": [1, "x", {"k": 2, "j": 1}]},
        "any": {},
    },
}
TOOLS = [{"name": "f", "parameters": SCHEMA}]


def grammar(dialect: str = "mistral-args", **options: Any) -> CompiledGrammar:
    return calligram.compile_tools(TOOLS, dialect, **options)


def rendered(arguments: Any, dialect: str = "mistral-args", **options: Any) -> str:
    text = grammar(dialect, **options).render([{"name": "f", "arguments": arguments}])
    return text.removeprefix("[TOOL_CALLS]f[ARGS]")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "{}"),
        ({"a": "x", "b": 1}, '{"b": 1, "a": "x"}'),
        ({"a": 'é"\n\x00😀'}, '{"a": "é\\"\\n\\u0000😀"}'),
        ({"n": 3.0}, '{"n": 3}'),
        ({"n": Decimal("3.00")}, '{"n": 3}'),
        ({"n": -(10**19)}, '{"n": -10000000000000000000}'),
        ({"b": 1.0}, '{"b": 1.0}'),
        ({"b": 1e-7}, '{"b": 0.0000001}'),
        ({"b": 1e22}, '{"b": 1e+22}'),
        ({"b": 1.5e-30}, '{"b": 1.5e-30}'),
        ({"b": 1e15}, '{"b": 1000000000000000.0}'),
        ({"b": Decimal("0.10")}, '{"b": 0.10}'),
        ({"b": Decimal("1E+30")}, '{"b": 1e+30}'),
        ({"b": -0.0}, '{"b": -0.0}'),
        ({"p": 1e18}, '{"p": 1000000000000000000.0}'),
        ({"e": 1.0}, '{"e": 1}'),
        ({"e": {"j": 1, "k": 2.0}}, '{"e": {"k": 2, "j": 1}}'),
        ({"any": [None, True, {"z": 1, "a": ()}]}, '{"any": [null, true, {"z": 1, "a": []}]}'),
    ],
)
def test_json(arguments: Any, text: str) -> None:
    assert rendered(arguments) == text


@pytest.mark.parametrize(
    ("calls", "code", "pointer"),
    [
        ([], "no-calls", ""),
        ({"name": "f"}, "invalid-call", ""),
        ("f", "invalid-call", "/0"),
        (None, "invalid-call", ""),
        ([None], "invalid-call", "/0"),
        ([{"name": "f"}, {"name": 5}], "invalid-call", "/1"),
        ([{"name": "f", "arguments": []}], "invalid-call", "/0"),
        ([{"name": "g"}], "unknown-tool", "/0/name"),
        ([{"name": "f", "arguments": {"b": float("nan")}}], "not-carryable", "/arguments/b"),
        ([{"name": "f", "arguments": {"any": float("inf")}}], "not-carryable", "/arguments/any"),
        ([{"name": "f", "arguments": {"any": Decimal("1e9999")}}], "not-carryable",
         "/arguments/any"),
        ([{"name": "f", "arguments": {"any": {1, 2}}}], "not-carryable", "/arguments/any"),
        ([{"name": "f", "arguments": {"any": {5: 1}}}], "not-carryable", "/arguments/any"),
        ([{"name": "f", "arguments": {5: 1}}], "not-carryable", "/arguments"),
        ([{"name": "f", "arguments": {"a": "\ud800"}}], "not-carryable", "/arguments/a"),
        ([{"name": "f", "arguments": {"a": 5}}], "not-accepted", "/0/arguments/a"),
        ([{"name": "f", "arguments": {"zz": 5}}], "not-accepted", "/0/arguments/zz"),
        ([{"name": "f", "arguments": {"n": 10**30}}], "not-accepted", "/"),
        ([{"name": "f", "arguments": {"n": 10**5000}}], "not-carryable", "/arguments/n"),
    ],
)  # fmt: skip
def test_what_cannot_be_rendered(calls: Any, code: str, pointer: str) -> None:
    with pytest.raises(calligram.RenderError) as caught:
        grammar().render(calls)
    (problem,) = caught.value.problems
    assert (problem.code, problem.origin.pointer) == (code, pointer)


DEPTHS = [(d, 129) for d in calligram.dialects()]
DEPTHS += [(d, n) for n in (1000, 50_000) for d in spread(calligram.dialects(), "depths", n)]


@pytest.mark.parametrize(("dialect", "depth"), DEPTHS)
def test_deep_values_are_refused(dialect: str, depth: int) -> None:
    deep: Any = 1
    for _ in range(depth):
        deep = {"k": deep}
    with pytest.raises(calligram.RenderError) as caught:
        grammar(dialect, bounds=None).render([{"name": "f", "arguments": {"any": deep}}])
    assert [p.code for p in caught.value.problems] == ["not-carryable"]


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_values_of_a_hundred_levels_are_written_and_read(dialect: str) -> None:
    from calligram.targets import parser

    deep: Any = 1
    for level in range(100):
        # Where elements are named by their keys, untyped objects have none.
        deep = [deep] if level % 2 or named_by_keys(dialect) else {"k": deep}
    made = grammar(dialect, bounds=None, key_order="any")
    text = made.render([{"name": "f", "arguments": {"any": deep}}])
    assert parser.compile(made).parse(text).calls[0]["arguments"] == {"any": deep}


def test_what_the_schema_forbids_is_rendered_unless_it_is_to_be_validated() -> None:
    call = [{"name": "f", "arguments": {"a": 5, "zz": [1]}}]
    assert grammar().render(call, validate=False) == '[TOOL_CALLS]f[ARGS]{"a": 5, "zz": [1]}'


@pytest.mark.parametrize(
    ("dialect", "key_order", "text"),
    [
        ("mistral-args", "schema", '{"b": 1, "a": "x"}'),
        ("mistral-args", "any", '{"a": "x", "b": 1}'),
    ],
)
def test_keys_come_as_the_grammar_wants_them(dialect: str, key_order: str, text: str) -> None:
    assert rendered({"a": "x", "b": 1}, dialect, key_order=key_order) == text


def test_a_dialect_that_sorts_its_history_sorts_where_any_order_goes() -> None:
    call = {"name": "f", "arguments": {"n": 1, "any": {"z": 1, "c": 2}, "b": 2}}
    any_order = grammar("gemma4", key_order="any").render([call])
    assert any_order == "<|tool_call>call:f{any:{c:2,z:1},b:2,n:1}<tool_call|>"
    in_schema_order = grammar("gemma4").render([call])
    assert in_schema_order == "<|tool_call>call:f{b:2,n:1,any:{z:1,c:2}}<tool_call|>"


@pytest.mark.parametrize(
    ("dialect", "arguments", "words"),
    [
        ("glm45-xml", {"a": "x</arg_value>\ny"}, "end it early"),
        ("qwen3-coder-xml", {"a": "x\n</parameter>\ny"}, "end it early"),
        ("gemma4", {"a": '<|"|>'}, "end it early"),
        ("glm45-xml", {"any": "5"}, "would be read as integer"),
        ("glm45-xml", {"any": "null"}, "would be read as null"),
        ("glm45-xml", {"e": "1"}, "would be read as integer"),
        ("glm45-xml", {"any": "[" * 200 + "]" * 200}, "would be read"),
        ("qwen3-coder-xml", {"any": "True"}, "would be read as boolean"),
        ("deepseek-v32-dsml", {"any": {"k": "｜DSML｜"}}, "marker"),
        ("qwen3-coder-xml", {"a>\nb": 1}, "argument name"),
        ("gemma4", {"any": {"a:b": 1}}, "without quotes"),
    ],
)
def test_what_a_notation_cannot_hold_is_refused_in_words(
    dialect: str, arguments: Any, words: str
) -> None:
    made = grammar(dialect, open_objects=True)
    with pytest.raises(calligram.RenderError, match=words) as caught:
        made.render([{"name": "f", "arguments": arguments}], validate=False)
    assert caught.value.problems[0].code == "not-carryable"
    assert caught.value.problems[0].origin.tool == "f"


def test_strings_that_read_as_strings_are_carried_by_tagged_notations() -> None:
    for value in ("five", "05", "nul", "None", " 5x", "<b>"):
        text = grammar("glm45-xml").render([{"name": "f", "arguments": {"any": value}}])
        assert f"<arg_value>{value}</arg_value>" in text


def test_the_convenience_takes_keys_as_they_come() -> None:
    call = [{"name": "f", "arguments": {"a": "x", "b": 1}}]
    text = calligram.render(call, tools=TOOLS, dialect="mistral-args")
    assert text == '[TOOL_CALLS]f[ARGS]{"a": "x", "b": 1}'
    with pytest.raises(calligram.RenderError, match="not-accepted"):
        calligram.render([{"name": "f", "arguments": {"a": 1}}], tools=TOOLS, dialect="hermes-json")


INDENTED = (
    'id: x\ncall: "<c>\\n    {name} {args}\\n</c>"\nargs: {notation: json}\n'
    'json: {indent: 2, whitespace: 24}\ntriggers: [{text: "<c>"}]\n'
)


def test_indented_json_begins_where_the_template_has_it() -> None:
    indented = load_spec_text(INDENTED).spec
    found = calligram.compile_tools(TOOLS, indented)
    value = {"b": 1, "a": "x", "any": [[], {}, [1, {"k": None}]]}
    text = found.render([{"name": "f", "arguments": value}])
    lines = json.dumps(value, indent=2).split("\n")
    assert text == "<c>\n    f " + "\n    ".join(lines) + "\n</c>"
    assert not found.check(text.replace("    f", "   f"))


def test_indentation_is_no_wider_than_a_gap() -> None:
    found = calligram.compile_tools(TOOLS, load_spec_text(INDENTED).spec, bounds=None)
    value: Any = 1
    for _ in range(20):
        value = [value]
    call = {"name": "f", "arguments": {"any": value}}
    text = found.render([call])
    assert max(len(line) - len(line.lstrip(" ")) for line in text.split("\n")) == 23
    assert parser.compile(found).parse(text).calls[0]["arguments"] == call["arguments"]


ANYTHING = [{"name": "f", "parameters": {"type": "object", "properties": {"o": {}}}}]
NO_JSON: list[Any] = [{1: 2}, {None: 1}, {"\ud83d": 1}, {"a": "\ud83d"}, {"a": [{b"k": 1}]}]
NO_JSON += [{"a": {"\udc00": {}}}, {"a": {1, 2}}, [Decimal("nan")], object()]


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_white_space_of_nested_keys_is_read_back_or_refused(dialect: str) -> None:
    made = calligram.compile_tools(ANYTHING, dialect)
    reader = parser.compile(made)
    for key in (" x", "x ", "\tx\n", " ", ""):
        calls = [{"name": "f", "arguments": {"o": {key: {key: 1}}}}]
        try:
            text = made.render(calls, validate=False)
        except calligram.RenderError as error:
            assert [p.code for p in error.problems] == ["not-carryable"]
        else:
            assert [c["arguments"] for c in reader.parse(text).calls] == [calls[0]["arguments"]]


def test_quoted_keys_keep_their_white_space_without_escapes() -> None:
    made = calligram.compile_tools(ANYTHING, "llama3-builtin-python-tag")
    text = made.render([{"name": "f", "arguments": {"o": {" x": 1}}}])
    assert text == '<|python_tag|>f.call(o={" x": 1})'
    assert parser.compile(made).parse(text).calls[0]["arguments"] == {"o": {" x": 1}}


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("dialect", calligram.dialects())
def test_what_is_no_json_is_refused_at_any_depth(dialect: str, validate: bool) -> None:
    typed = {"enum": [{"a": 1}, 2]}, {"type": "object", "properties": {"a": {"type": "object"}}}
    for schema in ({}, *typed):
        tools = [{"name": "f", "parameters": {"type": "object", "properties": {"o": schema}}}]
        made = calligram.compile_tools(tools, dialect)
        for value in NO_JSON:
            for arguments in ({"o": value}, {"o": [value]}):
                calls = [{"name": "f", "arguments": arguments}]
                with pytest.raises(calligram.RenderError, match="not-carryable") as caught:
                    made.render(calls, validate=validate)
                (problem,) = caught.value.problems
                assert (problem.origin.pointer or "").startswith("/arguments/o")


@pytest.mark.parametrize("value", NO_JSON)
def test_a_value_that_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(calligram.RenderError, match="not-carryable"):
        calligram.compile_schema({"enum": [{"a": 1}, 2]}).render(value)


def test_a_refusal_names_every_value_that_is_wrong() -> None:
    properties = {"priority": {"enum": ["low", "high"]}, "n": {"type": "integer"}, "l": {}}
    tools = [{"name": "f", "parameters": {"properties": properties, "required": ["n"]}}]
    made = calligram.compile_tools(tools, "hermes-json")
    calls = [
        {"name": "f", "arguments": {"n": 1, "l": (1, 2)}},
        {"name": "f", "arguments": {"n": "x", "priority": "urgent", "l": (1,)}},
        {"name": "f"},
    ]
    for render in (made.render, made.render_turn):
        with pytest.raises(calligram.RenderError) as caught:
            render(calls)
        found = [(p.code, p.origin.pointer) for p in caught.value.problems]
        assert sorted(found) == [
            ("not-accepted", "/1/arguments/n"),
            ("not-accepted", "/1/arguments/priority"),
            ("not-accepted", "/2/arguments"),
        ]
        assert any("'urgent' is not one of" in p.message for p in caught.value.problems)
