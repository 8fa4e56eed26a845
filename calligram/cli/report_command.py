"""`calligram report`: what the grammar enforces, keyword by keyword."""

from __future__ import annotations

import os
from typing import Annotated, NamedTuple

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..compiler.findings import Finding
from ..compiler.report import Report
from .compiling import compile_grammar
from .files import write_out
from .options import CompileOptions, Json, takes_compile_options
from .parse_command import dump
from .problems import as_options, visible

HEAD = ("tool", "pointer", "status", "how")
GAP = 3
"""Cells behind each column."""

LEAST = 48
"""A narrower terminal wraps the lines itself."""

STYLE = {"refused": "red", "relaxed": "yellow", "narrowed": "cyan", "enforced": "green"}


class Row(NamedTuple):
    """One line of the table, safe to print."""

    tool: str
    place: str
    status: str
    how: str


@takes_compile_options
def report(
    options: CompileOptions,
    every: Annotated[
        bool, typer.Option("--all", help="All annotations, titles and the like too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what became of each schema keyword, which bounds hold, and how long a call can get."""
    grammar = compile_grammar(options, as_json=True)  # the summary names what is left out
    made = grammar.report
    if as_json:
        write_out(dump(made.to_json()))
        return
    rows = [row(f) for f in chosen(made, every)]
    width = page_width()
    console = Console(highlight=False, width=width or natural_width(rows))
    with console.capture() as capture:
        console.print(table(rows, width))
        console.print()
        for line in summary(made):
            console.print(Text(line), soft_wrap=True)
    write_out("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def page_width() -> int | None:
    """The cells of a line: the terminal's or COLUMNS; None, no limit, for a file or a pipe."""
    console = Console()
    return max(LEAST, console.width) if console.is_terminal or "COLUMNS" in os.environ else None


def chosen(made: Report, every: bool) -> list[Finding]:
    """The findings to show, tool by tool: annotations only where there is something to say."""
    tools = list(dict.fromkeys(f.origin.tool for f in made.findings))
    found = [f for f in made.findings if every or f.status != "annotation" or f.how]
    return sorted(found, key=lambda f: tools.index(f.origin.tool))


def row(finding: Finding) -> Row:
    """Tool, pointer, status and how."""
    cells = finding.origin.tool or "", pointer(finding), finding.status, as_options(finding.how)
    return Row(*map(visible, cells))


def widths(rows: list[Row]) -> list[int]:
    """The cells that each column takes if nothing is folded."""
    return [max(map(cell_len, column)) for column in zip(HEAD, *rows, strict=True)]


def natural_width(rows: list[Row]) -> int:
    """The cells of a line in which nothing is folded."""
    return sum(widths(rows)) + GAP * len(HEAD)


def table(rows: list[Row], width: int | None) -> Table:
    """One row a finding, folded to `width`: the columns' widths together never exceed it.

    Without a width each finding is one line with its tool's name, for other programs to search.
    """
    tool, place, status, how = widths(rows)
    if width is not None:
        tool = min(tool, width // 6)
        rest = width - tool - status - GAP * len(HEAD)
        place = min(place, max(rest // 2, rest - how))
        how = min(how, rest - place)
    made_of = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0)
    )
    for name, cells in zip(HEAD, (tool, place, status, how), strict=True):
        made_of.add_column(name, width=cells, overflow="fold")
    last: str | None = None
    for one in rows:
        shown = "" if width is not None and one.tool == last else one.tool
        last = one.tool
        style = STYLE.get(one.status, "dim")
        made_of.add_row(Text(shown), Text(one.place), Text(one.status, style=style), Text(one.how))
    return made_of


def pointer(finding: Finding) -> str:
    """The place of the keyword; default bounds stand at a schema and are named behind it."""
    place = finding.origin.pointer
    ends = place.rpartition("/")[2] == finding.keyword
    return place if ends else f"{place or '/'} ({finding.keyword})"


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
