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
"""States that are looked at together."""


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

    def cells(self) -> Iterator[Cells]:
        """The numbers of `rows`, from 0 on, by chunks."""
        return _cells(self.low, self.top)

    def states(self) -> Iterator[Cells]:
        """The states of all places, the first of which is FIRST, by chunks."""
        return _cells(self.low, self.high)

    def rows_of(self, cells: Cells) -> NDArray[np.int32]:
        """The rows of states."""
        shapes = self.top.astype(np.int64) - self.low + 1
        sizes = shapes.prod(axis=1)
        at: Any = (np.cumsum(sizes) - sizes)[cells.place]
        stride = np.ones(len(shapes), dtype=np.int64)
        for axis in reversed(range(shapes.shape[1])):
            shown = np.minimum(cells.left[:, axis], self.top[cells.place, axis])
            at = at + (shown - self.low[cells.place, axis]) * stride[cells.place]
            stride *= shapes[:, axis]
        found: NDArray[np.int32] = self.rows[at]
        return found


@dataclass(frozen=True, eq=False, slots=True)
class Cells:
    """Numbered cells of boxes, one after the other.

    Attributes:
        first: the number of the first.
        place: the box of all of them, or of each: int64[n].
        left: int64[n, D]: their counts.
    """

    first: int
    place: int | NDArray[np.int64]
    left: NDArray[np.int64]


def _cells(low: NDArray[np.int32], high: NDArray[np.int32]) -> Iterator[Cells]:
    """Every cell from `low` to `high`, box by box, the last count the fastest."""
    shapes = high.astype(np.int64) - low + 1
    begins = np.concatenate([[0], np.cumsum(shapes.prod(axis=1))])
    first = box = 0
    while box < len(shapes):
        # Small boxes together, large ones in parts.
        until = int(np.searchsorted(begins, first + _CHUNK, side="right")) - 1
        place: int | NDArray[np.int64] = box
        if first == begins[box] and until > box + 1:
            place = np.repeat(np.arange(box, until), np.diff(begins[box : until + 1]))
            last, box = int(begins[until]), until
        else:
            last = min(first + _CHUNK, int(begins[box + 1]))
            box += int(last == begins[box + 1])
        at = np.arange(first, last) - begins[place]
        left = np.empty((len(at), shapes.shape[1]), dtype=np.int64)
        for axis in reversed(range(shapes.shape[1])):
            at, left[:, axis] = np.divmod(at, shapes[place, axis])
        left += low[place]
        yield Cells(first, place, left)
        first = last


def state_bytes(rows: int, boxes: Boxes) -> int:
    """Bytes that a state takes in a table of so many rows."""
    depth: int = boxes.low.shape[1]
    left: int = np.dtype(_kind(int(boxes.high.max(initial=0)) + 1)).itemsize
    row: int = np.dtype(_kind(rows)).itemsize
    return row + depth * left + 1


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
    shapes = boxes.high.astype(np.int64) - boxes.low + 1
    total = FIRST + int(shapes.prod(axis=1).sum())
    row_of = np.zeros(total, dtype=_kind(rows))
    left = np.zeros((total, shapes.shape[1]), dtype=_kind(int(boxes.high.max(initial=0)) + 1))
    row_of[ENDED] = ENDED
    for cells in boxes.states():
        part = slice(FIRST + cells.first, FIRST + cells.first + len(cells.left))
        row_of[part] = boxes.rows_of(cells)
        left[part] = cells.left
    row_of[START], left[START] = row_of[boxes.start], left[boxes.start]
    return row_of, left


def _arrays(boxes: Boxes) -> Sequence[NDArray[Any]]:
    return boxes.low, boxes.top, boxes.high, boxes.rows


def _kind(count: int) -> type[np.int16] | type[np.int32]:
    """The type of numbers below `count`."""
    return np.int16 if count <= np.iinfo(np.int16).max + 1 else np.int32
