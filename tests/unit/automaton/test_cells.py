"""Continuations are interned: one number for one head and tail."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.automaton.cells import BYTES, END, REPEAT, Head
from calligram.compiler.automaton.core import Core
from calligram.compiler.grammar import Rules

HEADS = st.one_of(
    st.tuples(st.just(BYTES), st.binary(min_size=1, max_size=2), st.just(0)),
    st.tuples(
        st.just(REPEAT), st.integers(0, 2), st.integers(0, 1), st.sampled_from([None, 1, 9000])
    ),
)


@given(st.lists(st.lists(HEADS, max_size=4), max_size=12))
def test_a_number_stands_for_one_head_and_tail(chains: list[list[Head]]) -> None:
    core = Core(Rules())
    known: dict[tuple[Head, int], int] = {}
    for chain in chains:
        cell = END
        for head in chain:
            tail, cell = cell, core.cell(head, cell)
            assert core.parts(cell) == (head, tail)
            assert known.setdefault((head, tail), cell) == cell
    assert len(set(known.values())) == len(known) == core.size - 1
    assert core.parts(END) == ((), END)
