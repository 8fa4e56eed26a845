"""Rows: bits of ids, and rows that states share."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import calligram
from calligram.targets import mask
from calligram.targets.mask.bitmask import allow, forbid

VOCABULARY = calligram.Vocabulary(
    [*(bytes([b]) for b in range(256)), b'", "', b'": "', b"ab", b"<end>"], eos_ids=[259]
)


@given(
    st.integers(1, 5).flatmap(
        lambda words: st.tuples(
            st.just(words),
            st.lists(st.integers(0, 32 * words - 1), max_size=40),
            st.lists(st.integers(0, 32 * words - 1), max_size=40),
        )
    )
)
def test_ids_become_bits(case: tuple[int, list[int], list[int]]) -> None:
    words, wanted, unwanted = case
    row = np.zeros(words, dtype=np.uint32)
    allow(row, wanted)
    found = {32 * word + bit for word in range(words) for bit in range(32) if row[word] >> bit & 1}
    assert found == set(wanted)
    forbid(row, unwanted)
    left = {32 * word + bit for word in range(words) for bit in range(32) if row[word] >> bit & 1}
    assert left == set(wanted) - set(unwanted)


def test_states_with_one_mask_share_its_row_and_it_is_counted_once() -> None:
    schema = {"type": "object", "properties": {k: {"type": "string"} for k in "abcd"}}
    schema["required"] = list("abcd")
    automaton = mask.compile(calligram.compile_schema(schema, whitespace="exact"), VOCABULARY)
    state = automaton.start
    rows = {}
    for byte in b'{"a": "x", "b": "y", "c": "z", "d": ""}':
        rows[state] = automaton.row(state)
        state = automaton.accept(state, byte)
        assert state
    rows[state] = automaton.row(state)
    distinct = {row.ctypes.data: row for row in rows.values()}
    assert len(distinct) < len(rows)
    assert automaton._row_bytes == sum(row.nbytes for row in distinct.values())
    assert not any(row.flags.writeable for row in rows.values())
