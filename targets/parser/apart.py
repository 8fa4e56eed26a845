"""Calls that nothing marks: told from prose by what stands around them.

Prose speaks of calls (``clock() tells the time``), so one without a marker has to stand apart: be
all that its lines hold, or all that a code fence holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_LINE_END: Final = re.compile(rb"[ \t]*+(?:\r?\n|\Z)")
_OPENED: Final = re.compile(rb"(?:\A|\n)([ \t]*```[\w-]*[ \t]*\r?\n[ \t\r\n]*)\Z")
_OPENS: Final = re.compile(rb"\s*+```[\w-]*+\s*+")
_CLOSED: Final = re.compile(rb"\s*+```[ \t]*+(?=\r?\n|\Z)")
_REST: Final = re.compile(rb"\s*+\Z")
_LOOKED_BACK: Final = 80
"""Bytes that the line which opens a code fence may have."""


def fence_around(
    text: bytes, first: int, content: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The two lines of a code fence around calls with which a message begins; None: there is none.

    Args:
        first: where the first call begins.
        content: the spans of content.
    """
    # Between content and calls there is nothing but what the dialect has around calls.
    before = next(((a, b) for a, b in content[:1] if b <= first), None)
    behind = next(((a, b) for a, b in content if a > first and a < b), None)
    if before is None or behind is None:
        return None
    opened = _OPENS.fullmatch(text, *before) if b"\n" in text[before[0] : first] else None
    closed = _CLOSED.match(text, *behind)
    return None if opened is None or closed is None else (before, (behind[0], closed.end()))


def standing_apart(
    text: bytes, start: int, end: int, within: tuple[int, int], *, fenced: bool
) -> tuple[int, int] | None:
    """Where a call stands, the code fence around it included; None if it does not stand apart.

    Args:
        within: the span of content that it is part of.
        fenced: does it begin with an opened code fence, which nothing has closed?
    """
    low, high = within
    line = start
    while line > low and text[line - 1] in b" \t":
        line -= 1
    if line > low and text[line - 1] != 0x0A:
        return None
    if _LINE_END.match(text, end, high) is None:
        return None
    back = max(low, line - _LOOKED_BACK)
    opened = _OPENED.search(text[back:line])
    if opened is not None and (back == low or opened.start() > 0 or text[back - 1] == 0x0A):
        start = back + opened.start(1)
        fenced = True
    if not fenced:
        return start, end
    closed = _CLOSED.match(text, end, high) or _REST.match(text, end, high)
    return None if closed is None else (start, closed.end())
