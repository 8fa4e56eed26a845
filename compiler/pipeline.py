"""The stages in order: tools and spec in, compiled grammar out. Targets go on from there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from .bounds_findings import bounds_findings
from .compiled import CompiledGrammar
from .detection import dialect_for
from .errors import CalligramError, SchemaError, ToolError
from .findings import Finding
from .grammar import Grammar, Rules
from .identity import ByIdentity
from .ir import Bounds, Call, Envelope
from .json_schema.documents import Documents
from .json_schema.options import ReadOptions
from .json_schema.read import read_schema
from .json_schema.resources import is_draft_4
from .lower.layout import Gaps, Layout
from .lower.shared import Shared
from .lower.turn import TurnLowering
from .lower.values import ValueLowering
from .origin import Origin, Problem
from .recipe import Recipe
from .spec import DialectSpec
from .spec_loader import shipped_ids
from .tools import ToolDefinition, choose, read_tools

OnUnsupported: TypeAlias = Literal["error", "relax", "drop-tool"]
Reasoning: TypeAlias = Literal["allow", "none", "opened"]
KeyOrder: TypeAlias = Literal["schema", "any"]
Formats: TypeAlias = Literal["assert", "annotate"]
UnknownFormats: TypeAlias = Literal["annotate", "refuse"]

_DEFAULT_BOUNDS = Bounds()


def dialects() -> list[str]:
    """The ids of the shipped dialect specs, sorted."""
    return shipped_ids()


def compile_tools(
    tools: Any,
    dialect: str | Path | DialectSpec,
    tool_choice: Any = "required",
    parallel_tool_calls: bool = True,
    reasoning: Reasoning = "allow",
    key_order: KeyOrder = "schema",
    bounds: Bounds | None = _DEFAULT_BOUNDS,
    on_unsupported: OnUnsupported = "error",
    open_objects: bool = False,
    max_calls: int | None = None,
    openapi: bool = False,
    whitespace: Literal["flexible"] | None = None,
    documents: Mapping[str, Any] | None = None,
    formats: Formats = "assert",
    unknown_formats: UnknownFormats = "annotate",
    chat_template: Any = None,
) -> CompiledGrammar:
    """Compile tool definitions for a dialect.

    Args:
        tools: OpenAI, Anthropic or MCP definitions, as Python objects or JSON text.
        dialect: a shipped id, a path to a spec, a spec, or "auto": that of `chat_template`.
        tool_choice: "required", "auto", "none", a named tool or an allowed subset, in OpenAI's or
            Anthropic's form.
        parallel_tool_calls: more than one call a turn, where the dialect can.
        reasoning: a reasoning block may come first ("allow"), may not ("none"), or has been
            opened by the prompt ("opened").
        key_order: declared keys in the schema's order, or in "any".
        bounds: what holds where a schema has no bound; None lifts them.
        on_unsupported: a schema that cannot be enforced exactly is an error, is relaxed keyword
            by keyword, or its tool is left out.
        open_objects: objects with declared properties take further keys unless they say no.
        max_calls: the most calls a turn; ``bounds.calls`` unless given.
        openapi: ``nullable`` and ``discriminator`` mean what OpenAPI 3.0 says.
        whitespace: "flexible": white space may vary wherever the notation allows; None: the
            dialect's own layout.
        documents: schemas by URI that references may lead to; each is known by its ``$id`` too.
            Nothing is ever fetched.
        formats: "assert" known formats, or "annotate" them: reported, not enforced.
        unknown_formats: formats that nobody defined are reported ("annotate") or an error
            ("refuse").
        chat_template: with dialect "auto", what :func:`calligram.detect_dialect` takes: the path
            of a template, of a GGUF or of a tokenizer's configuration, or a tokenizer.

    Raises:
        CalligramError: all the problems of the stage that failed, each with its place.
    """
    spec = dialect_for(dialect, chat_template)
    _check_options(
        reasoning=(reasoning, ("allow", "none", "opened")),
        key_order=(key_order, ("schema", "any")),
        on_unsupported=(on_unsupported, ("error", "relax", "drop-tool")),
        whitespace=(whitespace, (None, "flexible")),
        parallel_tool_calls=(parallel_tool_calls, (True, False)),
        open_objects=(open_objects, (True, False)),
        openapi=(openapi, (True, False)),
        formats=(formats, ("assert", "annotate")),
        unknown_formats=(unknown_formats, ("annotate", "refuse")),
    )
    _check_bounds(bounds)
    known = Documents(documents)
    if max_calls is not None and (type(max_calls) is not int or max_calls < 1):
        message = f"max_calls must be a whole number of at least 1, not {max_calls!r}"
        raise ToolError.at("invalid-option", message)
    definitions = read_tools(tools)
    choice = choose(definitions, tool_choice)
    findings: list[Finding] = []
    options = ReadOptions(
        closed_objects=not open_objects,
        arguments=True,
        on_unsupported="relax" if on_unsupported == "relax" else "error",
        openapi=openapi,
        documents=known,
        formats=formats,
        unknown_formats=unknown_formats,
    )
    calls, dropped = _read_calls(choice.tools, options, on_unsupported, findings)
    most = max_calls if max_calls is not None else (bounds.calls if bounds else None)
    if not parallel_tool_calls:
        most = 1
    kind = choice.kind
    envelope = Envelope(
        calls=calls,
        min_calls=1 if kind == "required" else 0,
        max_calls=0 if kind == "none" else most,
        free_content=kind != "required",
        reasoning=reasoning,
    )
    gaps = Gaps(whitespace == "flexible", bounds.whitespace if bounds else None)
    lowered = TurnLowering(spec, envelope, bounds, key_order, gaps).lower()
    return CompiledGrammar(
        enforced=lowered.grammar,
        calls_only=lowered.calls,
        dialect=spec,
        envelope=envelope,
        bounds=bounds,
        key_order=key_order,
        tool_choice=kind,
        findings=findings,
        dropped=dropped,
        offered=tuple(d.name for d in definitions),
        documents=known,
        recipe=Recipe(
            "tools",
            tools,
            spec,
            documents,
            bounds,
            {
                "tool_choice": tool_choice,
                "parallel_tool_calls": parallel_tool_calls,
                "reasoning": reasoning,
                "key_order": key_order,
                "on_unsupported": on_unsupported,
                "open_objects": open_objects,
                "max_calls": max_calls,
                "openapi": openapi,
                "whitespace": whitespace,
                "formats": formats,
                "unknown_formats": unknown_formats,
            },
        ),
        notes=(lambda: bounds_findings(calls, bounds, key_order),),
    )


def _check_bounds(bounds: object) -> None:
    if bounds is not None and not isinstance(bounds, Bounds):
        message = f"bounds must be calligram.Bounds or None, not {type(bounds).__name__}"
        raise ToolError.at("invalid-option", message)


def _check_options(**options: tuple[object, tuple[object, ...]]) -> None:
    problems = [
        Problem("invalid-option", f"{name} must be one of {legal}, not {value!r}")
        for name, (value, legal) in options.items()
        if value not in legal
    ]
    if problems:
        raise ToolError(problems)


def _read_calls(
    definitions: Sequence[ToolDefinition],
    options: ReadOptions,
    on_unsupported: OnUnsupported,
    findings: list[Finding],
) -> tuple[tuple[Call, ...], tuple[str, ...]]:
    """The tools with their schemas read; and the names of those left out."""
    calls: list[Call] = []
    dropped: list[str] = []
    problems: list[Problem] = []
    for tool in definitions:
        own: list[Finding] = []
        try:
            value = read_schema(tool.schema, origin=tool.origin, options=options, findings=own)
        except CalligramError as error:
            if on_unsupported != "drop-tool":
                problems += error.problems
                continue
            dropped.append(tool.name)
            findings += [Finding("refused", p.code, p.message, p.origin) for p in error.problems]
            continue
        findings += own
        calls.append(Call(tool.name, value, tool.schema, tool.origin))
    if problems:
        raise SchemaError(problems)
    if not calls:
        message = "every tool was left out, none can be called"
        raise SchemaError([Problem("no-tools", message)])
    return tuple(calls), tuple(dropped)


def compile_schema(
    schema: Any,
    whitespace: Literal["flexible", "exact"] = "flexible",
    key_order: KeyOrder = "schema",
    bounds: Bounds | None = None,
    on_unsupported: Literal["error", "relax"] = "error",
    openapi: bool = False,
    documents: Mapping[str, Any] | None = None,
    formats: Formats = "assert",
    unknown_formats: UnknownFormats = "annotate",
) -> CompiledGrammar:
    """Compile a JSON Schema: the texts are single JSON values, without an envelope.

    Objects are open unless they say no, as the specification has it, and 1.0 counts as an integer,
    but for draft 4, where an integer has no fraction.

    Args:
        whitespace: "flexible": JSON white space between tokens, up to ``bounds.whitespace`` a gap;
            "exact": ``", "`` and ``": "``.
        documents, formats, unknown_formats, openapi, bounds, key_order: as in
            :func:`compile_tools`.

    Raises:
        SchemaError: all the problems of the schema, each with its pointer.
    """
    _check_options(
        whitespace=(whitespace, ("flexible", "exact")),
        key_order=(key_order, ("schema", "any")),
        on_unsupported=(on_unsupported, ("error", "relax")),
        openapi=(openapi, (True, False)),
        formats=(formats, ("assert", "annotate")),
        unknown_formats=(unknown_formats, ("annotate", "refuse")),
    )
    _check_bounds(bounds)
    known = Documents(documents)
    findings: list[Finding] = []
    origin = Origin()
    options = ReadOptions(
        on_unsupported=on_unsupported,
        openapi=openapi,
        documents=known,
        formats=formats,
        unknown_formats=unknown_formats,
    )
    value = read_schema(schema, origin=origin, options=options, findings=findings)
    whole = Call("", value, schema, origin)
    gap = (bounds.whitespace if bounds else None) if whitespace == "flexible" else 0
    floats = not any(map(is_draft_4, (schema, *(documents or {}).values())))
    layout = Layout("json", whitespace=gap, float_integers=floats)
    rules = Rules()
    shared = Shared(rules, bounds, key_order)
    lowering = ValueLowering(shared, layout, value.definitions, "value")
    start = lowering.value(value.value, lowering.depth)
    shared.find_owed()
    if shared.problems:
        raise SchemaError(dict.fromkeys(shared.problems))
    if start is None:
        raise SchemaError.at("unsatisfiable", "no JSON value satisfies the schema", origin)
    return CompiledGrammar(
        enforced=Grammar(rules, start),
        calls_only=start,
        dialect=None,
        envelope=None,
        bounds=bounds,
        key_order=key_order,
        value=value,
        layout=layout,
        findings=findings,
        documents=known,
        recipe=Recipe(
            "schema",
            schema,
            None,
            documents,
            bounds,
            {
                "whitespace": whitespace,
                "key_order": key_order,
                "on_unsupported": on_unsupported,
                "openapi": openapi,
                "formats": formats,
                "unknown_formats": unknown_formats,
            },
        ),
        notes=(lambda: bounds_findings((whole,), bounds, key_order, fractions=floats),),
    )


def compile_recipe(recipe: Recipe) -> CompiledGrammar:
    """Compile once more what a grammar was compiled from.

    Raises:
        CalligramError: as :func:`compile_tools` and :func:`compile_schema`.
    """
    options: dict[str, Any] = {
        "bounds": recipe.bounds,
        "documents": recipe.documents,
        **recipe.options,
    }
    if recipe.kind == "schema":
        return compile_schema(recipe.source, **options)
    assert recipe.dialect is not None
    return compile_tools(recipe.source, recipe.dialect, **options)


def render(
    calls: Sequence[Mapping[str, Any]],
    *,
    tools: Any,
    dialect: str | Path | DialectSpec,
    validate: bool = True,
) -> str:
    """The text of these calls, compiled with default options and keys in any order.

    The last compiles are kept, so that repeated use costs one compile.
    """
    return cached(tools, dialect).render(calls, validate=validate)


def cached(tools: Any, dialect: str | Path | DialectSpec) -> CompiledGrammar:
    """The grammar for the conveniences: free content, keys in any order, compiled once."""
    # Specs hold mappings and so have no hash.
    key = ByIdentity(dialect) if isinstance(dialect, DialectSpec) else str(dialect)
    return _cached(_key(tools), key)


@lru_cache(maxsize=64)
def _cached(tools: str, dialect: str | ByIdentity[DialectSpec]) -> CompiledGrammar:
    spec = dialect.value if isinstance(dialect, ByIdentity) else dialect
    return compile_tools(tools, spec, tool_choice="auto", key_order="any")


def _key(tools: Any) -> str:
    """The tools as JSON text, which also freezes them."""
    if isinstance(tools, str):
        return tools
    if isinstance(tools, bytes):
        return tools.decode("utf-8", "replace")
    try:
        return json.dumps(tools)
    except (TypeError, ValueError, RecursionError):
        read_tools(tools)  # Says what is wrong, with a place.
        raise ToolError.at("invalid-tools", "the tools are not JSON") from None
