"""Whole automata over bytes against the plain meaning of the grammar IR."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from calligram.compiler.automaton.byte_dfa import ByteDfa, minimal
from calligram.compiler.automaton.core import TOKEN_BASE
from calligram.compiler.automaton.determinise import Moves, TooManyStates, determinise
from calligram.compiler.errors import GrammarError
from calligram.compiler.grammar import (
    EMPTY,
    Chars,
    Choice,
    Expr,
    Grammar,
    Literal,
    Machine,
    Member,
    Members,
    Regular,
    Repeat,
    Rules,
    Sequence,
    Token,
)
from calligram.compiler.origin import Origin
from calligram.compiler.passes.cut_recursion import cut_recursion
from tests.naive import accepts
from tests.unit.automaton.random_grammars import grammars

SHORT = ["".join(w) for n in range(5) for w in product("ab", repeat=n)] + ["é", "aé", "é€", "€a"]


def whole(grammar: Grammar, limit: int = 20_000) -> ByteDfa:
    return minimal(determinise(grammar, {}, limit))


def tells_apart(dfa: ByteDfa) -> set[tuple[int, int]]:
    """The pairs of states that some text tells apart, found pair by pair until no more are."""
    size = len(dfa)
    pairs = [(p, q) for p in range(size) for q in range(p)]
    found = {(p, q) for p, q in pairs if dfa.accepting[p] != dfa.accepting[q]}
    grown = True
    while grown:
        grown = False
        for p, q in pairs:
            if (p, q) in found:
                continue
            for a, b in zip(dfa.table[p].tolist(), dfa.table[q].tolist(), strict=True):
                if a != b and (min(a, b) < 0 or (max(a, b), min(a, b)) in found):
                    found.add((p, q))
                    grown = True
                    break
    return found


@settings(max_examples=300)
@given(grammars())
def test_it_accepts_what_the_meaning_of_the_grammar_accepts(made: tuple[Rules, Expr]) -> None:
    grammar = Grammar(*made)
    try:
        # Each level reads a letter, so that deeper ones have no short texts.
        cut, _ = cut_recursion(grammar, 5)
    except GrammarError:
        assert not any(accepts(grammar, text) for text in SHORT)
        return
    dfa = whole(cut)
    for text in SHORT:
        assert dfa.accepts(text.encode()) == accepts(grammar, text), text


@settings(max_examples=150)
@given(grammars())
def test_it_is_minimal_trim_and_numbered_breadth_first(made: tuple[Rules, Expr]) -> None:
    try:
        dfa = whole(cut_recursion(Grammar(*made), 2)[0])
    except GrammarError:
        return
    size = len(dfa)
    assume(size < 60)
    assert len(tells_apart(dfa)) == size * (size - 1) // 2
    seen = [0]
    for state in seen:
        seen += [t for t in dict.fromkeys(dfa.table[state].tolist()) if t >= 0 and t not in seen]
    assert seen == list(range(size))
    alive = set(np.flatnonzero(dfa.accepting).tolist())
    for _ in range(size):
        alive |= {q for q in range(size) if alive & set(dfa.table[q].tolist())}
    assert alive == set(range(size)) or not dfa.accepting.any()
    assert len({dfa.table[:, c].tobytes() for c in range(dfa.table.shape[1])}) == len(dfa.columns)
    assert [c[0] for c in dfa.columns] == sorted(c[0] for c in dfa.columns)


@settings(max_examples=100)
@given(grammars())
def test_equal_languages_have_equal_automata(made: tuple[Rules, Expr]) -> None:
    try:
        cut, _ = cut_recursion(Grammar(*made), 2)
    except GrammarError:
        return
    first = whole(cut)
    again: list[Expr] = [
        Choice((cut.start, cut.start)),
        Sequence((EMPTY, cut.start, Repeat(Literal("a"), 0, 0))),
        Choice((Sequence((cut.start, EMPTY)), cut.start)),
    ]
    for start in again:
        assert whole(Grammar(cut.rules, start)).digest == first.digest


@st.composite
def moves(draw: st.DrawFn) -> Moves:
    """A deterministic automaton with states that may be dead or never reached."""
    size = draw(st.integers(1, 8))
    row = st.lists(st.integers(-1, size - 1), min_size=3, max_size=3)
    table = np.array([draw(row) for _ in range(size)], dtype=np.int32)
    accepting = np.array([draw(st.booleans()) for _ in range(size)])
    return Moves(table, ((97,), (98, 99), (200,)), accepting)


def reads(moved: Moves, word: tuple[int, ...]) -> bool:
    state = 0
    for column in word:
        state = int(moved.table[state, column]) if state >= 0 else -1
    return state >= 0 and bool(moved.accepting[state])


@settings(max_examples=300)
@given(moves())
def test_minimising_keeps_the_language_of_any_automaton(moved: Moves) -> None:
    dfa = minimal(moved)
    for length in range(5):
        for word in product(range(3), repeat=length):
            data = bytes(moved.columns[c][-1] for c in word)
            assert dfa.accepts(data) == reads(moved, word), word
    assert len(tells_apart(dfa)) == len(dfa) * (len(dfa) - 1) // 2


def test_a_chain_that_differs_at_its_far_end_is_told_apart() -> None:
    # Two counts to 500 that no state tells apart but by their last letters.
    start = Choice(
        (
            Sequence((Literal("x"), Repeat(Literal("a"), 500, 500), Literal("b"))),
            Sequence((Literal("y"), Repeat(Literal("a"), 500, 500), Literal("c"))),
            Sequence((Literal("z"), Repeat(Literal("a"), 500, 500), Literal("b"))),
        )
    )
    dfa = whole(Grammar(Rules(), start))
    assert len(dfa) == 1 + 2 * 501 + 1
    assert dfa.accepts(b"y" + b"a" * 500 + b"c") and not dfa.accepts(b"y" + b"a" * 500 + b"b")


def test_no_text_at_all_is_one_state_without_moves() -> None:
    never = Moves(np.array([[0]], dtype=np.int32), ((97,),), np.array([False]))
    dfa = minimal(never)
    assert (len(dfa), dfa.columns, dfa.accepts(b"")) == (1, (), False)


def test_special_tokens_are_symbols_of_their_own() -> None:
    start = Choice((Token("<x>", "either"), Literal("ab")))
    dfa = minimal(determinise(Grammar(Rules(), start), {"<x>": 7}, 100))
    assert dfa.accepting[dfa.step(0, TOKEN_BASE + 7)]
    assert dfa.accepts(b"<x>") and dfa.accepts(b"ab")
    assert dfa.step(0, TOKEN_BASE + 8) == -1 and dfa.step(-1, 97) == -1
    alone = minimal(determinise(Grammar(Rules(), Token("<x>", "require")), {"<x>": 7}, 100))
    assert not alone.accepts(b"<x>") and alone.columns == ((TOKEN_BASE + 7,),)


def test_too_many_states_name_what_takes_them() -> None:
    place = Origin("/properties/note/maxLength")
    machine = Machine((((97, 122, 0, 1),),), frozenset({0}))
    long = Regular(machine, 0, 5000, "a string", place)
    short = Regular(machine, 0, 5, "another", Origin("/other"))
    start = Sequence((short, Literal("."), long, Literal(".")))
    with pytest.raises(TooManyStates) as refused:
        determinise(Grammar(Rules(), start), {}, 300)
    share = refused.value.share
    assert share is not None and (share.origin, share.what) == (place, "a string")
    assert 280 < share.states <= 301
    members = Members((), Literal(","), (Literal("k"),), 900, origin=Origin("/o"))
    with pytest.raises(TooManyStates) as refused:
        determinise(Grammar(Rules(), members), {}, 300)
    assert refused.value.share is not None
    assert refused.value.share[:3] == (Origin("/o"), None, "an object")
    body = Sequence((Literal("k:"), Repeat(Literal("ab"), 0, 900)))
    keys = (Member("j", Literal("j:"), False), Member("k", body, False))
    with pytest.raises(TooManyStates) as refused:
        determinise(Grammar(Rules(), Members(keys, Literal(","), origin=Origin("/o"))), {}, 300)
    assert refused.value.share is not None
    assert refused.value.share[:3] == (Origin("/o"), "k", "`k`")
    plain = Sequence((Repeat(Chars(((97, 98),)), 0, 400), Literal("c")))
    with pytest.raises(TooManyStates) as refused:
        determinise(Grammar(Rules(), plain), {}, 300)
    assert refused.value.share is None
