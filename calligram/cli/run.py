"""The one place where errors become messages and exit codes."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence

import typer

from ..compiler.errors import CalligramError
from ..compiler.origin import Problem
from .exit_codes import ExitCode, exit_code_of
from .problems import print_problems


def run(app: typer.Typer, name: str, arguments: Sequence[str] | None = None) -> int:
    """Run `app` and return its exit code. Errors are printed, never raised.

    CALLIGRAM_DEBUG=1 lets an internal error through with its traceback.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in arguments
    for stream, errors in ((sys.stdout, "strict"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)
    try:
        return int(app(arguments, prog_name=name, standalone_mode=False) or ExitCode.OK)
    except CalligramError as error:
        print_problems(error.problems, as_json)
        return exit_code_of(error)
    except typer.TyperException as error:
        return _usage(error, name, as_json)
    except (typer.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except Exception as error:
        if os.environ.get("CALLIGRAM_DEBUG"):
            raise
        message = f"{type(error).__name__}: {error}"
        hint = "this is a bug in calligram; CALLIGRAM_DEBUG=1 shows where"
        print_problems([Problem("internal", message, hint=hint)], as_json)
        return ExitCode.INTERNAL


def _usage(error: typer.TyperException, name: str, as_json: bool) -> int:
    # Typer checks choices with pydantic, whose prefix says nothing.
    message = error.format_message().replace("Value error, ", "", 1)
    hint = _usage_hint(error)
    if as_json:
        print_problems([Problem("usage", message, hint=hint)], as_json)
    else:
        context = getattr(error, "ctx", None)
        usage = f"{context.get_usage()}\n" if context is not None else ""
        # Without any arguments the message is the whole help.
        bare = message.startswith("Usage:")
        text = message if bare else f"{usage}{name}: error[usage]: {message}"
        text += f"\n  {hint}" if hint else ""
        sys.stderr.write(f"{text}\n")
    return ExitCode.INPUT


def _usage_hint(error: typer.TyperException) -> str | None:
    """What to write instead, where what was meant can be told."""
    parameter = getattr(error, "param", None)
    if parameter is None or parameter.name != "tool_choice":
        return None
    value = re.search(r"'([^']*)' is not one of", error.format_message())
    return f"use --tool {value[1]} if that is a tool's name" if value else None
