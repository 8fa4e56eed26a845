"""Builder -> deltas: what a stream can tell so far, each thing once and however the text is cut."""

from __future__ import annotations

import json
from typing import Literal

from .build import Builder
from .result import Delta


class Deltas:
    """Keeps what has been told of one text.

    Calls are numbered as they are announced, those that break off later included.
    """

    def __init__(self, builder: Builder, text: bytearray) -> None:
        self._builder = builder
        self._text = text
        self._finished = 0
        self._broken = 0
        self._announced = False
        self._arguments: int | None = None
        self._blocks: dict[str, tuple[int, int]] = {}

    def up_to(self, sure: int) -> list[Delta]:
        """What the builder knows and has not been told, up to byte `sure`."""
        out = [*self._block("reasoning", sure), *self._block("content", sure)]
        while self._finished < len(self._builder.calls):
            out += self._finish(self._finished)
        return out + self._open_call(sure)

    def broken(self, at: int) -> list[Delta]:
        """The open call breaks off at byte `at`: what is left to tell of it, and that it did."""
        out = self.up_to(at)
        if self._announced:
            out.append(Delta("broken", index=self._index))
            self._broken += 1
            self._announced, self._arguments = False, None
        return out

    @property
    def _index(self) -> int:
        """The number of the next or open call."""
        return self._finished + self._broken

    def _announce(self, name: str | None, identity: str | None) -> list[Delta]:
        if self._announced:
            return []
        self._announced = True
        return [Delta("call", index=self._index, name=name, id=identity)]

    def _finish(self, number: int) -> list[Delta]:
        """A call that is complete: literal arguments to their end, others as one JSON text."""
        call = self._builder.calls[number]
        out = self._announce(call["name"], call["id"])
        span = self._builder.spans.get(number)
        if span is None:
            text = json.dumps(call["arguments"], ensure_ascii=False)
        else:
            told = span[0] if self._arguments is None else self._arguments
            text = self._builder.slice(told, span[1])
        if text:
            out.append(Delta("arguments", text, self._index))
        self._finished += 1
        self._announced, self._arguments = False, None
        return out

    def _open_call(self, sure: int) -> list[Delta]:
        frame = self._builder.call
        if frame is None or frame.name is None or frame.arguments_start is None:
            return []
        out = self._announce(frame.name, frame.id)
        inner = self._builder.stack[-1]
        span = self._builder.spans.get(self._finished)
        if inner.slot.kind == "arguments" and inner.slot.decode == "json":
            start, end = inner.start, self._character_end(sure)
        elif span is not None:
            start, end = span
        else:
            return out
        told = start if self._arguments is None else self._arguments
        if told < end:
            self._arguments = end
            out.append(Delta("arguments", self._builder.slice(told, end), self._index))
        return out

    def _block(self, kind: Literal["content", "reasoning"], sure: int) -> list[Delta]:
        builder = self._builder
        spans = builder.content if kind == "content" else builder.reasoning
        count, told = self._blocks.get(kind, (0, 0))
        parts: list[tuple[int, int]] = []
        while count < len(spans):
            parts.append((max(spans[count][0], told), spans[count][1]))
            told = spans[count][1]
            count += 1
        block = builder.block
        if block is not None and block.slot.kind == kind:
            end = self._character_end(sure)
            parts.append((max(block.start, told), end))
            told = max(told, end)
        self._blocks[kind] = (count, told)
        return [Delta(kind, builder.slice(a, b)) for a, b in parts if a < b]

    def _character_end(self, position: int) -> int:
        """The last character boundary at or before a position."""
        while 0 < position < len(self._text) and self._text[position] & 0xC0 == 0x80:
            position -= 1
        return position
