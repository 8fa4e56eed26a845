"""The places of an automaton with shortened counts, and the numbers of their states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.counted import CountedDfa
from ...compiler.passes.shorten_counts import Loop
from .classes import Map
from .counted_maps import SHIFT, STATE
from .counted_table import FIRST

Wide = NDArray[np.int64]
Flags = NDArray[np.bool_]


class TooShort(Exception):
    """Loops of which too little was left, by their places in the list."""

    def __init__(self, loops: set[int]) -> None:
        super().__init__(sorted(loops))
        self.loops = loops


class Places:
    """Where states are: those of a place by what is left of its counts, the innermost the fastest.

    Counts are told by their positions around a place, the outermost first.

    Attributes:
        nests: the loops around each place.
        depth: the most of them.
        nest_of: int64[places, depth]: the same, -1 where there is none.
        low, top, high: int64[places, depth]: the fewest counts left, the most of the shortened
            ones, the most of all; 0 where there is none.
        base: int64[places]; ``worth``: int64[places, depth]: the state of counts `left` is
            ``base + left @ worth``.
        grids: for each place its states in the automaton by counts from `low` to `top`; -1: none.
        states: how many states of the table there are.
    """

    def __init__(self, dfa: CountedDfa, loops: Sequence[Loop], passed: Sequence[Map]) -> None:
        self._dfa = dfa
        self.nests = dfa.nests
        self.depth = max(map(len, self.nests))
        size = len(self.nests)
        self.nest_of = np.full((size, self.depth), -1, dtype=np.int64)
        for place, nest in enumerate(self.nests):
            self.nest_of[place, : len(nest)] = nest
        around = self.nest_of[dfa.places]
        self.left: Wide = np.where(around >= 0, np.take_along_axis(dfa.left, around, axis=1), 0)
        self.top = np.zeros((size, self.depth), dtype=np.int64)
        np.maximum.at(self.top, dfa.places, self.left)
        self.low = self.top.copy()
        np.minimum.at(self.low, dfa.places, self.left)
        self.taken = np.array([loop.taken for loop in loops])
        most = np.where(self.nest_of >= 0, np.array([loop.most for loop in loops])[self.nest_of], 0)
        margins = np.array([loop.margin for loop in loops])
        self.high = np.where(self._beyond(margins, passed), most, self.top)
        sizes = self.high - self.low + 1
        self.worth = np.where(self.nest_of >= 0, _strides(sizes), 0)
        total = sizes.prod(axis=1)
        begin = FIRST + np.cumsum(total) - total
        self.base = begin - (self.low * self.worth).sum(axis=1)
        self.states = FIRST + int(total.sum())
        self.grids = self._grids()

    def target(self, targets: Wide) -> Wide:
        """Targets of maps as ``state << depth | entered``, a bit for each position."""
        states, entered = targets & STATE, targets >> SHIFT
        found = states << self.depth
        around = self.nest_of[self._dfa.places[states]]
        for position in range(self.depth):
            # A shift by -1 is none: what is not there is not entered.
            loop = around[:, position]
            found |= np.where(loop >= 0, entered >> np.maximum(loop, 0) & 1, 0) << position
        return found

    def sizes(self) -> Wide:
        """How many states of the table each state of the automaton stands for."""
        places = self._dfa.places
        more = np.where(self.left == self.top[places], (self.high - self.top)[places], 0)
        found: Wide = (1 + more).prod(axis=1)
        return found

    def _grids(self) -> list[NDArray[np.int64]]:
        shapes = self.top - self.low + 1
        worth = _strides(shapes)
        begins = np.concatenate([[0], np.cumsum(shapes.prod(axis=1))])
        places = self._dfa.places
        at = begins[places] + ((self.left - self.low[places]) * worth[places]).sum(axis=1)
        flat = np.full(int(begins[-1]), -1, dtype=np.int64)
        flat[at] = np.arange(len(places))
        return [
            flat[begins[place] : begins[place + 1]].reshape(shape)
            for place, shape in enumerate(shapes.tolist())
        ]

    def _beyond(self, margins: Wide, passed: Sequence[Map]) -> Flags:
        """For each place and count: is the row of the most left that of any more?"""
        places = self._dfa.places
        around = self.nest_of
        few: Flags = (around[places] >= 0) & (self.left < margins[around[places]])
        near = few.sum(axis=1) > 0
        reached = np.zeros((len(places), len(margins)), dtype=bool)
        short: set[int] = set()
        for states, targets in passed:
            hit = near[targets & STATE]
            if not hit.any():
                continue
            states, targets = states[hit], targets[hit]
            at, entered = targets & STATE, targets >> SHIFT
            for position in range(self.depth):
                there = few[at, position]
                loop = around[places[at[there]], position]
                new = (entered[there] >> loop & 1).astype(bool)
                short |= set(np.unique(loop[new]).tolist())
                reached[states[there][~new], loop[~new]] = True
        if short:
            raise TooShort(short)
        loops = around[places]
        wrong = np.take_along_axis(reached, np.maximum(loops, 0), axis=1) & (loops >= 0)
        wrong &= self.left == self.top[places]
        found: Flags = around >= 0
        at_top, positions = np.nonzero(wrong)
        found[places[at_top], positions] = False
        return found

    def check(self, maps: Sequence[Map]) -> None:
        """Is there a state for whatever is left of each count, wherever a token leads?

        Args:
            maps: those of tokens, with targets as `target` has them.

        Raises:
            TooShort: there is none.
        """
        places = self._dfa.places
        wide = self.high > self.top
        # Counts of which more may be left where a token begins, as bits of loops.
        more = wide[places] & (self.left == self.top[places])
        bits = np.where(more, 1 << np.maximum(self.nest_of[places], 0), 0).sum(axis=1)
        patterns, pattern_of = np.unique(bits, return_inverse=True)
        pattern_of = pattern_of.ravel()
        seen = np.zeros((len(patterns), len(places) << self.depth), dtype=bool)
        for states, targets in maps:
            seen[pattern_of[states], targets] = True
        # The counts that the text starts in were entered, wherever it came from.
        seen[:, (1 << len(self.nests[places[0]])) - 1] = True
        which, target = np.nonzero(seen)
        at = target >> self.depth
        place = places[at]
        loop = self.nest_of[place]
        there = loop >= 0
        entered = (target[:, None] >> np.arange(self.depth) & 1).astype(bool)
        left = self.left[at] + np.where(entered, self.taken[loop], 0)
        open_ended = there & ~entered & (patterns[which][:, None] >> np.maximum(loop, 0) & 1 > 0)
        wrong = open_ended & ~wide[place] | there & (left > self.high[place])
        short = set(np.unique(loop[wrong]).tolist())
        with_holes = np.array([(grid < 0).any() for grid in self.grids])
        for found in np.flatnonzero(with_holes[place]).tolist():
            short |= self._holes(int(place[found]), left[found], open_ended[found])
        if short:
            raise TooShort(short)

    def _holes(self, place: int, left: Wide, open_ended: Flags) -> set[int]:
        """The loops around a place, if not all states are there that a move may lead to."""
        first = np.minimum(left, self.top[place]) - self.low[place]
        last = np.where(open_ended, self.top[place] - self.low[place], first)
        box = tuple(slice(int(a), int(b) + 1) for a, b in zip(first, last, strict=True))
        return set(self.nests[place]) if (self.grids[place][box] < 0).any() else set()


def _strides(shapes: Wide) -> Wide:
    """By how much each position of boxes of these shapes counts, the last by one."""
    found = np.ones_like(shapes)
    found[:, :-1] = np.cumprod(shapes[:, :0:-1], axis=1)[:, ::-1]
    return found
