"""Arguments taken apart by type, markup told from text, and reading that contains enforcing."""

from __future__ import annotations

import json
from typing import Any

import pytest

import calligram
from calligram.compiler import ir
from calligram.compiler.automaton.capturing import DEAD, CapturingAutomaton
from calligram.compiler.grammar import Literal, Sequence, Token
from calligram.compiler.lower.arguments import attribute_of, json_type, object_parts, split_types
from calligram.compiler.lower.shape import markup
from calligram.compiler.spec import TokenSpec, TypeAttrSpec
from calligram.targets import parser
from tests.sampling import Sampler, dice, fuzzed
from tests.unit.lower.helpers import arguments, codes, tool

TEXT, WHOLE, NULL = ir.StringValue(), ir.IntegerValue(), ir.NullValue()
TREE = ir.ReferenceValue("tree")
DEFINITIONS: dict[str, ir.Value] = {
    "tree": ir.ArrayValue(items=TREE),
    "mixed": ir.UnionValue((NULL, TREE, ir.ReferenceValue("mixed"))),
    "object": ir.ObjectValue((ir.Key("o", ir.ReferenceValue("object"), False),)),
}


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (TEXT, {"string": TEXT}),
        (ir.UnionValue((WHOLE, TEXT, NULL)), {"integer": WHOLE, "string": TEXT, "null": NULL}),
        (ir.UnionValue((TEXT, ir.EnumValue(("a",)))),
         {"string": ir.UnionValue((TEXT, ir.EnumValue(("a",))))}),
        (ir.EnumValue(("a", 1, "b", None, True, [1])),
         {"string": ir.EnumValue(("a", "b")), "integer": ir.EnumValue((1,)),
          "null": ir.EnumValue((None,)), "boolean": ir.EnumValue((True,)),
          "array": ir.EnumValue(([1],))}),
        (TREE, {"array": TREE}),
        (ir.ReferenceValue("mixed"), {"null": NULL, "array": TREE}),
        (ir.NeverValue(), {}),
    ],
)  # fmt: skip
def test_values_by_type(value: ir.Value, parts: dict[str, ir.Value]) -> None:
    found = split_types(value, DEFINITIONS)
    assert list(found.items()) == list(parts.items())


def test_anything_has_every_type() -> None:
    assert list(split_types(ir.AnyValue(), {})) == [
        "string", "number", "boolean", "null", "array", "object"
    ]  # fmt: skip


def test_objects_of_a_tool() -> None:
    thing = DEFINITIONS["object"]
    assert object_parts(ir.UnionValue((ir.ReferenceValue("object"), thing)), DEFINITIONS) == [
        thing, thing
    ]  # fmt: skip
    (made,) = object_parts(ir.EnumValue(({"a": 1, "b": "x"}, 5)), {})
    assert [(k.name, k.value, k.required) for k in made.keys] == [
        ("a", ir.EnumValue((1,)), True),
        ("b", ir.EnumValue(("x",)), True),
    ]
    (anything,) = object_parts(ir.AnyValue(), {})
    assert not anything.keys and anything.open_keys


@pytest.mark.parametrize(
    ("types", "name", "said"),
    [
        (TypeAttrSpec(string="s", default="d"), "string", "s"),
        (TypeAttrSpec(string="s", default="d"), "null", "d"),
        (TypeAttrSpec(number="n", default="d"), "integer", "n"),
        (TypeAttrSpec(number="n", integer="i"), "integer", "i"),
        (None, "string", None),
    ],
)
def test_what_the_type_hole_says(types: TypeAttrSpec | None, name: str, said: str | None) -> None:
    assert attribute_of(types, name) == said


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, "null"), (True, "boolean"), (1, "integer"), (1.0, "number"), ("", "string"),
     ([], "array"), ({}, "object")],
)  # fmt: skip
def test_types_of_values(value: Any, name: str) -> None:
    assert json_type(value) == name


def test_tokens_are_told_from_the_text_around_them_the_longest_first() -> None:
    tokens = (TokenSpec(text="<a>"), TokenSpec(text="<a>b", match="require"))
    assert markup("x<a>b<a>c", tokens) == Sequence(
        (Literal("x"), Token("<a>b", "require"), Token("<a>", "prefer"), Literal("c"))
    )
    assert markup("plain", tokens) == Literal("plain")
    assert markup("", tokens) == Sequence(())
    assert markup("<a>", tokens) == Token("<a>", "prefer")


# Keys -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "bad", "good"),
    [
        ("hermes-json", [], ["", 'a"b', "a\nb", " a "]),
        ("glm45-xml", ["", " a", "a</arg_key>\nb", "a\nb"], ["a b", "a<b", "é"]),
        ("qwen3-coder-xml", ["", "a>\nb", "a\nb"], ["a>b", "a b"]),
        ("deepseek-v32-dsml", ["", 'a" string="', "｜DSML｜"], ["a>b", "a b"]),
        ("gemma4", ["", "a:b", "a,b", "a{b", 'a"b', "a\nb", " a"], ["a b", "a.b", "é"]),
        ("lfm2-pythonic", ["", "a=b", "a'b", "a)b"], ["a_b", "é"]),
    ],
)
def test_keys_that_a_notation_cannot_hold_are_refused_with_their_place(
    dialect: str, bad: list[str], good: list[str]
) -> None:
    for key in good:
        schema = arguments(**{key: {"type": "null"}})
        grammar = calligram.compile_tools([tool("f", schema)], dialect)
        text = grammar.render([{"name": "f", "arguments": {key: None}}])
        assert parser.compile(grammar).parse(text).calls[0]["arguments"] == {key: None}
    for key in bad:
        with pytest.raises(calligram.ToolError) as caught:
            calligram.compile_tools([tool("f", arguments(**{key: {"type": "null"}}))], dialect)
        assert codes(caught.value) == ["not-carryable"], key
        assert caught.value.problems[0].origin.tool == "f"


# Reading contains enforcing ---------------------------------------------------------------------

SAMPLED = [
    tool("f", arguments(
        s_={"type": "string", "maxLength": 8}, n_={"type": "number"}, i_={"type": "integer"},
        b_={"type": ["boolean", "null"]}, e_={"enum": ["x", 2, None, [1, "y"]]},
        l_={"type": "array", "items": {"type": ["string", "integer"]}, "maxItems": 3},
        o_={"type": "object", "properties": {"k é": {"type": "string", "maxLength": 4}}},
        m_={"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2},
        any_={},
    )),
    tool("g_2", arguments()),
]  # fmt: skip


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_what_is_enforced_is_read_and_says_the_same_again(dialect: str) -> None:
    grammar = calligram.compile_tools(SAMPLED, dialect)
    reading = grammar.reading
    automaton = CapturingAutomaton(reading.rules, reading.start)
    reader = parser.compile(grammar)
    sampler = Sampler(grammar.enforced.rules, dice("reading", dialect))
    for text in sampler.texts(grammar.enforced.start, fuzzed(25)):
        config = automaton.start
        for byte in text.encode():
            config = automaton.step(config, byte).target
        assert config != DEAD and automaton.final(config) is not None, text
        result = reader.parse(text)
        assert not result.problems, (text, result.problems)
        again = reader.parse(grammar.render(result.calls, validate=False))
        # A call without an id, where ids may be missing, is written with one.
        said = [
            {**c, "id": r["id"] and c["id"]} for c, r in zip(again.calls, result.calls, strict=True)
        ]
        assert json.dumps(said) == json.dumps(result.calls), text


HALF: list[tuple[dict[str, Any], str]] = [
    ({"properties": {"\ud800": {"type": "integer"}}}, "/properties/\ud800"),
    ({"required": ["\ud800"], "additionalProperties": True}, "/additionalProperties"),
    ({"properties": {"a": {"enum": ["x\udfff"]}}}, "/properties/a/enum"),
    ({"properties": {"a": {"const": "\ud800"}}}, "/properties/a/const"),
    ({"properties": {"a": {"const": {"\ud800": 1}}}}, "/properties/a/const"),
]


@pytest.mark.parametrize("dialect", calligram.dialects())
@pytest.mark.parametrize(("schema", "pointer"), HALF, ids=range(len(HALF)))
def test_half_a_surrogate_pair_is_refused_where_it_stands(
    dialect: str, schema: dict[str, Any], pointer: str
) -> None:
    """It is no character, so no notation can carry it."""
    with pytest.raises(calligram.CalligramError) as error:
        calligram.compile_tools([{"name": "t", "parameters": {"type": "object"} | schema}], dialect)
    assert {(p.code, p.origin.tool) for p in error.value.problems} == {("not-carryable", "t")}
    assert error.value.problems[0].origin.pointer.startswith(pointer)
