"""Automaton with shortened counts + vocabulary -> token table that counts.

Every place of the automaton becomes a box of states, one for each number of counts that may be
left. Rows are worked out for the shortened counts. That of the most counts left stands for all
beyond, if no token from there gets so far that it makes a difference how many were left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.byte_dfa import groups
from ...compiler.automaton.counted import CountedDfa
from ...compiler.automaton.determinise import Share
from ...compiler.passes.shorten_counts import Loop
from ...compiler.vocabulary.vocabulary import Vocabulary
from .build import with_ends, without_unused
from .classes import Classes
from .counted_places import Places
from .counted_table import FIRST_ROW, Boxes, CountedTable, Moves
from .states import DEAD, ENDED

Wide = NDArray[np.int64]

MAX_CELLS: Final = 2**28
"""Rows times classes while rows are compared."""

_SLOTS: Final = 2**20
_SPREAD: Final = 0x1E3779B97F4A7C15
"""An odd number whose multiples are spread evenly."""


class TooManyBytes(Exception):
    """The table would take more than it may; `share` is the part of the grammar that takes most."""

    def __init__(self, states: int, share: Share | None) -> None:
        super().__init__(states, share)
        self.states, self.share = states, share


def counted_table(
    dfa: CountedDfa,
    loops: Sequence[Loop],
    classes: Classes,
    vocabulary: Vocabulary,
    header: Callable[[str, int], Mapping[str, Any]],
    max_bytes: int,
) -> CountedTable:
    """The table of classes whose maps are those of `CountedMaps`.

    Raises:
        TooShort: a token gets too far into counts that were shortened.
        TooManyBytes: it takes more than `max_bytes`.
    """
    places = Places(dfa, loops, classes.passed)
    if places.states * (3 + 2 * places.depth) > max_bytes:
        raise too_many_bytes(dfa, places)
    maps = [(states, places.target(targets)) for states, targets in classes.maps]
    places.check(maps)
    # What is left of the maps takes much room.
    classes = Classes(classes.of_token, maps, [])
    return _Rows(dfa, loops, places).table(classes, vocabulary, header, max_bytes)


def too_many_bytes(dfa: CountedDfa, places: Places) -> TooManyBytes:
    """What is raised if these states take more room than they may."""
    return TooManyBytes(places.states, dfa.share(places.sizes()))


class _Rows:
    """A row of moves for each state of the automaton, behind those of DEAD and ENDED."""

    def __init__(self, dfa: CountedDfa, loops: Sequence[Loop], places: Places) -> None:
        self.dfa, self.loops, self.places = dfa, loops, places
        self.taken = np.array([loop.taken for loop in loops])
        # A target is known by its state and, as bits, which of its counts were entered.
        self.bits = 1 << places.depth
        size, depth = len(dfa.dfa), places.depth
        nests = places.nest_of[dfa.places]
        worth = places.worth[dfa.places]
        left = np.where(nests >= 0, np.take_along_axis(dfa.left, nests, axis=1), 0)
        more = np.where(nests >= 0, self.taken[nests], 0)
        patterns = np.arange(self.bits)[:, None] >> np.arange(depth) & 1
        whole = left[:, None] + more[:, None] * patterns
        base = places.base[dfa.places][:, None]
        self.number = (base + (worth[:, None] * whole).sum(axis=2)).ravel()
        going = worth[:, None] * (1 - patterns)
        # What goes on is worth as much as it is in the place that is led to, wherever it stands in
        # the place that is come from.
        by_loop = np.zeros((size * self.bits, len(loops)), dtype=np.int64)
        at = np.arange(size * self.bits)
        for position in range(depth):
            inside = np.repeat(nests[:, position] >= 0, self.bits)
            loop = np.repeat(nests[:, position], self.bits)[inside]
            by_loop[at[inside], loop] = going[:, :, position].ravel()[inside]
        kinds, self.kind_of = _unique(by_loop)
        shapes, shape_of = _unique(nests)
        self.shape_of = np.concatenate([np.zeros(FIRST_ROW, dtype=np.int64), shape_of])
        self.counts = np.concatenate([np.zeros((FIRST_ROW, depth), dtype=np.int64), left])
        worths = np.where(shapes[:, None] >= 0, kinds[:, shapes].transpose(1, 0, 2), 0)
        flat = np.concatenate([np.zeros((1, depth), dtype=np.int64), worths.reshape(-1, depth)])
        self.worths, self.worth_of = _unique(flat)
        self.kinds = len(kinds)
        nothing = int(self.worth_of[0])
        # Moves by what they are: a number, and what counts that go on are worth.
        ends = [end * len(self.worths) + nothing for end in (DEAD, ENDED)]
        self.moves = _Numbers(np.array(ends, dtype=np.int64))

    def table(
        self,
        classes: Classes,
        vocabulary: Vocabulary,
        header: Callable[[str, int], Mapping[str, Any]],
        max_bytes: int,
    ) -> CountedTable:
        of_token, ends, count = with_ends(classes, vocabulary)
        shape = len(self.shape_of), count
        if shape[0] * count > MAX_CELLS:
            raise too_many_bytes(self.dfa, self.places)
        table = np.zeros(shape, dtype=np.int32)
        for at, (states, targets) in enumerate(classes.maps, 1):
            table[states + FIRST_ROW, at] = self._moves(states, targets)
        accepting = np.concatenate([[False, True], self.dfa.dfa.accepting])
        for base, at in ends.items():
            table[:, at] = table[:, base]
            table[accepting, at] = ENDED
        table, of_token = without_unused(table, of_token)
        # Rows in the order of the first state that has them; none is like those of DEAD and ENDED.
        first, same = _alike(table, accepting)
        boxes = self._boxes(same)
        keys = self.moves.keys
        moves = Moves(keys // len(self.worths), self.worths[keys % len(self.worths)])
        own = header(self.dfa.digest(self.loops), self.places.states)
        found = CountedTable(
            vocabulary, table[first], of_token, moves, boxes, accepting[first], own
        )
        if found.nbytes > max_bytes:
            raise too_many_bytes(self.dfa, self.places)
        return found

    def _moves(self, states: NDArray[np.int32], target: Wide) -> Wide:
        rows = states + FIRST_ROW
        worth = self.worth_of[1 + self.shape_of[rows] * self.kinds + self.kind_of[target]]
        # A move from the most counts is that from more of them, too.
        offset = self.number[target] - (self.worths[worth] * self.counts[rows]).sum(axis=1)
        return self.moves.of(offset * len(self.worths) + worth)

    def _boxes(self, row_of: Wide) -> Boxes:
        places, dfa = self.places, self.dfa
        grids = np.concatenate([grid.ravel() for grid in places.grids])
        rows = np.where(grids < 0, DEAD, row_of[grids + FIRST_ROW])
        # The counts that the text starts in were entered.
        nest = places.nests[dfa.places[0]]
        left = [int(dfa.left[0, loop] + self.taken[loop]) for loop in nest]
        worth = places.worth[dfa.places[0], : len(nest)].tolist()
        start = int(places.base[dfa.places[0]]) + sum(map(int.__mul__, worth, left))
        low, top, high = (part.astype(np.int32) for part in (places.low, places.top, places.high))
        return Boxes(low, top, high, rows.astype(np.int32), start)


def _unique(rows: NDArray[Any]) -> tuple[NDArray[Any], Wide]:
    """The rows that there are, each once, and the number of each row."""
    same, first = groups(rows)
    return rows[first], same


def _alike(table: NDArray[np.int32], flags: NDArray[np.bool_]) -> tuple[Wide, Wide]:
    """Rows in the order in which each is first, and the number of each row in this order."""
    numbers: dict[tuple[bytes, bool], int] = {}
    first: list[int] = []
    same = []
    for at, (row, flag) in enumerate(zip(table, flags.tolist(), strict=True)):
        number = numbers.setdefault((row.tobytes(), flag), len(first))
        if number == len(first):
            first.append(at)
        same.append(number)
    return np.array(first, dtype=np.int64), np.array(same, dtype=np.int64)


class _Numbers:
    """Keys by number, in the order in which they are met; many are looked up at once.

    Most of them are where their hash says. Others are looked up one by one.
    """

    def __init__(self, keys: Wide) -> None:
        self._known: dict[int, int] = {}
        self._keys = np.full(_SLOTS, -(2**62), dtype=np.int64)
        self._numbers = np.zeros(_SLOTS, dtype=np.int64)
        self.of(keys)

    @property
    def keys(self) -> Wide:
        """int64[n]: the keys that were met."""
        return np.fromiter(self._known, dtype=np.int64, count=len(self._known))

    def of(self, keys: Wide) -> Wide:
        """The number of each key."""
        slots = (keys * _SPREAD >> 20) % _SLOTS
        found: Wide = self._numbers[slots]
        other = np.flatnonzero(self._keys[slots] != keys)
        if len(other):
            known = self._known
            numbers = [known.setdefault(key, len(known)) for key in keys[other].tolist()]
            found[other] = numbers
            self._keys[slots[other]], self._numbers[slots[other]] = keys[other], numbers
        return found
