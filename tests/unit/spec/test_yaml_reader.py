"""YAML is read with the place of every key and value, and never costs more than its text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.errors import CalligramError, LimitExceeded, SpecError
from calligram.compiler.origin import Origin
from calligram.compiler.yaml_reader import MAX_BYTES, ListNode, MapNode, ScalarNode, read_yaml


def scalar(text: str) -> object:
    node = read_yaml(f"k: {text}").entries["k"]
    assert isinstance(node, ScalarNode)
    return node.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("~", None),
        ("", None),
        ("true", True),
        ("False", False),
        ("12", 12),
        ("-3", -3),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("yes", "yes"),
        ("off", "off"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ('"null"', "null"),
        ("'12'", "12"),
        ('"a\\n\\u00e9\\U0001F600"', "a\né😀"),
        ("<tool_call>", "<tool_call>"),
        ("99999999999999999999999", 1e23),
    ],
)
def test_scalars(text: str, value: object) -> None:
    assert scalar(text) == value
    assert type(scalar(text)) is type(value)


def test_places_of_keys_and_values() -> None:
    tree = read_yaml("a: 1\nb/~:\n  - x\n  - {c: y}\n", "f.yaml")
    assert tree.key_origins["b/~"] == Origin("/b~1~0", None, "f.yaml", 2, 1)
    items = tree.entries["b/~"]
    assert isinstance(items, ListNode)
    assert items.origin == Origin("/b~1~0", None, "f.yaml", 3, 3)
    assert items.items[0].origin == Origin("/b~1~0/0", None, "f.yaml", 3, 5)
    inner = items.items[1]
    assert isinstance(inner, MapNode)
    assert inner.key_origins["c"] == Origin("/b~1~0/1/c", None, "f.yaml", 4, 6)
    assert inner.entries["c"].origin == Origin("/b~1~0/1/c", None, "f.yaml", 4, 9)


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("", "spec-not-mapping", 1, 1),
        ("just text", "spec-not-mapping", 1, 1),
        ("a: [1, 2", "spec-yaml", 1, 9),
        ("a: 'x\n", "spec-yaml", 2, 1),
        ("a: b: c", "spec-yaml", 1, 5),
        ("a: 1\n b: 2", "spec-yaml", 2, 3),
        ("a: \0", "spec-yaml", 1, 1),
        ('a: "\\UFFFFFFFF"', "spec-yaml", 1, 1),
        ("? [a]\n: 1", "spec-yaml", 1, 3),
        ("a: &x 1", "spec-yaml", 1, 4),
        ("a: *x", "spec-yaml", 1, 4),
        ("*x : 1", "spec-yaml", 1, 1),
        ("a: !!python/name:os.system x", "spec-yaml", 1, 4),
        ("%YAML 9.9\n---\na: 1", "spec-yaml", 1, 1),
        ("a: 1\n---\nb: 2", "spec-documents", 2, 1),
        ("a: 1\na: 2", "spec-duplicate-key", 2, 1),
    ],
)
def test_refused_with_a_place(text: str, code: str, line: int, column: int) -> None:
    with pytest.raises(SpecError) as caught:
        read_yaml(text, "f.yaml")
    problem = caught.value.problems[0]
    assert (problem.code, problem.origin.line, problem.origin.column) == (code, line, column)


def test_all_duplicate_keys_are_told_at_once() -> None:
    with pytest.raises(SpecError) as caught:
        read_yaml("a: {b: 1, b: 2}\nc: 1\nc: {d: 1}\n")
    assert [p.origin.pointer for p in caught.value.problems] == ["/a/b", "/c"]


@pytest.mark.parametrize("text", ["[" * 100_000, "a: " + "{a: " * 200_000, "- " * 100_000])
def test_deep_nesting_is_a_stated_limit(text: str) -> None:
    with pytest.raises(LimitExceeded):
        read_yaml(text)


def test_size_is_a_stated_limit() -> None:
    with pytest.raises(LimitExceeded):
        read_yaml("a: " + "x" * MAX_BYTES)


@given(st.text(alphabet="ab:-[]{},'\"\n #&*!|>%@?\\\t$é\ud800\U0001f600\0", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert isinstance(read_yaml(text), MapNode)
    except CalligramError as error:
        assert error.problems
