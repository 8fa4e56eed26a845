"""`calligram bench fsm`: how long token tables take to make, and how large they are."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..bench import fsm
from ..bench.vocabularies import load, store
from ..targets.regex_fsm import MAX_DEPTH
from .files import read_text, write_out
from .options import Json
from .parse_command import dump
from .problems import visible
from .progress import bars
from .report_command import page_width


def bench_fsm(
    tools: Annotated[
        str, typer.Option(metavar="FILE", help="Tool definitions as JSON; a table for each.")
    ],
    vocab: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A vocabulary of any format that is known; a made-up one of 32,768 tokens unless "
            "given.",
        ),
    ] = None,
    walks: Annotated[
        int, typer.Option(min=0, help="Random walks through each table, compared mask by mask.")
    ] = 25,
    texts: Annotated[int, typer.Option(min=0, help="Texts of each tool, compared likewise.")] = 3,
    seconds: Annotated[
        float, typer.Option(min=1, help="Processor seconds for outlines-core, a tool.")
    ] = 120,
    gigabytes: Annotated[
        float, typer.Option(min=1, help="Memory for outlines-core, a tool.")
    ] = 8,
    alone: Annotated[
        bool, typer.Option("--alone", help="Leave outlines-core out, even if it is installed.")
    ] = False,
    whitespace: Annotated[
        Literal["exact", "flexible"], typer.Option(help="White space between members.")
    ] = "exact",
    max_depth: Annotated[
        int, typer.Option(min=0, help="How deep untyped and recursive values may nest.")
    ] = MAX_DEPTH,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Measure token tables, tool by tool, beside outlines-core's index of the same expression.

    Schemas are compiled without default bounds. Every table is made in a process of its own; times
    are of the processor, from the schema on for calligram, from the expression on for
    outlines-core. What takes more than the limits counts as the limits.
    """
    known = not alone and importlib.util.find_spec("outlines_core") is not None
    limits = fsm.Limits(seconds, int(gigabytes * 2**30)) if known else None
    what = fsm.tools_of(read_text(tools), texts)
    vocabulary = load(vocab)
    with tempfile.TemporaryDirectory() as folder, bars() as shown:
        path = Path(folder) / "vocabulary.npz"
        store(vocabulary, path)
        task = shown.add_task("tables", total=len(what))
        found = fsm.measure(
            what, path, walks=walks, limits=limits, whitespace=whitespace, max_depth=max_depth,
            progress=lambda done: shown.update(task, completed=done),
        )  # fmt: skip
    summary = summed(found)
    if as_json:
        rows = [{"tool": m.name, "calligram": _short(m.own), "outlines-core": _short(m.other),
                 "same": m.same} for m in found]  # fmt: skip
        write_out(dump({"tokens": len(vocabulary), "sum": summary, "tools": rows}))
        return
    console = Console(highlight=False, width=page_width() or 100)
    with console.capture() as capture:
        console.print(Text(f"{len(what)} tools, {len(vocabulary):,} tokens"))
        console.print(listed(found))
        for line in lines(summary):
            console.print(Text(line))
    write_out("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def _short(part: dict[str, Any] | None) -> dict[str, Any] | None:
    """Figures without the ways and masks that they were checked with."""
    long = ("ways", "masks", "regex")
    return None if part is None else {k: v for k, v in part.items() if k not in long}


def summed(found: Sequence[fsm.Measured]) -> dict[str, Any]:
    """Sums over the tools that both made or were ended at, and the worst steps."""
    made = [m for m in found if m.own.get("refused") is None]
    both = [m for m in made if m.other is not None and m.other.get("refused") is None]
    pairs = [(m.own, m.other) for m in both if m.other is not None]
    out: dict[str, Any] = {
        "tools": len(found),
        "made": len(made),
        "seconds": sum(m.own["seconds"] for m in made),
        "bytes": sum(m.own["bytes"] for m in made),
        "steps": {
            name: max((m.own["steps"][name] for m in made), default=None)
            for name in ("next", "mask", "copy", "batch", "take")
        },
        "mask_to_copy": max((m.own["steps"]["mask"] / m.own["steps"]["copy"] for m in made),
                            default=None),
        "batch_to_take": max((m.own["steps"]["batch"] / m.own["steps"]["take"] for m in made),
                             default=None),
    }  # fmt: skip
    if pairs:
        out["outlines-core"] = {
            "tools": len(pairs),
            "exceeded": sum("exceeded" in other for _, other in pairs),
            "refused": sum(m.other is not None and m.other.get("refused") is not None
                           for m in made),
            "seconds": sum(other["seconds"] for _, other in pairs),
            "bytes": sum(other["grown"] for _, other in pairs),
            "of_seconds": sum(own["seconds"] for own, _ in pairs)
            / sum(other["seconds"] for _, other in pairs),
            "of_bytes": sum(own["bytes"] for own, _ in pairs)
            / max(1, sum(other["grown"] for _, other in pairs)),
            "slowest": max(own["seconds"] / other["seconds"] for own, other in pairs),
            "same": sum(m.same is True for m in both),
            "different": sum(m.same is False for m in both),
        }  # fmt: skip
    return out


def listed(found: Sequence[fsm.Measured]) -> Table:
    """A line a tool."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column("")
    for name in ("states", "classes", "time", "table", "outlines-core", "grown", "same"):
        made.add_column(name, justify="right")
    for m in found:
        name = visible(m.name)[:32]
        if m.own.get("refused") is not None:
            made.add_row(name, "refused")
            continue
        row = [f"{m.own['states']:,}", f"{m.own['classes']:,}", f"{m.own['seconds']:.2f} s",
               mebibytes(m.own["bytes"])]  # fmt: skip
        if m.other is not None and m.other.get("refused") is not None:
            row += ["refused", ""]
        elif m.other is not None:
            more = ">" if "exceeded" in m.other else ""
            row += [f"{more}{m.other['seconds']:.2f} s", more + mebibytes(m.other["grown"])]
        else:
            row += ["", ""]
        made.add_row(name, *row, {True: "yes", False: "no", None: ""}[m.same])
    return made


def lines(summary: dict[str, Any]) -> list[str]:
    """The sums in words."""
    out = [
        f"{summary['made']} of {summary['tools']} tables made in {summary['seconds']:.2f} s, "
        f"{mebibytes(summary['bytes'])}"
    ]
    if summary["made"]:
        steps = summary["steps"]
        out.append(
            f"slowest step: next state {steps['next']:.2f} µs, mask {steps['mask']:.2f} µs "
            f"({summary['mask_to_copy']:.2f} × a copy), batch of 64 {steps['batch']:.1f} µs "
            f"({summary['batch_to_take']:.2f} × np.take)"
        )
    other = summary.get("outlines-core")
    if other is not None:
        out.append(
            f"outlines-core: {other['tools']} of them in {other['seconds']:.2f} s, "
            f"{mebibytes(other['bytes'])}; {other['exceeded']} beyond the limits, "
            f"{other['refused']} refused"
        )
        out.append(
            f"calligram takes {other['of_seconds']:.4f} of the time ({other['slowest']:.2f} at "
            f"worst) and {other['of_bytes']:.4f} of the memory; {other['same']} have the same "
            f"masks, {other['different']} have not"
        )
    return out


def mebibytes(amount: float) -> str:
    """`7.8 MiB`."""
    return f"{amount / 2**20:,.1f} MiB"
