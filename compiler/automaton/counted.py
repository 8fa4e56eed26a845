"""A grammar with shortened counts -> an automaton that knows which counts it has entered.

A configuration of the whole grammar is one of the shortened grammar and, for each count that it is
inside of, how many more are left. From where it stands a text may go on counting, with as many more
left as before; or leave and enter anew, with all that were taken off. Which of the two, twins tell:
every configuration is walked from with its counts as twins, and those that are entered are none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..grammar import Grammar, Regular
from ..passes.shorten_counts import Loop
from .byte_dfa import ByteDfa, Ints, living
from .cells import END, REGULAR, REPEAT, Head
from .core import Core
from .determinise import Moves, Share, Span, TooManyStates, apart, core_of, largest, moves_of
from .free_tokens import NO_TOKENS, Free, FreeArcs

Counts = tuple[tuple[int, bool, int], ...]
"""Counts around a place, the outermost first: loop, whether it was entered, counts left."""


class TangledCounts(Exception):
    """At one place one count is both gone on with and entered; `loop` is its place in the list."""

    def __init__(self, loop: int) -> None:
        super().__init__(loop)
        self.loop = loop


@dataclass(frozen=True, eq=False, slots=True)
class CountedDfa:
    """The automaton of a shortened grammar, trim, and which counts are entered on the way.

    Attributes:
        dfa: the automaton; it is not minimal. 0 is the start.
        entered: int64[states, columns]: bit i is set if a move enters loop i, whether or not the
            state it comes from is inside of it.
        places: int32[states]: what a state is but for its counts.
        left: int32[states, loops]: how many more are left, -1 where a state is not inside.
        nests: for each place the loops around it, the outermost first.
        core, configurations: what the states are.
    """

    dfa: ByteDfa
    entered: NDArray[np.int64]
    places: Ints
    left: Ints
    nests: list[tuple[int, ...]]
    core: Core
    configurations: list[tuple[int, ...]]

    def share(self, sizes: NDArray[np.int64]) -> Share | None:
        """The part of the grammar that most states are inside of, if each stands for so many."""
        return largest(self.core, self.configurations, sizes.tolist())

    def digest(self, loops: Sequence[Loop]) -> str:
        """SHA-256 of the automaton and how far it counts."""
        found = hashlib.sha256(repr((self.dfa.digest, self.nests)).encode())
        for numbers in (self.entered, self.places, self.left):
            found.update(numbers.astype("<i8").tobytes())
        found.update(repr([(loop.most, loop.kept) for loop in loops]).encode())
        return found.hexdigest()


def counted(
    grammar: Grammar,
    loops: Sequence[Loop],
    specials: Mapping[str, int],
    max_states: int,
    free: Free = NO_TOKENS,
) -> CountedDfa | None:
    """The automaton of a shortened grammar; None if it has no texts.

    Args:
        free: special tokens that free text may hold besides.

    Raises:
        TooManyStates: more than `max_states` configurations.
        TangledCounts: a count that must not be shortened.
        LimitExceeded: from the core, see there.
    """
    core = core_of(grammar, specials)
    labels = _Labels(core, loops)
    start: tuple[int, ...] = (labels.twin(core.continuation(grammar.start)),)
    numbers = {start: 0}
    queue = [start]
    # Configurations that are led to, as what they are with twins, and what they entered.
    arrivals: dict[tuple[int, int], int] = {}
    known: dict[tuple[int, ...], int] = {}
    others = FreeArcs(core, grammar.free, free)
    rows: list[list[Span]] = []
    accepting: list[bool] = []
    for cells in queue:
        if len(queue) > max_states:
            raise TooManyStates(max_states, largest(core, queue))
        found = [core.expand(cell) for cell in cells]
        accepting.append(any(e.final is not None for e in found))
        spans = sorted(
            {(a.low, a.high, a.target) for e in found for a in e.arcs}
            | {(symbol, symbol, target) for cell in cells for symbol, target in others.of(cell)}
        )
        row: list[Span] = []
        for low, high, targets in apart(spans):
            arrival = known.get(targets)
            if arrival is None:
                entered = sum(1 << loop for loop, new, _ in labels.of(targets)[1] if new)
                plain = tuple(sorted(map(labels.twin, targets))) if entered else targets
                number = numbers.setdefault(plain, len(queue))
                if number == len(queue):
                    queue.append(plain)
                arrival = arrivals.setdefault((number, entered), len(arrivals))
                known[targets] = arrival
            row.append((low, high, arrival))
        rows.append(row)
    moves = moves_of(rows, accepting)
    moves = replace(moves, columns=others.widened(moves.columns))
    return _trimmed(moves, np.array([*arrivals, (-1, 0)], dtype=np.int64), labels, queue)


def _trimmed(
    moves: Moves,
    arrivals: NDArray[np.int64],
    labels: _Labels,
    configurations: list[tuple[int, ...]],
) -> CountedDfa | None:
    """What leads to the end; the last of `arrivals` stands for no move."""
    table = arrivals[moves.table, 0].astype(np.int32)
    kept = living(Moves(table, moves.columns, moves.accepting))
    if not kept[0]:
        return None
    number = np.full(len(kept) + 1, -1, dtype=np.int32)
    number[:-1][kept] = np.arange(int(kept.sum()), dtype=np.int32)
    alive = [configurations[at] for at in np.flatnonzero(kept).tolist()]
    found = [labels.of(cells) for cells in alive]
    left = np.full((len(found), labels.loops), -1, dtype=np.int32)
    for at, (_, counts) in enumerate(found):
        for loop, _, more in counts:
            left[at, loop] = more
    used, places = np.unique([place for place, _ in found], return_inverse=True)
    return CountedDfa(
        ByteDfa(number[table[kept]], moves.columns, moves.accepting[kept]),
        arrivals[moves.table[kept], 1],
        places.ravel().astype(np.int32),
        left,
        [labels.nests[place] for place in used.tolist()],
        labels.core,
        alive,
    )


class _Labels:
    """What configurations are but for their counts, and their counts."""

    def __init__(self, core: Core, loops: Sequence[Loop]) -> None:
        self.loops = len(loops)
        self.core = core
        # By what heads begin with: what is counted may itself be repeated, which is another count.
        self._loop_of: dict[tuple[Any, ...], tuple[int, bool]] = {}
        self._twin_of: dict[tuple[Any, ...], int] = {}
        for at, loop in enumerate(loops):
            own, twin = core.index(loop.node), core.index(loop.twin)
            kind = REGULAR if isinstance(loop.node, Regular) else REPEAT
            self._loop_of[kind, own], self._loop_of[kind, twin] = (at, True), (at, False)
            self._twin_of[kind, own] = twin
        self._twins: dict[int, int] = {END: END}
        self._cells: dict[int, tuple[int, Counts]] = {END: (0, ())}
        self._bare: dict[tuple[Any, int], int] = {}
        self._places: dict[Any, int] = {}
        self.nests: list[tuple[int, ...]] = []

    def twin(self, cell: int) -> int:
        """The same continuation with its counts as twins."""
        way = []
        while cell not in self._twins:
            head, tail = self.core.parts(cell)
            way.append((cell, head))
            cell = tail
        made = self._twins[cell]
        for cell, head in reversed(way):
            twin = self._twin_of.get(head[:2])
            if twin is not None:
                head = (head[0], twin, *head[2:])
            made = self._twins[cell] = self.core.cell(head, made)
        return made

    def of(self, cells: tuple[int, ...]) -> tuple[int, Counts]:
        """The place of a configuration, and its counts: of one count the most that are left."""
        found = [self._cell(cell) for cell in cells]
        if len(found) == 1:
            bare, counts = found[0]
            return self._place((bare,), counts), counts
        most: dict[int, tuple[bool, int]] = {}
        for _, counts in found:
            for loop, new, left in counts:
                known = most.setdefault(loop, (new, left))
                if known[0] != new:
                    raise TangledCounts(loop)
                most[loop] = (new, max(known[1], left))
        shape = tuple(
            sorted((bare, *(most[loop][1] - left for loop, _, left in counts))
                   for bare, counts in found)
        )  # fmt: skip
        counts = tuple((loop, new, left) for loop, (new, left) in most.items())
        return self._place(shape, counts), counts

    def _place(self, shape: tuple[Any, ...], counts: Counts) -> int:
        number = self._places.get(shape)
        if number is None:
            number = self._places[shape] = len(self.nests)
            self.nests.append(tuple(loop for loop, _, _ in counts))
        return number

    def _cell(self, cell: int) -> tuple[int, Counts]:
        way = []
        while cell not in self._cells:
            head, tail = self.core.parts(cell)
            way.append((cell, head))
            cell = tail
        bare, counts = self._cells[cell]
        for cell, head in reversed(way):
            own, count = self._head(head)
            key = (own, bare)
            bare = self._bare.setdefault(key, len(self._bare) + 1)
            counts = counts if count is None else (*counts, count)
            self._cells[cell] = bare, counts
        return self._cells[way[0][0]] if way else (bare, counts)

    def _head(self, head: Head) -> tuple[Head, tuple[int, bool, int] | None]:
        """A head without its count, if that is a loop's."""
        found = self._loop_of.get(head[:2])
        if found is None:
            return head, None
        loop, new = found
        if head[0] == REPEAT:
            _, _, need, left = head
            return (REPEAT, ~loop, need), (loop, new, left)
        _, _, state, need, left = head
        if left is None:
            # No text from here on counts any more than may be.
            return (REGULAR, ~loop, state, need, True), None
        return (REGULAR, ~loop, state, need), (loop, new, left)
