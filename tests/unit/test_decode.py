"""Spelled text back to values."""

from __future__ import annotations

import ast
import json
import math
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler import ir
from calligram.compiler.decode import (
    TooDeep,
    Undecodable,
    decode_json,
    decode_json_inside,
    decode_python,
    decode_untyped,
    decode_xml,
    only_strings,
)
from calligram.compiler.limits import MAX_NESTING, too_deep
from calligram.compiler.spec import ArgsSpec, LiteralsSpec

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)  # fmt: skip


@given(JSON)
def test_json_is_read_as_json_reads_it(value: Any) -> None:
    assert decode_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.0", 1.0),
        ("1e3", 1000.0),
        ("-0.0", -0.0),
        ("1e400", 10**400),
        ('"a\nb"', "a\nb"),  # Control characters are the grammar's business.
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\ud83dx"', "\ufffdx"),
        ('{"\\ud83d": ["\\ude00"]}', {"\ufffd": ["\ufffd"]}),
    ],
)
def test_json_at_its_edges(text: str, value: Any) -> None:
    found = decode_json(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "NaN",
        "Infinity",
        "-Infinity",
        "[1,]",
        "01",
        "'a'",
        "1e5000",
        "1" * 5000,
        "{",
        "1 2",
    ],
)
def test_what_is_no_json_is_undecodable(text: str) -> None:
    with pytest.raises(Undecodable):
        decode_json(text)


@pytest.mark.parametrize("depth", [MAX_NESTING + 1, 900, 100_000])
def test_deep_json_is_too_deep(depth: int) -> None:
    for text in ("[" * depth + "]" * depth, '{"\\u0041":' * depth + "1" + "}" * depth):
        with pytest.raises(TooDeep):
            decode_json(text)


def test_the_deepest_that_is_read() -> None:
    text = "[" * MAX_NESTING + '"\\u0041"' + "]" * MAX_NESTING
    value = decode_json(text)
    assert json.dumps(value).count("[") == MAX_NESTING
    assert not too_deep(value) and too_deep([value])
    assert not too_deep("x") and not too_deep({}) and not too_deep(())


def test_repeated_keys_are_told_and_the_last_one_counts() -> None:
    found: list[str] = []
    assert decode_json('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}', found) == {"a": 3, "b": {"c": 2}}
    assert sorted(found) == ["a", "c"]


@given(st.text(alphabet="\\'\"nrtabfvxuU0123456789dDé\n", max_size=10))
def test_python_is_read_as_python_reads_it(body: str) -> None:
    if body.endswith("'") or "'''" in body:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python says so of unknown escapes.
            expected = ast.literal_eval(f"'''{body}'''")
    except (SyntaxError, ValueError):
        return
    assert decode_python(body) == expected.encode("utf-16", "surrogatepass").decode(
        "utf-16", "replace"
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("a\\'b\\\"", "a'b\""),
        ("\\x41\\u00e9\\U0001F600\\101", "Aé😀A"),
        ("\\q", "\\q"),
        ("\\x4", "\\x4"),
        ("a\\", "a\\"),
        ("\\ud83d\\ude00", "😀"),
        ("\\ud83d", "\ufffd"),
        ("\\U00110000", "\\U00110000"),
        ("a\\\nb", "ab"),
    ],
)
def test_python_escapes(body: str, text: str) -> None:
    assert decode_python(body) == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("a &lt; b &amp;&amp; c", "a < b && c"),
        ("&quot;&apos;&gt;", "\"'>"),
        ("&amp;lt;", "&lt;"),
        ("& &nbsp; &#65;", "& &nbsp; &#65;"),
    ],
)
def test_xml_entities(body: str, text: str) -> None:
    assert decode_xml(body) == text


DEFINITIONS: dict[str, ir.Value] = {
    "text": ir.UnionValue((ir.StringValue(), ir.ReferenceValue("text"))),
    "mixed": ir.UnionValue((ir.StringValue(), ir.ArrayValue(items=ir.ReferenceValue("mixed")))),
}


@pytest.mark.parametrize(
    ("kind", "only"),
    [
        (ir.StringValue(), True),
        (ir.EnumValue(("a", "1")), True),
        (ir.EnumValue(("a", 1)), False),
        (ir.UnionValue((ir.StringValue(), ir.EnumValue(("x",)))), True),
        (ir.UnionValue((ir.StringValue(), ir.NullValue())), False),
        (ir.AnyValue(), False),
        (ir.ReferenceValue("text"), True),
        (ir.ReferenceValue("mixed"), False),
    ],
)
def test_only_strings(kind: ir.Value, only: bool) -> None:
    assert only_strings(kind, DEFINITIONS) is only


ARGS = ArgsSpec(
    notation="tagged",
    literals=LiteralsSpec(null=("null", "None"), true=("true", "True"), false=("false", "False")),
)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("1", None, 1),
        ("None", None, None),
        ("one", None, "one"),
        ("None", ir.StringValue(), "None"),
        ("None", ir.UnionValue((ir.StringValue(), ir.NullValue())), None),
        ("None", ir.UnionValue((ir.StringValue(), ir.IntegerValue())), "None"),
        ("True", ir.BooleanValue(), True),
        ("1", ir.UnionValue((ir.StringValue(), ir.IntegerValue(minimum=2))), "1"),
        ("2", ir.UnionValue((ir.StringValue(), ir.IntegerValue(minimum=2))), 2),
        ("x", ir.IntegerValue(), "x"),
        ("1", ir.IntegerValue(minimum=2), 1),
        ("1", ir.EnumValue(("1", 1)), 1),
    ],
)
def test_untyped_text(text: str, kind: ir.Value | None, value: Any) -> None:
    found = decode_untyped(text, kind, {}, ARGS)
    assert (found, type(found)) == (value, type(value))


def test_untyped_text_that_nests_too_deeply_is_not_passed_off_as_a_string() -> None:
    with pytest.raises(TooDeep):
        decode_untyped("[" * 500 + "]" * 500, None, {}, ARGS)
    assert decode_untyped("[" * 500, None, {}, ARGS) == "[" * 500
    assert math.isclose(decode_untyped("1.5", None, {}, ARGS), 1.5)


PYTHON = ArgsSpec(notation="tagged", read_python=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': {'b': 1}, 's': 'x'}", {"a": {"b": 1}, "s": "x"}),
        ("['x', \"it's\", '\"', '\\\\', '\\x41\\n']", ["x", "it's", '"', "\\", "A\n"]),
        ("[None, True, False, -1.5, 2e3, []]", [None, True, False, -1.5, 2000.0, []]),
        (" [ 'a' , { } ] ", ["a", {}]),
        ("['naïve ☃', '\"}', ',']", ["naïve ☃", '"}', ","]),
    ],
)
def test_containers_as_python_prints_them(text: str, value: object) -> None:
    assert decode_untyped(text, None, {}, PYTHON) == value
    assert ast.literal_eval(text.strip()) == value
    assert decode_untyped(text, None, {}, ARGS) == text


@pytest.mark.parametrize(
    "text",
    ["['a'", "{'a'}", "{1: 2}", "['a' 'b']", "[x]", "[b'a']", "['a',]", "['a\\']", "('a',)", "'a'",
     "[1_000]", "[Nones]", "[f('a')]", "{'a': 'b', **c}", "[...]"],
)  # fmt: skip
def test_no_container_of_json_values_stays_text(text: str) -> None:
    assert decode_untyped(text, None, {}, PYTHON) == text


def test_deep_python_is_too_deep() -> None:
    with pytest.raises(TooDeep):
        decode_untyped("[" * 500 + "''" + "]" * 500, None, {}, PYTHON)


def test_a_key_twice_is_told_in_python_too() -> None:
    twice: list[str] = []
    assert decode_untyped("{'a': 1, 'a': 2}", None, {}, PYTHON, twice) == {"a": 2}
    assert twice == ["a"]


@pytest.mark.parametrize(
    ("inside", "value"),
    [("a", "a"), ('say "x"', 'say "x"'), ('\\"', '"'), ("\\'", "'"), ("\\u00e9\\n", "é\n"),
     ("\\\\\"", '\\"')],
)  # fmt: skip
def test_the_inside_of_a_json_string(inside: str, value: str) -> None:
    assert decode_json_inside(inside) == value


@pytest.mark.parametrize("inside", ["\\q", "\\u12", "a\\"])
def test_no_inside_of_a_json_string(inside: str) -> None:
    with pytest.raises(Undecodable):
        decode_json_inside(inside)
