"""`calligram compile`: the artefact of one target, to a file or to standard output."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from ..targets import gbnf
from ..targets.regex_fsm import MAX_DEPTH
from . import fsm_target
from .compiling import compile_grammar
from .files import write_out, write_text
from .options import CompileOptions, takes_compile_options

Target = Literal["gbnf", "regex", "fsm"]
EMIT = {"gbnf": gbnf.emit}


@takes_compile_options
def compile_command(
    options: CompileOptions,
    target: Annotated[
        Target,
        typer.Option(
            help="What to make of the grammar: a grammar for llama.cpp, a regular expression, or a "
            "token table (fsm)."
        ),
    ] = "gbnf",
    vocab: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="fsm: the model's vocabulary, of any format that is known."
        ),
    ] = None,
    max_depth: Annotated[
        int,
        typer.Option(
            min=0,
            help="regex, fsm: how deep values nest that have no bound; only `--bounds none` leaves "
            "any.",
        ),
    ] = MAX_DEPTH,
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
    """Compile tools and a dialect into a grammar, an expression or a token table."""
    if target == "regex" or target == "fsm":
        fsm_target.emit(target, options, vocab, max_depth, output, as_json)
        return
    if vocab is not None:
        raise typer.BadParameter("belongs to --target fsm", param_hint="'--vocab'")
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
