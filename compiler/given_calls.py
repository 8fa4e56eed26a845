"""Calls as they are given to rendering: in our form, or in that of OpenAI's chat API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .decode import Undecodable, decode_json
from .errors import RenderError
from .origin import Origin


def listed(calls: Any) -> list[Any]:
    """Calls as ``{"name", "arguments"}``, perhaps with an "id".

    Args:
        calls: a sequence of those, or of ``{"id", "type", "function": {"name", "arguments"}}`` with
            the arguments as JSON text, as in the `tool_calls` of OpenAI's messages.

    Raises:
        RenderError: code ``invalid-call``: no list, or arguments that are no JSON.
    """
    if isinstance(calls, Mapping) or not isinstance(calls, Sequence):
        raise RenderError.at("invalid-call", "calls are a list of calls")
    return [_plain(call, Origin(f"/{index}")) for index, call in enumerate(calls)]


def _plain(call: Any, at: Origin) -> Any:
    function = call.get("function") if isinstance(call, Mapping) and "name" not in call else None
    if not isinstance(function, Mapping):
        return call
    plain = dict(function)
    if "id" in call:
        plain["id"] = call["id"]
    if isinstance(plain.get("arguments"), str):
        try:
            plain["arguments"] = decode_json(plain["arguments"])
        except Undecodable as error:
            message = f"the arguments are no JSON: {error}"
            origin = at.child("function", "arguments")
            raise RenderError.at("invalid-call", message, origin) from None
    return plain
