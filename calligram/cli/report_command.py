"""`calligram report`: what the grammar enforces, keyword by keyword."""

from __future__ import annotations

from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..compiler.findings import Finding
from ..compiler.report import Report
from .compiling import compile_grammar
from .files import write_out
from .options import CompileOptions, Json, takes_compile_options
from .parse_command import dump
from .problems import visible

STYLE = {"refused": "red", "relaxed": "yellow", "narrowed": "cyan", "enforced": "green"}


@takes_compile_options
def report(
    options: CompileOptions,
    every: Annotated[bool, typer.Option("--all", help="Annotations too.")] = False,
    as_json: Json = False,
) -> None:
    """Say what became of each schema keyword, which bounds hold, and how long a call can get."""
    made = compile_grammar(options).report
    if as_json:
        write_out(dump(made.to_json()))
        return
    console = Console(highlight=False)
    with console.capture() as capture:
        console.print(table(made, every, console.width))
        for line in summary(made):
            console.print(Text(line), soft_wrap=True)
    write_out("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def table(made: Report, every: bool, width: int) -> Table:
    """One row a keyword, tool by tool."""
    made_of = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    made_of.add_column("tool", overflow="fold")
    longest = max((len(visible(pointer(f))) for f in made.findings), default=0)
    made_of.add_column("pointer", overflow="fold", min_width=min(longest, width // 2))
    made_of.add_column("status", no_wrap=True)
    made_of.add_column("how", overflow="fold")
    last: str | None = None
    tools = list(dict.fromkeys(f.origin.tool for f in made.findings))
    for finding in sorted(made.findings, key=lambda f: tools.index(f.origin.tool)):
        if finding.status == "annotation" and not every:
            continue
        tool = finding.origin.tool or ""
        shown = "" if tool == last else tool
        last = tool
        made_of.add_row(Text(visible(shown)), Text(visible(pointer(finding))), *status(finding))
    return made_of


def pointer(finding: Finding) -> str:
    """The place of the keyword; default bounds stand at a schema and are named behind it."""
    place = finding.origin.pointer
    ends = place.rpartition("/")[2] == finding.keyword
    return place if ends else f"{place or '/'} ({finding.keyword})"


def status(finding: Finding) -> tuple[Text, Text]:
    """The status, coloured, and how."""
    return Text(finding.status, style=STYLE.get(finding.status, "dim")), Text(visible(finding.how))


def summary(made: Report) -> list[str]:
    """Counts, bounds, the longest call."""
    counts = ", ".join(f"{n} {name}" for name, n in made.counts().items() if n)
    longest = "no limit" if made.longest_call is None else f"{made.longest_call:,} bytes"
    if made.bounds is None:
        bounds = "lifted; where a schema has none of its own, calls need not end"
    else:
        names = (f"{name} {getattr(made.bounds, name):,}" for name in made.bounds.__slots__)
        bounds = ", ".join(names)
    lines = [f"keywords: {counts or 'none'}", f"default bounds: {bounds}", f"longest: {longest}"]
    if made.dropped:
        lines.append(f"left out: {', '.join(map(visible, made.dropped))}")
    return lines
