"""Code point ranges as byte ranges, against Python's own encoder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.automaton.utf8 import byte_sequences
from calligram.compiler.grammar import MAX_CODE_POINT, SURROGATES, Ranges


def spelled(ranges: Ranges) -> set[bytes]:
    """All the byte strings that the sequences stand for."""
    found: set[bytes] = set()
    for sequence in byte_sequences(ranges):
        texts = [b""]
        for low, high in sequence:
            texts = [text + bytes([b]) for text in texts for b in range(low, high + 1)]
        assert not found.intersection(texts), "sequences are disjoint"
        found.update(texts)
    return found


@pytest.mark.parametrize(
    ("ranges", "sequences"),
    [
        (((0x41, 0x5A),), (((0x41, 0x5A),),)),
        (((0x7F, 0x80),), (((0x7F, 0x7F),), ((0xC2, 0xC2), (0x80, 0x80)))),
        (((0x80, 0x7FF),), (((0xC2, 0xDF), (0x80, 0xBF)),)),
        (((0x800, 0xFFF),), (((0xE0, 0xE0), (0xA0, 0xBF), (0x80, 0xBF)),)),
        (((0x1F600, 0x1F600),), (((0xF0, 0xF0), (0x9F, 0x9F), (0x98, 0x98), (0x80, 0x80)),)),
        (((0x100000, MAX_CODE_POINT),),
         (((0xF4, 0xF4), (0x80, 0x8F), (0x80, 0xBF), (0x80, 0xBF)),)),
    ],
)  # fmt: skip
def test_known_splits(ranges: Ranges, sequences: object) -> None:
    assert byte_sequences(ranges) == sequences


def test_all_characters_are_the_well_formed_sequences_of_the_standard() -> None:
    assert byte_sequences(((0, 0xD7FF), (0xE000, MAX_CODE_POINT))) == (
        ((0x00, 0x7F),),
        ((0xC2, 0xDF), (0x80, 0xBF)),
        ((0xE0, 0xE0), (0xA0, 0xBF), (0x80, 0xBF)),
        ((0xE1, 0xEC), (0x80, 0xBF), (0x80, 0xBF)),
        ((0xED, 0xED), (0x80, 0x9F), (0x80, 0xBF)),
        ((0xEE, 0xEF), (0x80, 0xBF), (0x80, 0xBF)),
        ((0xF0, 0xF0), (0x90, 0xBF), (0x80, 0xBF), (0x80, 0xBF)),
        ((0xF1, 0xF3), (0x80, 0xBF), (0x80, 0xBF), (0x80, 0xBF)),
        ((0xF4, 0xF4), (0x80, 0x8F), (0x80, 0xBF), (0x80, 0xBF)),
    )


EDGES = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF,
         0x40000, 0xFFFFF, 0x100000, MAX_CODE_POINT]  # fmt: skip


@st.composite
def some_ranges(draw: st.DrawFn) -> Ranges:
    """One short range near a place where the encoding changes."""
    at = draw(st.sampled_from(EDGES)) + draw(st.integers(-70, 70))
    low = min(max(at, 0), MAX_CODE_POINT)
    high = min(low + draw(st.integers(0, 5000)), MAX_CODE_POINT)
    if low <= SURROGATES[1] and high >= SURROGATES[0]:
        low, high = (low, SURROGATES[0] - 1) if low < SURROGATES[0] else (SURROGATES[1] + 1, high)
        high = max(low, high)
    return ((low, high),)


@given(some_ranges())
def test_a_range_is_spelled_as_python_encodes_it(ranges: Ranges) -> None:
    expected = {chr(c).encode() for low, high in ranges for c in range(low, high + 1)}
    assert spelled(ranges) == expected
