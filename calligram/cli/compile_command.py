"""`calligram compile`: the artefact of one target, to a file or to standard output."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from ..targets import gbnf
from ..targets.regex_fsm import MAX_DEPTH
from . import fsm_target, mask_file
from .compiling import compile_grammar
from .files import write_out, write_text
from .options import CompileOptions, takes_compile_options
from .parse_command import dump
from .problems import visible

Target = Literal["gbnf", "mask", "regex", "fsm"]
EMIT = {"gbnf": gbnf.emit}


@takes_compile_options
def compile_command(
    options: CompileOptions,
    target: Annotated[
        Target,
        typer.Option(
            help="What to make of the grammar: a grammar for llama.cpp, a mask automaton with its "
            "masks worked out ahead of time, a regular expression, or a token table (fsm)."
        ),
    ] = "gbnf",
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
    vocab: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="mask, fsm: the model's vocabulary: a GGUF file, a tokenizer.json or its folder, "
            "a tekken.json or a SentencePiece model.",
        ),
    ] = None,
    vocab_size: Annotated[
        int | None,
        typer.Option(
            min=1, help="mask: the number of the model's logits, if larger than the vocabulary."
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=N,...",
            help="mask: how far to search for states: "
            + ", ".join(f"{k}={v}" for k, v in mask_file.DEFAULTS.items())
            + ".",
        ),
    ] = None,
    sample: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="mask: a text that is likely, byte for byte: all its masks are kept; repeatable.",
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print grammar, trigger and report as JSON; errors as well."),
    ] = False,
) -> None:  # fmt: skip
    """Compile tools and a dialect into a grammar, an expression, or masks for a vocabulary."""
    given = {"--vocab-size": vocab_size, "--budget": budget, "--sample": sample}
    if target == "mask":
        if vocab is None or output is None:
            raise typer.BadParameter("masks need --vocab and --output", param_hint="'--target'")
        samples = sample or []
        if [options.tools, *samples].count("-") > 1:
            raise typer.BadParameter("standard input can be one of --tools and --sample only")
        mask_file.parse_budget(budget)  # Before anything that takes long.
        grammar = compile_grammar(options, as_json)
        report = mask_file.save_mask(grammar, output, vocab, vocab_size, budget, samples)
        if as_json:
            write_out(dump(mask_file.document(report, samples, grammar)))
        else:
            write_out("".join(f"{visible(t)}\n" for t in mask_file.lines(report, samples)))
        return
    for name, value in given.items():
        if value:
            raise typer.BadParameter("belongs to --target mask", param_hint=f"'{name}'")
    if target == "regex" or target == "fsm":
        fsm_target.emit(target, options, vocab, max_depth, output, as_json)
        return
    if vocab is not None:
        raise typer.BadParameter("belongs to --target mask or fsm", param_hint="'--vocab'")
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
