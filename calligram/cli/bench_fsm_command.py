"""`calligram bench fsm`: how long token tables take to make, and how large they are."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from ..bench import fsm
from ..bench.vocabularies import load, store
from ..targets.regex_fsm import MAX_DEPTH
from .files import read_text, write_out
from .options import Json
from .parse_command import dump
from .problems import visible
from .progress import aside, bars

WIDTHS: Final = (24, 12, 9, 11, 12, 15, 13, 6)
HEAD: Final = ("", "states", "classes", "time", "table", "outlines-core", "grown", "same")
"""What stands above the rows, which come one by one, and how wide the columns are."""


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
        if not as_json:
            write_out(f"{_counted(len(what))}, {len(vocabulary):,} tokens\n\n{_line(*HEAD)}\n")

        def show(done: int, made: fsm.Measured) -> None:
            if not as_json:
                with aside(shown):
                    write_out("".join(f"{line}\n" for line in listed(made)))
            shown.update(task, completed=done)

        found = fsm.measure(
            what, path, walks=walks, limits=limits, whitespace=whitespace, max_depth=max_depth,
            progress=show,
        )  # fmt: skip
    summary = summed(found)
    if as_json:
        rows = [{"tool": m.name, "calligram": _short(m.own), "outlines-core": _short(m.other),
                 "same": m.same} for m in found]  # fmt: skip
        write_out(dump({"tokens": len(vocabulary), "sum": summary, "tools": rows}))
        return
    write_out("\n" + "".join(f"{line}\n" for line in lines(summary)))


def _short(part: dict[str, Any] | None) -> dict[str, Any] | None:
    """Figures without the ways and masks that they were checked with."""
    long = ("ways", "masks", "regex")
    return None if part is None else {k: v for k, v in part.items() if k not in long}


def ratio(one: float, other: float) -> float | None:
    """One of the other; None where the other was too little to be measured."""
    return one / other if other else None


def most(ratios: Iterable[float | None]) -> float | None:
    """The greatest that is known."""
    return max((r for r in ratios if r is not None), default=None)


def times(amount: float | None) -> str:
    """A ratio in words, to stand before `the time`."""
    if amount is None:
        return "an unknown part of"
    return f"{amount:.4f} of" if amount < 1 else f"{amount:,.1f} times"


def rounded(amount: float | None) -> str:
    """A ratio as a number; `?` where it is not known."""
    return "?" if amount is None else f"{amount:,.2f}"


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
        "mask_to_copy": most(ratio(m.own["steps"]["mask"], m.own["steps"]["copy"]) for m in made),
        "batch_to_take": most(ratio(m.own["steps"]["batch"], m.own["steps"]["take"]) for m in made),
    }  # fmt: skip
    if pairs:
        out["outlines-core"] = {
            "tools": len(pairs),
            "exceeded": sum("exceeded" in other for _, other in pairs),
            "refused": sum(m.other is not None and m.other.get("refused") is not None
                           for m in made),
            "seconds": sum(other["seconds"] for _, other in pairs),
            "bytes": sum(other["grown"] for _, other in pairs),
            "of_seconds": ratio(sum(own["seconds"] for own, _ in pairs),
                                sum(other["seconds"] for _, other in pairs)),
            "of_bytes": ratio(sum(own["bytes"] for own, _ in pairs),
                              sum(other["grown"] for _, other in pairs)),
            "slowest": most(ratio(own["seconds"], other["seconds"]) for own, other in pairs),
            "same": sum(m.same is True for m in both),
            "different": sum(m.same is False for m in both),
        }  # fmt: skip
    return out


def listed(m: fsm.Measured) -> list[str]:
    """The line of a tool, and why something was refused."""
    name = visible(m.name)[: WIDTHS[0]]
    if m.own.get("refused") is not None:
        return [_line(name, "refused"), *_why("calligram", m.own["refused"])]
    row = [name, f"{m.own['states']:,}", f"{m.own['classes']:,}", f"{m.own['seconds']:.2f} s",
           mebibytes(m.own["bytes"])]  # fmt: skip
    if m.other is None:
        return [_line(*row)]
    if m.other.get("refused") is not None:
        return [_line(*row, "refused"), *_why("outlines-core", m.other["refused"])]
    more = ">" if "exceeded" in m.other else ""
    row += [f"{more}{m.other['seconds']:.2f} s", more + mebibytes(m.other["grown"])]
    return [_line(*row, {True: "yes", False: "no", None: ""}[m.same])]


def _why(engine: str, reason: str) -> list[str]:
    return [f"  {engine}: {visible(line.strip())}" for line in reason.splitlines()[:2]]


def _line(first: str, *others: str) -> str:
    """Columns: the first to the left, the others to the right."""
    cells = (f"{cell:>{width}}" for cell, width in zip(others, WIDTHS[1:], strict=False))
    return f"{first:<{WIDTHS[0]}}{''.join(cells)}".rstrip()


def _counted(tools: int) -> str:
    return f"{tools:,} tool{'' if tools == 1 else 's'}"


def lines(summary: dict[str, Any]) -> list[str]:
    """The sums in words."""
    out = [
        f"{summary['made']} of {_counted(summary['tools'])} made into tables in "
        f"{summary['seconds']:.2f} s, {mebibytes(summary['bytes'])}"
    ]
    if summary["made"]:
        steps = summary["steps"]
        out.append(
            f"slowest step: next state {steps['next']:.2f} µs, mask {steps['mask']:.2f} µs "
            f"({rounded(summary['mask_to_copy'])} × a copy), batch of 64 {steps['batch']:.1f} µs "
            f"({rounded(summary['batch_to_take'])} × np.take)"
        )
    other = summary.get("outlines-core")
    if other is not None:
        out.append(
            f"outlines-core: {other['tools']} of them in {other['seconds']:.2f} s, "
            f"{mebibytes(other['bytes'])}; {other['exceeded']} beyond the limits, "
            f"{other['refused']} refused"
        )
        out.append(
            f"calligram takes {times(other['of_seconds'])} the time ({rounded(other['slowest'])} × "
            f"at worst) and {times(other['of_bytes'])} the memory; {other['same']} have the same "
            f"masks, {other['different']} have not"
        )
    return out


def mebibytes(amount: float) -> str:
    """`7.8 MiB`."""
    return f"{amount / 2**20:,.1f} MiB"
