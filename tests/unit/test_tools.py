"""Tool definitions in every form, and the choice among them."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import calligram
from calligram.compiler.errors import CalligramError, LimitExceeded, SchemaError, ToolError
from calligram.compiler.tools import ToolDefinition, choose, read_tools

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
OPENAI = {"type": "function", "function": {"name": "weather", "description": "d",
          "parameters": SCHEMA}}  # fmt: skip
BARE = {"name": "weather", "description": "d", "parameters": SCHEMA}
FLAT = {"type": "function", **BARE}
ANTHROPIC = {"name": "weather", "description": "d", "input_schema": SCHEMA}
MCP = {"name": "weather", "description": "d", "inputSchema": SCHEMA}


def problems(tools: object) -> list[tuple[str, str]]:
    with pytest.raises(ToolError) as caught:
        read_tools(tools)
    return [(p.code, p.message) for p in caught.value.problems]


@pytest.mark.parametrize("form", [OPENAI, BARE, FLAT, ANTHROPIC, MCP])
def test_every_form_reads_alike(form: Any) -> None:
    (tool,) = read_tools([form])
    assert (tool.name, tool.description, tool.schema) == ("weather", "d", SCHEMA)
    assert tool.origin.tool == "weather"


@pytest.mark.parametrize("wrap", [
    lambda tools: {"tools": tools},
    lambda tools: {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools, "nextCursor": "x"}},
    lambda tools: json.dumps(tools),
    lambda tools: json.dumps({"tools": tools}).encode(),
    lambda tools: b"\xef\xbb\xbf" + json.dumps(tools).encode(),
    tuple,
])  # fmt: skip
def test_lists_come_wrapped_and_as_text(wrap: Any) -> None:
    assert [t.name for t in read_tools(wrap([MCP, {"name": "clock"}]))] == ["weather", "clock"]


def test_forms_may_be_mixed_and_keep_their_order() -> None:
    tools = [{**MCP, "name": "b"}, {**ANTHROPIC, "name": "a"}, OPENAI]
    assert [t.name for t in read_tools(tools)] == ["b", "a", "weather"]


@pytest.mark.parametrize("form", [
    {"name": "now"}, {"name": "now", "parameters": None}, {"name": "now", "inputSchema": None},
    {"type": "function", "function": {"name": "now"}}, {"type": "custom", "name": "now"},
])  # fmt: skip
def test_a_tool_without_schema_takes_no_arguments(form: Any) -> None:
    assert read_tools([form])[0].schema == {"type": "object", "properties": {}}


def test_a_boolean_is_a_schema() -> None:
    assert read_tools([{"name": "t", "parameters": True}])[0].schema is True


@pytest.mark.parametrize("name", ["a.b-c_d", "get weather", "天気", "😀", '"quoted"'])
def test_names_are_any_unicode_text(name: str) -> None:
    assert read_tools([{"name": name}])[0].name == name


def test_numbers_in_text_are_exact() -> None:
    text = '[{"name": "t", "parameters": {"minimum": 0.1, "maximum": 12345678901234567890}}]'
    schema = read_tools(text)[0].schema
    assert isinstance(schema, dict)
    assert schema["minimum"] == Decimal("0.1") and type(schema["minimum"]) is Decimal
    assert schema["maximum"] == 12345678901234567890


@pytest.mark.parametrize(
    ("tools", "code", "words"),
    [
        ([], "no-tools", "empty"),
        ({"tools": []}, "no-tools", "empty"),
        ("[]", "no-tools", "empty"),
        (None, "invalid-tools", "not null"),
        (3, "invalid-tools", "not a number"),
        ({"name": "x"}, "invalid-tools", "expected a list of tools"),
        ("3", "invalid-tools", "not a number"),
        ([3], "invalid-tool", "tool 0: expected an object, not a number"),
        ([{}], "invalid-tool", "no `name`"),
        ([{"type": "function", "function": "f"}], "invalid-tool", "`function` must be an object"),
        ([{"name": 3}], "invalid-tool", "`name` must be a string, not a number"),
        ([{"name": None}], "invalid-tool", "`name` must be a string, not null"),
        ([{"name": ""}], "invalid-tool", "`name` is empty"),
        ([{"name": "\ud800"}], "invalid-tool", "no Unicode text"),
        ([{"name": "f", "parameters": "x"}], "invalid-tool", "must be a schema"),
        ([{"name": "f", "inputSchema": [1]}], "invalid-tool", "not a list"),
        ([{"name": "f", "parameters": {}, "input_schema": {}}], "invalid-tool", "both"),
        ([{"type": "web_search", "name": "w"}], "invalid-tool", "no schema to compile"),
        ([{"type": "code_interpreter"}], "invalid-tool", "(type 'code_interpreter')"),
        ([{"name": "f"}, {"name": "f"}], "duplicate-tool", "tool 1 has the name of tool 0: 'f'"),
    ],
)
def test_what_is_no_tool_is_refused(tools: Any, code: str, words: str) -> None:
    ((found, message),) = problems(tools)
    assert found == code
    assert words in message


def test_all_problems_come_at_once_with_their_place() -> None:
    with pytest.raises(ToolError) as caught:
        read_tools([{"name": ""}, OPENAI, 7, OPENAI, {"function": {"name": 1}}])
    assert [(p.code, p.origin.pointer) for p in caught.value.problems] == [
        ("invalid-tool", "/0/name"), ("invalid-tool", "/2"), ("duplicate-tool", "/3"),
        ("invalid-tool", "/4/function/name"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [('[{"name": "a",}]', 1, 15), ("[\n  {'name': 1}\n]", 2, 4), ("", 1, 1), ("[1 2]", 1, 4)],
)
def test_broken_json_is_located_by_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(ToolError) as caught:
        read_tools(text)
    (found,) = caught.value.problems
    assert found.code == "invalid-json"
    assert (found.origin.line, found.origin.column) == (line, column)


@pytest.mark.parametrize("text", [
    '[{"name": "a", "name": "b"}]', '[{"name": "a", "parameters": {"minimum": NaN}}]',
    '[{"name": "a", "parameters": {"maximum": -Infinity}}]', b'[{"name": "\xff"}]',
])  # fmt: skip
def test_duplicate_keys_nan_and_wrong_bytes_are_refused(text: Any) -> None:
    ((code, _),) = problems(text)
    assert code == "invalid-json"


@pytest.mark.parametrize("text", [
    "[" * 100_000, '[{"name": "a", "parameters": {"minimum": ' + "9" * 5000 + "}}]",
    '[{"name": "a", "parameters": {"minimum": 0.' + "9" * 5000 + "}}]",
    '[{"name": "a", "parameters": {"minimum": 1e99999999999999999999}}]',
])  # fmt: skip
def test_hostile_text_meets_a_limit(text: str) -> None:
    with pytest.raises(LimitExceeded):
        read_tools(text)


def test_too_many_tools_is_a_limit() -> None:
    assert len(read_tools([{"name": f"t{i}"} for i in range(5000)])) == 5000
    with pytest.raises(LimitExceeded):
        read_tools([{"name": f"t{i}"} for i in range(10_001)])


TOOLS = read_tools([{"name": n} for n in ("weather", "clock", "search")])


@pytest.mark.parametrize(
    ("choice", "kind", "names"),
    [
        ("required", "required", "weather clock search"),
        ("any", "required", "weather clock search"),
        ("auto", "auto", "weather clock search"),
        ("none", "none", "weather clock search"),
        ({"type": "auto"}, "auto", "weather clock search"),
        ({"type": "any"}, "required", "weather clock search"),
        ({"type": "none"}, "none", "weather clock search"),
        ({"type": "function", "function": {"name": "clock"}}, "required", "clock"),
        ({"type": "function", "name": "clock"}, "required", "clock"),
        ({"type": "tool", "name": "clock"}, "required", "clock"),
        (["search", "weather"], "required", "weather search"),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
            {"type": "function", "function": {"name": "search"}}, "clock"]}}, "auto",
         "clock search"),
        ({"type": "allowed_tools", "mode": "required", "tools": [
            {"type": "function", "name": "search"}]}, "required", "search"),
    ],
)  # fmt: skip
def test_choices(choice: Any, kind: str, names: str) -> None:
    chosen = choose(TOOLS, choice)
    assert chosen.kind == kind
    assert [t.name for t in chosen.tools] == names.split()


def test_a_named_tool_that_is_not_offered_is_refused() -> None:
    for choice in ({"type": "function", "function": {"name": "nope"}}, ["nope"],
                   {"type": "tool", "name": "nope"}):  # fmt: skip
        with pytest.raises(ToolError) as caught:
            choose(TOOLS, choice)
        (found,) = caught.value.problems
        assert found.code == "unknown-tool"
        assert found.message == (
            "tool_choice names 'nope', which is not among the tools: weather, clock, search"
        )
    with pytest.raises(ToolError) as caught:
        choose(TOOLS, ["wether", "clock", "serch"])
    assert [p.hint for p in caught.value.problems] == [
        "did you mean `weather`?", "did you mean `search`?",
    ]  # fmt: skip


@pytest.mark.parametrize("choice", [
    None, True, 3, "sometimes", "", {}, {"type": "function"}, {"type": "sometimes"}, [], [3],
    {"type": "allowed_tools"}, {"type": "allowed_tools", "mode": "never", "tools": ["clock"]},
    {"type": "allowed_tools", "mode": "auto", "tools": []}, {"type": "function", "function": 3},
])  # fmt: skip
def test_other_choices_are_refused(choice: Any) -> None:
    with pytest.raises(ToolError) as caught:
        choose(TOOLS, choice)
    assert caught.value.problems[0].code == "invalid-tool-choice"


def test_a_tool_itself_can_be_the_choice() -> None:
    assert isinstance(TOOLS[1], ToolDefinition)
    assert choose(TOOLS, TOOLS[1]).tools == (TOOLS[1],)


@pytest.mark.parametrize(
    "name", ["tools.json", "./tools", "a/b.JSON", "C:\\t\\x.jsonc", Path("tools.json")], ids=repr
)
def test_a_files_name_in_place_of_what_is_in_it_is_told(name: Any) -> None:
    calls: list[Callable[[], object]] = [
        lambda: calligram.compile_tools(name, "hermes-json"),
        lambda: calligram.compile_schema(name),
        lambda: calligram.compile_schema(True, documents={"https://x.org/a": name}),
    ]
    for call in calls:
        with pytest.raises(CalligramError) as caught:
            call()
        (problem,) = caught.value.problems
        assert problem.hint is not None and f"Path({str(name)!r}).read_text()" in problem.hint


@pytest.mark.parametrize("text", ["tools", "[{'name': 'x'}]", '{"name": "a/b.json"', "", "a\n/b"])
def test_other_text_that_is_no_json_gets_no_such_hint(text: str) -> None:
    with pytest.raises(ToolError) as caught:
        read_tools(text)
    assert caught.value.problems[0].hint is None


def test_a_schema_as_json_text_is_told() -> None:
    with pytest.raises(SchemaError, match=r"pass json\.loads\(text\)"):
        calligram.compile_schema('{"type": "object"}')
