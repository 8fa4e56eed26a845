"""Distances to the end in bytes: against the definition, and against the bytes that follow."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram.compiler.automaton.core import TOKEN_BASE, Core
from calligram.compiler.automaton.least_texts import LeastTexts
from calligram.compiler.automaton.machine_distance import FAR
from calligram.compiler.automaton.recogniser import DEAD, Recogniser
from calligram.compiler.grammar import (
    Choice,
    Expr,
    Grammar,
    Literal,
    Machine,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
)
from tests import naive
from tests.unit.automaton.random_grammars import (
    distinct_items,
    grammars,
    keys_that_hold,
    remembered_keys,
    texts,
)


def follows(core: Core, least: LeastTexts, cell: int) -> int:
    """The distance as the next bytes say it: one byte and the least of what comes then."""
    expansion = core.expand(cell)
    if expansion.final is not None:
        return 0
    found = [FAR]
    names = {number: text for text, number in core.specials.items()}
    for low, high, target, _ in expansion.arcs:
        if low >= TOKEN_BASE:
            found.append(len(names[low - TOKEN_BASE].encode()) + least.of(core.read(target, low)))
        else:
            found += [1 + least.of(core.read(target, byte)) for byte in {low, high}]
    return min(found)


def reached(core: Core, start: int, most: int) -> list[int]:
    """Continuations that bytes lead to, nearest first."""
    found, seen = [start], {start}
    for cell in found:
        for low, high, target, _ in core.expand(cell).arcs:
            for byte in {low, high}:
                after = core.read(target, byte)
                if after not in seen and len(found) < most:
                    seen.add(after)
                    found.append(after)
    return found


def holds_everywhere(core: Core, start: int, most: int = 400) -> LeastTexts:
    """The distance is what the next bytes say, in every place near the start, and so is right."""
    least = LeastTexts(core)
    for cell in reached(core, start, most):
        right = follows(core, least, cell)
        if least.exact(cell):
            assert min(least.of(cell), FAR) == min(right, FAR), core.parts(cell)
        else:
            assert least.of(cell) <= right, core.parts(cell)
    return least


@given(grammars())
@settings(max_examples=60)
def test_distances_in_random_grammars(grammar: tuple[Rules, Expr]) -> None:
    rules, start = grammar
    core = Core(rules)
    cell = core.continuation(start)
    least = holds_everywhere(core, cell, 150).of(cell)
    # The definition: the first length that has a text.
    shortest = next(
        (
            len(text.encode())
            for text in map("".join, _words("abé", 5))
            if naive.accepts(Grammar(rules, start), text)
        ),
        None,
    )
    if shortest is None:
        assert least > 3
    else:
        assert least == shortest


def _words(letters: str, longest: int) -> list[tuple[str, ...]]:
    """All words, those of fewest bytes first."""
    found = [w for n in range(longest + 1) for w in itertools.product(letters, repeat=n)]
    return sorted(found, key=lambda w: len("".join(w).encode()))


@given(st.one_of(distinct_items, remembered_keys, keys_that_hold))
@settings(max_examples=40)
def test_what_must_differ_makes_no_distance_too_large(start: Expr) -> None:
    core = Core(Rules())
    holds_everywhere(core, core.continuation(start), 150)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=2),
        min_size=4,
        max_size=4,
    ),
    st.integers(0, 12),
    st.none() | st.integers(0, 12),
)
@settings(max_examples=60)
def test_counting_machines(rows: list[list[tuple[int, int]]], low: int, more: int | None) -> None:
    characters = (0x61, 0xE9, 0x20AC)
    made = tuple(
        tuple((code, code, *edge) for code, edge in zip(characters[n % 2 :], row, strict=False))
        for n, row in enumerate(rows)
    )
    machine = _trimmed(Machine(made, frozenset({3})))
    if machine is None:
        return
    core = Core(Rules())
    high = None if more is None else low + more
    holds_everywhere(core, core.continuation(Regular(machine, low, high)))


def _trimmed(machine: Machine) -> Machine | None:
    """The machine with only states that lead to the end; None if the start does not."""
    alive = set(machine.accepting)
    for _ in machine.transitions:
        alive |= {
            q for q, row in enumerate(machine.transitions) if {t for _, _, t, _ in row} & alive
        }
    if 0 not in alive:
        return None
    number = {q: n for n, q in enumerate(sorted(alive))}
    rows = tuple(
        tuple((a, b, number[t], c) for a, b, t, c in machine.transitions[q] if t in alive)
        for q in sorted(alive)
    )
    return Machine(rows, frozenset(number[q] for q in machine.accepting))


def test_large_counts_are_arithmetic() -> None:
    pairs = Machine((((0x61, 0x61, 1, 1),), ((0xE9, 0xE9, 0, 1),)), frozenset({0, 1}))
    core = Core(Rules())
    least = LeastTexts(core)
    assert least.of(core.continuation(Regular(pairs, 10**9, None))) == 3 * 10**9 // 2
    nested = Repeat(Repeat(Regular(pairs, 10**6, 10**6), 10**6, None), 1000, None)
    assert least.of(core.continuation(nested)) == 3 * 10**15 // 2


def test_recursion_is_settled_by_its_shortest_way_out() -> None:
    rules = Rules()
    rules.define("a", Sequence((Literal("["), Repeat(RuleRef("b"), 2, None), Literal("]"))))
    rules.define("b", Choice((RuleRef("a"), Literal("null"))))
    core = Core(rules)
    least = LeastTexts(core)
    cell = core.continuation(RuleRef("a"))
    assert least.of(cell) == 2 + 2 * 4
    for byte in b"[[":
        (cell,) = core.step((cell,), byte)
    assert least.of(cell) == 2 * 4 + 1 + 4 + 1


SCHEMAS: list[Any] = [
    {"type": "string", "minLength": 40, "pattern": "^[a-c]*é[x-z]+$"},
    {"properties": {"a": {}, "b": {"type": "string"}}, "required": ["b"], "minProperties": 2},
    {"type": "array", "items": {"enum": ["aa", 1, None]}, "minItems": 3, "uniqueItems": True},
    {"type": "integer", "multipleOf": 123457, "minimum": 10**6},
    {"type": "number", "minimum": 3.25, "exclusiveMaximum": 3.5},
    {"type": "object", "properties": {"l": {"$ref": "#"}, "v": {"const": 1}}, "required": ["v"],
     "additionalProperties": False},
    {"not": {"required": ["a"]}, "type": "object", "minProperties": 2},
    {"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "minProperties": 1,
     "properties": {"xa": {"const": "n"}}},
]  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda s: json.dumps(s)[:40])
@pytest.mark.parametrize("key_order", ["schema", "any"])
def test_distances_in_schemas(schema: Any, key_order: Any) -> None:
    grammar = calligram.compile_schema(
        schema, whitespace="exact", key_order=key_order, bounds=calligram.Bounds()
    ).enforced
    core = Core(grammar.rules)
    start = core.continuation(grammar.start)
    least = holds_everywhere(core, start, 300).of(start)
    assert least < FAR
    if least <= 6:
        assert _breadth_first(grammar) >= least


def _breadth_first(grammar: Grammar) -> int:
    """Bytes of the shortest text, configuration by configuration."""
    recogniser = Recogniser(grammar.rules, grammar.start)
    level, seen, depth = [recogniser.start], {recogniser.start}, 0
    while not any(map(recogniser.accepting, level)):
        level = list(
            {
                after
                for config in level
                for low, high in recogniser.next_bytes(config)
                for byte in {low, high}
                if (after := recogniser.step(config, byte)) not in (DEAD, *seen)
            }
        )
        seen.update(level)
        depth += 1
    return depth


def test_only_what_is_asked_for_is_built() -> None:
    rules = Rules()
    built: list[str] = []

    def build() -> Expr:
        built.append("far")
        return Literal("x")

    rules.define("far", build)
    core = Core(rules)
    least = LeastTexts(core)
    assert least.of(core.continuation(Literal("ab"))) == 2
    assert not built
    assert least.of(core.continuation(Sequence((Literal("a"), RuleRef("far"))))) == 2
    assert built == ["far"]


@given(texts)
@settings(max_examples=30)
def test_a_distance_of_nothing_is_where_the_text_may_end(start: Expr) -> None:
    core = Core(Rules())
    least = LeastTexts(core)
    for cell in reached(core, core.continuation(start), 60):
        assert (least.of(cell) == 0) == (core.expand(cell).final is not None)
