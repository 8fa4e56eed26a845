"""`calligram bench proxy`: what `calligram serve` costs in front of a running server."""

from __future__ import annotations

import importlib.util
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from ..proxy.settings_error import SettingsError
from .files import write_out
from .options import Json
from .parse_command import dump
from .progress import bars


def bench_proxy(
    upstream: Annotated[
        str, typer.Option(metavar="URL", help="A running server, such as http://127.0.0.1:8080.")
    ],
    dialect: Annotated[
        str, typer.Option("--dialect", "-d", metavar="ID|FILE", help="As for `calligram serve`.")
    ] = "auto",
    requests: Annotated[int, typer.Option(min=1, help="Requests a way.")] = 30,
    tokens: Annotated[int, typer.Option(min=4, help="Tokens of each answer.")] = 32,
    as_json: Json = False,
) -> None:
    """Measure the time that the proxy adds to the first byte, and to each token of a stream.

    A proxy is started in front of the server, and the same chat is asked of the server, through
    the proxy as it is, and through the proxy with tools. The requests take turns. Compare the
    figures of one run only.
    """
    if importlib.util.find_spec("httpx") is None:
        raise SettingsError.at(
            "proxy-not-installed", "the proxy needs httpx", hint="pip install 'calligram[server]'"
        )
    from ..proxy import overhead

    upstream = upstream.rstrip("/")
    with overhead.running_proxy(upstream, dialect) as proxy, bars() as shown:
        task = shown.add_task("rounds", total=requests + 1)
        found = overhead.measure(
            upstream, proxy, requests, tokens, lambda done: shown.update(task, completed=done + 1)
        )
    figures = {name: f.to_json() for name, f in found.items()}
    document = {"requests": requests, "tokens": tokens, "ways": figures}
    if as_json:
        write_out(dump({**document, "added": added(figures)}))
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, justify in (("", "left"), ("first byte", "right"), ("tokens/s", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for name, words in overhead.WAYS.items():
        one = figures[name]
        table.add_row(words, f"{one['first_byte_ms']:.2f} ms", f"{one['tokens_per_second']:.1f}")
    console = Console(highlight=False)
    with console.capture() as capture:
        console.print(table)
    write_out(capture.get())


def added(figures: dict[str, dict[str, float]]) -> dict[str, Any]:
    """What each way adds to the bare server: milliseconds, and the share of tokens lost."""
    bare = figures["bare"]
    return {
        name: {
            "first_byte_ms": round(one["first_byte_ms"] - bare["first_byte_ms"], 3),
            "fewer_tokens_percent": round(
                100 * (1 - one["tokens_per_second"] / bare["tokens_per_second"]), 2
            ),
        }
        for name, one in figures.items()
        if name != "bare"
    }
