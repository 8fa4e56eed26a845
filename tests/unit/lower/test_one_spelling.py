"""Distinct items: what is written is accepted just where jsonschema says that the items differ."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import calligram

OPTIONS: dict[str, dict[str, Any]] = {
    "anything": {},
    "objects that name their keys or not": {
        "anyOf": [
            {"type": "object", "properties": {"b": {}, "a": {}}},
            {"type": "object", "properties": {"c": {}, "a": {}}},
            {"type": ["integer", "null", "array"]},
            {"enum": [{"a": 1, "b": 1.0}, [1, {"c": 2}], 1.5]},
        ]
    },
}
GRAMMARS = {
    name: calligram.compile_schema({"type": "array", "items": items, "uniqueItems": True})
    for name, items in OPTIONS.items()
}

scalars = st.none() | st.booleans() | st.sampled_from([0, 1, 2, 1.0, 1.5, -0.0, 1e3, "", "a", "é"])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b", "c", "z", "é"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("name", OPTIONS)
@given(st.lists(values, max_size=4))
@settings(max_examples=150)
def test_written_items_are_accepted_if_they_differ(name: str, items: list[Any]) -> None:
    grammar = GRAMMARS[name]
    schema = {"type": "array", "items": OPTIONS[name], "uniqueItems": True}
    text = grammar.render(items, validate=False)
    assert json.loads(text) == items
    assert grammar.check(text).accepted is Draft202012Validator(schema).is_valid(items)


@given(st.data())
@settings(max_examples=60)
def test_no_accepted_text_repeats_an_item(data: st.DataObject) -> None:
    one = data.draw(st.lists(values, min_size=1, max_size=3))
    again = data.draw(st.sampled_from(one))
    shuffled = json.loads(json.dumps(again, sort_keys=True))
    if isinstance(shuffled, dict):
        shuffled = dict(reversed(list(shuffled.items())))
    assert not GRAMMARS["anything"].check(json.dumps([*one, shuffled], ensure_ascii=False))


def test_keys_of_alternatives_keep_the_order_of_each_where_they_go_together() -> None:
    first = {"type": "object", "properties": {"a": {}, "c": {}}, "additionalProperties": False}
    second = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}},
              "required": ["b"], "additionalProperties": False}  # fmt: skip
    grammar = calligram.compile_schema({"items": {"anyOf": [first, second]}, "uniqueItems": True})
    assert grammar.check('[{"a": 1, "c": 2}, {"a": 1, "b": 0, "c": 2}]')
    assert not grammar.check('[{"a": 1, "c": 2}, {"a": 1, "c": 2}]')
    rings = [{**first, "properties": {"c": {}, "a": {}}}, first]
    grammar = calligram.compile_schema({"items": {"anyOf": rings}, "uniqueItems": True})
    assert grammar.check('[{"c": 1, "a": 2}]') and not grammar.check('[{"a": 2, "c": 1}]')
