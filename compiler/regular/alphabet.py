"""The partition of all code points into classes that an automaton cannot tell apart.

Automata here run over class numbers, not characters: `[a-z]` is one step, not twenty-six. Classes
are numbered by their first code point, so that walking classes in order is walking code points.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from .charset import FIRST_SURROGATE, LAST_SURROGATE, MAX_CODE_POINT, CharSet


@dataclass(frozen=True, slots=True)
class Alphabet:
    """`starts[i]` is the first code point of interval i, which runs up to the next start.

    ``classes[i]`` is the interval's class, -1 for the surrogates; ``size`` counts the classes.
    """

    starts: tuple[int, ...]
    classes: tuple[int, ...]
    size: int

    def class_of(self, code_point: int) -> int:
        """The class of a code point, -1 for a surrogate."""
        return self.classes[bisect_right(self.starts, code_point) - 1]

    def ranges(self, row: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
        """The row of an automaton (target by class, -1: none) as sorted (low, high, target)."""
        found: list[tuple[int, int, int]] = []
        last = -1
        ends = (*self.starts[1:], MAX_CODE_POINT + 1)
        for start, end, number in zip(self.starts, ends, self.classes, strict=True):
            target = row[number] if number >= 0 else -1
            if target >= 0:
                if target == last:
                    found[-1] = (found[-1][0], end - 1, target)
                else:
                    found.append((start, end - 1, target))
            last = target
        return tuple(found)

    def merged(self, numbers: Sequence[int]) -> Alphabet:
        """The coarser alphabet in which class c is called ``numbers[c]``."""
        starts: list[int] = []
        classes: list[int] = []
        for start, old in zip(self.starts, self.classes, strict=True):
            new = numbers[old] if old >= 0 else -1
            if not classes or classes[-1] != new:
                starts.append(start)
                classes.append(new)
        return Alphabet(tuple(starts), tuple(classes), max(numbers, default=-1) + 1)


def partition(sets: Sequence[CharSet]) -> tuple[Alphabet, list[tuple[int, ...]]]:
    """The coarsest alphabet that tells the sets apart, and the classes that make up each set."""
    toggles: dict[int, int] = {0: 0, FIRST_SURROGATE: 0, LAST_SURROGATE + 1: 0}
    for i, ranges in enumerate(sets):
        for low, high in ranges:
            toggles[low] = toggles.get(low, 0) ^ (1 << i)
            toggles[high + 1] = toggles.get(high + 1, 0) ^ (1 << i)
    toggles.pop(MAX_CODE_POINT + 1, None)
    numbers: dict[int, int] = {}
    starts = sorted(toggles)
    classes: list[int] = []
    signature = 0
    for start in starts:
        signature ^= toggles[start]
        surrogate = FIRST_SURROGATE <= start <= LAST_SURROGATE
        classes.append(-1 if surrogate else numbers.setdefault(signature, len(numbers)))
    members = [tuple(n for s, n in numbers.items() if s >> i & 1) for i in range(len(sets))]
    return Alphabet(tuple(starts), tuple(classes), len(numbers)), members


def refine(left: Alphabet, right: Alphabet) -> tuple[Alphabet, list[int], list[int]]:
    """The coarsest alphabet finer than both, and for each of its classes the left and right one."""
    numbers: dict[tuple[int, int], int] = {}
    starts: list[int] = []
    classes: list[int] = []
    i = j = 0
    start = 0
    while True:
        pair = (left.classes[i], right.classes[j])
        number = -1 if pair[0] < 0 else numbers.setdefault(pair, len(numbers))
        if not classes or classes[-1] != number:
            starts.append(start)
            classes.append(number)
        next_left = left.starts[i + 1] if i + 1 < len(left.starts) else MAX_CODE_POINT + 1
        next_right = right.starts[j + 1] if j + 1 < len(right.starts) else MAX_CODE_POINT + 1
        start = min(next_left, next_right)
        if start > MAX_CODE_POINT:
            break
        i += next_left == start
        j += next_right == start
    alphabet = Alphabet(tuple(starts), tuple(classes), len(numbers))
    return alphabet, [a for a, _ in numbers], [b for _, b in numbers]
