"""Rows of a saved automaton: each in the form that takes the fewest bytes.

A row is kept as the ids that it allows, if they are few; as it is; or as the words in which it
differs from nothing, or from a row that is kept as it is. Equal rows are kept once.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .bitmask import allow

Row = NDArray[np.uint32]
Arrays = dict[str, NDArray[Any]]

FEW, WHOLE, CHANGED = range(3)
_FEW_IDS: Final = 16
"""Ids up to which setting bits one by one is as fast as setting words."""

_BASES: Final = 64
"""Rows that another is compared with: so many of the first and of the last ones."""

LAYOUT: Final[Mapping[str, str]] = {
    # For each row: its form, and where its numbers begin.
    "row_forms": "<u1",
    "row_starts": "<u4",
    "row_sizes": "<u4",
    "row_bases": "<u4",
    # FEW: ids. CHANGED: the words' places and what they are; of base n, the row n - 1 of those that
    # are whole, or of 0, nothing. WHOLE: all words.
    "ids": "<u4",
    "places": "<u4",
    "changes": "<u4",
    "whole": "<u4",
}
"""The arrays of all rows, with their types."""


def ids_of(row: Row) -> NDArray[np.int64]:
    """The ids that a row allows, ascending: int64[n]."""
    words = np.flatnonzero(row)
    bits = np.unpackbits(row[words].astype("<u4").view(np.uint8), bitorder="little")
    at = np.flatnonzero(bits)
    found: NDArray[np.int64] = words[at >> 5] * 32 + (at & 31)
    return found


class RowWriter:
    """Collects rows. `size` is the bytes that they take so far."""

    def __init__(self, words: int) -> None:
        self._words = words
        self._numbers: dict[bytes, int] = {}
        self._forms: list[tuple[int, int, int, int]] = []
        self._ids: list[NDArray[Any]] = []
        self._places: list[NDArray[Any]] = []
        self._changes: list[NDArray[Any]] = []
        self._whole: list[Row] = []
        self._id_count = self._change_count = 0
        self.size = 0

    def __len__(self) -> int:
        return len(self._forms)

    @property
    def forms(self) -> tuple[int, int, int]:
        """How many rows are kept as ids, as they are, and as changes."""
        found = [form[0] for form in self._forms]
        return found.count(FEW), found.count(WHOLE), found.count(CHANGED)

    def add(self, row: Row) -> int:
        """The number of a row."""
        digest = blake2b(row.tobytes(), digest_size=16).digest()
        found = self._numbers.get(digest)
        if found is None:
            found = self._numbers[digest] = len(self._forms)
            self._forms.append(self._kept(row))
            self.size += 13
        return found

    def _kept(self, row: Row) -> tuple[int, int, int, int]:
        ids = int(np.bitwise_count(row).sum())
        if ids <= _FEW_IDS:
            start, self._id_count = self._id_count, self._id_count + ids
            self._ids.append(ids_of(row))
            self.size += 4 * ids
            return (FEW, start, ids, 0)
        base, changed = self._nearest(row)
        if 2 * changed >= self._words:
            self._whole.append(row.copy())
            self.size += 4 * self._words
            return (WHOLE, len(self._whole) - 1, 0, 0)
        places = np.flatnonzero(row != self._whole[base - 1] if base else row)
        start, self._change_count = self._change_count, self._change_count + changed
        self._places.append(places)
        self._changes.append(row[places])
        self.size += 8 * changed
        return (CHANGED, start, changed, base)

    def _nearest(self, row: Row) -> tuple[int, int]:
        """The base from which the fewest words differ, and how many."""
        count = len(self._whole)
        numbers = sorted({*range(min(count, _BASES)), *range(max(0, count - _BASES), count)})
        least = (int(np.count_nonzero(row)), 0)
        for n in numbers:
            least = min(least, (int(np.count_nonzero(self._whole[n] != row)), n + 1))
        return least[1], least[0]

    def arrays(self) -> Arrays:
        """The arrays of `LAYOUT`."""
        forms = np.array(self._forms, dtype=np.int64).reshape(-1, 4)
        empty = np.zeros(0, dtype=np.uint32)
        found: dict[str, NDArray[Any]] = {
            "row_forms": forms[:, 0],
            "row_starts": forms[:, 1],
            "row_sizes": forms[:, 2],
            "row_bases": forms[:, 3],
            "ids": np.concatenate([empty, *self._ids]),
            "places": np.concatenate([empty, *self._places]),
            "changes": np.concatenate([empty, *self._changes]),
            "whole": np.concatenate([empty, *self._whole]),
        }
        return {name: array.astype(LAYOUT[name]) for name, array in found.items()}


class RowReader:
    """Rows out of arrays that :class:`RowWriter` made.

    Args:
        arrays: those of `LAYOUT`; rows that are kept as they are are views of them.
        tokens: the vocabulary's size.

    Raises:
        ValueError: arrays that do not fit each other or the vocabulary.
    """

    def __init__(self, arrays: Arrays, tokens: int) -> None:
        self._words = words = (tokens + 31) // 32
        forms, starts, sizes, bases = (
            arrays[name].astype(np.int64)
            for name in ("row_forms", "row_starts", "row_sizes", "row_bases")
        )
        self._ids, self._places = arrays["ids"], arrays["places"]
        self._changes = arrays["changes"]
        if not forms.size == starts.size == sizes.size == bases.size:
            raise ValueError("rows without a form")
        if arrays["whole"].size % words or self._places.size != self._changes.size:
            raise ValueError("rows of another size")
        self._whole = arrays["whole"].reshape(-1, words)
        count = len(self._whole)
        few, whole, changed = forms == FEW, forms == WHOLE, forms == CHANGED
        ends = starts + sizes
        if not (
            (few | whole | changed).all()
            and (ends[few] <= self._ids.size).all()
            and (starts[whole] < count).all()
            and (ends[changed] <= self._places.size).all()
            and (bases[changed] <= count).all()
            and (self._ids < tokens).all()
            and (self._places < words).all()
        ):
            raise ValueError("rows that lead outside of the file")
        self._forms = [forms.tolist(), starts.tolist(), sizes.tolist(), bases.tolist()]

    def __len__(self) -> int:
        return len(self._forms[0])

    def row(self, number: int) -> Row:
        """A row: uint32[ceil(V / 32)], read-only, perhaps a view of the file."""
        form, start, size, base = (column[number] for column in self._forms)
        if form == WHOLE:
            found: Row = self._whole[start]
            return found
        if form == FEW or not base:
            row = np.zeros(self._words, dtype=np.uint32)
        else:
            row = self._whole[base - 1].astype(np.uint32)
        if form == FEW:
            allow(row, self._ids[start : start + size].tolist())
        else:
            row[self._places[start : start + size]] = self._changes[start : start + size]
        row.flags.writeable = False
        return row
