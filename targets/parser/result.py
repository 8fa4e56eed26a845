"""What the parser gives back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from ...compiler.origin import Problem


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


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a streamed answer.

    kind:
        ``content``, ``reasoning``: more text. ``call``: a call has begun, with its `name`.
        ``arguments``: more of the argument text of call `index`. For notations other than JSON the
        arguments come as one JSON text when the call ends. ``broken``: call `index` broke off; it
        is not among the result's calls, and its text follows as content.
    """

    kind: Literal["content", "reasoning", "call", "arguments", "broken"]
    text: str = ""
    index: int = 0
    name: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ParseResult:
    """One turn, read.

    Attributes:
        calls: ``{"name", "arguments", "id"}`` each; "id" is None where the dialect has none.
        content: plain text beside the calls.
        reasoning: the text of the reasoning block.
        problems: all that is wrong, located; empty if and only if the grammar accepts the text.
        incomplete: set if the text was cut off inside a call or a block.
    """

    calls: list[dict[str, Any]]
    content: str
    reasoning: str
    problems: tuple[Problem, ...]
    incomplete: Incomplete | None

    def openai(self) -> dict[str, Any]:
        """The turn as an assistant message of OpenAI's chat API, arguments as JSON text."""
        message: dict[str, Any] = {"role": "assistant", "content": self.content or None}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = [
                {
                    "id": call["id"] or f"call_{index}",
                    "type": "function",
                    "function": {
                        "name": call["name"],
                        "arguments": json.dumps(call["arguments"], ensure_ascii=False),
                    },
                }
                for index, call in enumerate(self.calls)
            ]
        return message
