"""The events of llama-server's two streams -> text, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from .answer import Stop
from .sse import Event
from .strict_json import read_value


class UpstreamFault(Exception):
    """The server failed, or sent what no llama-server sends.

    Attributes:
        kind: ``down``, ``slow``, ``broke-off``, ``garbage``, ``refused`` or ``dead-end``.
        message: one sentence.
        status: what to answer with.
        body: the server's own error, if it gave one.
    """

    def __init__(self, kind: str, message: str, status: int, body: Any = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.body = body


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended, and what it took.

    Attributes:
        stop: at its own end, at the token limit, at a stop word.
        word: the stop word.
        prompt, completion: tokens; `cached` of the prompt's, None if unknown.
        timings: as the server gives them.
        model: what the server calls its model.
    """

    stop: Stop
    word: str | None
    prompt: int
    completion: int
    cached: int | None
    timings: Mapping[str, Any] | None
    model: str


@dataclass(frozen=True, slots=True)
class Piece:
    """More of an answer.

    Attributes:
        text: what is new.
        prompt: the tokens of the prompt, 0 if not known yet.
        ending: set with the last piece.
    """

    text: str
    prompt: int = 0
    ending: Ending | None = None


class PieceReader(Protocol):
    """Reads one stream."""

    def read(self, event: Event) -> Piece | None:
        """What an event says, None for nothing. Raises UpstreamFault."""


def parsed(event: Event) -> dict[str, Any]:
    """The JSON object of an event.

    Raises:
        UpstreamFault: it is none, or an error.
    """
    try:
        value = read_value(event.data)
    except (ValueError, RecursionError):
        raise garbage(f"an event that is no JSON: {event.data[:40]!r}") from None
    if not isinstance(value, dict):
        raise garbage("an event that is no object")
    if "error" in value:
        raise fault_of(value, 500)
    return value


_QUOTED: Final = 200
"""Characters of an error that is no JSON."""


def fault_of(body: Any, status: int, data: bytes = b"") -> UpstreamFault:
    """The server's own error; `data` is quoted where it is no JSON."""
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    text = message if isinstance(message, str) else quoted(data) or "no reason given"
    if "grammar stack" in text:
        return UpstreamFault("dead-end", f"the server's grammar met a dead end: {text}", 502, body)
    return UpstreamFault("refused", f"the server says: {text}", status, body)


def quoted(data: bytes) -> str:
    """A text of the server in short, on one line."""
    text = " ".join(data[: 8 * _QUOTED].decode("utf-8", "replace").split())
    text = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return text if len(text) <= _QUOTED else text[:_QUOTED] + "…"


def garbage(what: str) -> UpstreamFault:
    """What no llama-server sends."""
    return UpstreamFault("garbage", f"the server sent {what}", 502)


class CompletionPieces:
    """The stream of `/completion`."""

    def read(self, event: Event) -> Piece | None:
        """What an event says; the one that ends has ``stop``."""
        if event.data == "[DONE]":
            return None
        value = parsed(event)
        text = value.get("content", "")
        if not isinstance(text, str):
            raise garbage("an event without a text")
        prompt = number(value.get("tokens_evaluated"))
        if value.get("stop") is not True:
            return Piece(text, prompt)
        stops: dict[object, Stop] = {"limit": "limit", "word": "word"}
        timings = value.get("timings")
        timings = timings if isinstance(timings, dict) else None
        cached = None if timings is None else timings.get("cache_n")
        word = value.get("stopping_word")
        return Piece(
            text,
            prompt,
            Ending(
                stops.get(value.get("stop_type"), "end"),
                word if isinstance(word, str) and word else None,
                prompt,
                number(value.get("tokens_predicted")),
                cached if isinstance(cached, int) else None,
                timings,
                str(value.get("model", "")),
            ),
        )


class ChatPieces:
    """The stream of `/v1/chat/completions`, whose answer is plain content."""

    def __init__(self) -> None:
        self._stop: Stop | None = None
        self._usage: Mapping[str, Any] = {}
        self._timings: Mapping[str, Any] | None = None
        self._model = ""

    def read(self, event: Event) -> Piece | None:
        """What an event says; usage comes behind the end, so that ``[DONE]`` ends."""
        if event.data == "[DONE]":
            return self._ended()
        value = parsed(event)
        self._model = str(value.get("model", self._model))
        if isinstance(value.get("usage"), dict):
            self._usage = value["usage"]
        if isinstance(value.get("timings"), dict):
            self._timings = value["timings"]
        choices = value.get("choices")
        if not isinstance(choices, list):
            raise garbage("an event without choices")
        if not choices:
            return None
        choice = choices[0]
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if not isinstance(delta, dict):
            raise garbage("a choice without a delta")
        finish = choice.get("finish_reason")
        if finish is not None:
            self._stop = "limit" if finish == "length" else "end"
        text = delta.get("content")
        return Piece(text) if isinstance(text, str) else None

    def _ended(self) -> Piece:
        if self._stop is None:
            raise UpstreamFault("broke-off", "the server's answer has no end", 502)
        details = self._usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, dict) else None
        prompt = number(self._usage.get("prompt_tokens"))
        completion = number(self._usage.get("completion_tokens"))
        cached = cached if isinstance(cached, int) else None
        ending = Ending(self._stop, None, prompt, completion, cached, self._timings, self._model)
        return Piece("", prompt, ending)


def number(value: object) -> int:
    """A count of tokens; 0 if the server gave none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
