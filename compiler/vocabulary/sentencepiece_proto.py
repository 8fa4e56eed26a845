"""The few fields of a SentencePiece model that its library does not tell.

The model is a protocol buffer (sentencepiece_model.proto: `pieces` = 1 with `type` = 3,
`denormalizer_spec` = 5 with `precompiled_charsmap` = 2); the wire format is described in
https://protobuf.dev/programming-guides/encoding/. The library has read the same bytes before, so
they are whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

USER_DEFINED: Final = 4
_NORMAL: Final = 1


def piece_types(model: bytes) -> list[int]:
    """The type of each piece; NORMAL where none is written."""
    return [
        next((n for field, n in _fields(piece) if field == 3 and isinstance(n, int)), _NORMAL)
        for field, piece in _fields(model)
        if field == 1 and isinstance(piece, bytes)
    ]


def changes_output(model: bytes) -> bool:
    """Does decoding end with a map of characters?"""
    return any(
        inner == 2 and bool(value)
        for field, spec in _fields(model)
        if field == 5 and isinstance(spec, bytes)
        for inner, value in _fields(spec)
    )


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers with values: numbers, or the bytes of everything else."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        match tag & 7:
            case 0:
                number, at = _varint(message, at)
                yield tag >> 3, number
                continue
            case 1:
                end = at + 8
            case 5:
                end = at + 4
            case _:
                length, at = _varint(message, at)
                end = at + length
        yield tag >> 3, message[at:end]
        at = end


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
