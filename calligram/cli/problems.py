"""Diagnostics on standard error: lines for a person, one JSON list for a program."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import replace

from rich.console import Console
from rich.text import Text

from ..compiler.origin import Problem

STYLE = {"error": "bold red", "warning": "bold yellow", "note": "bold blue"}


def print_problems(problems: Iterable[Problem], as_json: bool) -> None:
    """Write `problems` to standard error."""
    if as_json:
        document = json.dumps([p.to_json() for p in problems], ensure_ascii=False, indent=2)
        sys.stderr.write(document + "\n")
        return
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for problem in problems:
        text = Text(visible(str(problem)))
        text.highlight_regex(rf"{problem.severity}\[", STYLE[problem.severity])
        console.print(text)


def named(problems: Iterable[Problem], file: str) -> list[Problem]:
    """`problems` with the file filled in where the origin does not know it."""
    return [
        replace(p, origin=replace(p.origin, file=file)) if p.origin.file is None else p
        for p in problems
    ]


def visible(text: str) -> str:
    """`text` with control characters and lone surrogates as escapes; line breaks stay."""
    return "".join(
        c if c == "\n" or c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in text
    )
