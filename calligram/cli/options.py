"""The options that say what to compile, shared by the commands that compile something."""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, Literal

import typer

from ..compiler.ir import Bounds
from ..compiler.origin import did_you_mean

Json = Annotated[bool, typer.Option("--json", help="Print JSON, also for errors (on stderr).")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """One field an option, named as in ``compile_tools`` where it has the same meaning."""

    tools: Annotated[
        str,
        typer.Option(
            "--tools", "-t", metavar="FILE",
            help="Tool definitions (OpenAI, Anthropic or MCP form) as JSON; - is standard input.",
        ),
    ]  # fmt: skip
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect", "-d", metavar="ID|FILE",
            help="A shipped dialect (see `calligram dialects list`), a spec file, or auto.",
        ),
    ]  # fmt: skip
    chat_template: Annotated[
        str | None,
        typer.Option(
            "--chat-template",
            metavar="FILE",
            help="With --dialect auto: the chat template (or GGUF, or tokenizer_config.json) that "
            "tells it.",
        ),
    ] = None
    tool_choice: Annotated[
        Literal["required", "auto", "none"],
        typer.Option(help="Must the model call a tool, may it, or must it not."),
    ] = "required"
    tool: Annotated[
        list[str] | None,
        typer.Option("--tool", metavar="NAME", help="Only this tool may be called; repeatable."),
    ] = None
    max_calls: Annotated[int | None, typer.Option(min=1, help="The most calls in one turn.")] = None
    no_parallel: Annotated[
        bool, typer.Option("--no-parallel", help="At most one call in one turn.")
    ] = False
    reasoning: Annotated[
        Literal["allow", "none", "opened"],
        typer.Option(help="The reasoning block; opened: the prompt has opened it already."),
    ] = "allow"
    key_order: Annotated[
        Literal["schema", "any"], typer.Option(help="The order in which keys may come.")
    ] = "schema"
    on_unsupported: Annotated[
        Literal["error", "relax", "drop-tool"],
        typer.Option(help="What to do about a schema that cannot be enforced exactly."),
    ] = "error"
    open_objects: Annotated[
        bool,
        typer.Option(
            "--open-objects",
            help="Objects that do not forbid undeclared keys allow them.",
        ),
    ] = False
    openapi: Annotated[
        bool, typer.Option("--openapi", help="Read `nullable` and `discriminator` as OpenAPI does.")
    ] = False
    document: Annotated[
        list[str] | None,
        typer.Option(
            "--document",
            metavar="[URI=]FILE",
            help="A schema that references may lead to, as JSON, named by the URI or its own "
            "`$id`; repeatable. Nothing is ever fetched.",
        ),
    ] = None
    formats: Annotated[
        Literal["assert", "annotate"],
        typer.Option(help="Enforce formats that are known, or only report them."),
    ] = "assert"
    unknown_formats: Annotated[
        Literal["annotate", "refuse"],
        typer.Option(help="Report formats that nobody defined, or refuse them."),
    ] = "annotate"
    bounds: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=N,...|none",
            help="Bounds where the schema has none: "
            + ", ".join(f"{f.name}={f.default}" for f in fields(Bounds))
            + ". `none` lifts them all.",
        ),
    ] = None
    whitespace: Annotated[
        Literal["exact", "flexible"],
        typer.Option(help="The dialect's own layout, or anything that its notation allows."),
    ] = "exact"


def takes_compile_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give `command`, whose first parameter is a :class:`CompileOptions`, these as its options.

    The fields come first in the help, the command's own parameters after them.
    """
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    hints = typing.get_type_hints(CompileOptions, include_extras=True)
    shared = [
        inspect.Parameter(
            f.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if f.default is MISSING else f.default,
            annotation=hints[f.name],
        )
        for f in fields(CompileOptions)
    ]
    own = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]

    @functools.wraps(command)
    def wrapper(**values: Any) -> Any:
        options = CompileOptions(**{p.name: values.pop(p.name) for p in shared})
        return command(options, **values)

    del wrapper.__wrapped__  # typer would otherwise read the inner signature
    wrapper.__signature__ = inspect.Signature([*shared, *own])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in (*shared, *own)}
    return wrapper


def parse_bounds(text: str | None) -> Bounds | None:
    """`string=80,items=10` over the defaults; "none" lifts all bounds; None is the defaults.

    Raises:
        typer.BadParameter: an unknown name, or not a whole number of at least 1.
    """
    if text is None:
        return Bounds()
    if text.strip().lower() == "none":
        return None
    legal = [f.name for f in fields(Bounds)]
    chosen: dict[str, int] = {}
    for part in text.split(","):
        name, _, number = (s.strip() for s in part.partition("="))
        if name not in legal:
            hint = did_you_mean(name, legal) or f"legal names: {', '.join(legal)}"
            raise wrong_bounds(f"unknown bound '{name}'; {hint}")
        if name in chosen:
            raise wrong_bounds(f"'{name}' is given twice")
        if not number:
            raise wrong_bounds(f"'{name}' has no number; write {name}=N")
        if not re.fullmatch(r"0*[1-9][0-9]{0,17}", number):
            raise wrong_bounds(f"{name} must be a whole number of at least 1, not '{number}'")
        chosen[name] = int(number)
    return Bounds(**chosen)


def wrong_bounds(message: str) -> typer.BadParameter:
    """The usage error for a `--bounds` that cannot be read."""
    return typer.BadParameter(message, param_hint="'--bounds'")
