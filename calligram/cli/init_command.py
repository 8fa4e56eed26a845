"""`calligram init`: a manifest to begin with."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from ..build.manifest import FILE, PYPROJECT
from ..compiler.errors import CalligramError
from ..compiler.json_text import read_json
from ..compiler.origin import Origin, in_file
from ..compiler.spec_loader import find_spec
from ..compiler.tools import read_tools
from .exit_codes import InputError
from .files import file_or_none, read_text, write_out, write_text
from .problems import visible

_NAMED = 12
"""Tools that are named in a comment."""

_TEXT = """\
# What `calligram build` makes. Commit this file, and calligram.lock, which the build writes.

[grammars.{name}]
tools = {tools}    # {found}
dialect = {dialect}
targets = ["gbnf"]    # also: regex, report; with a vocabulary: mask, fsm
output = "grammars/"    # grammars/{name}.gbnf

# Only some of the tools, or one grammar of each:
# only = [{first}]
# each = true

# What masks and token tables are made for: a GGUF file, a tokenizer.json, a tekken.json, ...
# vocabulary = "tokenizer.json"

# May the model answer without a call ("auto"), or must it call a tool?
# tool_choice = "required"

# Bounds where the schemas have none:
# bounds = {{ string = 200, items = 20 }}

# What holds for every grammar goes here:
# [defaults]
# key_order = "any"
"""


def init(
    tools: Annotated[
        str,
        typer.Option("--tools", "-t", metavar="FILE", help="The file with tool definitions."),
    ],
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect", "-d", metavar="ID|FILE",
            help="A shipped dialect (see `calligram dialects list`) or a spec file.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The manifest to write.")
    ] = FILE,
) -> None:  # fmt: skip
    """Write a manifest for `calligram build`; a file that is there is never replaced."""
    if (os.path.lexists(output) and output != "-") or os.path.basename(output) == PYPROJECT:
        message = "is there already, and is not replaced"
        if os.path.basename(output) == PYPROJECT:
            message = "is not this command's to write"
        hint = f"a grammar is a table [grammars.NAME]; in {PYPROJECT}, "
        hint += "[tool.calligram.grammars.NAME]"
        raise InputError.at("manifest-exists", message, Origin(file=output), hint)
    if tools == "-":
        raise typer.BadParameter("a manifest names a file", param_hint="'--tools'")
    text = read_text(tools)
    try:
        names = [tool.name for tool in read_tools(read_json(text, "tool definitions"))]
    except CalligramError as error:
        raise type(error)(in_file(error.problems, tools)) from None
    find_spec(dialect)
    folder = os.path.dirname(output) or "."
    spec = dialect if not _is_file(dialect) else _relative(dialect, folder)
    shown = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
    made = _TEXT.format(
        name="tools",
        tools=quoted(_relative(tools, folder)),
        found=visible(shown).replace("\n", " "),
        dialect=quoted(spec),
        first=quoted(names[0]),
    )
    if file_or_none(output) is None:
        write_out(made)
        return
    write_text(output, made)
    write_out(f"{output} written; `calligram build` builds it\n")


def _is_file(dialect: str) -> bool:
    from ..build.digests import is_shipped

    return not is_shipped(dialect)


def _relative(path: str, folder: str) -> str:
    if os.path.isabs(path):
        return path
    return Path(os.path.relpath(path, folder)).as_posix()


def quoted(text: str) -> str:
    """A text as a basic string of TOML, whose escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
