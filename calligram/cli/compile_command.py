"""`calligram compile`: the artefact of one target, to a file or to standard output."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from ..targets import gbnf
from .compiling import compile_grammar
from .files import write_out, write_text
from .options import CompileOptions, takes_compile_options

Target = Literal["gbnf"]
EMIT = {"gbnf": gbnf.emit}


@takes_compile_options
def compile_command(
    options: CompileOptions,
    target: Annotated[Target, typer.Option(help="What to make of the grammar.")] = "gbnf",
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE",
            help="Write here instead of to standard output: whole, or not at all.",
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print grammar, trigger and report as JSON; errors as well."),
    ] = False,
) -> None:  # fmt: skip
    """Compile tools and a dialect into a grammar."""
    grammar = compile_grammar(options, as_json)
    text = EMIT[target](grammar)
    if as_json:
        document = {
            "target": target,
            "grammar": text,
            "trigger": grammar.trigger.to_json() if grammar.trigger else None,
            "report": grammar.report.to_json(),
        }
        text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    if output is None:
        write_out(text)
    else:
        write_text(output, text)
