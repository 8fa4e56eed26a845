"""The checks in one walk say what the checks over all nodes say; rules of machines in shapes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from calligram.compiler.errors import GrammarError
from calligram.compiler.grammar import (
    EMPTY,
    Chars,
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
from calligram.compiler.passes.check_left_recursion import check_left_recursion
from calligram.compiler.passes.check_loops import check_loops
from calligram.compiler.passes.check_productive import check_productive
from calligram.compiler.passes.expand_regular import RegularExpander, expand_regular
from calligram.compiler.passes.graph import graph_of
from calligram.compiler.passes.nullable import nullable
from calligram.compiler.passes.rewrite import rewrite_grammar
from calligram.compiler.passes.survey import check_expanded, matches_empty, survey
from tests import naive

A, COMMA = Literal("a"), Literal(",")
NAMES = ("r0", "r1", "r2", "r3")
# Words over a, each followed by a comma: no counted repeat, so each count is a rule.
WORDS = Machine((((97, 97, 1, 1),), ((44, 44, 0, 0), (97, 97, 1, 1))), frozenset({1}))

leaves = st.one_of(
    st.sampled_from(["", "a", "b"]).map(Literal),
    st.just(Chars(((97, 98),))),
    st.sampled_from([*NAMES, *NAMES, "nobody"]).map(RuleRef),
)


def nested(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    bounds = st.sampled_from([(0, 0), (0, 1), (1, 3), (2, 2), (0, None), (1, None)])
    return st.one_of(
        st.lists(inner, max_size=3).map(lambda items: Sequence(tuple(items))),
        st.lists(inner, min_size=1, max_size=3).map(lambda options: Choice(tuple(options))),
        st.tuples(inner, bounds).map(lambda pair: Repeat(pair[0], *pair[1])),
    )


expressions = st.recursive(leaves, nested, max_leaves=6)


def grammar_of(start: Expr, bodies: dict[str, Expr]) -> Grammar:
    rules = Rules()
    for name, body in bodies.items():
        rules.define(name, body)
    return Grammar(rules, start)


def problems_of_all_nodes(grammar: Grammar) -> tuple[list[str], bool]:
    """What the three checks say, and whether an item that repeats may be empty."""
    graph = graph_of(grammar)
    try:
        check_productive(grammar, graph)
        check_left_recursion(grammar, graph)
        check_loops(grammar, graph)
    except GrammarError as error:
        return [problem.message for problem in error.problems], False
    empty = nullable(graph)
    return [], any(
        empty[graph.kids[at][0]] for at, n in enumerate(graph.nodes) if isinstance(n, Repeat)
    )


@settings(max_examples=300, deadline=None)
@given(start=expressions, bodies=st.tuples(*[expressions] * len(NAMES)))
def test_one_walk_finds_what_the_checks_over_all_nodes_find(
    start: Expr, bodies: tuple[Expr, ...]
) -> None:
    grammar = grammar_of(start, dict(zip(NAMES, bodies, strict=True)))
    expected = problems_of_all_nodes(grammar)
    try:
        got: tuple[list[str], bool] = ([], check_expanded(grammar, survey(grammar, {}), {}))
    except GrammarError as error:
        got = [problem.message for problem in error.problems], False
    assert got == expected


def test_uses_are_counted_in_order_of_first_use() -> None:
    grammar = grammar_of(
        Sequence((RuleRef("r1"), RuleRef("r0"), RuleRef("r1"))),
        {"r0": RuleRef("r2"), "r1": Choice((A, RuleRef("r2"))), "r2": A, "r3": RuleRef("r2")},
    )
    assert list(survey(grammar, {}).uses.items()) == [("r1", 2), ("r0", 1), ("r2", 2)]


def test_empty_texts() -> None:
    known = {"yes": True, "no": False}
    deep: Expr = Repeat(A, 0, 1)
    for _ in range(20_000):
        deep = Sequence((deep, Choice((A, EMPTY))))
    empty: list[Expr] = [
        EMPTY, Literal(""), Repeat(A, 0, None), Repeat(EMPTY, 2, 2), RuleRef("yes"), deep,
        Choice((A, Sequence((RuleRef("yes"), EMPTY)))), Sequence((Choice((EMPTY, A)), EMPTY)),
    ]  # fmt: skip
    full: list[Expr] = [
        A, Repeat(A, 1, 2), RuleRef("no"), Sequence((deep, A)), Chars(((97, 98),)),
        Choice((A, Sequence((EMPTY, RuleRef("no"))))), Sequence((EMPTY, Choice((A, COMMA)))),
    ]  # fmt: skip
    assert [matches_empty(expr, known) for expr in empty] == [True] * len(empty)
    assert [matches_empty(expr, known) for expr in full] == [False] * len(full)


def expanded(*nodes: Regular) -> tuple[Grammar, RegularExpander]:
    regular = RegularExpander()
    return rewrite_grammar(Grammar(Rules(), Sequence(nodes)), regular.node), regular


def test_a_machine_with_many_counts_has_few_shapes() -> None:
    _, regular = expanded(Regular(WORDS, 0, 100))
    shapes = {id(rule.shape) for rule in regular.linear.values()}
    assert len(regular.linear) > 150 and len(shapes) < 10


def test_shapes_with_names_in_their_holes_are_the_rules_of_the_grammar() -> None:
    done, regular = expanded(Regular(WORDS, 2, 9))
    found = survey(done, regular.linear)
    assert set(found.uses) <= set(regular.linear)
    assert found.uses == survey(done, {}).uses
    for name, rule in regular.linear.items():
        assert rule.expr() == done.rules[name]
        assert sorted(rule.names) == sorted(dict.fromkeys(rule.references()))


def test_what_is_left_of_one_machine_is_shared_by_all_bounds() -> None:
    _, one = expanded(Regular(WORDS, 0, 60))
    done, both = expanded(Regular(WORDS, 0, 60), Regular(WORDS, 0, 40), Regular(WORDS, 1, 50))
    assert len(both.linear) <= len(one.linear) + 2
    assert isinstance(done.start, Sequence)
    for bound, item in zip((60, 40, 50), done.start.items, strict=True):
        for count in (0, 1, 39, 40, 41, 49, 50, 51, 59, 60, 61):
            text = ",".join(["a" * 7] * (count // 7) + ["a" * (count % 7)] * (count % 7 > 0))
            accepted = naive.accepts(Grammar(done.rules, item), text)
            assert accepted == (0 < count <= bound), (bound, count)


def test_rules_of_machines_say_whether_they_may_be_empty() -> None:
    maybe = Machine(WORDS.transitions, frozenset({0, 1}))
    for node, empty in ((Regular(maybe, 0, 9), True), (Regular(maybe, 1, 9), False),
                        (Regular(WORDS, 0, 9), False)):  # fmt: skip
        done, regular = expanded(node)
        assert isinstance(done.start, Sequence)
        (rule,) = done.start.items
        assert isinstance(rule, RuleRef) and regular.empty[rule.name] == empty
        assert naive.accepts(expand_regular(Grammar(Rules(), node)), "") == empty
