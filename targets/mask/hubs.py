"""Hubs: the states of a machine that most characters lead back to.

"Any text but these words" is one state that takes everything, and one for each beginning of a
word, from which everything but the next letter leads to that one. A mask at such a place is the
hub's mask, but for the few tokens that spell more of the word.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ...compiler.grammar import Machine

_MOST: Final = 0x1000
"""Characters that must lead to the hub."""


@lru_cache(maxsize=256)
def hubs(machine: Machine) -> tuple[int | None, ...]:
    """For each state its hub; None where there is none, or the state is one itself."""
    towards = [_towards(row) for row in machine.transitions]
    found: list[int | None] = []
    for state, target in enumerate(towards):
        is_hub = target is not None and towards[target] == target
        found.append(target if is_hub and target != state else None)
    return tuple(found)


def _towards(row: tuple[tuple[int, int, int, int], ...]) -> int | None:
    """Where most characters lead, if they are many."""
    widths: dict[int, int] = {}
    for low, high, target, _ in row:
        widths[target] = widths.get(target, 0) + high - low + 1
    best = max(widths, key=widths.__getitem__, default=None)
    return best if best is not None and widths[best] >= _MOST else None
