"""Compiling: forms of tools, options, what becomes of bad tools, bounds, laziness."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from jsonschema.validators import validator_for

import calligram
from calligram import Bounds
from calligram.compiler.compiled import CompiledGrammar

PARAMETERS = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
OPENAI = {"type": "function", "function": {"name": "f", "parameters": PARAMETERS}}
FORMS: list[Any] = [
    [OPENAI],
    [{"type": "function", "name": "f", "parameters": PARAMETERS}],
    [{"name": "f", "parameters": PARAMETERS}],
    [{"name": "f", "description": "d", "input_schema": PARAMETERS}],
    [{"name": "f", "inputSchema": PARAMETERS}],
    {"tools": [{"name": "f", "inputSchema": PARAMETERS}]},
    json.dumps([OPENAI]),
    json.dumps([OPENAI]).encode(),
]
CALL = '[TOOL_CALLS]f[ARGS]{"a": 1}'


def value_grammar(kind: Any, bounds: Bounds | None, **options: Any) -> CompiledGrammar:
    """A tool with one argument `a`."""
    schema = {"type": "object", "properties": {"a": kind}, **options}
    return calligram.compile_tools([{"name": "f", "parameters": schema}], "mistral-args",
                                   bounds=bounds)  # fmt: skip


def with_value(text: str) -> str:
    return f'[TOOL_CALLS]f[ARGS]{{"a": {text}}}'


@pytest.mark.parametrize("tools", FORMS)
def test_every_form_of_tools_compiles_to_the_same(tools: Any) -> None:
    grammar = calligram.compile_tools(tools, "mistral-args")
    assert [c.name for c in grammar.calls] == ["f"]
    assert grammar.check(CALL)
    assert not grammar.check(CALL.replace("1", '"1"'))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reasoning": "maybe"}, "reasoning"),
        ({"reasoning": None}, "reasoning"),
        ({"key_order": "sorted"}, "key_order"),
        ({"on_unsupported": "ignore"}, "on_unsupported"),
        ({"whitespace": "exact"}, "whitespace"),
        ({"max_calls": 0}, "max_calls"),
        ({"max_calls": True}, "max_calls"),
        ({"max_calls": "2"}, "max_calls"),
        ({"bounds": {"string": 5}}, "bounds"),
        ({"parallel_tool_calls": "no"}, "parallel_tool_calls"),
        ({"open_objects": []}, "open_objects"),
        ({"openapi": None}, "openapi"),
    ],
)
def test_options_that_make_no_sense_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(calligram.ToolError) as caught:
        calligram.compile_tools([OPENAI], "mistral-args", **options)
    (problem,) = caught.value.problems
    assert problem.code == "invalid-option" and words in problem.message


def test_all_wrong_options_are_told_at_once() -> None:
    options: Any = {"reasoning": "x", "key_order": "x", "openapi": "x"}
    with pytest.raises(calligram.ToolError) as caught:
        calligram.compile_tools([OPENAI], "mistral-args", **options)
    assert [p.code for p in caught.value.problems] == ["invalid-option"] * 3


@pytest.mark.parametrize("name", Bounds.__slots__)
@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, "3"])
def test_bounds_are_whole_numbers_of_at_least_one(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"whitespace": None}, "whitespace"),
        ({"key_order": "x"}, "key_order"),
        ({"on_unsupported": "drop-tool"}, "on_unsupported"),
        ({"bounds": 5}, "bounds"),
        ({"openapi": "no"}, "openapi"),
    ],
)
def test_options_of_a_schema_are_checked_too(options: dict[str, Any], words: str) -> None:
    with pytest.raises(calligram.ToolError, match=words) as caught:
        calligram.compile_schema({}, **options)
    assert caught.value.problems[0].code == "invalid-option"


# Bad tools --------------------------------------------------------------------------------------

BAD_LIST = {"type": "array", "uniqueItems": True, "contains": {"const": 1}}
BAD = {"type": "object", "properties": {"x": BAD_LIST}}
IMPOSSIBLE = {"type": "object", "properties": {"x": False}, "required": ["x"]}


def test_all_the_problems_of_all_tools_are_told_with_their_places() -> None:
    tools = [OPENAI, {"name": "bad", "parameters": BAD},
             {"name": "impossible", "parameters": IMPOSSIBLE}]  # fmt: skip
    with pytest.raises(calligram.SchemaError) as caught:
        calligram.compile_tools(tools, "mistral-args")
    assert [(p.origin.tool, p.code) for p in caught.value.problems] == [
        ("bad", "unsupported-keyword"),
        ("impossible", "unsatisfiable"),
    ]
    assert caught.value.problems[0].origin.pointer == "/properties/x/uniqueItems"


def test_a_bad_tool_can_be_dropped_and_is_reported() -> None:
    tools = [{"name": "bad", "parameters": BAD}, OPENAI]
    grammar = calligram.compile_tools(tools, "mistral-args", on_unsupported="drop-tool")
    assert grammar.check(CALL)
    assert not grammar.check("[TOOL_CALLS]bad[ARGS]{}")
    assert grammar.report.dropped == ("bad",)
    refused = grammar.report.by_status("refused")
    assert [(f.origin.tool, f.keyword) for f in refused] == [("bad", "unsupported-keyword")]


def test_where_every_tool_is_dropped_none_is_left() -> None:
    with pytest.raises(calligram.SchemaError) as caught:
        calligram.compile_tools(
            [{"name": "bad", "parameters": BAD}], "mistral-args", on_unsupported="drop-tool"
        )
    assert [p.code for p in caught.value.problems] == ["no-tools"]


def test_a_keyword_can_be_relaxed_and_is_reported_and_checked_after_parsing() -> None:
    from calligram.targets import parser

    tools = [{"name": "bad", "parameters": BAD}]
    grammar = calligram.compile_tools(tools, "mistral-args", on_unsupported="relax")
    relaxed = grammar.report.by_status("relaxed")
    assert [(f.keyword, f.origin.pointer) for f in relaxed] == [
        ("uniqueItems", "/properties/x/uniqueItems")
    ]
    text = '[TOOL_CALLS]bad[ARGS]{"x": [1, 1]}'
    assert grammar.check(text)
    problems = parser.compile(grammar).parse(text).problems
    assert [p.code for p in problems] == ["invalid-arguments"]


# Odd schemas ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "accept", "reject"),
    [
        ({"oneOf": [PARAMETERS, {"type": "object", "properties": {"b": {"type": "null"}},
                                 "required": ["b"]}]},
         ['{"a": 1}', '{"b": null}'], ["{}", '{"a": null}', '{"a": 1, "b": null}']),
        ({"enum": [{"a": 1, "b": "x"}, {}]},
         ['{"a": 1, "b": "x"}', "{}"], ['{"a": 1}', '{"b": "x", "a": 1}']),
        ({"type": "object", "properties": {"": {"type": "integer"}, 'q"\n é': {"type": "null"}}},
         ['{"": 1}', '{"": 1, "q\\"\\n é": null}', "{}"], ['{"q\\"\\n \\u00e9": null}']),
        ({"type": "object", "properties": {"s": {"type": ["string", "null"]}}, "required": ["s"]},
         ['{"s": "x"}', '{"s": null}'], ["{}", '{"s": 1}']),
        ({"type": "object", "additionalProperties": {"type": "integer"}},
         ["{}", '{"k": 1, "é": 2}'], ['{"k": "x"}', '{"k": null}']),
        ({"type": "object", "properties": {k: {"type": "integer"} for k in "abc"},
          "minProperties": 2},
         ['{"a": 1, "b": 2}', '{"b": 1, "c": 2}'], ["{}", '{"a": 1}', '{"b": 1, "a": 2}']),
        ({"type": "object", "properties": {"m": {"type": "array", "items":
          {"type": "array", "items": {"type": "integer"}, "minItems": 1}}}},
         ['{"m": []}', '{"m": [[1], [2, 3]]}'], ['{"m": [[]]}', '{"m": [1]}']),
        ({"type": "object", "properties": {"m": {"type": "array", "prefixItems":
          [{"type": "string"}, {"type": "integer"}], "items": {"type": "boolean"}}}},
         ['{"m": []}', '{"m": ["a", 1]}', '{"m": ["a", 1, true]}'],
         ['{"m": [1]}', '{"m": ["a", true]}', '{"m": ["a", 1, 2]}']),
        ({"type": "object", "properties": {"m": {"type": "object", "patternProperties":
          {"^x-": {"type": "integer"}}, "additionalProperties": {"type": "string"}}}},
         ['{"m": {"x-a": 1, "b": "c"}}', '{"m": {}}'], ['{"m": {"x-a": "c"}}', '{"m": {"b": 1}}']),
        ({"type": "object", "properties": {"n": {"$ref": "#"}, "v": {"type": "null"}}},
         ["{}", '{"n": {"n": {"v": null}}}'], ['{"n": 1}', '{"n": {"n": []}}']),
        ({"type": "object"}, ["{}", '{"any": [1, {"x": null}]}'], ["[]", "1"]),
        ({"type": "object", "properties": {}}, ["{}"], ['{"a": 1}']),
    ],
)  # fmt: skip
def test_schemas_of_all_kinds(schema: Any, accept: list[str], reject: list[str]) -> None:
    grammar = calligram.compile_tools([{"name": "f", "parameters": schema}], "mistral-args")
    for text in accept:
        assert grammar.check("[TOOL_CALLS]f[ARGS]" + text), text
    for text in reject:
        assert not grammar.check("[TOOL_CALLS]f[ARGS]" + text), text


TREE = {
    "properties": {"x": {"$ref": "#/$defs/n"}},
    "$defs": {
        "leaf": {"type": "object", "properties": {"k": {"$ref": "#/$defs/leaf"}}},
        "n": {
            "type": "object",
            "properties": {
                "a": {"$ref": "#/$defs/leaf"},
                "c": {"type": "integer"},
                "next": {"$ref": "#/$defs/n"},
            },
            "minProperties": 2,
        },
    },
}


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_recursive_definitions_that_owe_keys_end_in_time(dialect: str) -> None:
    grammar = calligram.compile_tools([{"name": "f", "parameters": TREE}], dialect)
    assert grammar.report.longest_call is not None
    call = {"name": "f", "arguments": {"x": {"a": {}, "next": {"a": {"k": {}}, "c": 1}}}}
    assert grammar.check(grammar.render([call]))
    bads: list[Any] = [{"x": {"c": 1}}, {"x": {"a": {}, "next": {}}}]
    for bad in bads:
        with pytest.raises(calligram.RenderError, match="not-accepted"):
            grammar.render([{"name": "f", "arguments": bad}])


def test_keys_that_cannot_be_written_inside_recursive_definitions_are_told_at_compile() -> None:
    node = {"properties": {'a"b': {}, "n": {"$ref": "#/$defs/n"}}, "required": ['a"b']}
    schema = {"properties": {"x": {"$ref": "#/$defs/n"}}, "$defs": {"n": node}}
    with pytest.raises(calligram.ToolError) as caught:
        calligram.compile_tools([{"name": "f", "parameters": schema}], "gemma4")
    (problem,) = caught.value.problems
    assert problem.code == "not-carryable"
    assert problem.origin.pointer == '/$defs/n/properties/a"b'


# Bounds -----------------------------------------------------------------------------------------

BASE = Bounds(string=5, items=3, keys=2, depth=2, recursion=2, digits=4, exponent=2, whitespace=2,
              calls=2)  # fmt: skip
NESTED = {"$ref": "#/$defs/n"}
DEFS = {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}}


def recursive(levels: int) -> str:
    return '{"n": ' * (levels - 1) + "{}" + "}" * (levels - 1)


@pytest.mark.parametrize(
    ("kind", "met", "exceeded"),
    [
        ({"type": "string"}, ['"é☃😀ab"', '"\\u0061\\n\\t\\"\\\\"'], ['"abcdef"']),
        ({"type": "array", "items": {"type": "null"}}, ["[null, null, null]"],
         ["[null, null, null, null]"]),
        ({"type": "object"}, ['{"a": 1, "b": 2}'], ['{"a": 1, "b": 2, "c": 3}']),
        ({}, ["[[1, 2]]", '{"k": {"l": 1}}', "[{}]", "[[[]]]"], ["[[[1]]]", '[[{"k": 1}]]']),
        (NESTED, [recursive(1), recursive(2)], [recursive(3)]),
        ({"type": "integer"}, ["9999", "-9999"], ["10000", "-12345"]),
        ({"type": "number"}, ["9999.1234", "-1e99", "1.5E+10"], ["10000", "1.12345", "1e100"]),
    ],
)  # fmt: skip
def test_each_bound_is_met_exactly_and_not_exceeded(
    kind: Any, met: list[str], exceeded: list[str]
) -> None:
    bounded = value_grammar(kind, BASE, **{"$defs": DEFS})
    free = value_grammar(kind, None, **{"$defs": DEFS})
    for text in met:
        assert bounded.check(with_value(text)), text
        assert free.check(with_value(text)), text
    for text in exceeded:
        assert not bounded.check(with_value(text)), text
        assert free.check(with_value(text)), text


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("string", {"type": "string"}, '"abcdef"'),
        ("items", {"type": "array", "items": {"type": "null"}}, "[null, null, null, null]"),
        ("keys", {"type": "object"}, '{"a": 1, "b": 2, "c": 3}'),
        ("depth", {}, "[[[1]]]"),
        ("recursion", NESTED, recursive(3)),
        ("digits", {"type": "integer"}, "12345"),
        ("exponent", {"type": "number"}, "1e100"),
    ],
)
def test_each_bound_is_one_option(name: str, kind: Any, text: str) -> None:
    wider = replace(BASE, **{name: getattr(BASE, name) + 1})
    assert not value_grammar(kind, BASE, **{"$defs": DEFS}).check(with_value(text))
    assert value_grammar(kind, wider, **{"$defs": DEFS}).check(with_value(text))


def test_whitespace_and_calls_are_bounded_too() -> None:
    grammar = calligram.compile_tools([OPENAI], "mistral-args", bounds=BASE, whitespace="flexible")
    for text in ('{"a":1}', '{ \n"a"\t\t:  1  }'):
        assert grammar.check("[TOOL_CALLS]f[ARGS]" + text), text
    for text in ('{   "a":1}', '{"a":   1}', '{"a" :1   }'):
        assert not grammar.check("[TOOL_CALLS]f[ARGS]" + text), text
    assert grammar.check(CALL * 2)
    assert not grammar.check(CALL * 3)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ({"type": "string", "maxLength": 8}, '"abcdefgh"'),
        ({"type": "array", "items": {"type": "null"}, "maxItems": 5}, "[" + "null, " * 4 + "null]"),
        ({"type": "object", "maxProperties": 3}, '{"a": 1, "b": 2, "c": 3}'),
        ({"type": "integer", "maximum": 123456, "minimum": 0}, "123456"),
        ({"type": "string", "minLength": 7}, '"abcdefg"'),
        ({"type": "array", "items": {"type": "null"}, "minItems": 4}, "[null, null, null, null]"),
    ],
)
def test_declared_bounds_win(kind: Any, text: str) -> None:
    assert value_grammar(kind, BASE).check(with_value(text))


def test_lifted_bounds_are_said_and_have_no_longest_text() -> None:
    free = value_grammar({"type": "string"}, None)
    assert free.report.longest_call is None
    assert free.report.bounds is None
    assert "no limit" in str(free.report)
    assert free.check(with_value('"' + "x" * 50_000 + '"'))


def test_the_longest_call_is_the_longest_text() -> None:
    one = value_grammar({"type": "string", "maxLength": 3}, replace(BASE, calls=1))
    # Each character may be spelled as a pair of escapes: twelve bytes.
    longest = with_value('"' + "\\ud83d\\ude00" * 3 + '"')
    assert one.check(longest)
    assert one.report.longest_call == len(longest)
    two = value_grammar({"type": "string", "maxLength": 3}, replace(BASE, calls=2))
    assert two.report.longest_call == 2 * len(longest)


# compile_schema ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "options", "accept", "reject"),
    [
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {},
         ['{"a":1}', '{ "a" : 1 }', '{"a": 1.0}', '{"a": 1, "z": [2]}'],
         ["{}", '{"a": 1.5}', '{"z": 1, "a": 1}', '{"a": 1}}', ""]),
        ({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
         {"key_order": "any"}, ['{"a": 1, "b": 2}', '{"b": 2, "a": 1}', '{"z": 0, "b": 2, "a": 1}'],
         ['{"a": 1}', '{"a": 1, "b": 2, "a": 3}']),
        ({"type": "array", "items": {"type": "integer"}}, {"whitespace": "exact"},
         ["[]", "[1, 2]"], ["[1,2]", "[ ]", "[1 ,2]", "\n[]"]),
        ({"type": "array", "items": {"type": "integer"}}, {"bounds": BASE},
         ["[1,\n 2]", "[  ]"], ["[1,   2]", "[1, 2, 3, 4]", "[12345]"]),
        (True, {}, ["1", '"x"', "null", '{"a": [{}]}'], ["", "x", "01", "nul"]),
        ({"type": "string", "format": "date"}, {}, ['"2024-02-29"'], ['"2023-02-29"']),
        ({"const": {"a": [1, "é"]}}, {}, ['{"a":[1,"é"]}', '{ "a": [ 1, "é" ] }'],
         ['{"a":[1]}', "{}", '{"a":[1,"é",1]}']),
        ({"enum": [[], {}, "x", [[1]]]}, {}, ["[]", "{ }", '"x"', "[[1 ]]"], ["[1]", "x", "[[]]"]),
    ],
)  # fmt: skip
def test_one_value(
    schema: Any, options: dict[str, Any], accept: list[str], reject: list[str]
) -> None:
    grammar = calligram.compile_schema(schema, **options)
    for text in accept:
        assert grammar.check(text), text
    for text in reject:
        assert not grammar.check(text), text


def test_a_value_is_rendered_as_the_grammar_wants_it() -> None:
    schema = {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "string"}}}
    grammar = calligram.compile_schema(schema)
    assert grammar.render({"a": "x", "b": 1.0}) == '{"b": 1, "a": "x"}'
    with pytest.raises(calligram.RenderError, match="not-accepted"):
        grammar.render({"b": "x"})
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(calligram.RenderError, match="not-carryable"):
        calligram.compile_schema({}).render(deep)
    assert grammar.trigger.rules == ()


# Costs ------------------------------------------------------------------------------------------


def many_tools(count: int) -> list[dict[str, Any]]:
    properties: dict[str, Any] = {
        "query": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
        "kind": {"enum": ["a", "b", "c"]},
        "where": {"type": "object", "properties": {"lat": {"type": "number"}}},
        "tags": {"type": "array", "items": {"type": "string"}},
    }
    schema = {"type": "object", "properties": properties, "required": ["query"]}
    return [{"name": f"tool_{i}", "parameters": schema} for i in range(count)]


@pytest.mark.parametrize("dialect", ["hermes-json", "qwen3-coder-xml", "lfm2-pythonic"])
def test_two_hundred_tools_compile_in_a_second(dialect: str) -> None:
    tools = many_tools(200)
    calligram.compile_tools(tools[:1], dialect)
    started = time.process_time()
    grammar = calligram.compile_tools(tools, dialect)
    assert time.process_time() - started < 1.5
    assert "report" not in grammar.__dict__
    call = {"name": "tool_199", "arguments": {"query": "x", "limit": 5}}
    assert grammar.check(grammar.render([call]))


def test_bounds_cost_nothing_at_compile() -> None:
    large = Bounds(string=10**6, items=10**6, keys=10**6, digits=10**4, calls=10**6)
    started = time.process_time()
    grammar = calligram.compile_tools([OPENAI], "mistral-args", bounds=large)
    assert grammar.check(CALL)
    assert time.process_time() - started < 0.5


def test_deep_recursion_costs_what_is_walked() -> None:
    started = time.process_time()
    grammar = value_grammar(NESTED, Bounds(recursion=10_000), **{"$defs": DEFS})
    assert grammar.check(with_value(recursive(50)))
    assert time.process_time() - started < 1


@pytest.mark.parametrize("draft", ["4", "6", "7"])
def test_an_integer_of_draft_4_has_no_fraction(draft: str) -> None:
    schema = {"$schema": f"http://json-schema.org/draft-0{draft}/schema#", "type": "integer"}
    valid = validator_for(schema)(schema).is_valid(1.0)
    assert valid == (draft != "4")
    grammar = calligram.compile_schema(schema)
    assert grammar.check("1").accepted
    assert grammar.check("1.0").accepted == valid
    within = {"$ref": "urn:whole"}
    within_document = calligram.compile_schema(within, documents={"urn:whole": schema})
    assert within_document.check("1.0").accepted == valid


@pytest.mark.parametrize(
    "schema",
    [
        {
            "propertyNames": {"enum": ["b"]},
            "not": {"patternProperties": {"^[ab]+$": {"type": "null"}}},
        },
        {
            "propertyNames": {"enum": ["b"]},
            "not": {"patternProperties": {"^[ab]+$": {"type": "null"}, "^$": {"type": "null"}}},
        },
    ],
)
@pytest.mark.parametrize("order", ["schema", "any"])
def test_a_class_of_keys_that_holds_no_key_is_left_out(schema: Any, order: Any) -> None:
    grammar = calligram.compile_schema(schema, key_order=order)
    judge = validator_for({})(schema)
    for value in ({}, {"b": None}, {"b": 1}, {"a": 1}, {"": 1}):
        assert grammar.check(json.dumps(value)).accepted == judge.is_valid(value), value
