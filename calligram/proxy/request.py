"""A chat request read as far as calls are concerned: constrain it, or leave it alone, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from ..compiler.errors import CalligramError, LimitExceeded
from ..compiler.origin import Origin, Problem
from ..compiler.tools import SCHEMA_KEYS, ToolDefinition, choose, read_tools, tool_entries
from ..off import disabled
from .options import Policy

Reason: TypeAlias = Literal["disabled", "no-tools", "none", "own-grammar", "unsupported"]
REASONS: Final[Mapping[Reason, str]] = {
    "disabled": "constraints are switched off",
    "no-tools": "the request offers no tools",
    "none": 'tool_choice is "none"',
    "own-grammar": "the client brings a grammar, a json_schema or a response_format of its own",
    "unsupported": "the tools, or the choice among them, cannot be enforced",
}


class RequestError(CalligramError):
    """A request that cannot be constrained as it is."""


@dataclass(frozen=True, slots=True)
class Untouched:
    """The request is sent on as it came.

    Attributes:
        reason: why; in words in `REASONS`.
        problems: what is wrong, where the policy lets it pass.
    """

    reason: Reason
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What calls a request wants.

    Attributes:
        tools: the definitions, in OpenAI's form, as JSON text for the compiler.
        offered: the same as objects, for the chat template.
        choice: the ``tool_choice``, as given.
        kind: what it comes to.
        parallel: more than one call a turn.
        dropped: tools without a schema, left out.
    """

    tools: str
    offered: list[dict[str, Any]]
    choice: Any
    kind: Literal["required", "auto"]
    parallel: bool
    dropped: tuple[str, ...] = ()

    @property
    def schemas(self) -> dict[str, Any]:
        """The schema of each tool, by its name."""
        functions = (entry["function"] for entry in self.offered)
        return {f["name"]: f.get("parameters") for f in functions}


def read_request(body: Mapping[str, Any], policy: Policy) -> Wanted | Untouched:
    """What is to be done for the calls of a request.

    Raises:
        CalligramError: tools or ``tool_choice`` that cannot be read, or name what is not offered;
            more tools than the policy allows.
    """
    if disabled():
        return Untouched("disabled")
    tools = body.get("tools")
    if tools is None or tools == []:
        return Untouched("no-tools")
    if brings_own_grammar(body):
        return Untouched("own-grammar")
    if body.get("tool_choice") == "none":
        return Untouched("none")
    entries = tool_entries(tools)
    if len(entries) > policy.max_tools:
        message = f"{len(entries)} tools; at most {policy.max_tools} are taken"
        raise LimitExceeded.at("too-many-tools", message, Origin("/tools"))
    dropped: list[str] = []
    if policy.on_unsupported == "drop-tool":
        kept, dropped = with_schemas(entries)
        if kept:
            tools = entries = kept
    try:
        text = json.dumps(tools, ensure_ascii=False)
    except RecursionError:
        raise RequestError.at("text-too-deep", "the tools nest too deep") from None
    if len(text) > policy.max_schema_bytes:
        message = f"more than {policy.max_schema_bytes:,} bytes of tool definitions"
        raise LimitExceeded.at("text-too-large", message, Origin("/tools"))
    definitions = read_tools(tools)
    choice = body.get("tool_choice")
    choice = "auto" if choice is None else choice
    kind = choose(definitions, choice).kind
    if kind == "none":
        return Untouched("none")
    offered, parallel = openai_tools(entries, definitions), _parallel(body, policy)
    return Wanted(text, offered, choice, kind, parallel, tuple(dropped))


def with_schemas(entries: Sequence[object]) -> tuple[list[object], list[str]]:
    """The definitions, without those of a kind that has no schema, and the names of these: tools
    that a vendor's server runs itself, and OpenAI's ``custom`` ones, which take free text."""
    kept: list[object] = []
    dropped: list[str] = []
    for entry in entries:
        kind = entry.get("type") if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or not isinstance(kind, str) or has_schema(entry, kind):
            kept.append(entry)
            continue
        inner = entry.get(kind)
        name = entry.get("name") or (inner.get("name") if isinstance(inner, Mapping) else None)
        dropped.append(name if isinstance(name, str) else kind)
    return kept, dropped


def has_schema(entry: Mapping[str, Any], kind: str) -> bool:
    """Is it a function, or a tool of Anthropic's kind ``custom``, which has a schema?"""
    if any(key in entry for key in ("function", *SCHEMA_KEYS)):
        return True
    return kind == "function" or (kind == "custom" and "custom" not in entry)


def _parallel(body: Mapping[str, Any], policy: Policy) -> bool:
    parallel = _flag(body, "parallel_tool_calls", "")
    if parallel is not None:
        return parallel
    choice = body.get("tool_choice")
    single = None
    if isinstance(choice, Mapping):
        single = _flag(choice, "disable_parallel_tool_use", "/tool_choice")
    return policy.parallel_tool_calls and not single


def _flag(given: Mapping[str, Any], key: str, place: str) -> bool | None:
    value = given.get(key)
    if value is None or isinstance(value, bool):
        return value
    message = f"{key} is true or false"
    raise RequestError.at("invalid-option", message, Origin(f"{place}/{key}"))


def brings_own_grammar(body: Mapping[str, Any]) -> bool:
    """Does the client constrain the answer itself? Empty ones, and plain text, are none."""
    if body.get("grammar") or body.get("json_schema"):
        return True
    form = body.get("response_format")
    return form is not None and not (isinstance(form, Mapping) and form.get("type") == "text")


def openai_tools(
    entries: Sequence[object], definitions: Sequence[ToolDefinition]
) -> list[dict[str, Any]]:
    """The definitions as chat templates know them; those in OpenAI's form stay as they are."""
    made: list[dict[str, Any]] = []
    for entry, tool in zip(entries, definitions, strict=True):
        if isinstance(entry, dict) and "function" in entry:
            made.append({"type": "function", **entry})
            continue
        function: dict[str, Any] = {"name": tool.name}
        if tool.description:
            function["description"] = tool.description
        function["parameters"] = tool.schema
        made.append({"type": "function", "function": function})
    return made
