"""Code point sets: the algebra, and that surrogates are never members."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.regular import charset
from calligram.compiler.regular.alphabet import partition, refine
from calligram.compiler.regular.charset import ALL, CharSet

POINTS = st.integers(0, 60) | st.sampled_from([0xD7FE, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0x10FFFF])
SETS = st.lists(st.tuples(POINTS, POINTS), max_size=5).map(charset.charset)
SAMPLE = [*range(62), 0xD7FD, 0xD7FE, 0xD7FF, 0xE000, 0xE001, 0x10FFFE, 0x10FFFF]


def members(ranges: CharSet) -> set[int]:
    return {point for point in SAMPLE if charset.contains(ranges, point)}


@given(SETS, SETS)
def test_operations_are_those_of_sets(left: CharSet, right: CharSet) -> None:
    assert members(charset.union(left, right)) == members(left) | members(right)
    assert members(charset.intersect(left, right)) == members(left) & members(right)
    assert members(charset.difference(left, right)) == members(left) - members(right)
    assert members(charset.complement(left)) == set(SAMPLE) - members(left)
    assert charset.complement(charset.complement(left)) == left


@given(SETS)
def test_ranges_are_sorted_apart_and_without_surrogates(ranges: CharSet) -> None:
    for (_, high), (low, _) in zip(ranges, ranges[1:], strict=False):
        assert high + 1 < low
    assert all(high < 0xD800 or low > 0xDFFF for low, high in ranges)


def test_a_range_over_the_surrogates_is_split() -> None:
    assert charset.charset([(0xD700, 0xE0FF)]) == ((0xD700, 0xD7FF), (0xE000, 0xE0FF))
    assert charset.charset([(0xD800, 0xDFFF)]) == ()
    assert charset.complement(()) == ALL


@given(st.lists(SETS, max_size=4))
def test_a_partition_tells_the_sets_apart(sets: list[CharSet]) -> None:
    alphabet, classes = partition(sets)
    for point in SAMPLE:
        number = alphabet.class_of(point)
        assert 0 <= number < alphabet.size
        for ranges, inside in zip(sets, classes, strict=True):
            assert (number in inside) == charset.contains(ranges, point)
    assert alphabet.class_of(0xD800) == alphabet.class_of(0xDFFF) == -1


@given(SETS, SETS)
def test_a_refinement_knows_both_classes(one: CharSet, other: CharSet) -> None:
    left, right = partition([one])[0], partition([other])[0]
    both, of_left, of_right = refine(left, right)
    for point in SAMPLE:
        number = both.class_of(point)
        assert of_left[number] == left.class_of(point)
        assert of_right[number] == right.class_of(point)
