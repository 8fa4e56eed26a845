"""Where what looks like a call is none, for it stands inside the text of another one.

A call that is not read at the first go, and in whose strings another one is written, leaves its
text to be looked through. What stands in a string of it is no call, nor is one behind which more of
it stands, up to its end: that a call is lost is a problem that is told, but one that nobody made
must not come out of it.
"""

from __future__ import annotations

import heapq
import re
from bisect import bisect_left
from collections.abc import Iterable

from .attempt import Attempt
from .frames import Span
from .markers import Marks


class Engulfed:
    """What attempts that came to nothing leave behind, for places that ascend."""

    def __init__(self, marks: Marks, text: bytes) -> None:
        self._marks = marks
        self._text = text
        # Strings that may reach over places which are looked at yet, by where they begin.
        self._strings: list[Span] = []
        self._reach = 0
        self._open = False
        self._strays: list[int] | None = None

    def failed(self, attempt: Attempt, read: int) -> None:
        """An attempt made no call of what stands from `read` on."""
        loose = attempt.loose
        named = self._marks.name.search(self._text, max(attempt.start, read), loose.at)
        if named is None:
            return  # Nobody began a call of a tool.
        self._open = self._open or loose.at > max(attempt.headed, named.end())
        for span in loose.quoted:
            if span[0] >= named.end():
                heapq.heappush(self._strings, span)

    def behind(self, place: int) -> int:
        """The place, or the end of the string that it stands in."""
        while self._strings and self._strings[0][0] < place:
            self._reach = max(self._reach, heapq.heappop(self._strings)[1])
        return max(place, self._reach)

    def holds(self, end: int, limit: int) -> bool:
        """Is a call that ends here part of one that was begun before, and goes on behind it?"""
        if not self._open:
            return False
        if self._strays is None:
            self._strays = list(_strays(self._marks, self._text))
        found = bisect_left(self._strays, end)
        return found < len(self._strays) and self._strays[found] < limit


def _strays(marks: Marks, text: bytes) -> Iterable[int]:
    """Where what ends a call stands although the call before has its end: between both, something
    stands that begins no call."""
    last: re.Match[bytes] | None = None
    for found in marks.ends.finditer(text):
        if found["end"] is None:
            last = None
            continue
        if last is not None and text[last.end() : found.start()].strip():
            yield found.start()
        last = found
