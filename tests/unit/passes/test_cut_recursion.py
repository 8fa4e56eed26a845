"""Recursion cut at a depth: what is left is in the language, and nothing shallower is lost."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram.compiler.automaton.recogniser import Recogniser
from calligram.compiler.errors import GrammarError
from calligram.compiler.grammar import (
    EMPTY,
    Capture,
    Choice,
    Distinct,
    Expr,
    Grammar,
    Literal,
    Member,
    Members,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Slot,
    Variant,
)
from calligram.compiler.origin import Origin
from calligram.compiler.passes.cut_recursion import cut_recursion, recursive_rules
from tests.naive import accepts
from tests.unit.automaton.random_grammars import grammars

SHORT = ["".join(w) for n in range(6) for w in product("ab", repeat=n)]


def language(grammar: Grammar, depth: int) -> set[str]:
    try:
        cut, _ = cut_recursion(grammar, depth)
    except GrammarError:
        return set()
    assert recursive_rules(cut) == []
    return {text for text in SHORT if accepts(cut, text)}


@settings(max_examples=150)
@given(grammars(), st.integers(0, 2))
def test_less_depth_is_less_and_enough_depth_is_all(made: tuple[Rules, Expr], depth: int) -> None:
    grammar = Grammar(*made)
    every = {text for text in SHORT if accepts(grammar, text)}
    assert language(grammar, depth) <= language(grammar, depth + 1) <= every
    assert language(grammar, 6) == every


def nested(body: Expr) -> Grammar:
    """One rule `x` that may be `body`, which refers to it, or the letter v."""
    rules = Rules()
    rules.define("x", Choice((Literal("v"), body)))
    return Grammar(rules, RuleRef("x"))


X = RuleRef("x")


def test_levels_are_counted() -> None:
    grammar = nested(Sequence((Literal("("), X, Literal(")"))))
    for depth in range(4):
        cut, cuts = cut_recursion(grammar, depth)
        assert [(c.rule, c.depth) for c in cuts] == [("x", depth)]
        automaton = Recogniser(cut.rules, cut.start)
        found = [n for n in range(6) if automaton.accepts(b"(" * n + b"v" + b")" * n)]
        assert found == list(range(depth + 1))


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (Sequence((Literal("["), Repeat(X, 0, 2), Literal("]"))), ["v", "[]"]),
        (Sequence((Literal("["), Repeat(X, 1, 2), Literal("]"))), ["v"]),
        (Sequence((Literal("["), Capture(Slot("value"), X), Literal("]"))), ["v"]),
        (Sequence((Literal("["), Choice((X, Literal("w"), Literal("u"))), Literal("]"))),
         ["v", "[u]", "[w]"]),
        (Members((Member("a", Sequence((Literal("a"), X)), False),), EMPTY), ["", "v"]),
        (Members((Member("a", Sequence((Literal("a"), X)), True),), EMPTY), ["v"]),
        (Members((Member("a", Literal("a"), False),), EMPTY, (X,), 2), ["", "a", "v"]),
        # A condition that the missing key meets by its absence is met, the other one is not.
        (Members((Member("a", X, False), Member("b", Literal("b"), False)), EMPTY,
                 conditions=(1,)), ["", "b", "v"]),
        (Members((Member("a", X, False, 1), Member("b", Literal("b"), False, 2)), EMPTY,
                 conditions=(0, 0)), ["v"]),
        (Members((Member("a", X, False), Member("b", Literal("b"), False, 2,
                 (Variant(Sequence((Literal("c"), X)), 3), Variant(Literal("d"), 3)))), EMPTY,
                 conditions=(0, 1)), ["d", "v"]),
        (Distinct((Literal("p"), X), None, EMPTY, 0, 2), ["", "p", "v"]),
        (Distinct((Literal("p"), X), None, EMPTY, 2, 2), ["v"]),
        (Distinct((Literal("p"),), X, EMPTY, 0, 5), ["", "p", "v"]),
    ],
)  # fmt: skip
def test_what_needs_another_level_is_left_out(body: Expr, left: list[str]) -> None:
    cut, _ = cut_recursion(nested(body), 0)
    words = ["".join(w) for n in range(4) for w in product("[]abcdpuvw", repeat=n)]
    automaton = Recogniser(cut.rules, cut.start)
    assert [w for w in sorted(words) if automaton.accepts(w.encode())] == sorted(left)


def test_names_of_open_members_stay_beside_them() -> None:
    names = (Literal("n"), Literal("m"))
    body = Members((), EMPTY, (X, Literal("w")), 2, names=names)
    cut, _ = cut_recursion(nested(body), 0)
    automaton = Recogniser(cut.rules, cut.start)
    assert [w for w in ("", "mw", "nw", "nv", "mwmw") if automaton.accepts(w.encode())] == [
        "",
        "mw",
    ]


def test_nothing_left_is_an_error_at_its_place() -> None:
    rules = Rules()
    rules.define("x", Members((Member("a", X, True),), EMPTY, origin=Origin("/here")))
    with pytest.raises(GrammarError) as refused:
        cut_recursion(Grammar(rules, X), 3)
    [problem] = refused.value.problems
    assert (problem.code, problem.origin.pointer) == ("unproductive-rule", "/here")


def test_a_grammar_without_recursion_is_left_as_it_is() -> None:
    grammar = calligram.compile_schema({"type": "array", "items": {"type": "integer"}}).enforced
    assert cut_recursion(grammar, 0) == (grammar, [])


def test_a_recursive_schema_is_cut_at_its_pointer() -> None:
    schema = {
        "$ref": "#/$defs/tree",
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
                "additionalProperties": False,
            }
        },
    }
    grammar = calligram.compile_schema(schema, whitespace="exact", bounds=None).enforced
    cut, cuts = cut_recursion(grammar, 1)
    assert [c.origin.pointer for c in cuts] == ["/$defs/tree"]
    automaton = Recogniser(cut.rules, cut.start)
    assert automaton.accepts(b'{"children": [{"children": []}, {}]}')
    assert not automaton.accepts(b'{"children": [{"children": [{}]}]}')


def test_long_chains_of_rules_take_no_stack() -> None:
    rules = Rules()
    for at in range(3000):
        following = RuleRef(f"r{at + 1}" if at < 2999 else "r0")
        rules.define(f"r{at}", Choice((Literal("v"), Sequence((Literal("a"), following)))))
    cut, _ = cut_recursion(Grammar(rules, RuleRef("r0")), 1)
    assert Recogniser(cut.rules, cut.start).accepts(b"a" * 3001 + b"v")
