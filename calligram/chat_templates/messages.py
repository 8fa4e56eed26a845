"""How one template wants to be told of an assistant's turn: the forms that messages come in.

Templates agree on OpenAI's chat API in the large and differ in the small: arguments as an object
or as JSON text, no content as null, as nothing or as an empty text, reasoning under one of several
names. None of it can be read off a template's text, so the forms are tried.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final, Literal

Call = Mapping[str, Any]
Tool = Mapping[str, Any]

USER: Final = "Qmessage"
"""What the user says. The turn stands behind its last occurrence."""

REASONING_FIELDS: Final = (
    "reasoning_content", "reasoning", "thinking", "thought", "[thinking]", "[[thinking]]",
)  # fmt: skip
"""Names under which messages carry reasoning; in brackets: a part of a content that is a list, in
two of them a part that is itself a list of texts."""

VARIABLES: Final[tuple[tuple[str, ...], ...]] = ((), ("enable_thinking", "thinking"))
"""Switches that make templates show reasoning."""


def call_id(index: int) -> str:
    """The id of a call that has none: nine letters and digits, as the strictest templates want."""
    return f"call{index:05d}"


@dataclass(frozen=True, slots=True)
class Forms:
    """One choice of all the forms.

    Attributes:
        arguments: as an object, or as JSON text.
        content: how a turn without content says so.
        wrapped: a call's name and arguments stand under ``function``, as with OpenAI.
        tools: as given; with plain parameters and descriptions everywhere; or none.
        named: templates of before ``tools`` want ``functions`` as JSON text and ``datetime``.
        reasoning: one of `REASONING_FIELDS`; None: the template does not show reasoning.
        switches: variables that must be true for reasoning to show.
    """

    arguments: Literal["object", "text"] = "object"
    content: Literal["null", "missing", "empty"] = "null"
    wrapped: bool = True
    tools: Literal["given", "plain", "none"] = "given"
    named: bool = False
    reasoning: str | None = None
    switches: tuple[str, ...] = ()

    def user(self) -> dict[str, Any]:
        """The message before the turn."""
        return {"role": "user", "content": USER}

    def assistant(
        self, calls: Sequence[Call], content: str | None, reasoning: str | None
    ) -> dict[str, Any]:
        """The turn as a message."""
        message: dict[str, Any] = {"role": "assistant"}
        if content is not None:
            message["content"] = content
        elif self.content != "missing":
            message["content"] = None if self.content == "null" else ""
        if reasoning is not None and self.reasoning in ("[thinking]", "[[thinking]]"):
            listed = self.reasoning == "[[thinking]]"
            thought = [{"type": "text", "text": reasoning}] if listed else reasoning
            parts: list[dict[str, Any]] = [{"type": "thinking", "thinking": thought}]
            message["content"] = parts + ([{"type": "text", "text": content}] if content else [])
        elif reasoning is not None and self.reasoning is not None:
            message[self.reasoning] = reasoning
        if calls:
            message["tool_calls"] = [self._call(call, n) for n, call in enumerate(calls)]
        return message

    def _call(self, call: Call, index: int) -> dict[str, Any]:
        arguments = call.get("arguments", {})
        if self.arguments == "text":
            arguments = json.dumps(arguments, ensure_ascii=False)
        function = {"name": call["name"], "arguments": arguments}
        identity = call.get("id") or call_id(index)
        if not self.wrapped:
            return {"id": identity, **function}
        return {"id": identity, "type": "function", "function": function}

    def context(self, tools: Sequence[Tool] | None) -> dict[str, Any]:
        """The template's variables beside the messages."""
        shown: list[Mapping[str, Any]] | None = None
        if tools and self.tools != "none":
            shown = [dict(t) for t in tools] if self.tools == "given" else [*map(_plain, tools)]
        context: dict[str, Any] = {"tools": shown, **dict.fromkeys(self.switches, True)}
        if self.named:
            context |= {"functions": json.dumps(shown or []), "datetime": "2026-01-02"}
        return context


def _plain(tool: Tool) -> Tool:
    """A definition that any template can print: texts only, all described."""
    function = tool.get("function", tool)
    names = function.get("parameters", {}).get("properties", {})
    parameters = {
        "type": "object",
        "properties": {n: {"type": "string", "description": "A text."} for n in names},
        "required": [],
    }
    named = {"name": function["name"], "description": "A tool.", "parameters": parameters}
    return {"type": "function", "function": named}


def candidates() -> Iterator[Forms]:
    """All forms of calls, the usual ones first."""
    for named, tools, wrapped, content, arguments in product(
        (False, True),
        ("given", "plain", "none"),
        (True, False),
        ("null", "missing", "empty"),
        ("object", "text"),
    ):
        yield Forms(arguments, content, wrapped, tools, named)  # type: ignore[arg-type]


def neighbours(forms: Forms) -> Iterator[Forms]:
    """Those that differ in content or arguments alone, and itself."""
    for content, arguments in product(("null", "missing", "empty"), ("object", "text")):
        yield replace(forms, content=content, arguments=arguments)  # type: ignore[arg-type]


def reasoning_candidates(forms: Forms) -> Iterator[Forms]:
    """Those that differ in how reasoning is told."""
    for switches, name in product(VARIABLES, REASONING_FIELDS):
        yield replace(forms, reasoning=name, switches=switches)
