"""Deltas of an answer -> events of Anthropic's messages API, and events -> one message.

The order of events is that of Anthropic's documentation of streaming: each block is begun, told in
deltas and ended before the next one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..targets.parser import Delta
from .answer import Closed
from .pieces import Ending
from .reports import Report

_REASONS: Final = {"tool_calls": "tool_use", "length": "max_tokens", "stop": "end_turn"}


class AnthropicAnswer:
    """One answer as it is told."""

    def __init__(self, identifier: str, model: str) -> None:
        self._identifier = identifier
        self._model = model
        self._index = -1
        # What the open block holds: a kind of delta, and for calls which.
        self._open: tuple[str, int] | None = None
        self._calls: dict[int, int] = {}

    def first(self, prompt: int) -> dict[str, Any]:
        """The event that begins a message; `prompt` tokens, 0 if not known yet."""
        message: dict[str, Any] = {
            "id": self._identifier,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": prompt, "output_tokens": 0},
        }
        return {"type": "message_start", "message": message}

    def events(self, deltas: list[Delta]) -> list[dict[str, Any]]:
        """The events for deltas."""
        found: list[dict[str, Any]] = []
        block: dict[str, Any]
        for delta in deltas:
            match delta.kind:
                case "content" if delta.text:
                    self._block(found, ("content", 0), {"type": "text", "text": ""})
                    self._tell(found, {"type": "text_delta", "text": delta.text})
                case "reasoning" if delta.text:
                    block = {"type": "thinking", "thinking": "", "signature": ""}
                    self._block(found, ("reasoning", 0), block)
                    self._tell(found, {"type": "thinking_delta", "thinking": delta.text})
                case "call":
                    block = {"type": "tool_use", "id": delta.id, "name": delta.name, "input": {}}
                    self._block(found, ("call", delta.index), block)
                    self._calls[self._index] = delta.index
                case "arguments" if delta.text:
                    said = {"type": "input_json_delta", "partial_json": delta.text}
                    self._tell(found, said)
                case _:  # Nothing can be taken back.
                    pass
        return found

    def _block(
        self, found: list[dict[str, Any]], what: tuple[str, int], block: dict[str, Any]
    ) -> None:
        """Begin a block, unless the open one goes on."""
        if self._open == what:
            return
        self._end_block(found)
        self._index += 1
        self._open = what
        begin = {"type": "content_block_start", "index": self._index, "content_block": block}
        found.append(begin)

    def _end_block(self, found: list[dict[str, Any]]) -> None:
        if self._open is not None:
            found.append({"type": "content_block_stop", "index": self._index})
            self._open = None

    def _tell(self, found: list[dict[str, Any]], delta: dict[str, Any]) -> None:
        event = {"type": "content_block_delta", "index": self._index, "delta": delta}
        found.append(event)

    def last(self, closed: Closed, ending: Ending, report: Report) -> list[dict[str, Any]]:
        """The events that end a message; the field ``calligram`` stands in the first of them."""
        found: list[dict[str, Any]] = []
        self._end_block(found)
        reason, word = _REASONS[closed.finish], None
        if reason == "end_turn" and ending.stop == "word":
            reason, word = "stop_sequence", ending.word
        cached = ending.cached or 0
        usage: dict[str, Any] = {
            "input_tokens": ending.prompt - cached,
            "output_tokens": ending.completion,
        }
        if ending.cached is not None:
            usage["cache_read_input_tokens"] = ending.cached
        end: dict[str, Any] = {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": word},
            "usage": usage,
        }
        if told := report.to_json():
            end["calligram"] = told
        return [*found, end, {"type": "message_stop"}]

    def blocks_of(self, calls: frozenset[int]) -> frozenset[int]:
        """The indices of the blocks of these calls."""
        return frozenset(block for block, call in self._calls.items() if call in calls)


def message_of(
    events: Iterable[Mapping[str, Any]], leave_out: frozenset[int] = frozenset()
) -> dict[str, Any]:
    """The message that the events add up to.

    A call whose arguments do not end is no block of it: its input could not be given.

    Args:
        leave_out: indices of blocks whose calls broke off.
    """
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    for event in events:
        match event["type"]:
            case "message_start":
                message = dict(event["message"])
            case "content_block_start":
                blocks[event["index"]] = dict(event["content_block"])
                inputs[event["index"]] = ""
            case "content_block_delta":
                delta, block = event["delta"], blocks[event["index"]]
                match delta["type"]:
                    case "text_delta":
                        block["text"] += delta["text"]
                    case "thinking_delta":
                        block["thinking"] += delta["thinking"]
                    case _:
                        inputs[event["index"]] += delta["partial_json"]
            case "message_delta":
                message.update(event["delta"])
                message["usage"] = {**message["usage"], **event["usage"]}
                if "calligram" in event:
                    message["calligram"] = event["calligram"]
            case _:
                pass
    message["content"] = []
    for index, block in sorted(blocks.items()):
        if block["type"] == "tool_use":
            try:
                block["input"] = json.loads(inputs[index])
            except ValueError:
                continue
        if index not in leave_out:
            message["content"].append(block)
    return message
