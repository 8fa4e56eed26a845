"""Code point ranges as sequences of UTF-8 byte ranges.

The split follows the table of well-formed sequences (Unicode standard, table 3-7): no overlong
form, no surrogate, nothing above U+10FFFF can come out.
"""

from __future__ import annotations

from functools import lru_cache

from ..grammar import Ranges

ByteRanges = tuple[tuple[int, int], ...]

_LIMITS = (0x7F, 0x7FF, 0xFFFF, 0x10FFFF)


@lru_cache(maxsize=4096)
def byte_sequences(ranges: Ranges) -> tuple[ByteRanges, ...]:
    """The byte range sequences whose union is exactly the UTF-8 spellings of `ranges`.

    Sequences are disjoint and in code point order.
    """
    out: list[ByteRanges] = []
    for low, high in ranges:
        start = low
        for limit in _LIMITS:
            if start > high:
                break
            if start <= limit:
                _split(start, min(high, limit), out)
                start = limit + 1
    return tuple(out)


def _split(low: int, high: int, out: list[ByteRanges]) -> None:
    """Append the sequences of low..high, which have encodings of one length."""
    first, last = chr(low).encode("utf-8"), chr(high).encode("utf-8")
    pending = [(first, last)]
    while pending:
        a, b = pending.pop()
        # Find the first position at which the bounds differ and whether the rest spans it whole.
        i = next((k for k in range(len(a)) if a[k] != b[k]), len(a))
        tail = len(a) - i - 1
        if tail > 0 and a[i + 1 :] != b"\x80" * tail:
            top = a[: i + 1] + b"\xbf" * tail
            after = a[:i] + bytes([a[i] + 1]) + b"\x80" * tail
            pending.append((after, b))
            pending.append((a, top))
            continue
        if tail > 0 and b[i + 1 :] != b"\xbf" * tail:
            bottom = b[: i + 1] + b"\x80" * tail
            before = b[:i] + bytes([b[i] - 1]) + b"\xbf" * tail
            pending.append((bottom, b))
            pending.append((a, before))
            continue
        out.append(tuple(zip(a, b, strict=True)))
