"""`calligram check`: is a text in the grammar, and if not, where and why."""

from __future__ import annotations

import json

import typer
from rich.console import Console
from rich.text import Text as Line

from ..compiler.verdict import Verdict
from .caret import caret_lines, character_index, line_and_column
from .compiling import compile_grammar, left_out
from .exit_codes import ExitCode
from .files import write_out
from .options import CompileOptions, Json, takes_compile_options
from .problems import visible
from .texts import Text, TextFile, the_text

SENTENCE = 6
"""A verdict's message names this many continuations; more are listed."""


@takes_compile_options
def check(
    options: CompileOptions, text: Text = None, text_file: TextFile = None, as_json: Json = False
) -> None:
    """Try a text: is it accepted, and if not, where is it refused and what could stand there."""
    the = the_text(text, text_file, options.tools)
    grammar = compile_grammar(options, as_json)
    verdict = grammar.check(the)
    if as_json:
        document = {
            "accepted": verdict.accepted,
            "position": verdict.position,
            "expected": list(verdict.expected),
            "message": verdict.message,
            "left_out": left_out(grammar),
        }
        write_out(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    elif verdict.accepted:
        write_out("accepted\n")
    else:
        show_refusal(the, verdict)
        if the.endswith("\n") and grammar.check(the[:-1]):
            write_out("without its final line break the text is accepted\n")
    if not verdict.accepted:
        raise typer.Exit(ExitCode.REFUSED)


def show_refusal(text: str, verdict: Verdict) -> None:
    """The place with a caret, then the words."""
    console = Console(highlight=False, soft_wrap=True)
    width = console.width
    index = character_index(text, verdict.position)
    line, column = line_and_column(text, index)
    lines = [f"refused at byte {verdict.position} (line {line}, column {column})"]
    lines += caret_lines(text, index, width)
    lines.append(visible(verdict.message))
    if len(verdict.expected) > SENTENCE:
        lines.append("all that could stand there:")
        lines += [f"  {visible(e)}" for e in verdict.expected]
    with console.capture() as capture:
        for n, shown in enumerate(lines):
            caret = shown.strip() == "^"
            console.print(Line(shown, style="bold red" if n == 0 or caret else ""))
    write_out(capture.get())
