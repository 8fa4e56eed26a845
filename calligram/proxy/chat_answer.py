"""Deltas of an answer -> chunks of OpenAI's chat API, and chunks -> one chat completion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..targets.parser import Delta, to_openai_chunks
from .answer import Closed
from .pieces import Ending
from .reports import Report


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """One answer as it is told.

    Attributes:
        identifier: of the completion.
        created: seconds since 1970.
        model: what the client called it.
    """

    identifier: str
    created: int
    model: str

    @property
    def _base(self) -> dict[str, Any]:
        return {"id": self.identifier, "created": self.created, "model": self.model}

    def first(self) -> dict[str, Any]:
        """The chunk that begins a message."""
        delta = {"role": "assistant", "content": None}
        return self._chunk([{"index": 0, "delta": delta, "finish_reason": None}])

    def chunks(self, deltas: list[Delta]) -> list[dict[str, Any]]:
        """A chunk for each delta that says something."""
        return to_openai_chunks(deltas, self._base)

    def last(self, closed: Closed, report: Report) -> dict[str, Any]:
        """The chunk that says why the message ended; the field ``calligram`` stands in it."""
        chunk = self._chunk([{"index": 0, "delta": {}, "finish_reason": closed.finish}])
        if told := report.to_json():
            chunk["calligram"] = told
        return chunk

    def usage(self, ending: Ending) -> dict[str, Any]:
        """The chunk with what it took."""
        chunk = {**self._chunk([]), "usage": usage_of(ending)}
        if ending.timings is not None:
            chunk["timings"] = ending.timings
        return chunk

    def _chunk(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {**self._base, "object": "chat.completion.chunk", "choices": choices}


def usage_of(ending: Ending) -> dict[str, Any]:
    """Tokens, as OpenAI counts them."""
    usage: dict[str, Any] = {
        "prompt_tokens": ending.prompt,
        "completion_tokens": ending.completion,
        "total_tokens": ending.prompt + ending.completion,
    }
    if ending.cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": ending.cached}
    return usage


def completion_of(
    chunks: Iterable[Mapping[str, Any]], leave_out: frozenset[int] = frozenset()
) -> dict[str, Any]:
    """The chat completion that the chunks add up to.

    Args:
        leave_out: indices of calls that broke off. A stream cannot take them back.
    """
    whole: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    finish: str | None = None
    for chunk in chunks:
        for key in ("id", "created", "model", "usage", "timings", "calligram"):
            if key in chunk:
                whole[key] = chunk[key]
        for choice in chunk["choices"]:
            finish = choice["finish_reason"] or finish
            delta = choice["delta"]
            for key in ("content", "reasoning_content"):
                if delta.get(key):
                    message[key] = (message.get(key) or "") + delta[key]
            for piece in delta.get("tool_calls", ()):
                _add_call(calls, piece)
    kept = [call for index, call in sorted(calls.items()) if index not in leave_out]
    if kept:
        message["tool_calls"] = kept
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {**whole, "object": "chat.completion", "choices": [choice]}


def _add_call(calls: dict[int, dict[str, Any]], piece: Mapping[str, Any]) -> None:
    index, function = piece["index"], piece["function"]
    if index in calls:
        calls[index]["function"]["arguments"] += function["arguments"]
    else:
        calls[index] = {"id": piece["id"], "type": "function", "function": dict(function)}
