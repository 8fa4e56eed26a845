"""What a grammar was compiled from, to text and back: the same grammar."""

from __future__ import annotations

import json
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import pytest

import calligram
from calligram.compiler.compiled import CompiledGrammar
from calligram.compiler.pipeline import compile_recipe
from calligram.compiler.recipe import Recipe
from calligram.compiler.spec_loader import shipped_ids
from calligram.compiler.tools import read_tools
from calligram.targets import gbnf
from tests.laws.tools import TOOLS


def again(grammar: CompiledGrammar) -> CompiledGrammar:
    """The grammar of the recipe that was written and read; its own recipe is the same."""
    assert grammar.recipe is not None
    made = compile_recipe(Recipe.read(grammar.recipe.text))
    assert made.recipe is not None
    assert made.recipe.text == grammar.recipe.text
    assert made.recipe.digest == grammar.recipe.digest
    return made


@pytest.mark.parametrize("dialect", shipped_ids())
def test_tools_of_every_dialect(dialect: str) -> None:
    for choice in ("required", "auto"):
        grammar = calligram.compile_tools(TOOLS, dialect, tool_choice=choice)
        made = again(grammar)
        assert made.dialect == grammar.dialect
        assert gbnf.emit(made) == gbnf.emit(grammar)


def test_options_are_kept() -> None:
    documents = {"https://example.org/n": {"type": "integer", "maximum": 5}}
    name = TOOLS[0]["function"]["name"]
    tools = [{"name": "f", "input_schema": {"properties": {"n": {"$ref": next(iter(documents))}},
                                            "type": "object"}}]  # fmt: skip
    changes: list[dict[str, Any]] = [
        {"tool_choice": {"type": "function", "function": {"name": name}}},
        {"parallel_tool_calls": False},
        {"reasoning": "none"},
        {"key_order": "any"},
        {"bounds": None},
        {"bounds": calligram.Bounds(string=7)},
        {"on_unsupported": "relax"},
        {"open_objects": True},
        {"max_calls": 3},
        {"openapi": True},
        {"whitespace": "flexible"},
        {"formats": "annotate"},
        {"unknown_formats": "refuse"},
    ]
    digests = set()
    for change in changes:
        grammar = calligram.compile_tools(TOOLS, "hermes-json", **change)
        made = again(grammar)
        assert (made.bounds, made.key_order) == (grammar.bounds, grammar.key_order)
        assert made.report.to_json() == grammar.report.to_json()
        assert grammar.recipe is not None
        digests.add(grammar.recipe.digest)
    assert len(digests) == len(changes)
    with_documents = calligram.compile_tools(tools, "hermes-json", documents=documents)
    assert gbnf.emit(again(with_documents)) == gbnf.emit(with_documents)


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        ({"type": "number", "maximum": 0.1}, "0.1", "0.2"),
        ({"type": "number", "multipleOf": Decimal("0.01")}, "0.07", "0.007"),
        ({"enum": [1.0, 2.5, Decimal("1E+2"), "é\ud800"[:1], None, True]}, "100", "1.5"),
        ({"const": 10**40}, "1" + "0" * 40, "1" + "0" * 39),
        ({"enum": [1, 2], "default": (float("nan"), Decimal("Infinity"))}, "2", "3"),
        (OrderedDict(type="integer", maximum=7.0), "7", "8"),
        (True, "[]", "]"),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}, "1", "1.0"),
    ],
)
def test_numbers_and_containers_of_any_kind(schema: Any, accepted: str, refused: str) -> None:
    grammar = calligram.compile_schema(schema)
    for made in (grammar, again(grammar)):
        assert made.check(accepted).accepted
        assert not made.check(refused).accepted


def test_tools_may_be_text() -> None:
    text = '[{"name": "f", "parameters": {"type": "object", "properties": {}}}]'
    digests = set()
    for tools in (text, text.encode(), b"\xef\xbb\xbf" + text.encode(), json.loads(text)):
        grammar = calligram.compile_tools(tools, "hermes-json", documents={})
        made = again(grammar)
        assert gbnf.emit(made) == gbnf.emit(grammar)
        assert made.recipe is not None
        digests.add(made.recipe.digest)
    assert len(digests) == 1
    chosen = read_tools(text)[0]
    again(calligram.compile_tools(text, "hermes-json", tool_choice=chosen))


def test_what_json_cannot_hold_is_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    wrongs: list[tuple[Any, str]] = [
        ({1: 2}, "the key 1"),
        (object(), "type object"),
        (deep, "too deeply"),
        (10**5000, "digits"),
        (b"x", "bytes"),
        ({"x": {1}}, "type set"),
    ]
    for wrong, said in wrongs:
        recipe = Recipe("schema", {"default": wrong}, None, None, None, {})
        with pytest.raises(calligram.ArtefactError, match=said) as caught:
            _ = recipe.text
        assert caught.value.problems[0].code == "automaton-not-saveable"
    for text in ("", "[]", "{}", "[" * 100_000, '{"kind": "tools"}'):
        with pytest.raises(ValueError):  # noqa: PT011
            Recipe.read(text)
