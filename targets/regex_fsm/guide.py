"""One sequence's place in a token table, with the methods of `outlines_core.Guide` (0.2.14).

Code written for that class runs on this one: the same signatures, results and exceptions. What an
`outlines_core.Guide` does with an end token holds here, too: masks and lists have it where the text
may end, and `advance` refuses it.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Sequence
from operator import index
from typing import Any, NoReturn

from .states import DEAD, ENDED, START
from .table import TokenTable

_MOST = 2**32
"""Token ids are unsigned 32-bit integers."""


class Guide:
    """A state, and the states before it as far as they may be wanted back.

    Args:
        table: where states and tokens are looked up.
        max_rollback: steps that can be taken back at most.
    """

    __slots__ = ("_before", "_most", "_state", "_table")

    def __init__(self, table: TokenTable, max_rollback: int = 32) -> None:
        if not isinstance(table, TokenTable):
            raise TypeError(f"a token table is wanted, not {type(table).__name__}")
        if max_rollback < 0:
            raise OverflowError("can't convert negative int to unsigned")
        self._table = table
        self._state = START
        self._most = max_rollback
        self._before: deque[int] = deque(maxlen=max_rollback)

    def get_state(self) -> int:
        """The state's number."""
        return self._state

    def get_tokens(self) -> list[int]:
        """The tokens that may come next, ascending; end tokens where the text may end."""
        return self._table.allowed_tokens(self._state)

    def advance(self, token_id: int, return_tokens: bool | None = None) -> list[int] | None:
        """Take a token; the tokens that may come then, unless `return_tokens` is False.

        Raises:
            ValueError: the token is not allowed, or is an end token. The state stays.
            OverflowError: no unsigned 32-bit integer.
        """
        if not (return_tokens is None or isinstance(return_tokens, bool)):
            raise TypeError(f"return_tokens is a bool, not {type(return_tokens).__name__}")
        token = _token(token_id)
        after = self._table.next_state(self._state, token)
        if after in (DEAD, ENDED):
            raise ValueError(
                f"No next state found for the current state: {self._state} with token ID: {token}"
            )
        self._before.append(self._state)
        self._state = after
        return None if return_tokens is False else self.get_tokens()

    def is_finished(self) -> bool:
        """May the text end here?"""
        return self._table.may_end(self._state)

    def accepts_tokens(self, sequence: Sequence[int]) -> bool:
        """Could these tokens be taken one after the other? The state stays."""
        if isinstance(sequence, str):
            raise TypeError("token ids are wanted, not a text")
        state = self._state
        for token in [_token(token) for token in sequence]:
            state = self._table.next_state(state, token)
            if state in (DEAD, ENDED):
                return False
        return True

    def get_allowed_rollback(self) -> int:
        """How many steps can be taken back."""
        return len(self._before)

    def rollback_state(self, n: int) -> None:
        """Take `n` steps back.

        Raises:
            ValueError: fewer are known.
            OverflowError: `n` is negative.
        """
        steps = index(n)
        if steps < 0:
            raise OverflowError("can't convert negative int to unsigned")
        if steps > len(self._before):
            raise ValueError(
                f"Cannot roll back {steps} step(s): only {len(self._before)} states stored "
                f"(max_rollback = {self._most}). You must advance through at least "
                f"{steps} state(s) before rolling back {steps} step(s)."
            )
        for _ in range(steps):
            self._state = self._before.pop()

    def reset(self) -> None:
        """Back to the start. Steps taken before can still be taken back."""
        self._state = START

    def write_mask_into(self, data_ptr: int, numel: int, element_size: int) -> None:
        """Write the packed mask to memory: `numel` words of 32 bits at an address.

        Words beyond the vocabulary become 0.

        Raises:
            ValueError: a null pointer, other words than of 4 bytes, or too few of them.
        """
        if element_size != 4:
            raise ValueError(
                f"Invalid element size: got {element_size} bytes per element, expected 4 bytes "
                "(32-bit integer)."
            )
        if not data_ptr:
            raise ValueError("Invalid data pointer: received a null pointer.")
        mask = self._table.mask(self._state)
        needed = self._table.needed_words
        if numel < needed:
            raise ValueError(
                f"Invalid buffer size: got {numel} elements ({4 * numel} bytes), expected "
                f"{needed} elements ({4 * needed} bytes). Ensure that the mask tensor has shape "
                "(1, (vocab_size + 31) // 32) and uses 32-bit integers."
            )
        written = min(numel, len(mask))
        ctypes.memmove(data_ptr, mask.ctypes.data, 4 * written)
        if numel > written:
            ctypes.memset(data_ptr + 4 * written, 0, 4 * (numel - written))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Guide):
            return NotImplemented
        return self._state == other._state and self._table is other._table

    def __hash__(self) -> NoReturn:
        raise TypeError(f"unhashable type: '{type(self).__name__}'")

    def __copy__(self) -> Guide:
        made = Guide(self._table, self._most)
        made._state = self._state
        made._before.extend(self._before)
        return made

    def __deepcopy__(self, memo: Any) -> Guide:
        return self.__copy__()

    def __repr__(self) -> str:
        return f"Guide object with the state={self._state} and {self._table!r}"


def _token(token: int) -> int:
    """A token id as `outlines_core` takes it."""
    found = token if type(token) is int else index(token)
    if not 0 <= found < _MOST:
        raise OverflowError("out of range integral type conversion attempted")
    return found
