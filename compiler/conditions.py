"""Conditions on an object's members: whether they can all be met, within bounds on their number.

A condition is met by one member or another, or by the absence of a key; sets of conditions are
bits. Members meet conditions one by one, so what has been met only grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

MAX_CONDITIONS = 10
"""Most conditions of one object; each may double the ways to go on in it."""


class Slot(NamedTuple):
    """A declared key.

    `absent`: what its absence meets; None: it is required. `present`: what each way of writing it
    meets; none: it cannot be there.
    """

    absent: int | None
    present: tuple[int, ...]


def can_meet(
    slots: Iterable[Slot],
    opened: Sequence[int],
    missing: int,
    low: int = 0,
    high: int | None = None,
    most_open: int | None = None,
) -> bool:
    """Whether some choice of members meets all of `missing`.

    `opened`: what each way of writing an undeclared member meets; there may be any number of each,
    `most_open` in all (None: no bound). `low` to `high` (None: no bound) members must be written.
    """
    reach = _reached(slots, missing, counting=low > 0 or high is not None)
    ways = tuple(sorted({bits & missing for bits in opened}))
    for met, counts in reach.items():
        owed = fewest_open(ways, missing & ~met)
        if owed is None or (most_open is not None and owed > most_open):
            continue
        more = (None if ways else 0) if most_open is None or not ways else most_open
        if _fits(counts, owed, more, low, high):
            return True
    return False


def _reached(slots: Iterable[Slot], missing: int, *, counting: bool) -> dict[int, int]:
    """What declared keys can meet, with the numbers of keys (as bits) that it takes."""
    reach = {0: 1}
    for slot in slots:
        after: dict[int, int] = {}
        for met, counts in reach.items():
            if slot.absent is not None:
                bits = met | (slot.absent & missing)
                after[bits] = after.get(bits, 0) | counts
            for way in slot.present:
                bits = met | (way & missing)
                after[bits] = after.get(bits, 0) | (counts << 1 if counting else counts)
        reach = after
    return reach


def _fits(counts: int, owed: int, more: int | None, low: int, high: int | None) -> bool:
    """Whether, beside one of so many keys, `owed` to `more` open members make `low` to `high`."""
    number = 0
    while counts:
        if counts & 1:
            least = max(number + owed, low)
            if (high is None or least <= high) and (more is None or least <= number + more):
                return True
        counts >>= 1
        number += 1
    return False


@lru_cache(maxsize=4096)
def fewest_open(ways: tuple[int, ...], missing: int) -> int | None:
    """The fewest open members that meet all of `missing`; None if none do."""
    level, seen = {missing}, {missing}
    for number in range(missing.bit_count() + 1):
        if 0 in level:
            return number
        level = {left & ~way for left in level for way in ways} - seen
        seen |= level
    return None


def kept_bits(bits: int, kept: Sequence[int]) -> int:
    """`bits` with only the conditions `kept`, numbered anew."""
    return sum(1 << i for i, old in enumerate(kept) if bits >> old & 1)
