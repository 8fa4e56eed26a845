"""The expanding passes alone: what they leave of a grammar, and what they refuse."""

from __future__ import annotations

import pytest

from calligram.compiler.errors import CalligramError, GrammarError, TargetError
from calligram.compiler.grammar import (
    Capture,
    Choice,
    Expr,
    Grammar,
    Literal,
    Machine,
    Member,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Slot,
    Token,
)
from calligram.compiler.origin import Origin
from calligram.compiler.passes.expand_members import expand_members
from calligram.compiler.passes.expand_regular import expand_regular
from calligram.compiler.passes.graph import graph_of
from calligram.compiler.passes.nonempty import repeat_nonempty
from calligram.compiler.passes.nullable import nullable
from calligram.compiler.passes.strip_captures import strip_captures
from tests import naive

A, COMMA = Literal("a"), Literal(",")
LOWER = Machine((((97, 122, 0, 1),),), frozenset({0}))
PAIRS = Machine((((97, 97, 1, 1),), ((98, 98, 0, 1),)), frozenset({0}))


def grammar_of(start: Expr) -> Grammar:
    return Grammar(Rules(), start)


def kinds(grammar: Grammar) -> set[type]:
    return {type(node) for node in graph_of(grammar).nodes}


def member(name: str, required: bool = False) -> Member:
    key = Capture(Slot("key", "literal", name), Literal(name))
    value = Capture(Slot("value", "raw"), Regular(LOWER, 1, 3))
    body = Capture(Slot("member"), Sequence((key, Literal("="), value)))
    return Member(name, body, required)


def test_members_are_gone_and_captures_are_kept() -> None:
    members = Members((member("a", True), member("b"), member("c")), COMMA)
    done = expand_members(grammar_of(members))
    assert Members not in kinds(done) and {Capture, Regular} <= kinds(done)
    for text in ("a=x", "a=x,b=y", "a=x,c=zz", "a=x,b=y,c=z", "b=y", "a=x,", "", "a=x,c=z,b=y"):
        assert naive.accepts(done, text) == naive.accepts(grammar_of(members), text), text


def test_regular_is_gone() -> None:
    grammar = grammar_of(Sequence((Regular(PAIRS, 2, 4), Regular(LOWER, 0, None))))
    done = expand_regular(grammar)
    assert Regular not in kinds(done)
    for text in ("", "ab", "abab", "ababab", "a", "abx", "ba"):
        assert naive.accepts(done, text) == naive.accepts(grammar, text), text


def test_one_machine_with_the_same_bounds_is_one_rule() -> None:
    one, two = Regular(PAIRS, 0, 8), Regular(PAIRS, 0, 8)
    done = expand_regular(grammar_of(Sequence((one, COMMA, two))))
    assert isinstance(done.start, Sequence)
    assert done.start.items[0] == done.start.items[2]


def test_captures_cuts_and_tokens_become_text() -> None:
    start = Sequence((Token("<t>"), Capture(Slot("value"), Sequence((A, COMMA)))))
    assert strip_captures(grammar_of(start)).start == Literal("<t>a,")


def test_repeated_items_are_not_empty_any_more() -> None:
    item = Sequence((Repeat(A, 0, 1), Repeat(COMMA, 0, 2)))
    grammar = grammar_of(Sequence((Repeat(item, 2, 3), Repeat(RuleRef("r"), 0, 2))))
    grammar.rules.define("r", Choice((Literal("b"), Sequence(()), RuleRef("s"))))
    grammar.rules.define("s", Choice((Literal(""), Sequence((Literal("c"), RuleRef("r"))))))
    done = repeat_nonempty(grammar)
    graph = graph_of(done)
    empty = nullable(graph)
    repeats = [i for i, node in enumerate(graph.nodes) if isinstance(node, Repeat)]
    assert repeats and not any(empty[graph.kids[i][0]] for i in repeats)
    for text in ("", "a", "a,,a,,a,,", "aaaa", "abcb", ",cc", "cbcb", "bbb"):
        assert naive.accepts(done, text) == naive.accepts(grammar, text), text


NOTHING = [
    Regular(PAIRS, 3, 3, "pairs", Origin("/p")),
    Regular(Machine((((97, 97, 1, 1),), ()), frozenset({1})), 2, 5, "one", Origin("/p")),
    Members((), COMMA, min_count=1, origin=Origin("/p")),
    Members((member("a"),), COMMA, (A,), 2, min_count=4, origin=Origin("/p")),
    Members((member("a", True), member("b", True)), COMMA, max_count=1, origin=Origin("/p")),
    Members((member("a"), member("b")), COMMA, order="any", min_count=3, origin=Origin("/p")),
]


@pytest.mark.parametrize("node", NOTHING)
def test_a_node_without_any_text_is_an_error_at_its_place(node: Expr) -> None:
    with pytest.raises(GrammarError) as caught:
        expand_regular(expand_members(grammar_of(node)))
    (problem,) = caught.value.problems
    assert (problem.code, problem.origin.pointer) == ("unproductive-rule", "/p")


REFUSED = [
    Members(tuple(member(f"k{n}") for n in range(9)), COMMA, order="any", origin=Origin("/p")),
    Members(
        tuple(member(f"k{n}") for n in range(8)), COMMA, (A,), 64, order="any", origin=Origin("/p")
    ),
    Members(tuple(member(f"k{n}") for n in range(200)), COMMA, max_count=150, origin=Origin("/p")),
]


@pytest.mark.parametrize("node", REFUSED)
def test_what_takes_too_many_rules_is_refused_at_its_place(node: Expr) -> None:
    with pytest.raises(TargetError) as caught:
        expand_members(grammar_of(node))
    (problem,) = caught.value.problems
    assert (problem.code, problem.origin.pointer) == ("unsupported-feature", "/p")
    assert problem.hint


def test_size_is_linear_in_long_runs_of_optional_keys() -> None:
    def size(keys: int) -> int:
        members = Members(tuple(member(f"k{n}") for n in range(keys)), COMMA)
        return len(graph_of(expand_members(grammar_of(members))).nodes)

    assert size(400) < 2.2 * size(200)


@pytest.mark.parametrize("low", [0, 5, 40])
def test_huge_bounds_end_quickly(low: int) -> None:
    for machine in (LOWER, PAIRS):
        try:
            expand_regular(grammar_of(Regular(machine, low, 10**9)))
        except CalligramError as error:
            assert {p.code for p in error.problems} == {"unsupported-feature"}
