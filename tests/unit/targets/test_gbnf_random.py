"""GBNF of random small grammars against their plain meaning, in llama.cpp's own engine."""

from __future__ import annotations

import os
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calligram.compiler.errors import CalligramError
from calligram.compiler.grammar import (
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
from calligram.compiler.passes import expand_members, expand_regular
from calligram.targets.gbnf import emit_grammar, repeats
from tests import naive
from tests.engine import Engine

WORDS = ["".join(letters) for size in range(7) for letters in product("ab", repeat=size)]
FUZZ = float(os.environ.get("CALLIGRAM_FUZZ", "1"))
HUNDRED = settings(
    max_examples=int(100 * FUZZ),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
RULES = ("r0", "r1", "r2")

texts = st.sampled_from(["", "a", "b", "ab", "ba", "aab"])
leaves = st.one_of(
    texts.map(Literal),
    st.sampled_from(["a", "ab"]).map(Token),
    st.sampled_from([((97, 97),), ((97, 98),), ((98, 98), (120, 122))]).map(Chars),
    st.sampled_from(RULES).map(RuleRef),
    st.just(Cut()),
)


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """A machine over a and b of up to four states, of which only the useful ones are kept."""
    size = draw(st.integers(1, 4))
    step = st.one_of(st.none(), st.tuples(st.integers(0, size - 1), st.integers(0, 1)))
    moves = [{code: draw(step) for code in (97, 98)} for _ in range(size)]
    accepting = {q for q in range(size) if draw(st.booleans())} or {size - 1}
    forward = {0}
    useful = set(accepting)
    for _ in range(size):
        forward |= {m[0] for q in forward for m in moves[q].values() if m}
        useful |= {q for q in range(size) for m in moves[q].values() if m and m[0] in useful}
    kept = [q for q in range(size) if q in forward and q in useful]
    if 0 not in kept:
        return Machine(((),), frozenset({0}))
    number = {q: i for i, q in enumerate(kept)}
    return Machine(
        tuple(
            tuple(
                (code, code, number[m[0]], m[1])
                for code, m in moves[q].items()
                if m and m[0] in number
            )
            for q in kept
        ),
        frozenset(number[q] for q in kept if q in accepting),
    )


@st.composite
def regulars(draw: st.DrawFn) -> Expr:
    low = draw(st.integers(0, 3))
    high = draw(st.one_of(st.none(), st.integers(low, 5)))
    return Regular(draw(machines()), low, high)


@st.composite
def members(draw: st.DrawFn) -> Expr:
    bodies = st.sampled_from(["a", "b", "ab", "aa", "ba"]).map(Literal)
    keys = tuple(
        Member(str(i), draw(bodies), draw(st.booleans())) for i in range(draw(st.integers(0, 3)))
    )
    opened = tuple(draw(st.lists(bodies, max_size=1)))
    low = draw(st.integers(0, 3))
    return Members(
        keys,
        Literal(draw(st.sampled_from(["", "b", "a"]))),
        opened,
        draw(st.one_of(st.none(), st.integers(0, 3))),
        draw(st.sampled_from(["schema", "any"])),
        draw(st.sampled_from([0, low])),
        draw(st.one_of(st.none(), st.integers(low, 4))),
    )


def nested(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    bounds = st.sampled_from([(0, 1), (0, 2), (1, 3), (2, 2), (0, None), (1, None), (2, None)])
    return st.one_of(
        st.lists(inner, max_size=3).map(lambda items: Sequence(tuple(items))),
        st.lists(inner, min_size=1, max_size=4).map(lambda options: Choice(tuple(options))),
        st.tuples(inner, bounds).map(lambda pair: Repeat(pair[0], *pair[1])),
        inner.map(lambda item: Capture(Slot("value", "raw"), item)),
    )


expressions = st.recursive(st.one_of(leaves, regulars(), members()), nested, max_leaves=6)


@pytest.mark.fuzz
@settings(
    max_examples=int(150 * FUZZ),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(start=expressions, bodies=st.tuples(expressions, expressions, expressions))
def test_engine_accepts_exactly_the_grammars_language(
    engine: Engine, start: Expr, bodies: tuple[Expr, Expr, Expr]
) -> None:
    rules = Rules()
    for name, body in zip(RULES, bodies, strict=True):
        rules.define(name, body)
    grammar = Grammar(rules, start)
    try:
        gbnf = emit_grammar(grammar)
    except CalligramError as error:
        codes = {problem.code for problem in error.problems}
        assert codes <= {"left-recursion", "empty-loop", "unproductive-rule"}
        return
    expected = [naive.accepts(grammar, word) for word in WORDS]
    status, verdicts = engine.run(gbnf, WORDS)
    assert status == "ok", (verdicts, gbnf)
    got = [verdict[0] for verdict in verdicts]
    wrong = [w for w, want, is_ in zip(WORDS, expected, got, strict=True) if want != is_]
    assert not wrong, f"{wrong}\n{gbnf}"


@pytest.mark.fuzz
@HUNDRED
@given(machine=machines(), low=st.integers(0, 6), spread=st.integers(0, 6))
def test_counts_of_a_machine_are_exact(
    engine: Engine, machine: Machine, low: int, spread: int
) -> None:
    grammar = Grammar(Rules(), Regular(machine, low, low + spread))
    expected = [naive.accepts(grammar, word) for word in WORDS]
    try:
        gbnf = emit_grammar(grammar)
    except CalligramError as error:
        assert {problem.code for problem in error.problems} == {"unproductive-rule"}
        assert not any(expected)
        return
    assert engine.accepted(gbnf, WORDS) == expected, gbnf


@pytest.mark.fuzz
@HUNDRED
@given(machine=machines(), low=st.integers(0, 2), spread=st.integers(0, 6))
def test_counting_in_blocks_is_exact(
    engine: Engine, machine: Machine, low: int, spread: int
) -> None:
    grammar = Grammar(Rules(), Regular(machine, low, low + spread))
    expected = [naive.accepts(grammar, word) for word in WORDS]
    if not any(expected):
        return
    with pytest.MonkeyPatch.context() as patch:
        # Blocks of two counts from the first rule on, whether they pay or not.
        patch.setattr(expand_regular, "PLAIN_RULES", 0)
        patch.setattr(expand_regular, "LOOP_ENTRIES", 1)
        patch.setattr(expand_regular._Expansion, "_blocks_pay", lambda self: True)
        gbnf = emit_grammar(grammar)
    assert engine.accepted(gbnf, WORDS) == expected, gbnf


@pytest.mark.fuzz
@HUNDRED
@given(node=members(), run=st.integers(0, 2))
def test_long_runs_of_optional_keys_are_exact(engine: Engine, node: Members, run: int) -> None:
    grammar = Grammar(Rules(), node)
    expected = [naive.accepts(grammar, word) for word in WORDS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expand_members, "FACTORED_RUN", run)
        try:
            gbnf = emit_grammar(grammar)
        except CalligramError as error:
            assert {problem.code for problem in error.problems} <= {
                "unproductive-rule", "empty-loop", "left-recursion",
            }  # fmt: skip
            return
    assert engine.accepted(gbnf, WORDS) == expected, gbnf


@pytest.mark.fuzz
@HUNDRED
@given(
    limit=st.integers(2, 4),
    chain=st.integers(1, 3),
    low=st.integers(0, 80),
    spread=st.one_of(st.none(), st.integers(0, 300)),
)
def test_composed_counts_are_exact(
    engine: Engine, limit: int, chain: int, low: int, spread: int | None
) -> None:
    high = None if spread is None else low + spread
    grammar = Grammar(Rules(), Repeat(Literal("ab"), low, high))
    counts = range((low if high is None else high) + 3 * limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "LIMIT", limit)
        patch.setattr(repeats, "CHAIN", chain)
        gbnf = emit_grammar(grammar)
    got = engine.accepted(gbnf, ["ab" * count for count in counts])
    assert got == [low <= n and (high is None or n <= high) for n in counts], gbnf
