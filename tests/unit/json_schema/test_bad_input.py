"""Wrong, hostile and oversize schemas: a located error or a stated limit, and soon."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from calligram.compiler.errors import LimitExceeded, SchemaError
from calligram.compiler.ir import EnumValue
from tests.unit.json_schema.helpers import accepts, problem, problems, read


@pytest.mark.parametrize(
    ("schema", "pointer", "words"),
    [
        ({"type": 3}, "/type", "a type or a list of types, not 3"),
        ({"type": []}, "/type", "a type or a list of types, not []"),
        ({"properties": []}, "/properties", "an object of schemas, not []"),
        ({"properties": {"a": 3}}, "/properties/a", "expected a schema, not 3"),
        ({"properties": {"a": {"type": "string", "required": True}}}, "/properties/a/required",
         "a list of keys, not true"),
        ({"required": "a"}, "/required", 'a list of keys, not "a"'),
        ({"required": [1]}, "/required", "a list of keys, not [1]"),
        ({"minLength": "3"}, "/minLength", 'a whole number of at least 0, not "3"'),
        ({"minLength": -1}, "/minLength", "at least 0, not -1"),
        ({"maxItems": 1.5}, "/maxItems", "at least 0, not 1.5"),
        ({"maxItems": True}, "/maxItems", "at least 0, not true"),
        ({"items": 3}, "/items", "expected a schema, not 3"),
        ({"prefixItems": {}}, "/prefixItems", "a list of schemas, not {}"),
        ({"anyOf": {}}, "/anyOf", "a list of at least one schema, not {}"),
        ({"anyOf": []}, "/anyOf", "a list of at least one schema, not []"),
        ({"allOf": [3]}, "/allOf/0", "expected a schema, not 3"),
        ({"not": None}, "/not", "expected a schema, not null"),
        ({"enum": "a"}, "/enum", 'a list of values, not "a"'),
        ({"enum": [float("nan")]}, "/enum", "nan is no JSON value"),
        ({"const": (1,)}, "/const", "(1,) is no JSON value"),
        ({"minimum": "0"}, "/minimum", 'a number, not "0"'),
        ({"maximum": float("inf")}, "/maximum", "a number, not inf"),
        ({"multipleOf": 0}, "/multipleOf", "a number above 0, not 0"),
        ({"pattern": 3}, "/pattern", "a regular expression, not 3"),
        ({"pattern": "([a-z"}, "/pattern", "invalid regular expression '([a-z'"),
        ({"patternProperties": {"[": {}}}, "/patternProperties/[", "invalid regular expression"),
        ({"format": 3}, "/format", "the name of a format, not 3"),
        ({"uniqueItems": "yes"}, "/uniqueItems", 'true or false, not "yes"'),
        ({"$ref": 3}, "/$ref", "a reference, not 3"),
        ({"dependentRequired": {"a": 3}}, "/dependentRequired", "a list of keys for each key"),
        ({1: True}, "", "1 is no JSON key"),
        ({"properties": {3: {}}}, "/properties", "3 is no JSON key"),
        ({"patternProperties": {None: {}}}, "/patternProperties", "None is no JSON key"),
        ({"$defs": {"a/b": {"enum": [[{b"x": 1}]]}}}, "/$defs/a~1b/enum/0/0",
         "b'x' is no JSON key"),
        ({"dependentRequired": {1: ["a"]}}, "/dependentRequired", "1 is no JSON key"),
        ({"type": "object", "additionalProperties": "no"}, "/additionalProperties",
         'expected a schema, not "no"'),
    ],
)  # fmt: skip
def test_a_wrong_keyword_value_is_located(schema: Any, pointer: str, words: str) -> None:
    found = problems(schema)[0]
    assert found.origin.pointer == pointer
    assert words in found.message
    assert found.code in ("invalid-schema", "invalid-pattern")


@pytest.mark.parametrize("schema", [None, 3, "object", [], [{}]])
def test_a_schema_is_an_object_or_a_boolean(schema: Any) -> None:
    assert problem(schema).code == "invalid-schema"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("dict", "object"), ("float", "number"), ("int", "integer"), ("str", "string"),
     ("bool", "boolean"), ("list", "array"), ("None", "null"), ("String", "string")],
)  # fmt: skip
def test_other_languages_type_names_are_answered_with_json_schemas(name: str, hint: str) -> None:
    found = problem({"properties": {"x": {"type": name}}})
    assert (found.code, found.origin.pointer) == ("unknown-type", "/properties/x/type")
    assert found.message == f'unknown type "{name}"; did you mean "{hint}"?'
    assert "the types are" in (problem({"type": "wibble"}).hint or "")


def test_all_problems_come_at_once() -> None:
    schema = {"type": "object", "properties": {
        "a": {"type": "dict"}, "b": {"pattern": "("}, "c": {"$ref": "#/x"},
        "d": {"type": "array", "items": {"minLength": "1"}}}}  # fmt: skip
    assert [p.origin.pointer for p in problems(schema)] == [
        "/properties/a/type", "/properties/b/pattern", "/properties/c/$ref",
        "/properties/d/items/minLength",
    ]  # fmt: skip


def deep(levels: int, keyword: str) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {keyword: [schema] if keyword in ("allOf", "anyOf", "oneOf") else schema}
    return schema


@pytest.mark.parametrize("keyword", ["items", "allOf", "anyOf", "oneOf", "not", "if"])
def test_nesting_of_ten_thousand_levels_is_a_limit(keyword: str) -> None:
    with pytest.raises(LimitExceeded) as caught:
        read(deep(10_000, keyword))
    assert caught.value.problems[0].code == "schema-too-deep"
    # Free the schema without deep recursion in the interpreter.
    assert sys.getrecursionlimit() < 10_000


@pytest.mark.parametrize("keyword", ["items", "allOf", "anyOf", "oneOf", "not", "if"])
@pytest.mark.parametrize("levels", [40, 100, 240, 300])
def test_nesting_is_read_or_refused_but_never_overflows(keyword: str, levels: int) -> None:
    schema = deep(levels, keyword)
    try:
        read(schema)
    except LimitExceeded as error:
        assert error.problems[0].code == "schema-too-deep"
        assert levels > 40
    except SchemaError as error:
        assert keyword == "not" and error.problems


def test_a_long_chain_of_references_is_no_nesting() -> None:
    n = 2000
    defs: dict[str, Any] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(n)}
    defs[f"d{n}"] = {"enum": ["end"]}
    value = read({"$defs": defs, "type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}})
    assert "end" in repr(value)


def test_a_python_object_that_holds_itself_is_a_limit() -> None:
    schema: dict[str, Any] = {"type": "array"}
    schema["items"] = schema
    with pytest.raises(LimitExceeded):
        read(schema)


def test_enum_of_five_thousand_strings_is_quick() -> None:
    words = [f"value-{i}" for i in range(5000)]
    schema = {"type": "string", "enum": words}
    value = read(schema).value
    assert isinstance(value, EnumValue) and list(value.values) == words
    best = 1.0
    for _ in range(3):
        start = time.perf_counter()
        read(schema)
        best = min(best, time.perf_counter() - start)
    assert best < 0.1


def test_numbers_too_large_to_write_out_are_a_limit() -> None:
    for schema in ({"minimum": Decimal("1e999999")}, {"enum": [Decimal("1e-999999")]},
                   {"type": "integer", "multipleOf": Decimal("1e-5000")}):  # fmt: skip
        with pytest.raises(LimitExceeded) as caught:
            read(schema)
        assert caught.value.problems[0].code == "number-too-large"
    assert read({"type": "number", "maximum": 1e308})


def test_unions_that_multiply_out_stop_at_a_limit() -> None:
    options = [{"required": [f"k{i}"]} for i in range(10)]
    schema = {"type": "object", "allOf": [
        {"anyOf": [{"required": [f"{o['required'][0]}-{j}"]} for o in options]} for j in range(6)
    ]}  # fmt: skip
    start = time.perf_counter()
    with pytest.raises(LimitExceeded) as caught:
        read(schema)
    assert caught.value.problems[0].code in ("too-many-alternatives", "schema-too-complex")
    assert time.perf_counter() - start < 10


def test_many_overlapping_options_end_soon() -> None:
    options = [{"type": "object", "properties": {f"k{j}": {"type": "integer", "minimum": i}
                for j in range(12)}} for i in range(12)]  # fmt: skip
    start = time.perf_counter()
    with pytest.raises((LimitExceeded, SchemaError)):
        read({"oneOf": options})
    assert time.perf_counter() - start < 20


def test_too_many_nodes_is_a_limit() -> None:
    schema = {"type": "object", "properties": {f"k{i}": {"minLength": i} for i in range(100)}}
    with pytest.raises(LimitExceeded) as caught:
        read(schema, max_nodes=50)
    assert caught.value.problems[0].code == "schema-too-large"


def test_a_usual_tool_schema_reads_in_well_under_a_millisecond() -> None:
    schema = {"type": "object", "required": ["p0"], "properties": {
        f"p{i}": {"type": ["string", "integer", "boolean", "number"][i % 4], "description": "…"}
        for i in range(10)}}  # fmt: skip
    best = 1.0
    for _ in range(20):
        start = time.perf_counter()
        read(schema, closed_objects=True)
        best = min(best, time.perf_counter() - start)
    # Three times what is wanted: the machine that tests may be slow.
    assert best < 0.003


@pytest.mark.parametrize("keyword", ["minContains", "minItems", "minProperties", "minLength"])
@pytest.mark.parametrize("count", [10**9, 10**30])
def test_no_count_is_counted_out(keyword: str, count: int) -> None:
    """Counting one by one would not end, so that the test's end is its assertion."""
    try:
        read({keyword: count, "contains": {"type": "integer"}})
    except SchemaError as error:
        assert {p.origin.pointer for p in error.problems} <= {"/contains", f"/{keyword}"}


@pytest.mark.parametrize(
    "double",
    [
        lambda inner: {"allOf": [inner, inner]},
        lambda inner: {"anyOf": [inner, inner]},
        lambda inner: {"oneOf": [inner, {"not": inner}]},
        lambda inner: {"if": inner, "then": inner, "else": inner},
    ],
)
def test_schemas_that_double_at_each_level_stop_at_a_limit(
    double: Callable[[Any], dict[str, Any]],
) -> None:
    schema: Any = {"minLength": 1}
    for _ in range(20):
        schema = double(schema)
    with pytest.raises(LimitExceeded) as caught:
        read(schema)
    assert caught.value.problems[0].code == "schema-too-complex"


def test_a_thousand_tagged_options_are_told_apart_by_their_tags() -> None:
    options = [{"type": "object", "properties": {"tag": {"enum": [i, -i]}, "x": {}},
                "required": ["tag"]} for i in range(1, 1001)]  # fmt: skip
    value = read({"oneOf": [*options, {"type": "object", "required": ["tag"],
                                       "properties": {"tag": {"enum": [7, "z"]}}}]})  # fmt: skip
    for tag, expected in ((1, True), (-1000, True), ("z", True), (7, False), (0, False)):
        assert accepts(value, {"tag": tag}) is expected


def test_many_options_of_one_type_are_a_union() -> None:
    value = read({"anyOf": [{"type": "string", "pattern": f"^a{i}b$"} for i in range(2000)]})
    assert accepts(value, "a1999b") and not accepts(value, "a2000b")
