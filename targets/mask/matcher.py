"""One sequence being generated: the method names and signatures of XGrammar's matcher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .states import DEAD, ENDED

if TYPE_CHECKING:
    from .automaton import MaskAutomaton


class Matcher:
    """Where one text stands in a mask automaton. Holds integers only: forking copies them."""

    __slots__ = ("_accept", "_automaton", "_history", "_row", "_state")

    def __init__(self, automaton: MaskAutomaton) -> None:
        self._automaton = automaton
        self._state = automaton.start
        self._history: list[int] = []
        self._row = automaton.row
        self._accept = automaton.accept

    def fill_next_token_bitmask(self, bitmask: NDArray[np.int32], index: int = 0) -> bool:
        """Write the mask of the allowed tokens.

        Args:
            bitmask: int32[ceil(V / 32)] or int32[B, ceil(V / 32)]; bit i of word w is token
                32 * w + i, 1 = allowed.
            index: the row to write, if there are several.

        Returns:
            True, as something is always masked (padding, special or end tokens at least).
        """
        row = self._row(self._state)
        out = bitmask if bitmask.ndim == 1 else bitmask[index]
        out[: row.shape[0]] = row.view(np.int32)
        return True

    def mask_row(self) -> NDArray[np.int32]:
        """The mask as a view of the shared row: int32[ceil(V / 32)], not to be written to."""
        return self._row(self._state).view(np.int32)

    def accept_token(self, token_id: int) -> bool:
        """Take a token; False, and nothing changes, if it is not allowed."""
        nxt = self._accept(self._state, token_id)
        if nxt == DEAD:
            return False
        self._history.append(self._state)
        self._state = nxt
        return True

    def rollback(self, num_tokens: int = 1) -> None:
        """Undo the last tokens.

        Raises:
            ValueError: fewer have been taken.
        """
        if not 0 <= num_tokens <= len(self._history):
            raise ValueError(f"{len(self._history)} tokens were taken, not {num_tokens}")
        if num_tokens:
            self._state = self._history[-num_tokens]
            del self._history[-num_tokens:]

    def fork(self) -> Matcher:
        """A matcher at the same place that goes its own way."""
        other = Matcher(self._automaton)
        other._state = self._state
        other._history = self._history.copy()
        return other

    def reset(self) -> None:
        """Back to the start."""
        self._state = self._automaton.start
        self._history.clear()

    def is_completed(self) -> bool:
        """May the text end here?"""
        return self._automaton.may_end(self._state)

    def is_terminated(self) -> bool:
        """Has an end token been taken?"""
        return self._state == ENDED

    def find_jump_forward_bytes(self) -> bytes:
        """The bytes that must come next, as far as there is no choice."""
        return self._automaton.forced(self._state)

    def find_jump_forward_string(self) -> str:
        """The same as text, cut before a character that is not whole."""
        data = self._automaton.forced(self._state)
        while data:
            try:
                return data.decode("utf-8")
            except UnicodeDecodeError:
                data = data[:-1]
        return ""

    def allowed_tokens(self) -> list[int]:
        """The ids that are allowed, ascending; for people and tests."""
        bits = np.unpackbits(self._row(self._state).view(np.uint8), bitorder="little")
        return [int(i) for i in np.flatnonzero(bits)]

    @property
    def state(self) -> int:
        """The automaton's state, for batches."""
        return self._state


def fill_next_token_bitmask_batch(matchers: Sequence[Matcher], bitmask: NDArray[Any]) -> None:
    """Write the masks of many matchers, row i for matcher i: int32[B, ceil(V / 32)]."""
    for index, matcher in enumerate(matchers):
        matcher.fill_next_token_bitmask(bitmask, index)
