"""The commands put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from .. import __version__
from .bench_command import bench_app
from .build_command import build, clean
from .check_command import check
from .compile_command import compile_command
from .dead_ends_command import dead_ends
from .dialects_commands import dialects_app
from .files import write_out
from .init_command import init
from .parse_command import parse
from .report_command import report
from .run import run
from .serve_command import serve_command
from .vocabulary_command import vocabulary

app = typer.Typer(
    name="calligram",
    help="Compile tool-call dialects and JSON Schemas into grammars that enforce and parse calls.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("compile")(compile_command)
app.command("build")(build)
app.command("clean")(clean)
app.command("init")(init)
app.command("check")(check)
app.command("parse")(parse)
app.command("report")(report)
app.command("vocabulary")(vocabulary)
app.command("serve")(serve_command)
app.command("dead-ends")(dead_ends)
app.add_typer(dialects_app, name="dialects")
app.add_typer(bench_app, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        write_out(f"calligram {__version__}\n")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. Errors are printed, never raised."""
    return run(app, "calligram", arguments)
