"""Calls that nothing marks: told from prose by what stands around them.

Prose speaks of calls (``clock() tells the time``), so one without a marker has to stand apart: be
all that its lines hold, or all that a code fence holds.
"""

from __future__ import annotations

import re
from typing import Final

_LINE_END: Final = re.compile(rb"[ \t]*+(?:\r?\n|\Z)")
_OPENED: Final = re.compile(rb"(?:\A|\n)([ \t]*```[\w-]*[ \t]*\r?\n[ \t\r\n]*)\Z")
_CLOSED: Final = re.compile(rb"\s*+```[ \t]*+(?=\r?\n|\Z)")
_REST: Final = re.compile(rb"\s*+\Z")
_LOOKED_BACK: Final = 80
"""Bytes that the line which opens a code fence may have."""


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
