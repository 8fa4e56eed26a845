"""The token table of a grammar that counts far: rows are shared by states that differ in counts.

A state is a place and what is left of the counts around it. Rows hold moves instead of states::

    class_of   int[V]        token  -> class              0: never allowed
    row_of     int[S]        state  -> row
    left       int[S, D]     state  -> what is left of each count around it, the outermost first
    next       int[R, C]     row, class -> move           0: not allowed
    offsets    int[M]        move -> state, but for the counts that go on
    worths     int[M, D]     move -> what one more left of each count adds to it

The state after a token is ``offsets[m] + worths[m] @ left[s]`` of the move
``m = next[row_of[s], class_of[t]]``. All of it is looked up; nothing is worked out token by token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ...compiler.vocabulary.vocabulary import Vocabulary
from .states import DEAD, ENDED, START
from .table import Numbers, TokenTable

if TYPE_CHECKING:
    from .tensors import TensorTable

FIRST: Final = START + 1
"""The first state of the first box: START is another number for one of them."""

FIRST_ROW: Final = ENDED + 1
"""The first row that is no end: rows 0 and 1 are those of DEAD and ENDED."""

_CHUNK: Final = 1 << 14


@dataclass(frozen=True, eq=False, slots=True)
class Moves:
    """``offsets``: int[M]; ``worths``: int[M, D]; see above. The first is to DEAD, the second to
    ENDED."""

    offsets: NDArray[np.int64]
    worths: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Boxes:
    """States place by place, those of one place by what is left of its counts, the last fastest.

    Attributes:
        low, top, high: int32[places, D], all 0 where there is no count: the least and the most that
            is left, and from what on all that is beyond has the same row.
        rows: int32[n]: the rows for `low` to `top`, place by place; 0 where there is no state.
        start: the state that the text starts in.
    """

    low: NDArray[np.int32]
    top: NDArray[np.int32]
    high: NDArray[np.int32]
    rows: NDArray[np.int32]
    start: int

    def sizes(self) -> NDArray[np.int64]:
        """The states of each place."""
        found: NDArray[np.int64] = np.prod(self.high.astype(np.int64) - self.low + 1, axis=1)
        return found

    def grids(self) -> Iterator[tuple[int, NDArray[np.int32]]]:
        """Each place, and its rows by counts."""
        at = 0
        for place in range(len(self.low)):
            shape = (self.top[place] - self.low[place] + 1).tolist()
            size = int(np.prod(shape))
            yield place, self.rows[at : at + size].reshape(shape)
            at += size


class CountedTable(TokenTable):
    """A table whose rows are shared by states that differ in what is left of their counts.

    Attributes:
        next: int16 or int32[rows, classes], read-only: the move that a class of tokens makes.
        row_of: int16 or int32[states], read-only.
        left: int16 or int32[states, depth], read-only: what is left of each count.
        moves, boxes: read-only; see there.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        table: Numbers,
        class_of: Numbers,
        moves: Moves,
        boxes: Boxes,
        accepts: NDArray[np.bool_],
        header: Mapping[str, Any],
    ) -> None:
        self.moves, self.boxes, self.accepts = moves, boxes, accepts
        self.row_of, self.left = _expanded(boxes, len(table))
        super().__init__(
            vocabulary,
            table.astype(_kind(len(moves.offsets))),
            class_of.astype(_kind(table.shape[1])),
            accepts[self.row_of],
            header,
        )
        own = (self.row_of, self.left, moves.offsets, moves.worths, accepts)
        for array in (*own, *_arrays(boxes)):
            array.flags.writeable = False
        self._rows_of, self._left = self.row_of.data, self.left.data
        self._moves: list[tuple[int, tuple[tuple[int, int], ...]]] = [
            (offset, tuple((at, worth) for at, worth in enumerate(worths) if worth))
            for offset, worths in zip(moves.offsets.tolist(), moves.worths.tolist(), strict=True)
        ]

    def __repr__(self) -> str:
        rows, classes = self.next.shape
        return (
            f"<TokenTable of {len(self):,} states in {rows:,} rows and {classes:,} classes of "
            "tokens>"
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the table itself, masks that are kept aside."""
        own = (self.row_of, self.left, self.moves.offsets, self.moves.worths, self.accepts)
        return super().nbytes + sum(a.nbytes for a in (*own, *_arrays(self.boxes)))

    def next_state(self, state: int, token: int) -> int:
        """The state after a token; DEAD if it is not allowed, or no token at all.

        Raises:
            IndexError: no state of this table, as wherever a state is given.
        """
        if token < 0 or token >= len(self._class_of):
            token_class = DEAD
        else:
            token_class = self._class_of[token]
        if state < 0:
            raise self._no_state(state)
        try:
            row = self._rows_of[state]
        except IndexError:
            raise self._no_state(state) from None
        after, worths = self._moves[self._next[row, token_class]]
        for at, worth in worths:
            after += worth * self._left[state, at]
        return after

    def row(self, state: int) -> NDArray[np.int64]:
        """The state that each class of tokens leads to: int64[classes]."""
        state = self._state(state)
        return self._after(self.next[self.row_of[state]], self.left[state])

    def _found(self, states: NDArray[np.intp], classes: Any) -> NDArray[np.int64]:
        return self._after(self.next[self.row_of[states], classes], self.left[states])

    def _after(self, moves: Any, left: NDArray[Any]) -> NDArray[np.int64]:
        worths = self.moves.worths[moves]
        behind: NDArray[np.int64] = self.moves.offsets[moves] + (worths * left).sum(axis=-1)
        return behind

    def dead_ends(self) -> list[int]:
        """The states that some tokens lead to and from which no tokens lead to the end, ascending.

        None if every byte is a token. Where the vocabulary lacks some that the grammar needs, a
        text may get stuck.
        """
        used = [np.unique(row[row != DEAD]) for row in self.next]
        flat = np.concatenate([*used, np.zeros(0, dtype=self.next.dtype)])
        sizes = np.array([len(row) for row in used])
        begins = np.concatenate([[0], np.cumsum(sizes)])

        def behind(states: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            rows = self.row_of[states]
            width = sizes[rows]
            source = np.repeat(np.arange(len(states)), width)
            at = np.arange(len(source)) - np.repeat(np.cumsum(width) - width, width)
            return source, self._after(flat[begins[rows][source] + at], self.left[states[source]])

        ends = np.zeros(len(self), dtype=bool)
        ends[ENDED] = True
        changed = True
        while changed:
            changed = False
            # Fewer left is a lower number: most of what is behind has been looked at before.
            for first in range(0, len(self), _CHUNK):
                states = np.arange(first, min(first + _CHUNK, len(self)))
                states = states[~ends[states]]
                source, after = behind(states)
                good = states[np.unique(source[ends[after]])]
                changed = changed or len(good) > 0
                ends[good] = True
        reached = np.zeros(len(self), dtype=bool)
        new = np.array([START])
        while len(new):
            reached[new] = True
            parts = [
                np.unique(behind(new[first : first + _CHUNK])[1])
                for first in range(0, len(new), _CHUNK)
            ]
            found = np.unique(np.concatenate(parts))
            new = found[~reached[found]]
        stuck: list[int] = np.flatnonzero(reached & ~ends).tolist()
        return stuck

    def _line(self, state: int) -> int:
        return self._rows_of[state]

    def _lines(self, states: NDArray[np.intp]) -> NDArray[np.intp]:
        lines: NDArray[np.intp] = self.row_of[states]
        return lines

    def tensors(self, device: Any = None) -> TensorTable:
        """The table as torch tensors on a device, to step a batch without leaving it.

        Raises:
            ImportError: torch is not installed.
        """
        from .tensors import CountedTensors

        return CountedTensors(self, device)


def _expanded(boxes: Boxes, rows: int) -> tuple[Numbers, Numbers]:
    """The row of each state, and what is left of its counts."""
    sizes = boxes.sizes()
    total = FIRST + int(sizes.sum())
    depth = boxes.low.shape[1]
    row_of = np.zeros(total, dtype=_kind(rows))
    left = np.zeros((total, depth), dtype=_kind(int(boxes.high.max(initial=0)) + 1))
    row_of[ENDED] = ENDED
    begins = FIRST + np.cumsum(sizes) - sizes
    for place, grid in boxes.grids():
        part = slice(int(begins[place]), int(begins[place] + sizes[place]))
        counts = [
            np.arange(low, high + 1)
            for low, high in zip(boxes.low[place].tolist(), boxes.high[place].tolist(), strict=True)
        ]
        shown = [
            np.minimum(count, top) - low
            for count, top, low in zip(
                counts, boxes.top[place].tolist(), boxes.low[place].tolist(), strict=True
            )
        ]
        row_of[part] = grid[np.ix_(*shown)].ravel() if depth else grid
        for at, count in enumerate(np.meshgrid(*counts, indexing="ij")):
            left[part, at] = count.ravel()
    row_of[START], left[START] = row_of[boxes.start], left[boxes.start]
    return row_of, left


def _arrays(boxes: Boxes) -> Sequence[NDArray[Any]]:
    return boxes.low, boxes.top, boxes.high, boxes.rows


def _kind(count: int) -> type[np.int16] | type[np.int32]:
    """The type of numbers below `count`."""
    return np.int16 if count <= np.iinfo(np.int16).max + 1 else np.int32
