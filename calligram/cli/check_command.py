"""`calligram check`: is a text in the grammar, and if not, where and why."""

from __future__ import annotations

import json

import typer
from rich.console import Console
from rich.text import Text as Line

from .caret import caret_lines, character_index, line_and_column
from .compiling import compile_grammar
from .exit_codes import ExitCode
from .files import write_out
from .options import CompileOptions, Json, takes_compile_options
from .problems import visible
from .texts import Text, TextFile, the_text


@takes_compile_options
def check(
    options: CompileOptions, text: Text = None, text_file: TextFile = None, as_json: Json = False
) -> None:
    """Try a text: is it accepted, and if not, where is it refused and what could stand there."""
    the = the_text(text, text_file, options.tools)
    verdict = compile_grammar(options).check(the)
    if as_json:
        document = {
            "accepted": verdict.accepted,
            "position": verdict.position,
            "expected": list(verdict.expected),
            "message": verdict.message,
        }
        write_out(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    elif verdict.accepted:
        write_out("accepted\n")
    else:
        show_refusal(the, verdict.position, verdict.expected, verdict.message)
    if not verdict.accepted:
        raise typer.Exit(ExitCode.REFUSED)


def show_refusal(text: str, position: int, expected: tuple[str, ...], message: str) -> None:
    """The place with a caret, then the words."""
    console = Console(highlight=False, soft_wrap=True)
    width = console.width
    index = character_index(text, position)
    line, column = line_and_column(text, index)
    lines = [f"refused at byte {position} (line {line}, column {column}): {visible(message)}"]
    lines += caret_lines(text, index, width)
    if len(expected) == 1:
        lines.append(f"expected {visible(expected[0])}")
    elif expected:
        lines.append("expected one of:")
        lines += [f"  {visible(e)}" for e in expected]
    if text.endswith("\n") and index == len(text) - 1:
        lines.append("the text ends with a line break, which counts; without it, it might fit")
    with console.capture() as capture:
        for n, shown in enumerate(lines):
            caret = shown.strip() == "^"
            console.print(Line(shown, style="bold red" if n == 0 or caret else ""))
    write_out(capture.get())
