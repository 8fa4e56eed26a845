"""Left recursion, empty loops, rules that never end: what is refused and what is not."""

from __future__ import annotations

import pytest

from calligram.compiler.errors import GrammarError
from calligram.compiler.grammar import (
    EMPTY,
    Capture,
    Chars,
    Choice,
    Cut,
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
from calligram.compiler.passes.check_left_recursion import (
    check_left_recursion,
    find_left_recursion,
)
from calligram.compiler.passes.check_loops import check_loops, find_empty_loops
from calligram.compiler.passes.check_productive import check_productive, find_unproductive
from calligram.compiler.passes.graph import graph_of
from calligram.compiler.passes.nullable import nullable

A, B = Literal("a"), Literal("b")
MAYBE = Repeat(A, 0, 1)
LETTERS = Machine((((97, 122, 0, 1),),), frozenset({0}))


def ref(name: str) -> RuleRef:
    return RuleRef(name)


def seq(*items: Expr) -> Sequence:
    return Sequence(items)


def grammar_of(start: Expr, **rules: Expr) -> Grammar:
    made = Rules()
    for name, body in rules.items():
        made.define(name, body)
    return Grammar(made, start)


LEFT_RECURSIVE = {
    "direct": grammar_of(ref("r"), r=Choice((seq(ref("r"), A), B))),
    "indirect": grammar_of(ref("r"), r=seq(ref("s"), A), s=Choice((ref("r"), B))),
    "hidden_behind_an_optional": grammar_of(ref("r"), r=Choice((seq(MAYBE, ref("r"), A), B))),
    "hidden_behind_a_nullable_rule": grammar_of(
        ref("r"), r=Choice((seq(ref("n"), ref("r"), A), B)), n=seq(MAYBE, EMPTY)
    ),
    "hidden_behind_an_empty_regular": grammar_of(
        ref("r"), r=Choice((seq(Regular(LETTERS), ref("r"), A), B))
    ),
    "behind_a_cut_and_a_capture": grammar_of(
        ref("r"), r=Capture(Slot("call"), Choice((seq(Cut(), ref("r"), A), B)))
    ),
    "in_a_repeat": grammar_of(ref("r"), r=seq(Repeat(ref("r"), 0, 3), B)),
    "in_a_rule_met_behind_a_first_symbol": grammar_of(
        seq(A, ref("r")), r=Choice((seq(ref("r"), A), B))
    ),
    "in_the_first_member": grammar_of(
        ref("r"), r=Members((Member("k", seq(ref("r"), A), False),), B)
    ),
    "in_an_open_member_after_optional_keys": grammar_of(
        ref("r"), r=Members((Member("k", A, False),), B, (seq(ref("r"), A),))
    ),
}
NOT_LEFT_RECURSIVE = {
    "right": grammar_of(ref("r"), r=Choice((seq(A, ref("r")), B))),
    "in_the_middle": grammar_of(ref("r"), r=Choice((seq(A, ref("r"), A), B))),
    "used_twice": grammar_of(seq(ref("r"), ref("r")), r=A),
    "behind_a_nullable_then_a_letter": grammar_of(ref("r"), r=Choice((seq(MAYBE, B, ref("r")), B))),
    "in_a_repeat_of_none": grammar_of(ref("r"), r=seq(Repeat(ref("r"), 0, 0), B)),
    "in_a_member_behind_its_key": grammar_of(
        ref("r"), r=Members((Member("k", seq(A, ref("r")), False),), B)
    ),
    "in_an_open_member_after_a_required_key": grammar_of(
        ref("r"), r=Choice((Members((Member("k", A, True),), B, (seq(ref("r"), A),)), B))
    ),
}


@pytest.mark.parametrize("name", LEFT_RECURSIVE)
def test_left_recursion_is_found(name: str) -> None:
    problems = find_left_recursion(LEFT_RECURSIVE[name])
    assert [p.code for p in problems] == ["left-recursion"]
    with pytest.raises(GrammarError):
        check_left_recursion(LEFT_RECURSIVE[name])


@pytest.mark.parametrize("name", NOT_LEFT_RECURSIVE)
def test_other_recursion_is_not_reported(name: str) -> None:
    assert find_left_recursion(NOT_LEFT_RECURSIVE[name]) == []


def test_left_recursion_names_the_cycle_from_its_first_name_on() -> None:
    grammar = grammar_of(ref("z"), z=ref("m"), m=seq(MAYBE, ref("b")), b=Choice((ref("z"), B)))
    (problem,) = find_left_recursion(grammar)
    assert problem.message == "rule `b` can begin with itself: b -> z -> m -> b"


def test_left_recursion_in_the_armed_start_is_found() -> None:
    grammar = grammar_of(A, r=seq(ref("r"), A))
    armed = Grammar(grammar.rules, grammar.start, ref("r"))
    assert [p.code for p in find_left_recursion(armed)] == ["left-recursion"]


EMPTY_LOOPS = {
    "optional": Repeat(MAYBE, 0, None),
    "nullable_sequence": Repeat(seq(MAYBE, Repeat(B, 0, None)), 1, None),
    "regular": Repeat(Regular(LETTERS), 0, None),
    "members": Repeat(Members((Member("k", A, False),), B), 0, None),
    "empty_rule": Repeat(ref("n"), 2, None),
}
SOUND_LOOPS = {
    "letter": Repeat(A, 0, None),
    "optional_then_letter": Repeat(seq(MAYBE, B), 0, None),
    "bounded": Repeat(MAYBE, 0, 1000),
    "regular_of_one_or_more": Repeat(Regular(LETTERS, 1), 0, None),
    "required_member": Repeat(Members((Member("k", A, True),), B), 0, None),
    "counted_members": Repeat(Members((Member("k", A, False),), B, min_count=1), 0, None),
}


@pytest.mark.parametrize("name", EMPTY_LOOPS)
def test_empty_loops_are_found(name: str) -> None:
    grammar = grammar_of(EMPTY_LOOPS[name], n=Choice((A, EMPTY)))
    assert [p.code for p in find_empty_loops(grammar)] == ["empty-loop"]
    with pytest.raises(GrammarError):
        check_loops(grammar)


@pytest.mark.parametrize("name", SOUND_LOOPS)
def test_loops_that_read_are_not_reported(name: str) -> None:
    assert find_empty_loops(grammar_of(SOUND_LOOPS[name])) == []


NEVER_ENDS = {
    "alone": (grammar_of(ref("r"), r=seq(A, ref("r"))), ["r"]),
    "as_an_option": (grammar_of(Choice((A, ref("r"))), r=seq(A, ref("r"))), ["r"]),
    "two_together": (grammar_of(ref("r"), r=seq(A, ref("s")), s=seq(B, ref("r"))), ["r", "s"]),
    "required_member": (
        grammar_of(ref("r"), r=Members((Member("k", seq(A, ref("r")), True),), B)),
        ["r"],
    ),
}
ENDS = {
    "option": grammar_of(ref("r"), r=Choice((A, seq(A, ref("r"))))),
    "repeat": grammar_of(ref("r"), r=seq(A, Repeat(ref("r"), 0, None))),
    "optional_member": grammar_of(ref("r"), r=Members((Member("k", seq(A, ref("r")), False),), B)),
}


@pytest.mark.parametrize("name", NEVER_ENDS)
def test_rules_without_finite_text_are_found(name: str) -> None:
    grammar, names = NEVER_ENDS[name]
    problems = find_unproductive(grammar)
    assert [p.code for p in problems] == ["unproductive-rule"] * len(names)
    assert [p.message.split("`")[1] for p in problems] == names
    with pytest.raises(GrammarError):
        check_productive(grammar)


@pytest.mark.parametrize("name", ENDS)
def test_rules_that_can_end_are_not_reported(name: str) -> None:
    assert find_unproductive(ENDS[name]) == []


def test_every_undefined_rule_is_reported_once() -> None:
    grammar = grammar_of(seq(ref("x"), ref("known"), ref("y"), ref("x")), known=A)
    problems = find_unproductive(grammar)
    assert [(p.code, p.message.split("`")[1]) for p in problems] == [
        ("undefined-rule", "x"),
        ("undefined-rule", "y"),
    ]


NULLABLE = [
    EMPTY, Literal(""), Token(""), Cut(), MAYBE, Repeat(A, 0, None), Choice((A, EMPTY)), ref("n"),
    seq(MAYBE, Cut()), Repeat(MAYBE, 3, 3), Capture(Slot("value"), EMPTY), Regular(LETTERS, 0, 5),
    Members((Member("k", A, False),), B), Members((Member("k", EMPTY, True),), B),
    Members((Member("k", A, False),), B, order="any"), Members((), B, (EMPTY,), min_count=1),
    Members((Member("k", EMPTY, True), Member("l", EMPTY, True)), EMPTY),
]  # fmt: skip
NOT_NULLABLE = [
    A, Token("x"), Chars(((97, 97),)), seq(MAYBE, A), Choice((A, B)), Repeat(A, 1, 2), ref("m"),
    Regular(LETTERS, 1), Members((Member("k", A, True),), B),
    Members((Member("k", A, False),), B, min_count=1),
    Members((Member("k", EMPTY, True), Member("l", EMPTY, True)), B),
    Members((Member("k", A, False),), B, (EMPTY,), 1, min_count=2),
]  # fmt: skip


@pytest.mark.parametrize("expr", NULLABLE, ids=repr)
def test_nullable(expr: Expr) -> None:
    assert nullable(graph_of(grammar_of(expr, n=MAYBE, m=A)))[0] == 1


@pytest.mark.parametrize("expr", NOT_NULLABLE, ids=repr)
def test_not_nullable(expr: Expr) -> None:
    assert nullable(graph_of(grammar_of(expr, n=MAYBE, m=A)))[0] == 0


def test_checks_need_no_stack() -> None:
    expr: Expr = ref("r")
    for _ in range(50_000):
        expr = seq(MAYBE, Choice((expr, A)))
    grammar = grammar_of(expr, r=seq(MAYBE, expr))
    assert [p.code for p in find_left_recursion(grammar)] == ["left-recursion"]
    assert find_empty_loops(grammar) == []
    assert find_unproductive(grammar) == []
