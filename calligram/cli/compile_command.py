"""`calligram compile`: the artefact of one target, to a file or to standard output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import typer

from ..targets import gbnf
from ..targets.regex_fsm import MAX_DEPTH
from . import fsm_target, mask_file
from .compiling import compile_grammar
from .files import file_or_none, write_out, write_text
from .options import CompileOptions, parse_bounds, takes_compile_options
from .parse_command import dump
from .problems import visible

Target = Literal["gbnf", "mask", "regex", "fsm"]
EMIT = {"gbnf": gbnf.emit}
FOR: Mapping[str, Sequence[Target]] = {
    "--vocab": ("mask", "fsm"),
    "--vocab-size": ("mask", "fsm"),
    "--budget": ("mask",),
    "--sample": ("mask",),
    "--max-depth": ("regex", "fsm"),
}
"""The targets that an option has an effect on, where it is not all."""


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
        int | None,
        typer.Option(
            min=0,
            help="regex, fsm: how deep values nest that have no bound; only `--bounds none` leaves "
            f"any. {MAX_DEPTH} unless given.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE",
            help="Write here instead of to standard output, which is -: whole, or not at all.",
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
            min=1,
            help="mask, fsm: the number of the model's logits, if larger than the vocabulary.",
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
    given = {
        "--vocab": vocab, "--vocab-size": vocab_size, "--budget": budget, "--sample": sample,
        "--max-depth": max_depth,
    }  # fmt: skip
    for option, value in given.items():
        if value is not None and target not in FOR[option]:
            wanted = " and ".join(FOR[option])
            message = f"is for --target {wanted}, not for {target}"
            raise typer.BadParameter(message, param_hint=f"'{option}'")
    if max_depth is not None and parse_bounds(options.bounds) is not None:
        message = "with bounds nothing nests without end: it is for --bounds none"
        raise typer.BadParameter(message, param_hint="'--max-depth'")
    output = file_or_none(output)
    if target in FOR["--vocab"]:
        lacking = [o for o, v in (("--vocab", vocab), ("--output", output)) if v is None]
        if lacking:
            more = " (a file)" if output is None else ""
            message = f"{target} needs {' and '.join(lacking)}{more}"
            raise typer.BadParameter(message, param_hint="'--target'")
    if target == "mask":
        assert vocab is not None and output is not None
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
    depth = MAX_DEPTH if max_depth is None else max_depth
    if target == "fsm":
        assert vocab is not None and output is not None
        fsm_target.table(options, vocab, vocab_size, depth, output, as_json)
        return
    if target == "regex":
        fsm_target.expression(options, depth, output, as_json)
        return
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
