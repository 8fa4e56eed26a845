"""One text, read piece by piece: one-shot and streaming are the same machinery."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...compiler.origin import Origin, Problem
from ...compiler.owners import back_to
from .finish import as_given, finish
from .holding import Holding
from .result import Delta, ParseResult
from .telling import Telling, json_inside

if TYPE_CHECKING:
    from .reader import Reader

_NO_CHARACTER = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd".encode()
_RAW, _ESCAPED, _JSON, _ARGUMENTS = "raw", "escaped", "json", "arguments"
_REASONING = "reasoning"


def as_bytes(text: bytes | bytearray | memoryview | str) -> bytes:
    """A text, or a piece of one, as bytes.

    Raises:
        TypeError: it is none.
    """
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if not isinstance(text, (bytes, bytearray, memoryview)):
        raise TypeError(f"a text is str or bytes, not {type(text).__name__}")
    return bytes(text)


class TextStream:
    """One text, read piece by piece, however it is cut. The machinery behind ``Stream`` and
    ``parse``."""

    def __init__(self, reader: Reader, *, lenient: bool, telling: bool) -> None:
        self._reader = reader
        self._text = bytearray()
        self._lenient = lenient
        self._attempts: list[int] = []
        self._telling: Telling | None = None
        if telling:
            self._telling = Holding(self._text, reader.marks) if lenient else Telling(self._text)
        me = back_to(self)
        self._run, self._builder = reader.start(
            self._text, self._telling, lambda at, start: me._breaks(at, start)
        )
        self._quiet = self._run.quiet
        self._config = self._run.config
        # Finds the pieces that change nothing, told as deltas of that kind; None if none is known.
        self._plain: Callable[[str], object] | None = None
        # Finds the pieces of prose in which nothing began that might have; None if none is known.
        self._prose: Callable[[str], re.Match[str] | None] | None = None
        # The end of the last piece, if something may begin there: not read yet.
        self._unread = ""
        # How whatever quietly follows is told; None if it takes more than a look at it.
        self._style: str | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        # Does what was read end inside a character?
        self._inside = False
        # Where bytes that are no UTF-8 were replaced, each by the three of U+FFFD.
        self._replaced: list[int] = []
        self._result: ParseResult | None = None

    def feed(self, data: bytes | bytearray | memoryview | str) -> list[Delta]:
        """Read more; -> what is new. The pieces may be cut anywhere, inside characters too.

        Raises:
            TypeError: `data` is neither bytes nor a str.
            ValueError: the stream is closed.
        """
        if (plain := self._plain) is not None:
            # Most pieces of a long text: they lead back to where it is, and are told as they are.
            if isinstance(data, str):
                if plain(data):
                    self._text += data.encode()
                    return [tuple.__new__(Delta, (self._kind, data, self._index, None, None))]
            elif isinstance(data, bytes) and plain(text := data.decode("latin-1")):
                self._text += data
                return [tuple.__new__(Delta, (self._kind, text, self._index, None, None))]
        if self._prose is not None and (passed := self._past(data)) is not None:
            return passed
        style = self._style
        # Characters that nothing happens at: most of a long string, and most prose.
        if style is not None and isinstance(data, (str, bytes)):
            quiet, config = self._quiet, self._config
            try:
                if isinstance(data, str):
                    text, data = data, data.encode()
                else:
                    text = data.decode()
                for byte in data:
                    config = quiet[config][byte]
            except (KeyError, UnicodeError):
                return self._feed(as_bytes(data))
            if style is _RAW:
                text = json_inside(text)
                style = _ARGUMENTS
            elif style == _REASONING:
                if text[-1:].isspace():
                    return self._feed(data)
            elif style is _ESCAPED:
                if b"\\" in data or b"&" in data:
                    return self._feed(data)
                text = json_inside(text)
                style = _ARGUMENTS
            elif style == _JSON:
                assert self._telling is not None
                text = self._telling.json.feed(text)
                style = _ARGUMENTS
            self._text += data
            if style and style != _REASONING:
                self._plain = self._plainly(style, config, config == self._config)
            if config != self._config:
                self._config = config
                self._prose = self._run.prose(config) if style == "content" else None
            if not style or not text:
                return []
            # As Delta(...) does, without the detour by its arguments' names.
            return [tuple.__new__(Delta, (style, text, self._index, None, None))]
        if self._result is not None:
            raise ValueError("this stream is closed: the text has ended")
        return self._feed(as_bytes(data))

    def _past(self, data: bytes | bytearray | memoryview | str) -> list[Delta] | None:
        """Read more of a text that is told as content, if it is prose; -> what is new."""
        assert self._prose is not None
        if isinstance(data, (str, bytes)):
            text = data if isinstance(data, str) else data.decode("latin-1")
            found = self._prose(self._unread + text)
            if found is not None:
                text, self._unread = found[1], found[2] or ""
                # What is not read yet may belong to the next piece.
                self._plain = None if self._unread else self._run.known_plain.get(self._config)
                self._text += text.encode()
                return [Delta("content", text)] if text else []
        return self._feed(as_bytes(data)) if self._unread else None

    def _feed(self, data: bytes) -> list[Delta]:
        """Read more, whatever it is; -> what is new."""
        if self._telling is None:
            raise TypeError("this text is read without telling")
        run = self._run
        self.read(data)
        sure, as_read = run.settle()
        out = self._builder.told(sure)
        self._config = run.config
        self._style = None if self._inside else self._quietly(as_read)
        if self._style == "content":
            self._kind = "content"
            self._prose = run.prose(run.config)
        return out

    def _plainly(self, kind: str, config: int, returns: bool) -> Callable[[str], object] | None:
        """Finds the pieces that are told as they are, as that kind of delta, and change nothing.

        Looked for only where a piece has led back to its configuration: many never see a second.
        """
        assert self._telling is not None
        if self._style == _JSON and not self._telling.json.inside:
            return None
        self._kind = kind
        return self._run.plain(config) if returns else self._run.known_plain.get(config)

    def _catch_up(self) -> None:
        """What was read quietly is read, and told."""
        if self._style is None:
            return
        self._plain = self._prose = None
        self._run.skip(self._config)
        if self._style:
            self._builder.stack[-1].told = len(self._text)
        self._style = None

    def _quietly(self, as_read: bool) -> str | None:
        """How quiet bytes are told from here: as that kind of delta, as the inside of a JSON string
        or, if empty, not at all."""
        stack = self._builder.stack
        if self._lenient:
            return None
        if not as_read or not stack or stack[-1].tells is None:
            return ""
        frame = stack[-1]
        if frame.told != len(self._text):
            return None
        assert self._telling is not None
        if frame.tells == "plain":
            kind = frame.slot.kind
            if kind == _REASONING and not self._telling.inside_thoughts:
                return None
            self._index = self._telling.index if kind == "arguments" else 0
            return _JSON if kind == "arguments" else kind
        self._index = self._telling.index
        return _RAW if frame.tells == "raw" else _ESCAPED

    def _breaks(self, at: int, start: int) -> None:
        """A call, which began at `start`, or what stands around calls breaks off."""
        self._attempts.append(start)

    def read(self, data: bytes) -> None:
        """Read more without saying what is new."""
        if self._style is not None:
            self._catch_up()
            data, self._unread = self._unread.encode() + data, ""
        if not self._inside and data.isascii():
            self._run.feed(data)
            return
        self._take(self._decoder.decode(data))
        self._inside = bool(self._decoder.getstate()[0])

    def _take(self, text: str) -> None:
        """Read decoded text, in which a byte that is no UTF-8 is a lone surrogate (PEP 383)."""
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            parts = [part.encode("utf-8") for part in _NO_CHARACTER.split(text)]
            at = len(self._text)
            for part in parts[:-1]:
                self._replaced.append(at + len(part))
                at += len(part) + len(_REPLACEMENT)
            data = _REPLACEMENT.join(parts)
        self._run.feed(data)

    def close(self) -> ParseResult:
        """The text has ended; -> the same result as ``parse`` of the whole."""
        if self._result is None:
            self.read(b"")
            problems = []
            if self._replaced:
                first = self._replaced[0]
                origin = Origin(span=(first, first + 1))
                problems.append(Problem("not-utf-8", f"byte {first} is no UTF-8", origin))
            result = finish(
                self._reader,
                self._text,
                self._run,
                self._builder,
                cut=self._decoder.getstate()[0],
                problems=problems,
                attempts=self._attempts if self._lenient else None,
                telling=self._telling,
            )
            self._result = as_given(result, self._replaced) if self._replaced else result
        return self._result

    @property
    def rest(self) -> list[Delta]:
        """What only the end of the text made sure; nothing before ``close`` was called, and nothing
        twice."""
        if self._result is None or self._telling is None:
            return []
        return self._telling.take()
