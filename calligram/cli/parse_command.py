"""`calligram parse`: the calls in a text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from ..targets import parser
from .compiling import compile_grammar, left_out
from .exit_codes import ExitCode
from .files import write_out
from .options import CompileOptions, Json, takes_compile_options
from .problems import print_problems, visible
from .texts import Text, TextFile, the_text


@takes_compile_options
def parse(
    options: CompileOptions,
    text: Text = None,
    text_file: TextFile = None,
    openai: Annotated[
        bool, typer.Option("--openai", help="Print an OpenAI assistant message (JSON).")
    ] = False,
    lenient: Annotated[
        bool,
        typer.Option("--lenient", help="Also read calls that are not quite as they should be."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Read the calls back out of a text, with the same grammar that enforces them."""
    the = the_text(text, text_file, options.tools)
    grammar = compile_grammar(options, as_json and not openai)
    result = parser.compile(grammar).parse(the, lenient=lenient)
    if openai:
        write_out(dump(result.openai()))
    elif as_json:
        document = {
            "calls": list(result.calls),
            "content": result.content,
            "reasoning": result.reasoning,
            "problems": [p.to_json() for p in result.problems],
            "incomplete": asdict(result.incomplete) if result.incomplete else None,
            "recoveries": [r.to_json() for r in result.recoveries],
            "notices": [n.to_json() for n in result.notices],
            "left_out": left_out(grammar),
        }
        write_out(dump(document))
    else:
        lines = [call_line(call) for call in result.calls]
        for what, value in (("reasoning", result.reasoning), ("content", result.content)):
            if value:
                lines.append(f"{what}: {json.dumps(value, ensure_ascii=False)}")
        lines += [f"recovered: {r.code} at byte {r.start}: {r.message}" for r in result.recoveries]
        write_out("".join(f"{visible(line)}\n" for line in lines))
    if not (as_json and not openai):
        print_problems((*result.problems, *result.notices), as_json=False)
    if result.problems or result.incomplete:
        raise typer.Exit(ExitCode.REFUSED)


def call_line(call: Mapping[str, Any]) -> str:
    """A call on one line: the name, then the arguments as JSON."""
    return f"{call['name']} {json.dumps(call['arguments'], ensure_ascii=False)}"


def dump(document: object) -> str:
    """JSON for standard output."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
