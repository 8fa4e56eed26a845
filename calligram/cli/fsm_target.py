"""`calligram compile` for runtimes with finite automata: expressions and token tables."""

from __future__ import annotations

import sys
from typing import Literal

import typer

from ..compiler.compiled import CompiledGrammar
from ..compiler.vocabulary.any_file import from_file
from ..targets import regex_fsm
from .compiling import compile_grammar
from .files import write_out, write_text
from .options import CompileOptions
from .parse_command import dump
from .problems import visible
from .progress import bars


def emit(
    target: Literal["regex", "fsm"],
    options: CompileOptions,
    vocab: str | None,
    max_depth: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Compile and write; what is cut of recursion is said on standard error.

    Raises:
        typer.BadParameter: a token table without a vocabulary or a file to go to.
        CalligramError: whatever is wrong with the tools, the vocabulary or the file, or the
            grammar is not regular or too large.
    """
    if target == "fsm":
        if vocab is None or output is None:
            raise typer.BadParameter(
                "a token table needs --vocab and --output", param_hint="'--target'"
            )
        _table(compile_grammar(options, as_json), vocab, max_depth, output, as_json)
        return
    if vocab is not None:
        raise typer.BadParameter("belongs to --target fsm", param_hint="'--vocab'")
    grammar = compile_grammar(options, as_json)
    text = regex_fsm.regex(grammar, max_depth=max_depth)
    cuts = regex_fsm.cuts(grammar, max_depth=max_depth)
    if as_json:
        told = [{"rule": c.rule, "pointer": c.origin.pointer, "depth": c.depth} for c in cuts]
        text = dump(_document(target, grammar) | {"regex": text, "cuts": told})
    else:
        for cut in cuts:
            _tell(cut.origin.tool, cut.origin.pointer, cut.depth)
        text += "\n"
    if output is None:
        write_out(text)
    else:
        write_text(output, text)


def _table(
    grammar: CompiledGrammar, vocab: str, max_depth: int, output: str, as_json: bool
) -> None:
    vocabulary = from_file(vocab)
    with bars() as shown:
        task = shown.add_task("token table", total=100)
        made = regex_fsm.compile(
            grammar, vocabulary, max_depth=max_depth,
            progress=lambda done: shown.update(task, completed=round(100 * done)),
        )  # fmt: skip
    made.save(output)
    if as_json:
        write_out(dump(_document("fsm", grammar) | {"table": made.header}))
        return
    for cut in made.header["cuts"]:
        _tell(cut["tool"], cut["pointer"], cut["depth"])
    states, classes = len(made), made.next.shape[1]
    size = f"{made.nbytes / 2**20:,.1f} MiB"
    tokens = len(vocabulary)
    write_out(f"{states:,} states, {classes:,} classes of {tokens:,} tokens, {size}\n")


def _document(target: str, grammar: CompiledGrammar) -> dict[str, object]:
    trigger = grammar.trigger.to_json() if grammar.trigger else None
    return {"target": target, "trigger": trigger, "report": grammar.report.to_json()}


def _tell(tool: str | None, pointer: str, depth: int) -> None:
    place = pointer or "values of any type"
    where = f"tool '{tool}': {place}" if tool else place
    line = f"note: {where}: nested at most {depth} deep (--max-depth)"
    sys.stderr.write(visible(line) + "\n")
