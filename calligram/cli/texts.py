"""The text that `check` and `parse` read: given on the command line or in a file."""

from __future__ import annotations

from typing import Annotated

import typer

from .files import checked_text, read_text

Text = Annotated[str | None, typer.Option("--text", metavar="TEXT", help="The model's text.")]
TextFile = Annotated[
    str | None,
    typer.Option(
        "--text-file",
        metavar="FILE",
        help="The model's text, byte for byte (a final line break counts); - is standard input.",
    ),
]


def the_text(text: str | None, text_file: str | None, tools: str) -> str:
    """The one text that was given.

    Raises:
        typer.BadParameter: none or both, or standard input twice.
        InputError: it cannot be read or is not UTF-8.
    """
    if (text is None) == (text_file is None):
        raise typer.BadParameter("give the text as --text or --text-file, one of them")
    if text is not None:
        return checked_text(text, "--text")
    if text_file == tools == "-":
        raise typer.BadParameter("--tools and --text-file cannot both be standard input")
    assert text_file is not None
    return read_text(text_file)
