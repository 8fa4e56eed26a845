"""What tokens do in an automaton with shortened counts: maps of states that tell what was entered.

Targets are numbers of 64 bits: the state below, and above it a bit for each count that was entered
on the way. What goes on being counted keeps its bit, whichever it is; what is left loses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...compiler.automaton.counted import CountedDfa
from .classes import Maps

MAX_LOOPS: Final = 31
"""Counts that can be told apart."""

SHIFT: Final = 32
STATE: Final = (1 << SHIFT) - 1
"""The bits of a target's state."""


class CountedMaps(Maps):
    """Maps of an automaton with shortened counts."""

    def __init__(self, dfa: CountedDfa, max_entries: int) -> None:
        super().__init__(dfa.dfa, max_entries)
        states, _ = self.maps[0]
        self.maps[0] = states, states.astype(np.int64)
        table = dfa.dfa.table.astype(np.int64)
        codes = np.where(table < 0, -1, table | dfa.entered << SHIFT)
        self.columns = np.ascontiguousarray(codes.T)
        around = np.array([_bits(nest) for nest in dfa.nests], dtype=np.int64)
        self._kept = around[dfa.places] << SHIFT | STATE

    def step(self, number: int, column: int) -> int:
        """The map behind a map and one more symbol."""
        states, targets = self.maps[number]
        behind = self.columns[column][targets & STATE]
        on = behind >= 0
        states, behind = states[on], behind[on]
        behind |= targets[on] & ~STATE
        behind &= self._kept[behind & STATE]
        return self.intern(states, behind)


def _bits(nest: Sequence[int]) -> int:
    return sum(1 << loop for loop in nest)
