"""A chat request's body -> the bodies that llama-server's other routes take.

The server ignores in silence what it does not know, so what it knows under another name is renamed
here, and what would change the form of its answer is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any, Final

from ..compiler.origin import Origin, Problem
from .prepared import Prepared
from .request import RequestError
from .sse import json_bytes

CHAT: Final = "/v1/chat/completions"
TEMPLATE: Final = "/apply-template"
COMPLETION: Final = "/completion"

_OURS: Final = frozenset((
    "grammar", "grammar_lazy", "grammar_triggers", "preserved_tokens", "json_schema",
    "response_format",
))  # fmt: skip
_CHAT_ONLY: Final = frozenset((
    "messages", "tools", "tool_choice", "parallel_tool_calls", "max_tokens",
    "max_completion_tokens", "stream_options", "reasoning_format", "chat_template_kwargs",
    "add_generation_prompt", "parse_tool_calls", "reasoning_effort", "logprobs", "top_logprobs",
    "n", "n_probs", "post_sampling_probs", "prompt", "functions", "function_call", "user",
    "metadata", "store", "response_fields", "return_tokens", "modalities", "audio", "input",
    "thinking_forced_open", "parser",
))  # fmt: skip
_FIELDS: Final = (
    "content", "stop", "stop_type", "stopping_word", "tokens_predicted", "tokens_evaluated",
    "truncated", "model", "timings",
)  # fmt: skip
"""What is wanted of the last piece: it would hold the whole prompt and the grammar besides."""


def template_body(body: Mapping[str, Any], tools: list[dict[str, Any]]) -> dict[str, Any]:
    """What `/apply-template` takes, the tools offered and no call asked for in the server's way."""
    kept = {k: v for k, v in body.items() if k not in _OURS and k != "stream"}
    return {**kept, "tools": tools, "tool_choice": "none"}


def chat_body(
    body: Mapping[str, Any], tools: list[dict[str, Any]], made: Prepared
) -> dict[str, Any]:
    """What the chat route takes with a grammar beside tools: it must not be told to call."""
    kept = {k: v for k, v in body.items() if k not in _OURS}
    for name in ("parallel_tool_calls", "stream_options", "logprobs", "top_logprobs"):
        kept.pop(name, None)
    return {
        **kept,
        "tools": tools,
        "tool_choice": "none",
        "grammar": made.text,
        # Thoughts are told apart here, and must not be missing from the text.
        "reasoning_format": "none",
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def completion_body(
    body: Mapping[str, Any], made: Prepared, prompt: str | None = None
) -> dict[str, Any]:
    """What `/completion` takes; `prompt` None leaves it out."""
    kept = {k: v for k, v in body.items() if k not in _OURS and k not in _CHAT_ONLY}
    if isinstance(kept.get("stop"), str):
        kept["stop"] = [kept["stop"]]  # A single text is ignored there.
    elif "stop" in kept and kept["stop"] is None:
        del kept["stop"]
    for name in ("max_completion_tokens", "max_tokens"):
        if body.get(name) is not None:
            kept["n_predict"] = body[name]
            break
    if prompt is not None:
        kept["prompt"] = prompt
    kept["grammar"] = made.text
    if made.lazy:
        kept["grammar_lazy"] = True
        kept["grammar_triggers"] = made.triggers
    kept["preserved_tokens"] = made.preserved
    return {**kept, "stream": True, "response_fields": list(_FIELDS)}


def prompt_added(data: bytes, prompt: str) -> bytes:
    """The bytes of a :func:`completion_body` without its prompt, and the prompt."""
    return data[:-1] + b',"prompt":' + json_bytes(prompt) + b"}"


def is_stop(value: object) -> bool:
    """Are these words to stop at? The server leaves out in silence what is none."""
    if value is None or isinstance(value, str):
        return True
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def check_body(body: Mapping[str, Any]) -> None:
    """Refuse what a constrained answer cannot give.

    Raises:
        RequestError: several choices, log probabilities, pictures or sounds, no messages, a
            ``stream`` or ``stop`` that is none; each at its place.
    """
    problems = []
    for name in ("n", "n_cmpl"):  # The latter is llama-server's own, on all its routes.
        if body.get(name) not in (None, 1):
            message = f"a constrained answer is one choice; `{name}` must be 1"
            problems.append(Problem("proxy-choices", message, Origin(f"/{name}")))
    if not isinstance(body.get("stream", False), (bool, NoneType)):
        problems.append(Problem("proxy-body", "`stream` is true or false", Origin("/stream")))
    if not is_stop(body.get("stop")):
        problems.append(
            Problem("proxy-body", "`stop` is a text or a list of texts", Origin("/stop"))
        )
    if body.get("logprobs") or body.get("top_logprobs"):
        message = "a constrained answer comes without log probabilities"
        place = Origin("/logprobs" if body.get("logprobs") else "/top_logprobs")
        problems.append(Problem("proxy-logprobs", message, place))
    messages = body.get("messages")
    if not isinstance(messages, list):
        problems.append(
            Problem("proxy-body", "`messages` is a list of messages", Origin("/messages"))
        )
        messages = []
    for index, message in enumerate(messages):
        content = message.get("content") if isinstance(message, Mapping) else None
        for at, part in enumerate(content if isinstance(content, list) else ()):
            kind = part.get("type") if isinstance(part, Mapping) else None
            if isinstance(kind, str) and kind not in ("text", "refusal"):
                problems.append(
                    Problem(
                        "proxy-media",
                        f"a part of type '{kind[:40]}' cannot go the way of constrained answers",
                        Origin(f"/messages/{index}/content/{at}"),
                        'send it with "tool_choice": "none", which is passed on as it is',
                    )
                )
    if problems:
        raise RequestError(problems)
