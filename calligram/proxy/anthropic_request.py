"""A request to Anthropic's messages API -> the same as a chat request of OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..compiler.origin import Origin
from .completion import is_stop
from .request import RequestError

_OWN: Final = frozenset((
    "messages", "system", "tools", "tool_choice", "stop_sequences", "metadata", "thinking",
    "service_tier", "container", "mcp_servers", "context_management", "betas", "anthropic_version",
    "output_config", "output_format", "inference_geo",
))  # fmt: skip


def chat_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """The chat request.

    Blocks of text, images, thinking, calls and their results are taken; what llama-server knows
    beside Anthropic's own fields stays.

    Raises:
        RequestError: something has not the form that the API has (code ``proxy-body``), with its
            place.
    """
    made = {k: v for k, v in body.items() if k not in _OWN}
    messages: list[dict[str, Any]] = []
    system = body.get("system")
    if system is not None:
        text = system if isinstance(system, str) else _text(system, Origin("/system"))
        messages.append({"role": "system", "content": text})
    given = body.get("messages")
    if not isinstance(given, list):
        raise _misshapen("`messages` is a list of messages", Origin("/messages"))
    for index, message in enumerate(given):
        messages += _messages(message, Origin(f"/messages/{index}"))
    made["messages"] = messages
    for key in ("tools", "tool_choice"):
        if body.get(key) is not None:
            made[key] = body[key]
    stop = body.get("stop_sequences")
    if stop is not None:
        if not is_stop(stop):
            raise _misshapen("`stop_sequences` is a list of texts", Origin("/stop_sequences"))
        made["stop"] = stop
    thinking = body.get("thinking")
    if isinstance(thinking, Mapping) and "type" in thinking:
        wanted = thinking["type"] != "disabled"
        given_kwargs = body.get("chat_template_kwargs")
        kwargs = given_kwargs if isinstance(given_kwargs, Mapping) else {}
        made["chat_template_kwargs"] = {"enable_thinking": wanted, **kwargs}
    form = body.get("output_format") or _format(body.get("output_config"))
    if form:
        made["response_format"] = form
    return made


def _format(config: object) -> object:
    return config.get("format") if isinstance(config, Mapping) else None


def _messages(message: object, here: Origin) -> Iterator[dict[str, Any]]:
    """The messages that one message is: results of calls have messages of their own."""
    if not isinstance(message, Mapping):
        raise _misshapen("a message is an object", here)
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant", "system"):
        raise _misshapen("`role` is user or assistant", here.child("role"))
    if isinstance(content, str):
        yield {"role": role, "content": content}
        return
    if not isinstance(content, list):
        raise _misshapen("`content` is a text or a list of blocks", here.child("content"))
    parts: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    thoughts: list[str] = []
    for index, block in enumerate(content):
        place = here.child("content", index)
        if not isinstance(block, Mapping):
            raise _misshapen("a block is an object", place)
        match block.get("type"):
            case "text":
                parts.append({"type": "text", "text": _string(block, "text", place)})
            case "thinking":
                thoughts.append(_string(block, "thinking", place))
            case "redacted_thinking":
                continue
            case "tool_use":
                calls.append(_call(block, place))
            case "tool_result":
                yield _result(block, place)
            case "image":
                parts.append(_image(block, place))
            case other:
                kind = other if isinstance(other, str) else type(other).__name__
                raise _misshapen(f"blocks of type '{kind[:40]}' are not taken", place.child("type"))
    yield from _rest(str(role), parts, calls, thoughts)


def _rest(
    role: str, parts: list[dict[str, Any]], calls: list[dict[str, Any]], thoughts: list[str]
) -> Iterator[dict[str, Any]]:
    """The message of what is not a result."""
    if not parts and not calls and not thoughts:
        return
    content: Any = parts
    if all(p["type"] == "text" for p in parts):
        # Many templates read nothing but texts.
        content = "".join(p["text"] for p in parts)
    made: dict[str, Any] = {"role": role, "content": content or ("" if not calls else None)}
    if thoughts:
        made["reasoning_content"] = "".join(thoughts)
    if calls:
        made["tool_calls"] = calls
    yield made


def _call(block: Mapping[str, Any], here: Origin) -> dict[str, Any]:
    arguments = block.get("input", {})
    if not isinstance(arguments, Mapping):
        raise _misshapen("`input` is an object", here.child("input"))
    function = {
        "name": _string(block, "name", here),
        "arguments": json.dumps(arguments, ensure_ascii=False),
    }
    return {"id": _string(block, "id", here), "type": "function", "function": function}


def _result(block: Mapping[str, Any], here: Origin) -> dict[str, Any]:
    content = block.get("content", "")
    text = content if isinstance(content, str) else _text(content, here.child("content"))
    identifier = _string(block, "tool_use_id", here)
    return {"role": "tool", "tool_call_id": identifier, "content": text}


def _image(block: Mapping[str, Any], here: Origin) -> dict[str, Any]:
    source = block.get("source")
    if isinstance(source, Mapping) and source.get("type") == "base64":
        url = f"data:{source.get('media_type')};base64,{source.get('data')}"
    elif isinstance(source, Mapping) and isinstance(source.get("url"), str):
        url = source["url"]
    else:
        raise _misshapen("an image has a source, base64 or a URL", here.child("source"))
    return {"type": "image_url", "image_url": {"url": url}}


def _text(blocks: object, here: Origin) -> str:
    """The text of a list of text blocks."""
    if not isinstance(blocks, list):
        raise _misshapen("expected a text or a list of blocks", here)
    found = []
    for index, block in enumerate(blocks):
        place = here.child(index)
        if not isinstance(block, Mapping) or block.get("type") != "text":
            raise _misshapen("only blocks of text can stand here", place)
        found.append(_string(block, "text", place))
    return "\n".join(found)


def _string(block: Mapping[str, Any], key: str, here: Origin) -> str:
    value = block.get(key)
    if not isinstance(value, str):
        raise _misshapen(f"`{key}` is a text", here.child(key))
    return value


def _misshapen(message: str, here: Origin) -> RequestError:
    return RequestError.at("proxy-body", message, here)
