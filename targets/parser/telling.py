"""Captures as they open, grow and close -> deltas: each thing once, however the text is cut.

Arguments are told as JSON text that says what the result says. Where the notation is JSON that is
the text itself, but for what only looks like JSON; elsewhere it is made as values arrive: a string
piece by piece, anything else when it ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Final

from ...compiler.decode import decode_python, decode_xml
from .frames import Frame
from .json_text import JsonText
from .result import Delta

_HELD: Final = 64
"""Bytes of a string that are looked through again; more are told when the string ends."""

_UNITS: Final = {
    # As many whole units as are sure whatever follows. A unit that a following one could join (half
    # a character, an octal escape) is sure once something else stands behind it.
    "python": re.compile(
        r"""(?:[^\\]++
        |\\x[0-9a-fA-F]{2}
        |\\u(?![dD][89abAB])[0-9a-fA-F]{4}
        |\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
        |\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\U|\\u[dD][c-fC-F][0-9a-fA-F]{2})(?=.{6})
        |\\U(?!0000[dD])[0-9a-fA-F]{8}
        |\\[0-7]{3}
        |\\[0-7]{1,2}(?=[^0-7])
        |\\x(?![0-9a-fA-F]{2})(?=..)
        |\\u(?![0-9a-fA-F]{4})(?=....)
        |\\U(?![0-9a-fA-F]{8})(?=........)
        |\\[^xuU0-7]
        )*+""",
        re.DOTALL | re.VERBOSE,
    ),
    "xml": re.compile(
        r"(?:[^&]++|&(?:amp|lt|gt|quot|apos);|&(?!(?:amp|lt|gt|quot|apos);)(?=.{5}))*+", re.DOTALL
    ),
}
_DECODERS: Final[dict[str, Callable[[str], str]]] = {"python": decode_python, "xml": decode_xml}


def json_inside(text: str) -> str:
    """The inside of a JSON string."""
    return encode_basestring(text)[1:-1]


class Telling:
    """What has been told of one text.

    Calls are numbered as they are announced, those that break off later included.

    Args:
        text: the bytes read so far.

    Attributes:
        index: the number of the open call, or of the next one.
        json: the arguments of the open call, where the notation is JSON.
    """

    def __init__(self, text: bytearray) -> None:
        self.json = JsonText()
        self._text = text
        self._out: list[Delta] = []
        self.index = 0
        self._announced = False
        # White space of the thoughts that belongs to them if more follows; None before the first.
        self._space: str | None = None
        # Elements are typed as a whole, so they are told when the arguments end.
        self._in_tree = False

    def take(self) -> list[Delta]:
        """What is new since the last time, adjacent pieces of one thing as one."""
        if not self._out:
            return []
        out: list[Delta] = []
        last: Delta | None = None
        texts: list[str] = []
        for delta in self._out:
            if last is not None and last.kind == delta.kind and last.index == delta.index:
                texts.append(delta.text)
            elif delta.text or delta.kind in ("call", "broken"):
                if len(texts) > 1:
                    out[-1] = out[-1]._replace(text="".join(texts))
                out.append(delta)
                last, texts = delta, [delta.text]
        if len(texts) > 1:
            out[-1] = out[-1]._replace(text="".join(texts))
        self._out.clear()
        return out

    def plain(self, kind: str, start: int, end: int) -> None:
        """More content or reasoning."""
        text = self._slice(start, end)
        if kind == "reasoning":
            text = self._trimmed(text)
        self._out.append(Delta(kind, text))  # type: ignore[arg-type]

    @property
    def inside_thoughts(self) -> bool:
        """Has reasoning been told, up to its last character? Then whatever follows is told, unless
        it ends in white space."""
        return self._space == ""

    def _trimmed(self, text: str) -> str:
        """More reasoning without the white space that may stand around all of it."""
        known = text.rstrip()
        if not known:
            if self._space is not None:
                self._space += text
            return ""
        out = known.lstrip() if self._space is None else self._space + known
        self._space = text[len(known) :]
        return out

    def whole(self, name: str, identity: str | None, arguments: str) -> None:
        """A call, all of it."""
        self._announce(name, identity)
        self._add(arguments)
        self._end()

    def broken(self, start: int) -> None:
        """The open call, which began at `start`, or what stands around calls broke off."""
        if self._announced:
            self._out.append(Delta("broken", index=self.index))
            self._end()
        self._in_tree = False

    # Captures ---------------------------------------------------------------------------------

    def opened(self, frame: Frame, stack: list[Frame], text_only: bool) -> None:
        """A capture has opened; `stack` ends with it. `text_only`: what it holds is a string."""
        if self._in_tree:
            return
        match frame.slot.kind:
            case "content" | "reasoning":
                frame.tells = "plain"
            case "arguments":
                call = next((f for f in reversed(stack) if f.slot.kind == "call"), None)
                if call is not None and call.name is not None:
                    self._announce(call.name, call.id)
                if frame.slot.decode == "json":
                    frame.tells = "plain"
                    self.json = JsonText()
                elif frame.slot.decode == "tree":
                    self._in_tree = True
                else:
                    self._add("{")
            case "object" | "array":
                self._separate(stack)
                self._add("{" if frame.slot.kind == "object" else "[")
            case "value":
                self._separate(stack)
                decode = frame.slot.decode
                if decode in ("raw", "python", "xml") or (decode == "untyped" and text_only):
                    frame.tells = decode if decode in _UNITS else "raw"
                    self._add('"')
            case _:
                pass

    def closed(self, frame: Frame, parent: Frame | None, end: int) -> None:
        """A capture has closed; its value is known."""
        if self._in_tree:
            if frame.slot.kind == "arguments":
                self._in_tree = False
                if not frame.spoilt:
                    self._add(json.dumps(frame.value, ensure_ascii=False))
            return
        self.grow(frame, end, closing=True)
        match frame.slot.kind:
            case "key" if parent is not None and parent.outer is not None:
                comma = ", " if parent.outer.count else ""
                parent.outer.count += 1
                self._add(f"{comma}{json.dumps(frame.value, ensure_ascii=False)}: ")
            case "object":
                self._add("}")
            case "array":
                self._add("]")
            case "arguments" if frame.slot.decode != "json":
                self._add("}")
            case "value":
                string = frame.tells is not None
                self._add('"' if string else json.dumps(frame.value, ensure_ascii=False))
            case "call":
                if frame.arguments_start is None:
                    self._announce(frame.name, frame.id)
                    self._add("{}")
                self._end()
            case _:
                pass

    def grow(self, frame: Frame, sure: int, *, closing: bool = False) -> None:
        """An open capture reaches up to byte `sure` at least."""
        tells = frame.tells
        if tells is None or sure <= frame.told:
            return
        if tells == "plain":
            end = sure if closing else self._character_end(sure)
            kind = frame.slot.kind
            if kind == "arguments":
                self._add(self.json.feed(self._slice(frame.told, end)))
            else:
                self.plain(kind, frame.told, end)
            frame.told = end
            return
        if frame.held and not closing:
            return
        end = sure if closing else self._character_end(sure)
        text = self._slice(frame.told, end)
        units = _UNITS.get(tells)
        if units is not None:
            if not closing:
                found = units.match(text)
                assert found is not None
                rest = len(text) - found.end()
                frame.held = rest > _HELD
                text = found[0]
            end = frame.told + len(text.encode("utf-8"))
            text = _DECODERS[tells](text)
        self._add(json_inside(text))
        frame.told = end

    def _separate(self, stack: list[Frame]) -> None:
        """A comma, if this is one more item of an array."""
        parent = stack[-2] if len(stack) > 1 else None
        if parent is not None and parent.slot.kind == "array":
            self._add(", " if parent.count else "")
            parent.count += 1

    def _announce(self, name: str | None, identity: str | None) -> None:
        if not self._announced:
            self._announced = True
            self._out.append(Delta("call", index=self.index, name=name, id=identity))

    def _end(self) -> None:
        self._announced = self._in_tree = False
        self.index += 1

    def _add(self, text: str) -> None:
        self._out.append(Delta("arguments", text, self.index))

    def _slice(self, start: int, end: int) -> str:
        return self._text[start:end].decode("utf-8", "replace")

    def _character_end(self, position: int) -> int:
        """The last character boundary at or before a position."""
        while 0 < position < len(self._text) and self._text[position] & 0xC0 == 0x80:
            position -= 1
        return position
