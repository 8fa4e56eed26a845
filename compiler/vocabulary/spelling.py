"""How vocabularies write bytes as text."""

from __future__ import annotations

import re
from typing import Final

_BYTE: Final = re.compile(rb"<0x([0-9A-Fa-f]{2})>")
_ESCAPE: Final = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|(.))", re.S)
_RWKV: Final = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}
META: Final = "\u2581".encode()
"""The mark that stands for a space."""


def _byte_table() -> dict[int, str]:
    """Characters of GPT-2's alphabet to the characters with the bytes' numbers.

    `bytes_to_unicode` of GPT-2: printable bytes are themselves, the others, in order, U+0100 and
    up. Characters of Latin-1 that are not in the alphabet become one that Latin-1 lacks.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {c: "\uffff" for c in range(0x100)}
    table |= {c: chr(c) for c in printable}
    others = [b for b in range(0x100) if b not in printable]
    return table | {0x100 + n: chr(b) for n, b in enumerate(others)}


_TABLE: Final = _byte_table()


def byte_level(text: str) -> bytes:
    """A token of byte-level BPE. One that is not written in that alphabet throughout is text."""
    try:
        return text.translate(_TABLE).encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8")


def fallback_byte(token: bytes) -> bytes | None:
    """The byte that `<0xNN>` stands for; None if it is not that."""
    match = _BYTE.fullmatch(token)
    return None if match is None else bytes([int(match[1], 16)])


def unescaped(token: bytes) -> bytes:
    r"""A token of RWKV's vocabulary: `\t`, `\n`, `\r`, `\xNN`, and a backslash before others."""
    return _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]) if m[1] else _RWKV.get(m[2], m[2]), token)
