"""Progress on standard error: on a terminal, and nothing elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


def bars() -> Progress:
    """Bars that go away when all is done."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@contextmanager
def aside(shown: Progress) -> Iterator[None]:
    """Take the bars away while something is printed, which may go to the same terminal."""
    if shown.disable:
        yield
        return
    shown.stop()
    try:
        yield
    finally:
        shown.start()
