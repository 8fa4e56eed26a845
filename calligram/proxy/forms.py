"""The two APIs that clients speak: how a request is read, and how answers and errors are told."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Protocol

from ..targets.parser import Delta
from .answer import Closed
from .anthropic_answer import AnthropicAnswer, message_of
from .anthropic_request import chat_request
from .chat_answer import ChatAnswer, completion_of
from .pieces import Ending, UpstreamFault
from .reports import Report, anthropic_error, error_body
from .sse import DONE, data_event, named_event

Values = list[dict[str, Any]]


class Telling(Protocol):
    """One answer as it is told, in values that are one event each."""

    def first(self, prompt: int) -> Values:
        """What begins it; `prompt` tokens, 0 if not known yet."""
        ...

    def more(self, deltas: list[Delta]) -> Values:
        """What is new."""
        ...

    def last(self, closed: Closed, ending: Ending, report: Report) -> Values:
        """What ends it."""
        ...

    def encoded(self, values: Values) -> bytes:
        """As events."""
        ...

    def done(self) -> bytes:
        """What stands behind the last event."""
        ...

    def whole(self, values: Values, closed: Closed) -> dict[str, Any]:
        """The answer that all its values add up to."""
        ...


class Form(Protocol):
    """One API."""

    name: str

    def request(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The chat request. Raises RequestError."""
        ...

    def telling(self, token: str, model: str, body: Mapping[str, Any], stream: bool) -> Telling:
        """How one answer is told; `token` makes its id."""
        ...

    def error(self, body: dict[str, Any], status: int) -> dict[str, Any]:
        """An error of OpenAI's form in this one's."""
        ...

    def fault(self, fault: UpstreamFault) -> bytes:
        """The event that says that an answer breaks off."""
        ...


def fault_body(fault: UpstreamFault) -> dict[str, Any]:
    """A failure of the server as an error: its own words, if it had any."""
    if fault.kind == "refused" and isinstance(fault.body, dict) and "error" in fault.body:
        return fault.body
    return error_body(fault.message, fault.status, f"upstream-{fault.kind}")


class ChatForm:
    """OpenAI's chat completions."""

    name = "chat"

    def request(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The request as it is."""
        return dict(body)

    def telling(self, token: str, model: str, body: Mapping[str, Any], stream: bool) -> Telling:
        """Chunks, and a completion."""
        options = body.get("stream_options")
        usage = isinstance(options, Mapping) and options.get("include_usage") is True
        return ChatTelling(f"chatcmpl-{token}", model, usage or not stream)

    def error(self, body: dict[str, Any], status: int) -> dict[str, Any]:
        """The error as it is."""
        return body

    def fault(self, fault: UpstreamFault) -> bytes:
        """An event with an error. No ``[DONE]`` follows: the answer is not done."""
        return data_event(fault_body(fault))


class ChatTelling:
    """Chunks of a chat completion."""

    def __init__(self, identifier: str, model: str, usage: bool) -> None:
        self._answer = ChatAnswer(identifier, int(time.time()), model)
        self._usage = usage

    def first(self, prompt: int) -> Values:
        """The chunk with the role."""
        return [self._answer.first()]

    def more(self, deltas: list[Delta]) -> Values:
        """A chunk a delta."""
        return self._answer.chunks(deltas)

    def last(self, closed: Closed, ending: Ending, report: Report) -> Values:
        """The reason, and usage if it is wanted."""
        last = self._answer.last(closed, report)
        return [last, self._answer.usage(ending)] if self._usage else [last]

    def encoded(self, values: Values) -> bytes:
        """Events without names."""
        return b"".join(map(data_event, values))

    def done(self) -> bytes:
        """``[DONE]``."""
        return DONE

    def whole(self, values: Values, closed: Closed) -> dict[str, Any]:
        """The completion."""
        return completion_of(values, closed.broken)


class AnthropicForm:
    """Anthropic's messages."""

    name = "messages"

    def request(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The chat request that it is the same as."""
        return chat_request(body)

    def telling(self, token: str, model: str, body: Mapping[str, Any], stream: bool) -> Telling:
        """Events, and a message."""
        return AnthropicTelling(f"msg_{token}", model)

    def error(self, body: dict[str, Any], status: int) -> dict[str, Any]:
        """The error in Anthropic's words."""
        return anthropic_error(body, status)

    def fault(self, fault: UpstreamFault) -> bytes:
        """The event ``error``."""
        return named_event(anthropic_error(fault_body(fault), fault.status))


class AnthropicTelling:
    """Events of a message."""

    def __init__(self, identifier: str, model: str) -> None:
        self._answer = AnthropicAnswer(identifier, model)

    def first(self, prompt: int) -> Values:
        """``message_start``."""
        return [self._answer.first(prompt)]

    def more(self, deltas: list[Delta]) -> Values:
        """Events of blocks."""
        return self._answer.events(deltas)

    def last(self, closed: Closed, ending: Ending, report: Report) -> Values:
        """``message_delta`` and ``message_stop``."""
        return self._answer.last(closed, ending, report)

    def encoded(self, values: Values) -> bytes:
        """Events with their names."""
        return b"".join(map(named_event, values))

    def done(self) -> bytes:
        """Nothing: ``message_stop`` was the last."""
        return b""

    def whole(self, values: Values, closed: Closed) -> dict[str, Any]:
        """The message."""
        return message_of(values, self._answer.blocks_of(closed.broken))
