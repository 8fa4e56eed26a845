"""Automata: canonical form, lengths, witnesses, enumeration."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.errors import LimitExceeded
from calligram.compiler.origin import Origin
from calligram.compiler.regular.dfa import Dfa
from calligram.compiler.regular.language import Language

WORDS = ["".join(w) for n in range(7) for w in itertools.product("ab", repeat=n)]
Rows = list[list[tuple[int, int, int]]]


@st.composite
def automata(draw: st.DrawFn) -> tuple[Rows, frozenset[int]]:
    """Any deterministic automaton over {a, b} with up to six states."""
    count = draw(st.integers(1, 6))
    target = st.integers(-1, count - 1)
    rows = [[(ord(c), ord(c), t) for c in "ab" if (t := draw(target)) >= 0] for _ in range(count)]
    return rows, frozenset(draw(st.sets(st.integers(0, count - 1))))


def naive(rows: Rows, accepting: frozenset[int], word: str) -> bool:
    state = 0
    for char in word:
        following = [t for low, high, t in rows[state] if low <= ord(char) <= high]
        if not following:
            return False
        state = following[0]
    return state in accepting


def dfa(pattern: str) -> Dfa:
    return Language.pattern(pattern, origin=Origin()).dfa


@given(automata())
def test_canonical_keeps_the_language(machine: tuple[Rows, frozenset[int]]) -> None:
    made = Dfa.canonical(*machine)
    for word in WORDS:
        assert made.accepts(word) == naive(*machine, word)


@given(automata(), automata())
def test_equality_is_equality_of_languages(
    one: tuple[Rows, frozenset[int]], other: tuple[Rows, frozenset[int]]
) -> None:
    left, right = Dfa.canonical(*one), Dfa.canonical(*other)
    # Two automata of n states that differ do so on a word shorter than 2n, at most 11 here.
    words = ["".join(w) for n in range(12) for w in itertools.product("ab", repeat=n)]
    assert (left == right) == all(left.accepts(w) == right.accepts(w) for w in words)


@given(automata())
def test_canonical_is_trim_and_of_itself(machine: tuple[Rows, frozenset[int]]) -> None:
    made = Dfa.canonical(*machine)
    assert Dfa.canonical(made.transitions, made.accepting) == made
    if made.is_empty:
        assert made.transitions == ((),)
        return
    reached = [0]
    for q in reached:
        assert made.lengths.shortest[q] >= 0
        for low, high, target in made.transitions[q]:
            assert low <= high
            if target not in reached:
                reached.append(target)
    assert reached == list(range(len(made.transitions)))  # Breadth first by code point.


@given(automata(), st.integers(0, 8), st.integers(0, 8) | st.none())
def test_live_is_exact(machine: tuple[Rows, frozenset[int]], low: int, high: int | None) -> None:
    made = Dfa.canonical(*machine)
    # Beyond low + 6 states a word can be cut, so no bound is as good as a far one.
    top = low + 6 if high is None else high
    for state in range(len(made.transitions)):
        lengths, reached = [], {state}
        for k in range(top + 1):
            if low <= k and reached & made.accepting:
                lengths.append(k)
            reached = {t for q in reached for _, _, t in made.transitions[q]}
        assert made.live(state, low, high) == bool(lengths), (state, low, high)


def test_live_is_exact_where_lengths_have_a_period() -> None:
    made = dfa("^(?:aaa|bbbbb)*$")
    possible = {3 * i + 5 * j for i in range(400) for j in range(250)}
    for low, high in [(1, 2), (4, 4), (7, 7), (8, 8), (1000, 1000), (999, 1001)]:
        assert made.live(0, low, high) == any(n in possible for n in range(low, high + 1))
    thirds = dfa("^(?:aaa)*$")
    assert thirds.live(0, 3_000_000, 3_000_000)
    assert not thirds.live(0, 3_000_001, 3_000_002)


@given(automata(), st.integers(0, 5), st.integers(0, 6) | st.none())
def test_with_length_keeps_the_words_of_that_length(
    machine: tuple[Rows, frozenset[int]], low: int, high: int | None
) -> None:
    made = Dfa.canonical(*machine)
    bounded = made.with_length(low, high)
    for word in WORDS:
        inside = low <= len(word) and (high is None or len(word) <= high)
        assert bounded.accepts(word) == (inside and made.accepts(word))
    assert Dfa.canonical(bounded.transitions, bounded.accepting) == bounded


def test_with_length_has_a_limit() -> None:
    wide = dfa("^(?:[a-z]{1,63}\\.)+$")
    with pytest.raises(LimitExceeded) as caught:
        wide.with_length(0, 5000, Origin("/properties/host"))
    problem = caught.value.problems[0]
    assert problem.code == "pattern-too-large"
    assert problem.origin.pointer == "/properties/host"


@given(automata(), st.integers(0, 20))
def test_words_are_the_first_ones_shorter_first(
    machine: tuple[Rows, frozenset[int]], limit: int
) -> None:
    made = Dfa.canonical(*machine)
    found = made.words(limit)
    shown = [w for w in WORDS if naive(*machine, w)]
    upto = len(shown) if made.is_finite and (made.longest_length() or 0) <= 6 else len(found)
    assert found[: len(shown)] == shown[: min(limit, upto)]
    assert len(found) == limit or made.is_finite


@given(automata())
def test_shortest_is_a_word_and_none_is_shorter(
    machine: tuple[Rows, frozenset[int]],
) -> None:
    made = Dfa.canonical(*machine)
    shortest = made.shortest()
    if shortest is None:
        assert made.is_empty and made.shortest_length() is None
    else:
        assert made.accepts(shortest) and len(shortest) == made.shortest_length()
        assert made.words(1) == [shortest]


@pytest.mark.parametrize(
    ("pattern", "shortest", "longest"),
    [
        ("^[^a]$", "b", 1),
        ("^[\\x00-\\x1f ]$", " ", 1),
        ("^\\d{3}$", "000", 3),
        ("^[ -~]$", "a", 1),
        ("^a*$", "", None),
        ("^(?:ab|a{5})$", "ab", 5),
        ("^[^\\s\\S]$", None, 0),
    ],
)
def test_witnesses_are_readable(pattern: str, shortest: str | None, longest: int | None) -> None:
    made = dfa(pattern)
    assert made.shortest() == shortest
    assert made.longest_length() == longest
    assert made.is_finite == (longest is not None)


def test_surrogates_are_no_text() -> None:
    anything = Language.any().dfa
    assert anything.accepts("\U0001f600") and anything.accepts("")
    assert not anything.accepts("\ud83d")
    assert anything.transitions == (((0, 0xD7FF, 0), (0xE000, 0x10FFFF, 0)),)
