"""Tool definitions in every form that clients send, and the choice among them.

OpenAI (``{"type": "function", "function": {name, description, parameters}}``, also bare
``{name, parameters}``), Anthropic (``input_schema``), MCP (``inputSchema``, and a whole
``tools/list`` result). Python objects or JSON text -> :class:`ToolDefinition`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NoReturn, TypeAlias

from .errors import LimitExceeded, ToolError
from .json_text import file_hint, read_json
from .origin import Origin, Problem, did_you_mean

Kind: TypeAlias = Literal["required", "auto", "none"]

MAX_TOOLS = 10_000

SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")
_KNOWN_KEYS = frozenset((
    *SCHEMA_KEYS, "name", "description", "type", "strict", "title", "annotations", "outputSchema",
    "output_schema", "execution", "icons", "_meta", "cache_control", "input_examples", "examples",
    "defer_loading", "allowed_callers", "returns", "response", "format", "meta",
))  # fmt: skip
"""What else the three forms (OpenAI, Anthropic, MCP 2025-11) have beside a schema."""
_FORMS = (
    'a tool is {"type": "function", "function": {"name", "parameters"}}, {"name", "parameters"}, '
    '{"name", "input_schema"} or {"name", "inputSchema"}'
)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool. ``schema`` is the JSON Schema of its arguments, as given."""

    name: str
    description: str
    schema: Mapping[str, Any] | bool
    origin: Origin


@dataclass(frozen=True, slots=True)
class Choice:
    """Which tools may be called, and whether a call must, may or must not be made."""

    kind: Kind
    tools: tuple[ToolDefinition, ...]


def read_tools(tools: object) -> tuple[ToolDefinition, ...]:
    """The tools of a list of definitions (forms may be mixed), in its order.

    `tools` is a list, an MCP ``tools/list`` result, or JSON text of either (str or UTF-8 bytes).
    In JSON text numbers are kept exactly (Decimal where not whole). A tool without a schema takes
    no arguments.

    Raises:
        ToolError: every problem of the list, at once; broken JSON with line and column.
        LimitExceeded: more than 10,000 tools, 64 MiB of text, numbers of 1,000 digits.
    """
    if isinstance(tools, (str, bytes, bytearray)):
        tools = read_json(tools, "tool definitions")
    entries = tool_entries(tools)
    if len(entries) > MAX_TOOLS:
        raise LimitExceeded.at("too-many-tools", f"more than {MAX_TOOLS} tools")
    problems: list[Problem] = []
    found: list[ToolDefinition] = []
    first: dict[str, int] = {}
    for i, entry in enumerate(entries):
        tool = _read_tool(entry, i, problems)
        if tool is None:
            continue
        if tool.name in first:
            problems.append(
                Problem(
                    "duplicate-tool",
                    f"tool {i} has the name of tool {first[tool.name]}: '{tool.name}'",
                    Origin(pointer=f"/{i}", tool=tool.name),
                )
            )
            continue
        first[tool.name] = i
        found.append(tool)
    if problems:
        raise ToolError(problems)
    return tuple(found)


def tool_entries(tools: object) -> Sequence[object]:
    """The list of definitions inside what was given: a list, or an MCP ``tools/list`` result.

    Raises:
        ToolError: it is neither, or it is empty.
    """
    if not isinstance(tools, (list, tuple)) and isinstance(tools, Mapping):
        inner = tools.get("result", tools)
        if isinstance(inner, (dict, Mapping)) and "tools" in inner:
            tools = inner["tools"]
        else:
            _fail("invalid-tools", "expected a list of tools", hint=_FORMS)
    if not isinstance(tools, (list, tuple)):
        hint = file_hint(tools) or _FORMS
        _fail("invalid-tools", f"expected a list of tools, not {_kind(tools)}", hint=hint)
    if not tools:
        _fail("no-tools", "the list of tools is empty")
    return tools


def _read_tool(entry: object, index: int, problems: list[Problem]) -> ToolDefinition | None:
    """One definition; None, with a problem added, if it cannot be read."""
    here = Origin(pointer=f"/{index}")

    def wrong(code: str, message: str, *path: str, hint: str | None = None) -> None:
        problems.append(Problem(code, f"tool {index}: {message}", here.child(*path), hint))

    if not isinstance(entry, (dict, Mapping)):
        wrong("invalid-tool", f"expected an object, not {_kind(entry)}", hint=_FORMS)
        return None
    path: tuple[str, ...] = ()
    if "function" in entry:
        entry, path = entry["function"], ("function",)
        if not isinstance(entry, (dict, Mapping)):
            wrong("invalid-tool", f"`function` must be an object, not {_kind(entry)}", *path)
            return None
    kind = entry.get("type")
    if "name" not in entry:
        what = f" (type {kind!r})" if isinstance(kind, str) and kind != "function" else ""
        wrong("invalid-tool", f"it has no `name`{what}", *path, hint=_FORMS)
        return None
    name = entry["name"]
    if not isinstance(name, str):
        wrong("invalid-tool", f"`name` must be a string, not {_kind(name)}", *path, "name")
        return None
    if not name or not _is_text(name):
        wrong("invalid-tool", "`name` is empty" if not name else "`name` is no Unicode text",
              *path, "name")  # fmt: skip
        return None
    given = [k for k in SCHEMA_KEYS if k in entry]
    if len(given) > 1:
        wrong("invalid-tool", f"both `{given[0]}` and `{given[1]}` are given", *path)
        return None
    if not given and isinstance(kind, str) and kind not in ("function", "custom"):
        wrong("invalid-tool", f"tools of type {kind!r} have no schema to compile", *path, "type",
              hint=_FORMS)  # fmt: skip
        return None
    unknown = sorted(str(k) for k in entry if k not in _KNOWN_KEYS)
    if not given and unknown:
        # A misspelt `parameters` must not make a tool without any.
        near = next((h for k in unknown if (h := did_you_mean(k, SCHEMA_KEYS))), None)
        schemas = [k for k in unknown if isinstance(entry[k], (dict, Mapping))]
        if near is not None or schemas:
            key = (schemas or unknown)[0]
            message = f"it has no parameters, and `{key}` is no key of a tool"
            wrong("invalid-tool", message, *path, hint=near or _FORMS)
            return None
    schema = entry[given[0]] if given else None
    if schema is None:
        schema = {"type": "object", "properties": {}}
    if not isinstance(schema, (dict, bool)):
        wrong("invalid-tool", f"`{given[0]}` must be a schema (an object or a boolean), not "
              f"{_kind(schema)}", *path, given[0])  # fmt: skip
        return None
    description = entry.get("description")
    text = description if isinstance(description, str) else ""
    return ToolDefinition(name, text, schema, Origin(tool=name))


def _is_text(name: str) -> bool:
    """Whether the string can be written as UTF-8 (JSON may smuggle in a lone surrogate)."""
    return not any("\ud800" <= c <= "\udfff" for c in name)


# -- tool_choice


def choose(tools: Sequence[ToolDefinition], tool_choice: object) -> Choice:
    """What a ``tool_choice`` leaves of the tools.

    "required" (or "any"), "auto", "none"; one named tool; a subset with a mode; a list of names.

    Raises:
        ToolError: a tool that is not offered (code ``unknown-tool``), or an unknown form.
    """
    offered = tuple(tools)
    match tool_choice:
        case "required" | "any":
            return Choice("required", offered)
        case "auto" | "none":
            return Choice("auto" if tool_choice == "auto" else "none", offered)
        case ToolDefinition(name=name):
            return Choice("required", _named(offered, [name]))
        case list() | tuple():
            return Choice("required", _named(offered, [_name_of(e) for e in tool_choice]))
        case Mapping():
            return _choose_mapping(offered, tool_choice)
        case _:
            return _unknown_choice(tool_choice)


def _choose_mapping(offered: tuple[ToolDefinition, ...], choice: Mapping[str, Any]) -> Choice:
    kind = choice.get("type")
    if kind in ("auto", "any", "required", "none"):
        return choose(offered, kind)
    if kind == "allowed_tools":
        inner = choice.get("allowed_tools", choice)
        if not isinstance(inner, Mapping) or not isinstance(inner.get("tools"), (list, tuple)):
            return _unknown_choice(choice)
        mode = inner.get("mode", "auto")
        if mode not in ("auto", "required"):
            _fail("invalid-tool-choice", f"mode must be auto or required, not {mode!r}")
        names = [_name_of(entry) for entry in inner["tools"]]
        return Choice("required" if mode == "required" else "auto", _named(offered, names))
    if kind in ("function", "tool", "custom"):
        return Choice("required", _named(offered, [_name_of(choice)]))
    return _unknown_choice(choice)


def _name_of(entry: object) -> str:
    """The tool that an entry of a choice names."""
    if isinstance(entry, (dict, Mapping)):
        inner = entry.get("function", entry)
        entry = inner.get("name") if isinstance(inner, (dict, Mapping)) else None
    if not isinstance(entry, str):
        _fail("invalid-tool-choice", "tool_choice names a tool that is no string")
    return entry


def _named(offered: tuple[ToolDefinition, ...], names: Sequence[str]) -> tuple[ToolDefinition, ...]:
    """The offered tools of these names, in the order in which they are offered."""
    known = [tool.name for tool in offered]
    problems = [
        Problem(
            "unknown-tool",
            f"tool_choice names '{name}', which is not among the tools: {_listed(known)}",
            hint=did_you_mean(name, known),
        )
        for name in dict.fromkeys(names)
        if name not in known
    ]
    if problems:
        raise ToolError(problems)
    if not names:
        _fail("invalid-tool-choice", "tool_choice allows no tool", hint='"none" forbids calls')
    return tuple(tool for tool in offered if tool.name in names)


def _listed(names: Sequence[str], most: int = 20) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _unknown_choice(choice: object) -> NoReturn:
    word = choice if isinstance(choice, str) else ""
    shown = f"'{word[:40]}'" if word else _kind(choice)
    _fail(
        "invalid-tool-choice",
        f"tool_choice cannot be {shown}",
        hint=did_you_mean(word, ("required", "auto", "none", "any"))
        or 'it is "required", "auto", "none", {"type": "function", "function": {"name": …}}, or '
        "a subset of the tools",
    )


def _kind(value: object) -> str:
    """The JSON type of a value, for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, (int, float, Decimal)):
        return "a number"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    return f"a {type(value).__name__}"


def _fail(code: str, message: str, hint: str | None = None) -> NoReturn:
    raise ToolError.at(code, message, hint=hint)
