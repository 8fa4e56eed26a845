"""Diagnostics on standard error: lines for a person, one JSON list for a program."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import replace

from ..compiler.origin import Problem

ARGUMENTS = (
    "tool_choice|reasoning|key_order|on_unsupported|open_objects|openapi|whitespace|formats|"
    "unknown_formats"
)
STYLE = {"error": "bold red", "warning": "bold yellow", "note": "bold blue"}


def print_problems(problems: Iterable[Problem], as_json: bool) -> None:
    """Write `problems` to standard error."""
    problems = [replace(p, hint=p.hint and as_options(p.hint)) for p in problems]
    if as_json:
        document = json.dumps([p.to_json() for p in problems], ensure_ascii=False, indent=2)
        sys.stderr.write(document + "\n")
        return
    # Imported when something is wrong: most commands end without.
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for problem in problems:
        text = Text(visible(str(problem)))
        text.highlight_regex(rf"{problem.severity}\[", STYLE[problem.severity])
        console.print(text)


def as_options(words: str) -> str:
    """`words` with arguments of ``compile_tools`` spelled as the options of the commands.

    ``on_unsupported="relax"`` becomes ``--on-unsupported relax``, ``openapi=True`` ``--openapi``,
    ``documents={"URI": …}`` ``--document URI=FILE``.
    """

    def option(match: re.Match[str]) -> str:
        name = match[1].replace("_", "-")
        return f"--{name}" if match[2] == "True" else f"--{name} {match[3]}"

    words = re.sub(r"\bbounds=None\b", "--bounds none", words)
    words = words.replace("`max_depth`", "--max-depth")
    words = re.sub(r'\bdocuments=\{"([^"]*)": …\}', r"--document \1=FILE", words)
    return re.sub(rf"""\b({ARGUMENTS})=(True\b|"([\w-]+)")""", option, words)


def visible(text: str) -> str:
    """`text` with control characters and lone surrogates as escapes; line breaks stay."""
    return "".join(
        c if c == "\n" or c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in text
    )
