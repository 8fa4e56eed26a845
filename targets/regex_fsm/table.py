"""The token table: state x token class -> state, and masks from it.

::

    class_of   int[V]        token  -> class     0: never allowed
    next       int[S, C]     state, class -> state
    mask of s  bit t set where next[s, class_of[t]] is not DEAD

Next states are look-ups. Masks are unpacked from a row's classes when a state is first seen and
kept, one row for all states that allow the same.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.byte_dfa import before, sources_of
from ...compiler.vocabulary.vocabulary import Vocabulary
from .states import DEAD, ENDED, START

if TYPE_CHECKING:
    from .guide import Guide
    from .tensors import TensorTable

Numbers = NDArray[Any]
"""int16 or int32."""

MAX_ROW_BYTES: Final = 512 * 2**20
"""Bytes of masks kept by one table; beyond, they are forgotten and made anew."""

_FIRST_ROWS: Final = 16

_INT32: Final = np.dtype(np.int32)


class TokenTable:
    """Which tokens may come in each state, and where each leads.

    States are small integers: DEAD, ENDED, `start` and others behind it. Tables are immutable but
    for the masks that they keep; threads may share one.

    Attributes:
        vocabulary: the vocabulary that it was made for.
        next: int16 or int32[states, classes], read-only: the state that a class of tokens leads to.
        class_of: int16 or int32[V], read-only: the class of each token.
        accepting: bool[states], read-only: where the text may end.
        header: what a saved file says about it, see docs/reference/token-tables.md.
    """

    start: Final = START

    def __init__(
        self,
        vocabulary: Vocabulary,
        table: Numbers,
        class_of: Numbers,
        accepting: NDArray[np.bool_],
        header: Mapping[str, Any],
    ) -> None:
        self.vocabulary = vocabulary
        self.next = table
        self.class_of = class_of
        self.accepting = accepting
        self.header = dict(header)
        for array in (table, class_of, accepting):
            array.flags.writeable = False
        self._next = table.data
        self._class_of = class_of.data
        self._accepting = accepting.data
        self._row_shape = (self.words,)
        self._lock = threading.Lock()
        self._forget()

    def __len__(self) -> int:
        return len(self.accepting)

    def __repr__(self) -> str:
        states, classes = self.next.shape
        return f"<TokenTable of {states:,} states and {classes:,} classes of tokens>"

    @property
    def nbytes(self) -> int:
        """Bytes of the table itself, masks that are kept aside."""
        return self.next.nbytes + self.class_of.nbytes + self.accepting.nbytes

    @property
    def words(self) -> int:
        """32-bit words of a packed mask: ceil(V / 32)."""
        return self.vocabulary.words

    @cached_property
    def needed_words(self) -> int:
        """Words up to the last token that is ever allowed."""
        used = np.flatnonzero(self.class_of)
        return int(used[-1]) // 32 + 1 if len(used) else 0

    # Next states ------------------------------------------------------------------------------

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
            found: int = self._next[state, token_class]
        except IndexError:
            raise self._no_state(state) from None
        return found

    def next_states(self, states: Any, tokens: Any) -> NDArray[np.int64]:
        """The same for arrays of integers of one shape: int64.

        Raises:
            IndexError: no state of this table.
            TypeError: numbers that are no integers.
            ValueError: arrays of different shapes.
        """
        states, tokens = self._checked(states), _integers(tokens, "tokens")
        if states.shape != tokens.shape:
            shown = f"{list(states.shape)} and {list(tokens.shape)}"
            raise ValueError(f"as many states as tokens are wanted, not {shown}")
        known = (tokens >= 0) & (tokens < len(self.class_of))
        classes = self.class_of[np.where(known, tokens, 0).astype(np.intp, copy=False)]
        return self._found(states, np.where(known, classes, 0))

    def row(self, state: int) -> NDArray[np.int64]:
        """The state that each class of tokens leads to: int64[classes]."""
        found: NDArray[np.int64] = self.next[self._state(state)].astype(np.int64)
        return found

    def _found(self, states: NDArray[np.intp], classes: Any) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.next[states, classes].astype(np.int64)
        return found

    def walk(self, tokens: Sequence[int], state: int = START) -> int:
        """The state after several tokens."""
        for token in tokens:
            state = self.next_state(state, token)
        return state

    def may_end(self, state: int) -> bool:
        """May the text end here?"""
        if state < 0:
            raise self._no_state(state)
        try:
            return bool(self._accepting[state])
        except IndexError:
            raise self._no_state(state) from None

    def allowed_tokens(self, state: int) -> list[int]:
        """The tokens that may come next, ascending; end tokens where the text may end."""
        found: list[int] = np.flatnonzero(self._allowed(self._state(state))).tolist()
        return found

    def dead_ends(self) -> list[int]:
        """The states that some tokens lead to and from which no tokens lead to the end, ascending.

        None if every byte is a token. Where the vocabulary lacks some that the grammar needs, a
        text may get stuck.
        """
        table = np.where(self.next == DEAD, -1, self.next).astype(np.int32)
        sources, begins = sources_of(table)
        ends = np.zeros(len(self), dtype=bool)
        ends[ENDED] = True
        new = np.array([ENDED], dtype=np.int32)
        while len(new):
            found = before(new, sources, begins)
            new = found[~ends[found]]
            ends[new] = True
        reached = np.zeros(len(self), dtype=bool)
        new = np.array([START], dtype=np.int32)
        while len(new):
            reached[new] = True
            found = np.unique(table[new])
            new = found[(found >= 0) & ~reached[found]]
        stuck: list[int] = np.flatnonzero(reached & ~ends).tolist()
        return stuck

    def _checked(self, states: Any) -> NDArray[np.intp]:
        found = _integers(states, "states")
        if found.size:
            for worst in (found.min(), found.max()):
                if not 0 <= worst < len(self.accepting):
                    raise self._no_state(worst)
        return found.astype(np.intp, copy=False)

    def _state(self, state: SupportsIndex) -> int:
        found = index(state)
        if not 0 <= found < len(self.accepting):
            raise self._no_state(found)
        return found

    def _no_state(self, state: Any) -> IndexError:
        return IndexError(f"states go from 0 to {len(self.accepting) - 1}, not {state}")

    # Masks ------------------------------------------------------------------------------------

    def mask(self, state: int) -> NDArray[np.int32]:
        """The packed mask of a state: int32[ceil(V / 32)], read-only, kept.

        Bit i of word w is token 32 * w + i, 1 = allowed.
        """
        found = self._shown.get(state)
        if found is None:
            state = self._state(state)
            with self._lock:
                number = self._row(self._line(state))
                found = self._shown[state] = self._rows[number]
                found.flags.writeable = False
        return found

    def fill_bitmask(self, state: int, bitmask: NDArray[np.int32], index: int = 0) -> None:
        """Write the mask of a state into int32[ceil(V / 32)], or row `index` of
        int32[B, ceil(V / 32)].

        Raises:
            IndexError: no state of this table, or no such row.
            ValueError: the shape or the type does not fit.
        """
        row = bitmask[index] if bitmask.ndim == 2 else bitmask
        kind = row.dtype
        # There is one object for a type but where it comes from a file.
        if row.shape != self._row_shape or (kind is not _INT32 and kind != _INT32):
            wanted = f"int32[{self.words}] or int32[B, {self.words}]"
            raise ValueError(f"{wanted} is wanted, not {kind}{list(bitmask.shape)}")
        found = self._shown.get(state)
        row[:] = self.mask(state) if found is None else found

    def fill_bitmask_batch(self, states: Any, bitmask: NDArray[np.int32]) -> None:
        """Write the masks of states int[B] into int32[B, ceil(V / 32)].

        Raises:
            IndexError: no state of this table.
            TypeError: numbers of states that are no integers.
            ValueError: the shapes or types do not fit.
        """
        if bitmask.dtype != np.int32 or bitmask.shape != (len(states), self.words):
            wanted = f"int32[{len(states)}, {self.words}]"
            raise ValueError(f"{wanted} is wanted, not {bitmask.dtype}{list(bitmask.shape)}")
        states = self._checked(states)
        with self._lock:
            lines = self._lines(states)
            rows, kept = self._row_of[lines], self._rows
            if rows.size and rows.min() < 0:
                self._make_rows(lines.tolist())
                rows, kept = self._row_of[lines], self._rows
                if rows.min() < 0:
                    # More of them than are kept at a time.
                    for at, line in enumerate(lines.tolist()):
                        bitmask[at] = self._packed(self._allowed_classes(line))
                    return
        # With mode="raise", which is not needed, numpy would copy twice.
        np.take(kept, rows, axis=0, out=bitmask, mode="clip")

    def kept_rows(self, states: Any) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """The masks that are kept, and which of them are those of `states`; -1 where none is."""
        with self._lock:
            return self._rows, self._row_of[self._lines(self._checked(states))]

    def prepare(self) -> None:
        """Make the masks of all states, as far as they are kept at a time."""
        with self._lock:
            self._make_rows(range(len(self.next)))

    def _forget(self) -> None:
        self._rows: NDArray[np.int32] = np.zeros((_FIRST_ROWS, self.words), dtype=np.int32)
        self._used = 0
        self._row_of: NDArray[np.intp] = np.full(len(self.next), -1, dtype=np.intp)
        self._by_classes: dict[bytes, int] = {}
        self._shown: dict[int, NDArray[np.int32]] = {}

    def _line(self, state: int) -> int:
        """The row of `next` of a state: states that have the same one have the same mask."""
        return state

    def _lines(self, states: NDArray[np.intp]) -> NDArray[np.intp]:
        return states

    def _make_rows(self, lines: Sequence[int]) -> None:
        """Make masks; none is forgotten for another one of these."""
        room = MAX_ROW_BYTES // max(1, self.words * 4)
        unknown = sum(self._row_of[line] < 0 for line in lines)
        if self._used + unknown > room and unknown <= room:
            self._forget()
        for line in lines:
            if self._used >= room:
                break
            self._row(line)

    def _row(self, line: int) -> int:
        """The number of the mask of a row of `next`."""
        number = int(self._row_of[line])
        if number >= 0:
            return number
        classes = self._allowed_classes(line)
        key = np.packbits(classes).tobytes()
        known = self._by_classes.get(key)
        if known is None:
            if (self._used + 1) * self.words * 4 > MAX_ROW_BYTES and self._used:
                self._forget()
            if self._used == len(self._rows):
                more = np.zeros((2 * self._used, self.words), dtype=np.int32)
                more[: self._used] = self._rows
                self._rows = more
                self._shown = {}
            known = self._used
            self._used += 1
            self._rows[known] = self._packed(classes)
            self._by_classes[key] = known
        self._row_of[line] = known
        return known

    def _allowed_classes(self, line: int) -> NDArray[np.bool_]:
        allowed: NDArray[np.bool_] = self.next[line] != DEAD
        return allowed

    def _allowed(self, state: int) -> NDArray[np.bool_]:
        return self._allowed_classes(self._line(state))[self.class_of]

    def _packed(self, classes: NDArray[np.bool_]) -> NDArray[np.int32]:
        bits = np.zeros(self.words * 32, dtype=bool)
        bits[: len(self.class_of)] = classes[self.class_of]
        return np.packbits(bits, bitorder="little").view("<i4").astype(np.int32, copy=False)

    # What else can be made of it ----------------------------------------------------------------

    def guide(self, max_rollback: int = 32) -> Guide:
        """One sequence's place in the table, with the methods of `outlines_core.Guide`."""
        from .guide import Guide

        return Guide(self, max_rollback)

    def tensors(self, device: Any = None) -> TensorTable:
        """The table as torch tensors on a device, to step a batch without leaving it.

        Raises:
            ImportError: torch is not installed.
        """
        from .tensors import TensorTable

        return TensorTable(self, device)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, in one step; :func:`~.load` reads it.

        Raises:
            ArtefactError: code ``table-unwritable``.
        """
        from .files import save

        save(self, path)


def _integers(values: Any, what: str) -> NDArray[Any]:
    """An array of whole numbers; an empty one may be of any type.

    Raises:
        TypeError: it holds other things.
    """
    found = np.asarray(values)
    if found.dtype.kind in "iu":
        return found
    if found.size:
        raise TypeError(f"{what} are integers, not {found.dtype}")
    return found.astype(np.intp)
