"""`calligram bench mask`: how long masks take, calligram's and those of other engines."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.progress import TaskID
from rich.table import Table
from rich.text import Text

from ..bench import cases as cases_module
from ..bench import engines, figures, plot, runner
from ..bench.bench_error import BenchError
from ..bench.cases import Case
from ..bench.vocabularies import load, store
from ..compiler.origin import did_you_mean
from ..compiler.vocabulary.vocabulary import Vocabulary
from .bench_fsm_command import bench_fsm
from .bench_gap_command import bench_gap
from .bench_proxy_command import bench_proxy
from .files import read_text, shown, write_out, write_text
from .options import Json
from .parse_command import dump
from .problems import visible
from .progress import bars
from .report_command import page_width

SINGULAR = {"schemas": "schema", "texts": "text", "passes": "pass"}

bench_app = typer.Typer(
    name="bench",
    help="Measure masks, token tables, the proxy, and what constraints buy on a model.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
bench_app.command("fsm")(bench_fsm)
bench_app.command("gap")(bench_gap)
bench_app.command("proxy")(bench_proxy)


@bench_app.command("mask")
def bench_mask(
    vocab: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A GGUF file whose vocabulary to measure with; a made-up one of 32,768 tokens "
            "unless given.",
        ),
    ] = None,
    schemas: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="JSON lines: a schema each, or an object with `schema` and perhaps `values` or "
            "`tests`; - is standard input.",
        ),
    ] = None,
    tools: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Tool definitions as JSON, all in one grammar."),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this engine; repeatable. Otherwise all that are installed: "
            + ", ".join(engines.ENGINES)
            + ".",
        ),
    ] = None,
    passes: Annotated[int, typer.Option(min=1, help="Times that each text is driven through.")] = 2,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many cases.")] = None,
    plot_file: Annotated[
        str | None,
        typer.Option("--plot", metavar="FILE", help="Write the latencies' distribution as SVG."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure masks, schema by schema, and compare with other engines where they are installed.

    Every engine runs in a process of its own on the same texts: compile a schema, then write a
    mask and accept a token, token by token. Times are over what all engines accept; they differ
    between machines and runs, so compare the ratios.
    """
    chosen, absent = pick(engine)
    what = the_cases(schemas, tools)[:limit]
    vocabulary = load(vocab)
    runs = measure(chosen, what, vocabulary, passes)
    found = figures.compare(runs, len(what))
    head = header(what, vocab, len(vocabulary), passes)
    if plot_file is not None:
        write_text(plot_file, picture(found, head))
    if as_json:
        write_out(dump(document(found, what, (vocab, len(vocabulary)), runs, passes)))
        return
    width = page_width() or 100
    console = Console(highlight=False, width=width)
    with console.capture() as capture:
        console.print(Text(head), soft_wrap=True)
        console.print()
        console.print(table(found))
        console.print()
        for line in notes(found, absent, len(what)):
            console.print(Text(visible(line)), soft_wrap=True)
    write_out("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def pick(wanted: Sequence[str] | None) -> tuple[list[str], dict[str, str]]:
    """The engines to measure, and those that are absent with the package each lacks.

    Raises:
        typer.BadParameter: one that was asked for is unknown.
        BenchError: one that was asked for is absent.
    """
    absent = {n: p for n in engines.ENGINES if (p := engines.missing(n)) is not None}
    if wanted is None:
        return [n for n in engines.ENGINES if n not in absent], absent
    for name in wanted:
        if name not in engines.ENGINES:
            legal = list(engines.ENGINES)
            hint = did_you_mean(name, legal) or f"legal names: {', '.join(legal)}"
            raise typer.BadParameter(f"unknown engine '{name}'; {hint}", param_hint="'--engine'")
        if name in absent:
            message = f"{name} cannot be measured: {absent[name]} is not installed"
            raise BenchError.at("bench-not-installed", message)
    return [n for n in engines.ENGINES if n in wanted], {}


def the_cases(schemas: str | None, tools: str | None) -> list[Case]:
    """The cases of the files that were given, or the bundled ones."""
    if schemas == tools == "-":
        raise typer.BadParameter("--schemas and --tools cannot both be standard input")
    found: list[Case] = []
    if schemas is not None:
        found += cases_module.from_schemas(read_text(schemas), shown(schemas))
    if tools is not None:
        found += cases_module.from_tools(read_text(tools), shown(tools))
    return found or cases_module.bundled()


def measure(
    chosen: Sequence[str], what: Sequence[Case], vocabulary: Vocabulary, passes: int
) -> list[runner.Run]:
    """One run an engine, with progress on a terminal and none elsewhere."""
    runs = []
    with tempfile.TemporaryDirectory() as folder, bars() as shown:
        path = Path(folder) / "vocabulary.npz"
        store(vocabulary, path)
        for name in chosen:
            task = shown.add_task(name, total=len(what))

            def show(done: int, task: TaskID = task) -> None:
                shown.update(task, completed=done)

            runs.append(runner.run(name, what, path, passes, show))
    return runs


def header(what: Sequence[Case], vocab: str | None, size: int, passes: int) -> str:
    """What was measured, in one line."""
    name = "made-up vocabulary" if vocab is None else visible(vocab.rpartition("/")[2])
    counts = (
        (len(what), "schemas"),
        (sum(len(c.texts) for c in what), "texts"),
        (passes, "passes"),
    )
    words = ", ".join(f"{n:,} {SINGULAR[w] if n == 1 else w}" for n, w in counts)
    return f"{words}; {name} ({size:,} tokens)"


def table(found: figures.Comparison) -> Table:
    """A column an engine, then one a ratio."""
    names = [f.engine for f in found.figures]
    others = [n for n in names if n != "calligram"] if "calligram" in names else []
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column("")
    for name in names:
        made.add_column(name, justify="right")
    for name in others:
        made.add_column(f"÷ {name}", justify="right", style="bold")
    made.add_row("schemas compiled", *(f"{f.compiled}" for f in found.figures))
    made.add_row("texts accepted", *(f"{f.accepted}/{f.texts}" for f in found.figures))
    for words, field, part in figures.ROWS:
        times = [getattr(f, field) for f in found.figures]
        if any(times):
            made.add_row(
                words,
                *(figures.duration(t and getattr(t, part)) for t in times),
                *(figures.ratio_words(found.ratio(field, part, other)) for other in others),
            )
    prepared = (figures.duration(f.prepared_us) for f in found.figures)
    made.add_row("vocabulary prepared, once", *prepared)
    made.add_row("peak memory", *(mebibytes(f.rss_mb) for f in found.figures))
    made.add_row("of it beside the vocabulary", *(mebibytes(f.grown_mb) for f in found.figures))
    return made


def mebibytes(amount: float | None) -> str:
    """`78 MiB`."""
    return "–" if amount is None else f"{amount:,.0f} MiB"


def notes(found: figures.Comparison, absent: dict[str, str], cases: int) -> list[str]:
    """What the table does not say."""
    lines = [
        f"Times are over the {found.shared} of {cases} schemas and the {found.shared_texts} texts "
        "that every engine took."
    ]
    lines += [f"{f.engine}: {f.failure}" for f in found.figures if f.failure is not None]
    lines += [f"{name} was not measured: {p} is not installed" for name, p in absent.items()]
    return lines


def document(
    found: figures.Comparison,
    what: Sequence[Case],
    vocabulary: tuple[str | None, int],
    runs: Sequence[runner.Run],
    passes: int,
) -> dict[str, Any]:
    """All figures; times in microseconds.

    Args:
        vocabulary: its file and its size.
    """
    others = [f.engine for f in found.figures if f.engine != "calligram"]
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "versions": {r.engine: engines.version(r.engine) for r in runs},
        "vocabulary": {"file": vocabulary[0], "tokens": vocabulary[1]},
        "schemas": len(what),
        "passes": passes,
        "shared": {"schemas": found.shared, "texts": found.shared_texts},
        "engines": [f.to_json() for f in found.figures],
        "ratios": figures.ratios(found, others),
        "cases": {r.engine: figures.by_case(r, [c.name for c in what]) for r in runs},
    }


def picture(found: figures.Comparison, head: str) -> str:
    """The latencies as SVG."""
    series = [
        plot.Series(name, times, again)
        for name, (first, later) in found.latencies.items()
        for times, again in ((first, False), (later, True))
    ]
    return plot.svg(series, "Mask + accept, share of tokens done within a time", head)
