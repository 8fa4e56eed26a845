"""`calligram compile` for runtimes with finite automata: expressions and token tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from ..compiler.compiled import CompiledGrammar
from ..compiler.vocabulary.any_file import from_file
from ..compiler.vocabulary.vocabulary import Vocabulary
from ..targets import mask, regex_fsm
from .compiling import compile_grammar
from .files import write_out, write_text
from .options import CompileOptions
from .parse_command import dump
from .problems import visible
from .progress import bars


def expression(options: CompileOptions, max_depth: int, output: str | None, as_json: bool) -> None:
    """Compile and write an expression; what is cut of recursion is said on standard error.

    Raises:
        CalligramError: whatever is wrong with the tools or the file, or the grammar is not regular
            or too large.
    """
    grammar = compile_grammar(options, as_json)
    text = regex_fsm.regex(grammar, max_depth=max_depth)
    found = regex_fsm.cuts(grammar, max_depth=max_depth)
    if as_json:
        told = [cut.to_json() for cut in found]
        text = dump(_document("regex", grammar) | {"regex": text, "cuts": told})
    else:
        _tell(found)
    if output is not None:
        # Without a line break: whoever reads the file would have it in the expression.
        write_text(output, text)
    else:
        write_out(text if as_json else f"{text}\n")


def table(
    options: CompileOptions,
    vocab: str,
    size: int | None,
    max_depth: int,
    output: str,
    as_json: bool,
) -> None:
    """Compile and write a token table; what is cut of recursion is said on standard error.

    Raises:
        CalligramError: whatever is wrong with the tools, the vocabulary or the file, or the
            grammar is not regular or too large.
    """
    grammar = compile_grammar(options, as_json)
    vocabulary = from_file(vocab, size=size)
    with bars() as shown:
        task = shown.add_task("token table", total=100)
        made = regex_fsm.compile(
            grammar, vocabulary, max_depth=max_depth,
            progress=lambda done: shown.update(task, completed=round(100 * done)),
        )  # fmt: skip
    made.save(output)
    stuck = dead_ends(grammar, vocabulary, made)
    classes = made.next.shape[1]
    if as_json:
        sizes = {"output": output, "classes": classes, "bytes": made.nbytes, "dead_ends": stuck}
        write_out(dump(_document("fsm", grammar) | {"table": made.header | sizes}))
        return
    _tell(regex_fsm.cuts(grammar, max_depth=max_depth))
    lines = [
        f"{len(made):,} states, {classes:,} classes of {len(vocabulary):,} tokens, "
        f"{binary_size(made.nbytes)}"
    ]
    if stuck:
        states = "state is a dead end" if stuck == 1 else "states are dead ends"
        lines.append(f"{stuck:,} {states}: no tokens lead from there to the end of a text")
    write_out("".join(f"{line}\n" for line in lines))


def dead_ends(grammar: CompiledGrammar, vocabulary: Vocabulary, made: regex_fsm.TokenTable) -> int:
    """How many states of a table are dead ends; they are only looked for where bytes are lacking
    without which there may be some."""
    return len(made.dead_ends()) if mask.lacking_bytes(grammar, vocabulary) else 0


def binary_size(amount: int) -> str:
    """`7.8 MiB`, or `3.1 KiB` of what is smaller."""
    if amount < 2**20:
        return f"{amount / 2**10:,.1f} KiB"
    return f"{amount / 2**20:,.1f} MiB"


def _document(target: str, grammar: CompiledGrammar) -> dict[str, object]:
    trigger = grammar.trigger.to_json() if grammar.trigger else None
    return {"target": target, "trigger": trigger, "report": grammar.report.to_json()}


def _tell(found: Iterable[regex_fsm.RecursionCut]) -> None:
    for cut in found:
        sys.stderr.write(visible(f"note: {cut} (--max-depth)") + "\n")
