"""What is wrong, as clients are told: errors in OpenAI's and Anthropic's form, and the field
``calligram`` of an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..compiler.origin import Problem
from ..compiler.tools import SCHEMA_KEYS

PROBLEMS: Final = b"x-calligram-problems"
"""The header of an answer with problems: how many."""


def counted(problems: Sequence[Problem]) -> list[tuple[bytes, bytes]]:
    """The header, if there are any."""
    return [(PROBLEMS, str(len(problems)).encode())] if problems else []


@dataclass(frozen=True, slots=True)
class Report:
    """What a client is told beside the answer.

    Attributes:
        problems: of the answer.
        dropped: tools that were left out.
        retried: the problems of a first answer, which was asked for again; None if none was.
    """

    problems: tuple[Problem, ...] = ()
    dropped: tuple[str, ...] = ()
    retried: tuple[Problem, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """The field ``calligram``; empty if there is nothing to say."""
        found: dict[str, Any] = {}
        if self.problems:
            found["problems"] = [p.to_json() for p in self.problems]
        if self.dropped:
            found["dropped_tools"] = list(self.dropped)
        if self.retried is not None:
            found["retried"] = {"problems": [p.to_json() for p in self.retried]}
        return found


def error_body(
    message: str, status: int, code: str | None = None, problems: Sequence[Problem] = ()
) -> dict[str, Any]:
    """An error as OpenAI's API has it, each problem with its place beside."""
    param = next((p.origin.pointer for p in problems if p.origin.pointer), None)
    error: dict[str, Any] = {
        "message": message,
        "type": _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error"),
        "param": param,
        "code": code,
    }
    if problems:
        error["problems"] = [p.to_json() for p in problems]
    return {"error": error}


def param_of(problems: Sequence[Problem], body: Mapping[str, Any]) -> str | None:
    """The place of the first problem that has one, as a pointer into the request's body."""
    for problem in problems:
        pointer = problem.origin.pointer
        if problem.code in _OF_THE_CHOICE:
            return "/tool_choice"
        if re.match(r"/\d", pointer):
            return "/tools" + pointer
        if problem.origin.tool is not None and (place := _tool_at(body, problem.origin.tool)):
            return place + pointer
        if pointer:
            return pointer
    return None


def _tool_at(body: Mapping[str, Any], name: str) -> str | None:
    """Where the schema of a tool stands."""
    tools = body.get("tools")
    for index, entry in enumerate(tools if isinstance(tools, list) else ()):
        place, tool = f"/tools/{index}", entry
        if isinstance(entry, Mapping) and "function" in entry:
            place, tool = f"{place}/function", entry["function"]
        if isinstance(tool, Mapping) and tool.get("name") == name:
            key = next((k for k in SCHEMA_KEYS if k in tool), None)
            return f"{place}/{key}" if key else place
    return None


def message_of(problems: Sequence[Problem]) -> str:
    """All the problems in one text, a line each."""
    return "\n".join(str(p).removeprefix("/: ") for p in problems)


_OF_THE_CHOICE: Final = frozenset(("unknown-tool", "invalid-tool-choice"))
_TYPES = {
    401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    429: "rate_limit_error", 503: "unavailable_error", 504: "timeout_error",
}  # fmt: skip


def anthropic_error(body: Any, status: int) -> dict[str, Any]:
    """An error of OpenAI's form, or of llama-server's, in Anthropic's."""
    inner = body.get("error") if isinstance(body, dict) else None
    if isinstance(body, dict) and body.get("type") == "error" and isinstance(inner, dict):
        return body
    message = inner.get("message") if isinstance(inner, dict) else inner
    kinds = {
        400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
        404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
        503: "overloaded_error", 504: "timeout_error",
    }  # fmt: skip
    kind = kinds.get(status, "api_error" if status >= 500 else "invalid_request_error")
    error: dict[str, Any] = {"type": kind, "message": str(message or "the server failed")}
    if isinstance(inner, dict) and "problems" in inner:
        error["problems"] = inner["problems"]
    return {"type": "error", "error": error}
