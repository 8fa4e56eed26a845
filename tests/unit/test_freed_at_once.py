"""What was dropped is gone at once, without the garbage collector: see compiler/owners.py."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import calligram
from calligram.targets import gbnf, mask, parser
from tests.laws.tools import CHOOSE, CHOOSE_DECLARED, TOOLS, named_by_keys
from tests.unit.json_schema import wide_schemas
from tests.unit.json_schema.oracle import URIS

VOCABULARY = calligram.Vocabulary(
    [*(bytes([b]) for b in range(256)), b'{"', b'": "', b'", "', b'"}', b"12", b"ab", b"<end>"],
    eos_ids=[262],
)
CALL = {"name": "book", "arguments": {"class": "eco", "bags": 1}}

SCHEMAS: dict[str, Any] = {
    "object": {
        "properties": {"a": {"type": "string"}, "b": {"type": "number", "maximum": 7.5}},
        "required": ["a"],
        "additionalProperties": {"type": "string", "pattern": "^a+$"},
    },
    "recursive": {
        "$ref": "#/$defs/n",
        "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}, "x": {}}, "type": "object"}},
    },
    "remembering": {"items": {"type": "string", "maxLength": 3}, "uniqueItems": True},
    "remembering objects": {
        "items": {"properties": {"a": {"type": "integer"}}, "type": "object"},
        "uniqueItems": True,
    },
    "keys that are counted": {"minProperties": 2, "additionalProperties": {"type": "integer"}},
    "negations": {"not": {"items": {"type": "string"}, "uniqueItems": True}},
    "options": {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"},
}


@pytest.fixture(autouse=True)
def no_collections() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def some_masks(grammar: calligram.CompiledGrammar) -> mask.MaskAutomaton:
    """An automaton that has worked out some rows and transitions."""
    automaton = mask.compile(grammar, VOCABULARY)
    matcher = automaton.matcher()
    random = Random(1)
    for _ in range(40):
        if not matcher.accept_token(random.choice(matcher.allowed_tokens())):
            break
    matcher.find_jump_forward_string()
    return automaton


def watched(*owners: object) -> list[weakref.ref[Any]]:
    return [weakref.ref(owner) for owner in owners]


def dropped(make: Callable[[], calligram.CompiledGrammar]) -> list[weakref.ref[Any]]:
    """References to a grammar and its automaton, which nobody else holds."""
    grammar = make()
    automaton = some_masks(grammar)
    rules = grammar.enforced.rules
    return watched(grammar, automaton, automaton.core, automaton.fronts, rules)


def left_over() -> list[object]:
    """What only the garbage collector frees."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return list(gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


@pytest.mark.parametrize("name", SCHEMAS)
def test_of_a_schema(name: str) -> None:
    for gone in dropped(lambda: calligram.compile_schema(SCHEMAS[name], on_unsupported="relax")):
        assert gone() is None
    assert not left_over()


@pytest.mark.parametrize("dialect", calligram.dialects())
@pytest.mark.parametrize("tool_choice", ["required", "auto"])
def test_of_tools(dialect: str, tool_choice: str) -> None:
    choose = CHOOSE_DECLARED if named_by_keys(dialect) else CHOOSE

    def make() -> calligram.CompiledGrammar:
        return calligram.compile_tools([*TOOLS, choose], dialect, tool_choice=tool_choice)

    for gone in dropped(make):
        assert gone() is None
    assert not left_over()


def test_where_it_was_used_in_every_way() -> None:
    def use() -> list[weakref.ref[Any]]:
        grammar = calligram.compile_tools(TOOLS, "hermes-json", key_order="any")
        text = grammar.render([CALL])
        assert grammar.report and grammar.trigger and grammar.check(text)
        assert gbnf.emit(grammar)
        reader = parser.compile(grammar)
        stream = reader.stream()
        stream.feed(text[:30])
        stream.feed(text[30:])
        assert stream.close().calls
        automaton = some_masks(grammar)
        matcher = automaton.matcher()
        assert matcher.tokens_to_end() > 0
        assert matcher.mask_row(budget=matcher.tokens_to_end()).any()
        # All rules built, or none: it makes no difference.
        assert mask.lacking_bytes(grammar, VOCABULARY) == []
        return watched(grammar, reader, stream, automaton, grammar.recogniser.core)

    for gone in use():
        assert gone() is None


def test_of_schemas_drawn_at_random() -> None:
    random = Random(7)
    for _ in range(60):
        schema, draft = wide_schemas.schema(random)
        try:
            gone = dropped(
                lambda: calligram.compile_schema(
                    {**schema, "$schema": URIS[draft]},  # noqa: B023
                    on_unsupported="relax",
                )
            )
        except calligram.CalligramError:
            continue
        assert all(reference() is None for reference in gone), schema


def test_a_matcher_keeps_what_it_needs() -> None:
    matcher = some_masks(calligram.compile_schema(SCHEMAS["remembering"])).matcher()
    text = b'["a", "b"'
    assert all(map(matcher.accept_token, text))
    assert ord("]") in matcher.allowed_tokens()


def test_what_was_loaded_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "tools.cgm"
    known = calligram.compile_tools(TOOLS, "hermes-json")
    budget = mask.SaveBudget(states=20)
    mask.compile(known, VOCABULARY).save(path, budget=budget)

    def use() -> list[weakref.ref[Any]]:
        automaton = mask.load(path, VOCABULARY)
        automaton.prepare()
        matcher = automaton.matcher()
        while not matcher.is_terminated() and matcher.accept_token(matcher.allowed_tokens()[0]):
            pass
        return watched(automaton, automaton.core)

    for gone in use():
        assert gone() is None
