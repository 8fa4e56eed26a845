"""Counted tables as arrays of a file and back; what is in a file around them see `files`.

States are kept place by place, as boxes, and not one by one: a file of millions of states holds
some thousands of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...compiler.vocabulary.vocabulary import Vocabulary
from .counted_table import FIRST, FIRST_ROW, Boxes, CountedTable, Moves
from .states import DEAD, ENDED

Arrays = dict[str, NDArray[Any]]

MEMBERS: Final = (
    "class_of", "next", "offsets", "worths", "accepts", "low", "top", "high", "rows", "start",
)  # fmt: skip
"""See the docstring of `files`."""

MAX_CELLS: Final = 2**31
"""Rows times classes, or states times counts, of a file that is read."""

_MOST_COUNTS: Final = 31
"""Counts around one place; there are no more in a table."""


class Unfit(Exception):
    """What is wrong with the arrays, in words."""


def packed(table: CountedTable) -> Arrays:
    """The arrays of a table."""
    moves, boxes = table.moves, table.boxes
    kind = table.class_of.dtype.newbyteorder("<")
    return {
        "class_of": table.class_of.astype(kind),
        "next": table.next.ravel().astype(table.next.dtype.newbyteorder("<")),
        "offsets": moves.offsets.astype("<i8"),
        "worths": moves.worths.ravel().astype("<i8"),
        "accepts": np.flatnonzero(table.accepts).astype("<i4"),
        "low": boxes.low.ravel().astype("<i4"),
        "top": boxes.top.ravel().astype("<i4"),
        "high": boxes.high.ravel().astype("<i4"),
        "rows": boxes.rows.astype("<i4"),
        "start": np.array([boxes.start], dtype="<i8"),
    }


def unpacked(arrays: Arrays, vocabulary: Vocabulary, header: Mapping[str, Any]) -> CountedTable:
    """The table of arrays that someone wrote; not only tables write files.

    Raises:
        Unfit: they are no table's.
    """
    _expect(set(MEMBERS) == set(arrays), "members")
    native = {name: array.astype(array.dtype.newbyteorder("=")) for name, array in arrays.items()}
    _expect(all(array.dtype.kind == "i" for array in native.values()), "types")
    offsets, rows = native["offsets"], native["rows"]
    count = len(offsets)
    _expect(count > ENDED and len(native["worths"]) % count == 0, "moves")
    depth = len(native["worths"]) // count
    _expect(0 < depth <= _MOST_COUNTS and len(native["low"]) % depth == 0, "depth")
    low, top, high = (native[name].reshape(-1, depth) for name in ("low", "top", "high"))
    _expect(low.shape == top.shape == high.shape and len(low) > 0, "places")
    _expect(bool((low >= 0).all() and (low <= top).all() and (top <= high).all()), "places")
    # As floats, lest products of what someone wrote wrap around.
    sizes = (high - low + 1.0).prod(axis=1).sum()
    cells = (top - low + 1.0).prod(axis=1).sum()
    _expect(sizes * depth <= MAX_CELLS and cells == len(rows), "places")
    states = FIRST + int(sizes)
    _expect(header["states"] == states, "states")
    classes = native["class_of"]
    _expect(classes.shape == (len(vocabulary),) and len(classes) > 0, "classes")
    _expect(0 <= classes.min() and len(native["next"]) > 0, "classes")
    width = int(classes.max()) + 1
    _expect(len(native["next"]) % width == 0, "rows")
    table = native["next"].reshape(-1, width)
    start, accepts = native["start"], native["accepts"]
    _expect(len(table) >= FIRST_ROW and _within(table, count) and _within(rows, len(table)), "rows")
    _expect(start.shape == (1,) and FIRST <= start[0] < states, "start")
    _expect(_within(accepts, len(table)), "accepting rows")
    accepting = np.zeros(len(table), dtype=bool)
    accepting[accepts] = True
    moves = Moves(offsets, native["worths"].reshape(count, depth))
    boxes = Boxes(low, top, high, rows, int(start[0]))
    _expect(not table[DEAD].any() and not accepting[DEAD] and not (table[:, DEAD]).any(), "rows")
    _expect(moves.offsets[:2].tolist() == [DEAD, ENDED] and not moves.worths[:2].any(), "moves")
    _expect(bool(np.isin(table[ENDED], (DEAD, ENDED)).all()), "rows")
    _expect(_lead_to_states(table, moves, boxes, states), "moves")
    return CountedTable(vocabulary, table, classes, moves, boxes, accepting, header)


def _lead_to_states(table: NDArray[Any], moves: Moves, boxes: Boxes, states: int) -> bool:
    """Does every move lead to a state, however much is left of the counts where it is made?"""
    used = [np.unique(row) for row in table]
    for place, grid in boxes.grids():
        low, top, high = (
            part[place].astype(np.int64) for part in (boxes.low, boxes.top, boxes.high)
        )
        cells = np.argwhere(grid != DEAD)
        least = cells + low
        # The last row of a count is that of all beyond.
        most = np.where(least == top, high, least)
        for cell, first, last in zip(cells.tolist(), least, most, strict=True):
            made = used[grid[tuple(cell)]]
            worths = moves.worths[made].astype(np.float64)
            ends = worths * first, worths * last
            offsets = moves.offsets[made]
            if (offsets + np.minimum(*ends).sum(axis=1) < DEAD).any():
                return False
            if (offsets + np.maximum(*ends).sum(axis=1) >= states).any():
                return False
    return True


def _within(array: NDArray[Any], limit: int) -> bool:
    return not array.size or bool(0 <= array.min() <= array.max() < limit)


def _expect(fits: bool, what: str) -> None:
    if not fits:
        raise Unfit(f"its {what} do not fit")
