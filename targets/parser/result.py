"""What the parser gives back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ...compiler.origin import Problem

DeltaKind = Literal["content", "reasoning", "call", "arguments", "broken"]


@dataclass(frozen=True, slots=True)
class Incomplete:
    """The text was cut off inside a call or a block.

    Attributes:
        name: the tool's name, as far as it is known.
        arguments: the text of the arguments so far, as written.
        message: one sentence.
    """

    name: str | None
    arguments: str
    message: str

    def __str__(self) -> str:
        return self.message


class Delta(NamedTuple):
    """A piece of a streamed answer.

    kind:
        ``content``, ``reasoning``: more text. ``call``: a call has begun, with its `name`, and its
        `id` if the dialect has one before the arguments; one that stands behind them is not known
        yet, so `id` is None here, and the result has it. ``arguments``: more of the JSON text of
        call `index`: a slice of what was written where the notation is JSON, else converted as
        values arrive. ``broken``: call `index` broke off; it is not among the result's calls, and
        its text follows as content.
    """

    kind: DeltaKind
    text: str = ""
    index: int = 0  # type: ignore[assignment]  # Of a tuple it would be a method.
    name: str | None = None
    id: str | None = None

    def openai(self) -> dict[str, Any]:
        """The ``delta`` of a chat completion chunk. A call comes with id, type and name and empty
        arguments, then its arguments piece by piece. Empty for ``broken``: that protocol takes
        nothing back.
        """
        match self.kind:
            case "content":
                return {"content": self.text}
            case "reasoning":
                return {"reasoning_content": self.text}
            case "call":
                call = {
                    "index": self.index,
                    "id": self.id or made_id(self.index),
                    "type": "function",
                    "function": {"name": self.name, "arguments": ""},
                }
                return {"tool_calls": [call]}
            case "arguments":
                piece = {"index": self.index, "function": {"arguments": self.text}}
                return {"tool_calls": [piece]}
            case _:
                return {}


@dataclass(frozen=True, slots=True)
class Recovery:
    """What had to be overlooked to read a call that is not as it was taught.

    Attributes:
        code: what it was; see docs/reference/errors.md.
        message: one sentence.
        start, end: where in the text, in bytes.
        call: which of the result's calls, counted from 0.
    """

    code: str
    message: str
    start: int
    end: int
    call: int

    def to_json(self) -> dict[str, object]:
        """A plain dict."""
        return {
            "code": self.code,
            "message": self.message,
            "start": self.start,
            "end": self.end,
            "call": self.call,
        }


@dataclass(frozen=True, slots=True)
class ParseResult:
    """One turn, read.

    Attributes:
        calls: ``{"name", "arguments", "id"}`` each; "id" is None where the dialect has none.
        content: plain text beside the calls.
        reasoning: the text of the reasoning block.
        problems: all that is wrong, located, in the text too where that is known; empty if and
            only if the grammar accepts the text, or would but for `recoveries`.
        incomplete: set if the text was cut off inside a call or a block.
        recoveries: what lenient reading overlooked; empty in strict reading.
        notices: content that looks like a call, as notes (``near-miss``), each with its place and
            a hint. They are no problems: the grammar takes the text.
    """

    calls: list[dict[str, Any]]
    content: str
    reasoning: str
    problems: tuple[Problem, ...]
    incomplete: Incomplete | None
    recoveries: tuple[Recovery, ...] = ()
    notices: tuple[Problem, ...] = ()

    @property
    def finish_reason(self) -> Literal["length", "tool_calls", "stop"]:
        """Why the turn ended, in OpenAI's words: cut off, with calls, or neither."""
        if self.incomplete is not None:
            return "length"
        return "tool_calls" if self.calls else "stop"

    def openai(self) -> dict[str, Any]:
        """The turn as an assistant message of OpenAI's chat API, arguments as JSON text."""
        message: dict[str, Any] = {"role": "assistant", "content": self.content or None}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = [
                {
                    "id": call["id"] or made_id(index),
                    "type": "function",
                    "function": {
                        "name": call["name"],
                        "arguments": json.dumps(call["arguments"], ensure_ascii=False),
                    },
                }
                for index, call in enumerate(self.calls)
            ]
        return message


def made_id(index: int) -> str:
    """The id of a call in a dialect without any."""
    return f"call_{index}"


def to_openai_chunks(
    deltas: list[Delta], base: Mapping[str, Any] | None = None, *, finish: str | None = None
) -> list[dict[str, Any]]:
    """Deltas as chat completion chunks of OpenAI's API, one for each delta that says something.

    Args:
        base: what every chunk has besides: id, created, model.
        finish: the turn has ended, for this reason (``ParseResult.finish_reason``); a last chunk
            says so.
    """
    pieces: list[tuple[dict[str, Any], str | None]] = [(d.openai(), None) for d in deltas]
    if finish is not None:
        pieces.append(({}, finish))
    return [
        {
            **(base or {}),
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
        for delta, reason in pieces
        if delta or reason
    ]
