"""Sets of Unicode code points as sorted, disjoint, non-adjacent ranges (both ends included).

Surrogates (U+D800..U+DFFF) are never members: they are no characters, and no UTF-8 text has them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

CharSet: TypeAlias = tuple[tuple[int, int], ...]

MAX_CODE_POINT = 0x10FFFF
FIRST_SURROGATE = 0xD800
LAST_SURROGATE = 0xDFFF
ALL: CharSet = ((0, FIRST_SURROGATE - 1), (LAST_SURROGATE + 1, MAX_CODE_POINT))
NONE: CharSet = ()


def charset(ranges: Iterable[tuple[int, int]]) -> CharSet:
    """The union of any ranges, sorted and merged, without surrogates. Empty ranges vanish."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(r for r in ranges if r[0] <= r[1]):
        if merged and low <= merged[-1][1] + 1:
            if high > merged[-1][1]:
                merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return _without_surrogates(merged)


def _without_surrogates(ranges: list[tuple[int, int]]) -> CharSet:
    kept: list[tuple[int, int]] = []
    for low, high in ranges:
        if high < FIRST_SURROGATE or low > LAST_SURROGATE:
            kept.append((low, high))
            continue
        if low < FIRST_SURROGATE:
            kept.append((low, FIRST_SURROGATE - 1))
        if high > LAST_SURROGATE:
            kept.append((LAST_SURROGATE + 1, high))
    return tuple(kept)


def of(text: str) -> CharSet:
    """The set of the characters of `text`."""
    return charset((ord(c), ord(c)) for c in text)


def union(*sets: CharSet) -> CharSet:
    """Members of any of the sets."""
    return charset(r for s in sets for r in s)


def intersect(left: CharSet, right: CharSet) -> CharSet:
    """Members of both sets."""
    common: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low = max(left[i][0], right[j][0])
        high = min(left[i][1], right[j][1])
        if low <= high:
            common.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(common)


def complement(ranges: CharSet) -> CharSet:
    """Every code point but these, and but the surrogates."""
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= MAX_CODE_POINT:
        gaps.append((start, MAX_CODE_POINT))
    return _without_surrogates(gaps)


def difference(left: CharSet, right: CharSet) -> CharSet:
    """Members of `left` that are not in `right`."""
    return intersect(left, complement(right))


def contains(ranges: CharSet, code_point: int) -> bool:
    """Whether the code point is a member."""
    return any(low <= code_point <= high for low, high in ranges)
