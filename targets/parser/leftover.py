"""What ends calls, left over behind calls of which some were recovered.

Strict reading takes what follows a call that broke off for what it can: calls without what stands
around them, perhaps. What ends all of them is then left, and is no content.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .found import Found, Note
from .frames import Span
from .markers import Marks

_STRAY: Final = "what ends the calls stands behind others than those it belongs to"


def without_ends(
    marks: Marks,
    text: bytes | bytearray,
    content: Sequence[Span],
    ends: Sequence[int],
    found: Sequence[Found],
) -> list[Span]:
    """The content without what ends calls, where that stands right behind a call; what was found
    last before it says so.

    Args:
        ends: where the calls end that were read strictly.
        found: those that were recovered, in order.
    """
    if not found or marks.section_end is None:
        return list(content)
    closed = {*ends, *(call.end for call in found)}
    out: list[Span] = []
    last = 0
    for start, end in content:
        stray = marks.section_end.match(text, start, end) if start in closed else None
        if stray is None or found[0].end > start:
            out.append((start, end))
            continue
        while last + 1 < len(found) and found[last + 1].end <= start:
            last += 1
        found[last].recoveries.append(Note("other-spelling", _STRAY, start, stray.end()))
        if stray.end() < end:
            out.append((stray.end(), end))
    return out
