"""Telling what lenient reading cannot change any more.

Whether a marker in prose, or a call that broke off, is a call after all shows when everything has
been read; so does what a call of no offered tool is. From there on nothing is told before the end.
"""

from __future__ import annotations

from .frames import Frame
from .markers import Marks
from .telling import Telling


class Holding(Telling):
    """Tells up to the first place where lenient reading may find a call.

    Attributes:
        held: the byte from which on all is held; None if nothing is.
    """

    def __init__(self, text: bytearray, marks: Marks) -> None:
        super().__init__(text)
        self._marks = marks
        self.held: int | None = None
        # May the message yet turn out to begin as a call that nothing marks?
        self._open = marks.bare is not None

    def plain(self, kind: str, start: int, end: int) -> None:
        if self.held is not None:
            return
        if kind == "content" and self._open:
            self._open = False
            if self._marks.may_start(self._text, start, end):
                self.held = start
                return
        marker = self._marks.first(self._text, start, end) if kind == "content" else None
        super().plain(kind, start, end if marker is None else marker)
        if marker is not None:
            self.held = marker

    def broken(self, start: int) -> None:
        if self.held is None:
            super().broken(start)
            self.held = start
        else:
            # What opened the calls goes with the first of them.
            self.held = min(self.held, start)

    def opened(self, frame: Frame, stack: list[Frame], text_only: bool) -> None:
        if self.held is None:
            self._open = self._open and frame.slot.kind != "call"
            if frame.slot.kind == "arguments" and self._is_unknown(frame.outer):
                return
            super().opened(frame, stack, text_only)

    def closed(self, frame: Frame, parent: Frame | None, end: int) -> None:
        if self.held is None and not self._is_unknown(frame):
            super().closed(frame, parent, end)

    def _is_unknown(self, call: Frame | None) -> bool:
        """Is this a call of no offered tool, or inside one? From there on all is held."""
        while call is not None and call.slot.kind != "call":
            call = call.outer
        if call is None or call.name is None or call.name in self._marks.tools:
            return False
        self.held = call.start
        return True

    def grow(self, frame: Frame, sure: int, *, closing: bool = False) -> None:
        if self.held is None:
            if frame.slot.kind == "content" and not closing:
                if self._open and self._marks.may_start(self._text, frame.told, sure) is None:
                    return
                sure = self._marks.sure(self._text, frame.told, sure)
            super().grow(frame, sure, closing=closing)
