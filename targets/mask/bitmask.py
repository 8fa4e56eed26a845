"""Packed masks and logits: allocate, reset, apply in place.

A packed mask is a row of 32-bit words, bit i of word w for token 32 * w + i, 1 = allowed: the
layout of XGrammar and llguidance. torch is never imported here: a tensor's own module is used.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_MANY: Final = 16
"""Ids from which on setting bits one by one is slower than all at once."""

_BITS: Final = np.uint32(1) << np.arange(32, dtype=np.uint32)


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """(batch_size, ceil(vocab_size / 32))."""
    return batch_size, (vocab_size + 31) // 32


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> NDArray[np.int32]:
    """Masks that allow everything: int32[batch_size, ceil(vocab_size / 32)]."""
    return np.full(get_bitmask_shape(batch_size, vocab_size), -1, dtype=np.int32)


def reset_token_bitmask(bitmask: Any) -> None:
    """Allow everything again; numpy or a CPU torch tensor."""
    as_numpy(bitmask).fill(-1)


def allow(row: NDArray[np.uint32], ids: Sequence[int]) -> None:
    """Put ids into a packed mask, in place."""
    if len(ids) > _MANY:
        which = np.array(ids)
        np.bitwise_or.at(row, which >> 5, _BITS[which & 31])
    elif ids:
        # Bytes in plain Python: numbers of numpy's would be made for each of them. Bit i of a
        # little-endian word is bit i & 7 of its byte i >> 3.
        data = row.data.cast("B")
        for token in ids:
            data[token >> 3] |= 1 << (token & 7)


def forbid(row: NDArray[np.uint32], ids: Sequence[int]) -> None:
    """Take ids out of a packed mask, in place."""
    if len(ids) > _MANY:
        which = np.array(ids)
        np.bitwise_and.at(row, which >> 5, ~_BITS[which & 31])
    else:
        for token in ids:
            row[token >> 5] &= ~_BITS[token & 31]


def as_numpy(array: Any) -> NDArray[Any]:
    """A numpy array as it is, a CPU torch tensor as a view of its memory.

    Raises:
        TypeError: neither, or a tensor on another device.
    """
    if isinstance(array, np.ndarray):
        return array
    if _is_tensor(array):
        if array.device.type != "cpu":
            raise TypeError(f"the tensor is on {array.device}; masks are written on the CPU")
        view: NDArray[Any] = array.detach().numpy()
        return view
    raise TypeError(f"a numpy array or a torch tensor is wanted, not {type(array).__name__}")


def apply_token_bitmask_inplace(
    logits: Any,
    bitmask: Any,
    *,
    vocab_size: int | None = None,
    indices: Sequence[int] | None = None,
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity.

    Args:
        logits: float[V'] or float[B, V'], changed in place: numpy (float16, 32, 64) or torch
            (float16, bfloat16, float32, float64; any device).
        bitmask: int32 or uint32[ceil(V / 32)] for all rows, or [B, ceil(V / 32)]: numpy or a CPU
            torch tensor.
        vocab_size: logits from this one on are left as they are; all are masked unless given.
            Logits beyond the mask belong to no token and are masked too.
        indices: the rows of `logits`, and of a two-dimensional `bitmask`, to apply; all unless
            given.

    Raises:
        TypeError: logits that are no array of floating point numbers, or a mask of other words.
        ValueError: shapes that do not fit, or fewer rows of masks than of logits.
    """
    words = as_numpy(bitmask)
    if words.dtype not in (np.dtype(np.int32), np.dtype(np.uint32)):
        raise TypeError(f"a mask is made of 32-bit words, not {words.dtype}")
    shape = tuple(logits.shape) if hasattr(logits, "shape") else ()
    if len(shape) not in (1, 2) or words.ndim not in (1, 2) or (len(shape) == 1 and words.ndim > 1):
        raise ValueError(f"logits of shape {shape} do not fit a mask of shape {words.shape}")
    if len(shape) == 1:
        if indices is not None:
            raise ValueError("indices name rows, and the logits are one row")
        mask_row(logits, words, vocab_size)
        return
    for index in range(shape[0]) if indices is None else indices:
        if words.ndim == 2 and not index < words.shape[0]:
            raise ValueError(f"row {index} has no mask: there are {words.shape[0]}")
        mask_row(logits[index], words if words.ndim == 1 else words[index], vocab_size)


def mask_row(logits: Any, words: NDArray[Any], vocab_size: int | None = None) -> None:
    """Apply one packed mask to one row of logits in place, see `apply_token_bitmask_inplace`."""
    size = int(logits.shape[0])
    if vocab_size is not None:
        size = min(size, vocab_size)
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")
    refused = bits[:size] == 0
    if refused.size < size:
        refused = np.concatenate([refused, np.ones(size - refused.size, dtype=bool)])
    if isinstance(logits, np.ndarray):
        if not np.issubdtype(logits.dtype, np.floating):
            raise TypeError(f"logits are floating point numbers, not {logits.dtype}")
        np.copyto(logits[:size], logits.dtype.type(-np.inf), where=refused)
    elif _is_tensor(logits):
        if not logits.is_floating_point():
            raise TypeError(f"logits are floating point numbers, not {logits.dtype}")
        torch = sys.modules["torch"]
        where = torch.from_numpy(refused).to(logits.device)
        logits[:size].masked_fill_(where, float("-inf"))
    else:
        raise TypeError(f"logits are a numpy array or a torch tensor, not {type(logits).__name__}")


def _is_tensor(array: Any) -> bool:
    """A torch tensor; if torch was never imported there is none."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, getattr(torch, "Tensor", ()))
