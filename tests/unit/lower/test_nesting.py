"""Values that nest deeper than the interpreter's stack."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import calligram
from calligram.compiler import ir
from calligram.compiler.lower.nesting import STEP, innermost_first, landings

DEEP = 200
LEAF = ir.NullValue()


def nested(levels: int, outside: Any) -> Any:
    made: Any = {"type": "integer"}
    for _ in range(levels):
        made = outside(made)
    return made


SHAPES = {
    "properties": (lambda inner: {"type": "object", "properties": {"a": inner}}, '{"a": ', "}"),
    "required": (
        lambda inner: {"type": "object", "properties": {"a": inner}, "required": ["a"]},
        '{"a": ', "}",
    ),
    "items": (lambda inner: {"type": "array", "items": inner}, "[", "]"),
    "prefixItems": (
        lambda inner: {"type": "array", "prefixItems": [inner], "items": False}, "[", "]"
    ),
    "additionalProperties": (
        lambda inner: {"type": "object", "additionalProperties": inner}, '{"x": ', "}"
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_schemas_nest_as_deep_as_a_document_may(shape: str) -> None:
    outside, opening, closing = SHAPES[shape]
    grammar = calligram.compile_schema(nested(DEEP, outside))
    assert grammar.check(opening * DEEP + "1" + closing * DEEP)
    assert not grammar.check(opening * DEEP + '"1"' + closing * DEEP)
    assert not grammar.check(opening * (DEEP + 1) + "1" + closing * (DEEP + 1))


def test_distinct_items_nest_deep_too() -> None:
    outside, opening, closing = SHAPES["required"]
    deep = 160
    schema = {"type": "array", "items": nested(deep, outside), "uniqueItems": True}
    grammar = calligram.compile_schema(schema)
    one, two = (opening * deep + n + closing * deep for n in "12")
    assert grammar.check(f"[{one}, {two}]")
    assert not grammar.check(f"[{one}, {one}]")


def test_references_lead_deeper_than_the_stack() -> None:
    depth = 2 * sys.getrecursionlimit()
    links = {
        f"d{i}": {"properties": {"n": {"$ref": f"#/$defs/d{i + 1}"}}, "required": ["n"],
                  "type": "object"}
        for i in range(depth)
    }  # fmt: skip
    schema = {"$ref": "#/$defs/d0", "$defs": {**links, f"d{depth}": {"type": "null"}}}
    grammar = calligram.compile_schema(schema)
    assert grammar.check('{"n":' * depth + "null" + "}" * depth)
    assert not grammar.check('{"n":' * depth + "0" + "}" * depth)


def test_what_is_shared_is_visited_once() -> None:
    links = {
        f"d{i}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/d{i + 1}"} for k in "abc"},
                  "required": ["a", "b", "c"]}
        for i in range(100)
    }  # fmt: skip
    schema = {"$ref": "#/$defs/d0", "$defs": {**links, "d100": {"type": "null"}}}
    grammar = calligram.compile_schema(schema)
    assert not grammar.check('{"a": {"a": null')
    assert grammar.report.longest_call is None or grammar.report.longest_call > 3**100


def deep(levels: int, inner: ir.Value = LEAF) -> ir.Value:
    for _ in range(levels):
        inner = ir.ArrayValue((), inner)
    return inner


def test_landings_are_a_step_apart_the_inner_ones_first() -> None:
    assert not list(landings(deep(STEP), distinct=True))
    found = list(landings(deep(3 * STEP + 1), distinct=True))
    assert len(found) == 3
    order = {id(part): n for n, part in enumerate(innermost_first(deep(1)))}
    assert len(order) == 2
    for inner, outer in zip(found, found[1:], strict=False):
        inside = list(innermost_first(outer))
        assert any(part is inner for part in inside)
        assert len(inside) == len(list(innermost_first(inner))) + STEP


def test_distinct_items_are_entered_only_if_asked() -> None:
    value = ir.ArrayValue((), deep(3 * STEP), unique=True)
    assert not list(landings(value, distinct=False))
    assert len(list(landings(value, distinct=True))) == 3
