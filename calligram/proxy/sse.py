"""Server-sent events, read from bytes however they are cut, and written.

The format is that of the HTML standard, section 9.2: fields of lines, an empty line ends an event.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

MAX_EVENT: Final = 16 * 2**20
"""Bytes of one event; more is no event of a server that answers chats."""
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
DONE: Final = b"data: [DONE]\n\n"


class Event(NamedTuple):
    """One event: its name, "" for most, and its data."""

    name: str
    data: str


class NoEvents(ValueError):
    """Bytes that are no server-sent events.

    Attributes:
        before: the events that were complete before them, and have not been told.
    """

    def __init__(self, message: str, before: Sequence[Event] = ()) -> None:
        super().__init__(message)
        self.before = list(before)


class EventReader:
    """Reads a stream of events."""

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Event]:
        """The events that are complete now.

        Raises:
            NoEvents: a line that no event has, bytes that are no UTF-8, or too many of them.
        """
        whole = self._rest + data if self._rest else data
        found: list[Event] = []
        lines = whole.split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            if line.endswith(b"\r"):
                line = line[:-1]
            if line:
                try:
                    self._line(line)
                except NoEvents as error:
                    error.before = found
                    raise
            else:
                if self._data:  # A name alone is no event.
                    found.append(Event(self._name, "\n".join(self._data)))
                self._name, self._data, self._size = "", [], 0
        if self._size + len(self._rest) > MAX_EVENT:
            raise NoEvents(f"an event of more than {MAX_EVENT:,} bytes", found)
        return found

    def _line(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if value.startswith(b" "):
            value = value[1:]
        try:
            text = value.decode("utf-8")
        except UnicodeDecodeError:
            raise NoEvents("bytes that are no UTF-8") from None
        match name:
            case b"data":
                self._data.append(text)
                self._size += len(value)
            case b"event":
                self._name = text
            case b"error":
                # How older servers say that an answer breaks off.
                self._data.append('{"error": ' + text + "}")
            case b"" | b"id" | b"retry":  # "": a comment.
                pass
            case _:
                raise NoEvents(f"a line that is none of an event: {line[:40]!r}")


def data_event(value: Mapping[str, Any]) -> bytes:
    """An event without a name, of JSON."""
    return b"data: " + json_bytes(value) + b"\n\n"


def named_event(value: Mapping[str, Any]) -> bytes:
    """An event named as its data's ``type``."""
    return b"event: " + str(value["type"]).encode() + b"\ndata: " + json_bytes(value) + b"\n\n"


def json_bytes(value: Any) -> bytes:
    """JSON as it is sent: compact, lone surrogates as escapes."""
    text = _ENCODER.encode(value)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")
