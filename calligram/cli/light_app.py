"""The commands that must start quickly, alone: what they import stays small."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from .build_command import build, clean
from .run import run

app = typer.Typer(
    name="calligram",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("build")(build)
app.command("clean")(clean)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of these commands and return its exit code."""
    return run(app, "calligram", arguments)
