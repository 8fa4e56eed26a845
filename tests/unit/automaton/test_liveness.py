"""Which states of a counting machine can still end in time, against brute force."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.automaton.liveness import Liveness, liveness
from calligram.compiler.grammar import Machine

A, B = ord("a"), ord("b")


def exact_counts(machine: Machine, state: int, most: int) -> set[int]:
    """The numbers of counts up to `most` with which a word from `state` can be accepted."""
    seen = {(state, 0)}
    todo = [(state, 0)]
    while todo:
        here, count = todo.pop()
        for _, _, target, counts in machine.transitions[here]:
            after = (target, count + counts)
            if after[1] <= most and after not in seen:
                seen.add(after)
                todo.append(after)
    return {count for here, count in seen if here in machine.accepting}


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Small machines over two letters; states may be dead."""
    size = draw(st.integers(1, 5))
    rows = []
    for _ in range(size):
        row = []
        for letter in (A, B):
            target = draw(st.none() | st.integers(0, size - 1))
            if target is not None:
                row.append((letter, letter, target, draw(st.integers(0, 1))))
        rows.append(tuple(row))
    return Machine(tuple(rows), frozenset(draw(st.sets(st.integers(0, size - 1)))))


@given(machines(), st.integers(0, 9), st.none() | st.integers(0, 9))
def test_live_is_what_brute_force_finds(machine: Machine, low: int, extra: int | None) -> None:
    found = Liveness(machine)
    # Five states: what is live at all is live within 5 + 5 * 5 more counts.
    horizon = low + 40
    for state in range(len(machine.transitions)):
        counts = exact_counts(machine, state, horizon)
        high = horizon if extra is None else low + extra
        expected = any(low <= c <= high for c in counts)
        assert found.live(state, low, None if extra is None else high) == expected


@given(machines())
def test_longest_is_what_brute_force_finds(machine: Machine) -> None:
    found = Liveness(machine)
    for state in range(len(machine.transitions)):
        counts = exact_counts(machine, state, 40)
        endless = any(c > 20 for c in counts)
        assert found.longest(state) == (None if endless else max(counts, default=-1))


EVEN = Machine((((A, A, 1, 1),), ((A, A, 0, 1),)), frozenset({0}))
"""An even number of a's."""


@pytest.mark.parametrize(
    ("low", "high", "alive"),
    [
        (0, 0, True), (1, 1, False), (2, 2, True), (1, 2, True), (9_999, 9_999, False),
        (10_000, 10_000, True), (3, None, True), (10**12 + 1, 10**12 + 1, False),
    ],
)  # fmt: skip
def test_windows_of_an_even_count(low: int, high: int | None, alive: bool) -> None:
    assert liveness(EVEN).live(0, low, high) == alive


def test_one_machine_has_one_liveness() -> None:
    assert liveness(EVEN) is liveness(EVEN)


@given(machines())
def test_what_is_said_of_all_states_is_what_brute_force_finds(machine: Machine) -> None:
    found = Liveness(machine)
    size = len(machine.transitions)
    counts = [exact_counts(machine, state, 80) for state in range(size)]
    assert found.is_endless == all(any(c > 40 for c in some) for some in counts)
    assert found.is_dense == all(c + 1 in some for some in counts for c in some if c < 60)
    for state in range(size):
        if counts[state]:
            assert found.shortest(state) == min(counts[state])
    if all(counts):
        assert found.farthest >= max(min(some) for some in counts)
