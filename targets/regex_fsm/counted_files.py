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
from .counted_table import FIRST, FIRST_ROW, Boxes, CountedTable, Moves, state_bytes
from .states import DEAD, ENDED

Arrays = dict[str, NDArray[Any]]

MEMBERS: Final = (
    "class_of", "next", "offsets", "worths", "accepts", "low", "top", "high", "rows", "start",
)  # fmt: skip
"""See the docstring of `files`."""

SMALL: Final = ("<i2", "<i4")
"""The types of arrays that have the least of them that do."""

_TYPES: Final = {"class_of": SMALL, "next": SMALL, **dict.fromkeys(MEMBERS[2:4], ("<i8",)),
                 "start": ("<i8",)}  # fmt: skip
"""Those of members that are not all ``<i4``."""

MAX_CELLS: Final = 2**28
"""Moves of all rows for `low` to `top`. A table that is made has no more of them."""

_AT_ONCE: Final = 2**18
"""Moves that are looked at together."""

_EXACT: Final = 2.0**53
"""Whole numbers up to which floats are exact."""

_MOST_COUNTS: Final = 31
"""Counts around one place; there are no more in a table."""


class Unfit(Exception):
    """What is wrong with a file or its arrays, in words."""


class TooLarge(Exception):
    """How large the table is that a file holds, in words."""


def check_size(states: int, size: float, max_bytes: int) -> None:
    """Raises TooLarge if so many states, which take so many bytes, are more than may be."""
    if size > max_bytes:
        raise TooLarge(f"{states:,} states take more than {max_bytes:,} bytes")


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


def unpacked(
    arrays: Arrays, vocabulary: Vocabulary, header: Mapping[str, Any], max_bytes: int
) -> CountedTable:
    """The table of arrays that someone wrote; not only tables write files.

    Raises:
        Unfit: they are no table's.
        TooLarge: it would take more than `max_bytes`.
    """
    _expect(set(MEMBERS) == set(arrays), "members")
    types = (array.dtype.str in _TYPES.get(name, ("<i4",)) for name, array in arrays.items())
    _expect(all(types), "types")
    native = {name: array.astype(array.dtype.newbyteorder("=")) for name, array in arrays.items()}
    offsets, rows = native["offsets"], native["rows"]
    count = len(offsets)
    _expect(count > ENDED and len(native["worths"]) % count == 0, "moves")
    depth = len(native["worths"]) // count
    _expect(0 < depth <= _MOST_COUNTS and len(native["low"]) % depth == 0, "depth")
    low, top, high = (native[name].reshape(-1, depth) for name in ("low", "top", "high"))
    _expect(low.shape == top.shape == high.shape and len(low) > 0, "places")
    _expect(bool((low >= 0).all() and (low <= top).all() and (top <= high).all()), "places")
    # As floats, lest products of what someone wrote wrap around.
    wide = [part.astype(np.float64) for part in (low, top, high)]
    sizes = float((wide[2] - wide[0] + 1).prod(axis=1).sum())
    cells = float((wide[1] - wide[0] + 1).prod(axis=1).sum())
    _expect(cells == len(rows) and sizes < _EXACT, "places")
    states = FIRST + int(sizes)
    _expect(type(header["states"]) is int and header["states"] == states, "states")
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
    # So that no sum of what someone wrote wraps around, and sums of floats are exact.
    most = np.abs(moves.worths.astype(np.float64)) @ wide[2].max(axis=0)
    _expect(bool((most + np.abs(offsets.astype(np.float64)) < _EXACT).all()), "moves")
    boxes = Boxes(low, top, high, rows, int(start[0]))
    check_size(states, float(states) * state_bytes(len(table), boxes), max_bytes)
    _expect(not table[DEAD].any() and not accepting[DEAD] and not (table[:, DEAD]).any(), "rows")
    _expect(moves.offsets[:2].tolist() == [DEAD, ENDED] and not moves.worths[:2].any(), "moves")
    _expect(bool(np.isin(table[ENDED], (DEAD, ENDED)).all()), "rows")
    _expect(_lead_to_states(table, moves, boxes, states), "moves")
    return CountedTable(vocabulary, table, classes, moves, boxes, accepting, header)


def _lead_to_states(table: NDArray[Any], moves: Moves, boxes: Boxes, states: int) -> bool:
    """Does every move lead to a state, however much is left of the counts where it is made?"""
    used = [np.unique(row) for row in table]
    if np.array([len(row) for row in used])[boxes.rows].sum() > MAX_CELLS:
        return False
    least, most = [], []
    for cells in boxes.cells():
        least.append(cells.left)
        # The last row of a count is that of all beyond.
        last = cells.left == boxes.top[cells.place]
        most.append(np.where(last, boxes.high[cells.place], cells.left))
    first, last = np.concatenate(least), np.concatenate(most)
    order = np.argsort(boxes.rows, kind="stable")
    ends = np.cumsum(np.bincount(boxes.rows, minlength=len(table)))
    for row in range(DEAD + 1, len(table)):
        made = used[row]
        worths, offsets = moves.worths[made].astype(np.float64), moves.offsets[made]
        step = max(1, _AT_ONCE // len(made))
        for begin in range(int(ends[row - 1]), int(ends[row]), step):
            at = order[begin : min(begin + step, int(ends[row]))]
            low = high = np.broadcast_to(offsets.astype(np.float64), (len(at), len(made)))
            for axis in range(worths.shape[1]):
                one = first[at, axis, None] * worths[:, axis]
                other = last[at, axis, None] * worths[:, axis]
                low, high = low + np.minimum(one, other), high + np.maximum(one, other)
            if low.size and not (low.min() >= DEAD and high.max() < states):
                return False
    return True


def _within(array: NDArray[Any], limit: int) -> bool:
    return not array.size or bool(0 <= array.min() <= array.max() < limit)


def _expect(fits: bool, what: str) -> None:
    if not fits:
        raise Unfit(f"its {what} do not fit")
