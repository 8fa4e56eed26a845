"""One sequence's place in a token table, with the methods of `outlines_core.Guide` (0.2.14).

Code written for that class runs on this one: the same signatures, results and exceptions. What an
`outlines_core.Guide` does with an end token holds here, too: masks and lists have it where the text
may end, and `advance` refuses it.
"""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from collections.abc import Sequence
from operator import index
from types import MappingProxyType
from typing import Any, Final, NoReturn, SupportsIndex

import numpy as np

from .states import DEAD, ENDED, START
from .table import TokenTable

_MOST_IDS: Final = 2**32
"""Token ids are unsigned 32-bit integers."""

_MOST_SIZES: Final = 2**64
"""Addresses, sizes and numbers of steps are unsigned 64-bit integers."""


class Guide:
    """A state, and the states before it as far as they may be wanted back.

    Args:
        table: where states and tokens are looked up.
        max_rollback: steps that can be taken back at most.
    """

    __slots__ = ("_before", "_most", "_state", "_table")

    def __init__(self, table: TokenTable, max_rollback: SupportsIndex = 32) -> None:
        if not isinstance(table, TokenTable):
            raise TypeError(f"a token table is wanted, not {type(table).__name__}")
        self._table = table
        self._state = START
        self._most = _size(max_rollback)
        self._before: deque[int] = deque(maxlen=min(self._most, sys.maxsize))

    def get_state(self) -> int:
        """The state's number."""
        return self._state

    def get_tokens(self) -> list[int]:
        """The tokens that may come next, ascending; end tokens where the text may end."""
        return self._table.allowed_tokens(self._state)

    def advance(
        self, token_id: SupportsIndex, return_tokens: bool | np.bool_ | None = None
    ) -> list[int] | None:
        """Take a token; the tokens that may come then, unless `return_tokens` is False.

        Raises:
            ValueError: the token is not allowed, or is an end token. The state stays.
            OverflowError: no unsigned 32-bit integer.
            TypeError: no integer, or no bool.
        """
        if not (return_tokens is None or isinstance(return_tokens, (bool, np.bool_))):
            raise TypeError(f"return_tokens is a bool, not {type(return_tokens).__name__}")
        token = _token(token_id)
        after = self._table.next_state(self._state, token)
        if after in (DEAD, ENDED):
            raise ValueError(
                f"No next state found for the current state: {self._state} with token ID: {token}"
            )
        self._before.append(self._state)
        self._state = after
        return self.get_tokens() if return_tokens is None or return_tokens else None

    def is_finished(self) -> bool:
        """May the text end here?"""
        return self._table.may_end(self._state)

    def accepts_tokens(self, sequence: Sequence[SupportsIndex]) -> bool:
        """Could these tokens be taken one after the other? The state stays.

        Raises:
            OverflowError: no unsigned 32-bit integer among them.
            TypeError: no sequence (a list, a tuple, an array), or not of integers.
        """
        if not _is_sequence(sequence):
            raise TypeError(f"a sequence of token ids is wanted, not {type(sequence).__name__}")
        state = self._state
        for token in [_token(token) for token in sequence]:
            state = self._table.next_state(state, token)
            if state in (DEAD, ENDED):
                return False
        return True

    def get_allowed_rollback(self) -> int:
        """How many steps can be taken back."""
        return len(self._before)

    def rollback_state(self, n: SupportsIndex) -> None:
        """Take `n` steps back.

        Raises:
            ValueError: fewer are known.
            OverflowError: `n` is negative, or no unsigned 64-bit integer.
        """
        steps = _size(n)
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

    def write_mask_into(
        self, data_ptr: SupportsIndex, numel: SupportsIndex, element_size: SupportsIndex
    ) -> None:
        """Write the packed mask to memory: `numel` words of 32 bits at an address.

        Words beyond the vocabulary become 0. Nobody can tell whether that memory is there.

        Raises:
            ValueError: a null pointer, other words than of 4 bytes, or too few of them.
            OverflowError: no unsigned 64-bit integer, or words beyond all addresses.
            TypeError: no integer.
        """
        address, count, size = _size(data_ptr), _size(numel), _size(element_size)
        if size != 4:
            raise ValueError(
                f"Invalid element size: got {size} bytes per element, expected 4 bytes "
                "(32-bit integer)."
            )
        if not address:
            raise ValueError("Invalid data pointer: received a null pointer.")
        mask = self._table.mask(self._state)
        needed = self._table.needed_words
        if count < needed:
            raise ValueError(
                f"Invalid buffer size: got {count} elements ({4 * count} bytes), expected "
                f"{needed} elements ({4 * needed} bytes). Ensure that the mask tensor has shape "
                "(1, (vocab_size + 31) // 32) and uses 32-bit integers."
            )
        if address + 4 * count > _MOST_SIZES:
            # C would take such sizes modulo 2**64.
            raise OverflowError(f"no memory has {count} words at {address:#x}")
        written = min(count, len(mask))
        ctypes.memmove(address, mask.ctypes.data, 4 * written)
        if count > written:
            ctypes.memset(address + 4 * written, 0, 4 * (count - written))

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


def _token(token: SupportsIndex) -> int:
    """A token id as `outlines_core` takes it."""
    found = token if type(token) is int else index(token)
    if not 0 <= found < _MOST_IDS:
        raise OverflowError("out of range integral type conversion attempted")
    return found


def _size(value: SupportsIndex) -> int:
    """A number of things, or an address, as `outlines_core` takes it."""
    found = index(value)
    if found < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if found >= _MOST_SIZES:
        raise OverflowError("int too big to convert")
    return found


def _is_sequence(value: object) -> bool:
    """What C calls a sequence, but for texts: items by number, and no mapping."""
    return hasattr(type(value), "__getitem__") and not isinstance(
        value, (str, dict, MappingProxyType)
    )
