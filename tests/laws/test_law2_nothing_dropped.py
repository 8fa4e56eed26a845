"""Law 2, nothing is dropped in silence: what is accepted validates, each keyword that the schemas
hold has a finding, and no keyword of the table lets its counterexample through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

import calligram
from calligram.compiler.compiled import CompiledGrammar
from calligram.compiler.grammar import Expr, Member
from calligram.compiler.spec_loader import load_dialect
from calligram.targets import gbnf, parser
from tests.engine import Engine
from tests.laws.test_law1_one_language import drawn, report
from tests.laws.tools import TOOLS, named_by_keys, tool
from tests.sampling import fuzzed

DRAWN = fuzzed(30)


def violations(grammar: CompiledGrammar, texts: list[str]) -> list[str]:
    """Accepted texts whose calls break their schemas, and keywords that the report leaves out."""
    return [*invalid(grammar, texts), *unreported(grammar)]


def invalid(grammar: CompiledGrammar, texts: list[str]) -> list[str]:
    """What an independent validator says of the calls in accepted texts."""
    reading = parser.compile(grammar)
    judges = {c.name: validator(c.schema) for c in grammar.calls}
    out = []
    for text in texts:
        if not grammar.check(text).accepted:
            continue
        calls = reading.parse(text).calls
        if not calls and grammar.tool_choice == "required":
            out.append(f"no call in {text!r}")
        for call in calls:
            for error in judges[call["name"]].iter_errors(call["arguments"]):
                out.append(f"{error.json_path}: {error.message}, accepted: {text!r}")
    return out


def validator(schema: Any) -> Any:
    """jsonschema with formats asserted."""
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return jsonschema.Draft202012Validator(schema, format_checker=checker)


def unreported(grammar: CompiledGrammar) -> list[str]:
    """Keyword occurrences without a finding, or with more than one status."""
    statuses: dict[tuple[str | None, str], set[str]] = {}
    for finding in grammar.report.findings:
        if finding.origin.pointer.endswith(f"/{escape(finding.keyword)}"):
            key = (finding.origin.tool, finding.origin.pointer)
            statuses.setdefault(key, set()).add(finding.status)
    return [
        f"{call.name}: {pointer} has the statuses {sorted(found)}"
        for call in grammar.calls
        for pointer in keywords(call.schema, "")
        if len(found := statuses.get((call.name, pointer), set())) != 1
    ]


SCHEMAS = ("additionalProperties", "items", "not", "propertyNames", "contains", "if", "then",
           "else", "additionalItems", "unevaluatedProperties", "unevaluatedItems")  # fmt: skip
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def keywords(schema: Any, at: str) -> Iterator[str]:
    """The pointers of all keywords in a schema."""
    if not isinstance(schema, dict):
        return
    for word, value in schema.items():
        here = f"{at}/{escape(word)}"
        yield here
        if word in SCHEMAS:
            yield from keywords(value, here)
        elif word in LISTS:
            for index, inner in enumerate(value):
                yield from keywords(inner, f"{here}/{index}")
        elif word in MAPS:
            for name, inner in value.items():
                yield from keywords(inner, f"{here}/{escape(name)}")


def escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", calligram.dialects())
def test_what_is_accepted_validates(dialect: str) -> None:
    grammar = calligram.compile_tools([*TOOLS, *cases_as_tools(dialect).values()], dialect)
    wrong = violations(grammar, drawn(grammar, DRAWN, "law 2", dialect))
    assert not wrong, report(wrong)


# One keyword at a time --------------------------------------------------------------------------

# keyword: (schema of the value, a valid value, an invalid one that nothing but the keyword forbids)
CASES: dict[str, tuple[Any, Any, Any]] = {
    "type string": ({"type": "string"}, "a", [1]),
    "type integer": ({"type": "integer"}, -7, 1.5),
    "type number": ({"type": "number"}, 2.5, "x"),
    "type boolean": ({"type": "boolean"}, False, 0),
    "type null": ({"type": "null"}, None, 0),
    "type array": ({"type": "array"}, [1, "a"], "x"),
    "type object": ({"type": "object"}, {"k": 1}, [1]),
    "type list": ({"type": ["integer", "null"]}, None, True),
    "enum": ({"enum": ["a", 1, None]}, 1, 2),
    "const": ({"const": {"a": [1]}}, {"a": [1]}, {"a": [2]}),
    "minimum": ({"type": "integer", "minimum": 3}, 3, 2),
    "maximum": ({"type": "integer", "maximum": 3}, 3, 4),
    "exclusiveMinimum": ({"type": "number", "exclusiveMinimum": 3}, 3.5, 3),
    "exclusiveMaximum": ({"type": "number", "exclusiveMaximum": 3}, 2.5, 3),
    "multipleOf": ({"type": "integer", "multipleOf": 7}, 14, 15),
    "minLength": ({"type": "string", "minLength": 2}, "é☃", "é"),
    "maxLength": ({"type": "string", "maxLength": 2}, "é☃", "é☃x"),
    "pattern": ({"type": "string", "pattern": "^a+$"}, "aa", "ab"),
    "format date": ({"type": "string", "format": "date"}, "2024-02-29", "2023-02-29"),
    "format uuid": (
        {"type": "string", "format": "uuid"},
        "123e4567-e89b-12d3-a456-426614174000",
        "123e4567-e89b-12d3-a456-42661417400",
    ),
    "format ipv4": ({"type": "string", "format": "ipv4"}, "127.0.0.1", "256.0.0.1"),
    "items": ({"type": "array", "items": {"type": "integer"}}, [1, 2], [1, "a"]),
    "prefixItems": ({"type": "array", "prefixItems": [{"type": "null"}]}, [None], [1]),
    "items false": (
        {"type": "array", "prefixItems": [{"type": "null"}], "items": False}, [None], [None, 1]
    ),
    "minItems": ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [1, 2], [1]),
    "maxItems": ({"type": "array", "items": {"type": "integer"}, "maxItems": 2}, [1, 2], [1, 2, 3]),
    "properties": (
        {"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1}, {"a": "1"}
    ),
    "required": (
        {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["b"]}, {"b": 1}, {"a": 1}
    ),
    "additionalProperties": (
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "integer"}},
        {"a": "x", "b": 1},
        {"a": "x", "b": "x"},
    ),
    "additionalProperties false": (
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        {"a": 1},
        {"a": 1, "b": 1},
    ),
    "patternProperties": (
        {"type": "object", "patternProperties": {"^x": {"type": "integer"}}}, {"x": 1}, {"x": "1"}
    ),
    "propertyNames": (
        {"type": "object", "propertyNames": {"pattern": "^x"}}, {"x": 1}, {"y": 1}
    ),
    "minProperties": ({"type": "object", "minProperties": 1}, {"a": 1}, {}),
    "minProperties with open keys": (
        {"type": "object", "required": ["a"], "minProperties": 2}, {"a": 1, "b": 1}, {"a": 1}
    ),
    "maxProperties": ({"type": "object", "maxProperties": 1}, {"a": 1}, {"a": 1, "b": 2}),
    "allOf": (
        {"allOf": [{"type": "integer", "minimum": 1}, {"type": "integer", "maximum": 3}]}, 3, 4
    ),
    "anyOf": ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, 1.5),
    "oneOf": ({"oneOf": [{"type": "integer"}, {"const": 3}]}, 4, 3),
    "not": ({"type": "integer", "not": {"const": 3}}, 4, 3),
    "if": (
        {"type": "integer", "if": {"minimum": 10}, "then": {"multipleOf": 10}}, 20, 25
    ),
    "$ref": ({"$ref": "#/properties/two"}, 1, 1.5),
    "dependentRequired": (
        {
            "type": "object",
            "properties": {"a": {}, "b": {}},
            "additionalProperties": False,
            "dependentRequired": {"a": ["b"]},
        },
        {"a": 1, "b": 2},
        {"a": 1},
    ),
}  # fmt: skip
CASES_AS_TOOLS = {
    name: tool(f"case{index}", {"value": schema, "two": {"type": "integer"}}, "value")
    for index, (name, (schema, _, _)) in enumerate(CASES.items())
}
UNDECLARED_OWED = ("minProperties", "minProperties with open keys")
"""Cases that ask for undeclared keys."""


def cases_as_tools(dialect: str) -> dict[str, dict[str, Any]]:
    """The cases that compile: undeclared keys cannot be asked for where none can be enforced."""
    owed = UNDECLARED_OWED if named_by_keys(dialect) else ()
    return {name: case for name, case in CASES_AS_TOOLS.items() if name not in owed}


@pytest.mark.parametrize("name", UNDECLARED_OWED)
def test_undeclared_keys_that_are_owed_and_cannot_be_written_are_refused(name: str) -> None:
    for dialect in filter(named_by_keys, calligram.dialects()):
        with pytest.raises(calligram.ToolError) as refused:
            calligram.compile_tools([CASES_AS_TOOLS[name]], dialect)
        (problem,) = refused.value.problems
        assert problem.code == "unsupported-keyword"
        assert problem.origin.pointer == "/properties/value/minProperties"


def test_the_table_means_what_it_says() -> None:
    for name, (_, right, wrong) in CASES.items():
        judge = validator(CASES_AS_TOOLS[name]["function"]["parameters"])
        assert judge.is_valid({"value": right})
        assert not judge.is_valid({"value": wrong})


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_each_keyword_refuses_its_counterexample(dialect: str, engine: Engine) -> None:
    cases = cases_as_tools(dialect)
    grammar = calligram.compile_tools(list(cases.values()), dialect)
    names: list[str] = []
    rights: list[str] = []
    wrongs: list[str] = []
    for name, case in cases.items():
        _, right, wrong = CASES[name]
        written: list[str] = []
        for value in (right, wrong):
            call = {"name": case["function"]["name"], "arguments": {"value": value}}
            try:
                written.append(grammar.render([call], validate=value is right))
            except calligram.RenderError as error:
                # A notation that does not mark strings cannot even write some wrong values.
                if value is right:
                    assert unwritten(grammar, call["name"], error), (call, error)
                    break
                written.append("")
        else:
            names.append(name)
            rights.append(written[0])
            wrongs.append(written[1])
    assert len(names) > 25
    accepted = engine.accepted(gbnf.emit(grammar), rights + wrongs)
    refused = [names[i] for i, text in enumerate(rights) if not grammar.check(text)]
    refused += [f"{names[i]} (engine)" for i in range(len(names)) if not accepted[i]]
    assert not refused
    # Where a text is accepted after all it must read as something else, which is valid.
    passed = [(n, t) for n, t in zip(names, wrongs, strict=True) if grammar.check(t)]
    assert not invalid(grammar, wrongs), passed
    assert [bool(grammar.check(t)) for t in wrongs] == accepted[len(names) :]
    tagged = dialect in UNMARKED
    assert not [n for n, _ in passed if not tagged], passed


def unwritten(grammar: CompiledGrammar, case: str, error: calligram.RenderError) -> bool:
    """Is it a key that is not declared, and does the report say that such keys are not written?"""
    narrowed = (f for f in grammar.report.findings if f.origin.tool == case)
    said = any("in this notation" in f.how for f in narrowed if f.status == "narrowed")
    return said and [p.code for p in error.problems] == ["not-carryable"]


UNMARKED = [d for d in calligram.dialects() if load_dialect(d).args.notation in ("tagged", "tree")]
"""Dialects whose wire does not tell a string from what it spells."""


# The law can be broken --------------------------------------------------------------------------


def test_a_required_key_that_may_be_missing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lax(name: str, body: Expr, required: bool, *more: Any) -> Member:
        return Member(name, body, False, *more)

    monkeypatch.setattr("calligram.compiler.lower.objects.Member", lax)
    grammar = calligram.compile_tools(TOOLS, "hermes-json")
    found = violations(grammar, drawn(grammar, 40, "broken"))
    assert any("is a required property" in line for line in found)


def test_a_keyword_without_a_finding_is_noticed() -> None:
    grammar = calligram.compile_tools(TOOLS, "hermes-json")
    assert not violations(grammar, [])
    kept = [f for f in grammar.findings if f.keyword != "multipleOf"]
    found = violations(replace(grammar, findings=kept), [])
    assert found == ["measure: /properties/step/multipleOf has the statuses []"]
