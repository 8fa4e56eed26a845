"""`calligram bench gap`: what the constraint buys on a real model."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..bench import bars
from ..bench.bench_error import BenchError
from ..bench.gap.case_set import BUNDLED, read_set
from ..bench.gap.figures import BARS, Figures, by_kind, sum_up
from ..bench.gap.job import MODES, Job, Mode, prepare
from ..bench.gap.runner import Result, Settings, run
from ..off import VARIABLE, disabled
from . import progress
from .files import check_folder, read_text, shown, write_out, write_text
from .options import Json
from .parse_command import dump
from .problems import visible
from .report_command import page_width

if TYPE_CHECKING:
    from ..bench.gap.server import Server

CONTEXT: Final = 6144
"""Tokens of the embedded server: the bundled prompts, and the longest call behind them."""

TITLES: Final[Mapping[Mode, str]] = {"on": "required", "auto": "auto", "off": "off"}


def bench_gap(
    server: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A running llama.cpp server; one is started with a small model unless given.",
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect", "-d", metavar="ID|FILE",
            help="How the model writes calls; the set's own dialect unless given.",
        ),
    ] = None,
    cases: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A set of tools and prompts as JSON; the bundled one of 60 prompts over 12 tools "
            "unless given; - is standard input.",
        ),
    ] = None,
    examples: Annotated[
        int, typer.Option(min=0, help="Answered examples before each prompt; the set has 2.")
    ] = 2,
    limit: Annotated[int | None, typer.Option(min=1, help="Ask only so many prompts.")] = None,
    max_tokens: Annotated[
        int,
        typer.Option(
            min=1,
            help="Tokens within which an answer must end or, constrained, begin its call; a "
            "constrained call that has begun is let end.",
        ),
    ] = 256,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 2, help="For sampling.")] = 1,
    temperature: Annotated[
        float, typer.Option(min=0, max=10, help="0: always the likeliest token.")
    ] = 0,
    plot_file: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Write a bar chart as SVG.")
    ] = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Measure what the constraint buys: the same prompts with it and without, on a real model.

    Each prompt is answered three times: with a call required, with a call armed by the dialect's
    trigger (auto), and without a constraint. calligram's parser and jsonschema judge the answers.
    The grammar vouches for the shape of a call, not for its sense.
    """
    if disabled():
        message = f"the environment switches constraints off ({VARIABLE})"
        raise BenchError.at("bench-disabled", message, hint=f"unset {VARIABLE}")
    source = str(BUNDLED) if cases is None else cases
    job = prepare(read_set(read_text(source), shown(source)), dialect, examples)
    settings = Settings(max_tokens, seed, temperature)
    if plot_file is not None:
        check_folder(plot_file)
    total = len(job.cases.cases[:limit])
    with progress.bars() as shown_bars:
        task = shown_bars.add_task("starting the server", total=None)
        with the_server(server) as asked:
            model = asked.model()
            shown_bars.update(task, description="answers", total=total * len(MODES), completed=0)
            results = run(
                job, asked, limit, settings, lambda done: shown_bars.update(task, completed=done)
            )
    found: dict[Mode, Figures] = {mode: sum_up(results, mode) for mode in MODES}
    head = header(job, results, model, examples, settings)
    if plot_file is not None:
        write_text(plot_file, picture(found, head))
    if as_json:
        about = {"model": model, "server": server or "embedded", "examples": examples}
        write_out(dump(document(job, results, found, about, settings)))
        return
    console = Console(highlight=False, width=page_width() or 100)
    with console.capture() as capture:
        console.print(Text(head), soft_wrap=True)
        console.print()
        console.print(table(found))
        console.print()
        console.print(kinds_table(results))
        console.print()
        for line in notes(found, settings):
            console.print(Text(line), soft_wrap=True)
    write_out("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


@contextlib.contextmanager
def the_server(address: str | None) -> Iterator[Server]:
    """The server that runs at `address`, or one of our own that is gone afterwards."""
    from ..bench.gap.server import Server  # Other commands talk no HTTP.

    if address is not None:
        yield Server(address)
        return
    from ..demo_client import find_model, running_server

    with running_server(find_model(), CONTEXT) as own:
        yield Server(own)


def header(
    job: Job, results: Sequence[Result], model: str, examples: int, settings: Settings
) -> str:
    """What was measured, in one line."""
    return (
        f"{len(results)} prompts, {len(job.validators)} tools; {visible(model)}, {job.spec.id}, "
        f"{examples} examples, {settings.max_tokens} tokens"
    )


def table(found: Mapping[Mode, Figures]) -> Table:
    """A column a mode."""
    made = _columns("", (TITLES[mode] for mode in MODES))
    each = list(found.values())
    cases, wanted = each[0].cases, each[0].wanted
    rows: list[tuple[str, list[str]]] = [
        ("a call was started", [_part(f.started, cases) for f in each]),
        ("valid, of those started", [_part(f.valid_started, f.started) for f in each]),
        ("schema-valid call", [_part(f.schema_valid, cases) for f in each]),
        ("right tool, or rightly none", [_part(f.right_tool, cases) for f in each]),
        (f"right tool, of {wanted} that want one", [_part(f.right_wanted, wanted) for f in each]),
        ("schema-valid, read leniently", [_part(f.lenient_valid, cases) for f in each]),
        ("right tool, read leniently", [_part(f.lenient_right, cases) for f in each]),
        ("cut off at the limit", [str(f.cut) for f in each]),
        ("tokens, on average", [f"{f.tokens / f.cases:.0f}" for f in each]),
        ("tokens, at most", [str(f.longest) for f in each]),
        ("time, on average", [f"{f.seconds / f.cases:.2f} s" for f in each]),
    ]
    if any(f.failed for f in each):
        rows.append(("broken off by the server", [str(f.failed) for f in each]))
    for words, cells in rows:
        made.add_row(words, *cells)
    return made


def kinds_table(results: Sequence[Result]) -> Table:
    """Schema-valid calls and right tools, kind by kind."""
    made = _columns("kind of prompt", ("prompts", "schema-valid", "right tool or none"))
    modes = " / ".join(TITLES[mode] for mode in MODES)
    made.add_row("", "", *[Text(modes, style="dim")] * 2)
    for kind, figures in by_kind(results).items():
        made.add_row(
            kind.replace("_", " "),
            str(figures["on"].cases),
            " / ".join(f"{figures[mode].schema_valid}" for mode in MODES),
            " / ".join(f"{figures[mode].right_tool}" for mode in MODES),
        )
    return made


def _columns(first: str, others: Iterable[str]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column(first)
    for words in others:
        made.add_column(words, justify="right")
    return made


def _part(part: int, whole: int) -> str:
    """`57 (95 %)`; a dash where there is nothing to be a part of."""
    return f"{part} ({bars.percent(part / whole)})" if whole else "–"


def notes(found: Mapping[Mode, Figures], settings: Settings) -> list[str]:
    """What the table does not say."""
    lines = ["The grammar vouches for the shape of a call, not for its sense."]
    more = max(found["on"].longest, found["auto"].longest)
    if more > settings.max_tokens:
        lines.append(
            f"A constrained call took {more} tokens: it is let end, where an unconstrained answer "
            f"is cut at {settings.max_tokens}."
        )
    return lines


def document(
    job: Job,
    results: Sequence[Result],
    found: Mapping[Mode, Figures],
    about: Mapping[str, Any],
    settings: Settings,
) -> dict[str, Any]:
    """All figures, and every answer."""
    kinds = by_kind(results)
    return {
        **about,
        "dialect": job.spec.id,
        "prompts": len(results),
        "tools": len(job.validators),
        "max_tokens": settings.max_tokens,
        "longest_call": job.longest,
        "seed": settings.seed,
        "temperature": settings.temperature,
        **{mode: figures.to_json() for mode, figures in found.items()},
        "kinds": {
            kind: {mode: figures.to_json()["counts"] for mode, figures in modes.items()}
            for kind, modes in kinds.items()
        },
        "results": [result.to_json() for result in results],
    }


def picture(found: Mapping[Mode, Figures], head: str) -> str:
    """The shares as a bar chart."""
    series = [(TITLES[mode], [share(f) for _, share in BARS]) for mode, f in found.items()]
    return bars.svg([words for words, _ in BARS], series, "What the constraint buys", head)
