"""Units -> outcomes: in this process, or in others whose program this is.

A worker reads pickled jobs from standard input and answers on standard output. When whoever started
it is gone, its input ends, and so does it, after the unit that it is at. It holds the build's lock
until then.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from pathlib import Path

from ..compiler.errors import CalligramError, reason_of
from ..compiler.origin import Origin, Problem
from ..compiler.replace_file import replace_if_changed
from .outcome import Done, Failed, Outcome
from .plan import Unit


def work(unit: Unit, write: bool) -> Outcome:
    """Compile a unit; with `write` its outputs are replaced, one by one, each in one step.

    Nothing is written before all its targets are made. An output that is right already is left
    alone, so that its time stays.
    """
    from hashlib import sha256

    from ..cli.exit_codes import ExitCode, exit_code_of
    from .make import make

    try:
        made = make(unit)
        if write:
            for path, content in made.contents.items():
                _replace(unit.path(path), content)
    except CalligramError as error:
        return Failed(unit.name, error.problems, exit_code_of(error) == ExitCode.INPUT)
    except Exception as error:
        if os.environ.get("CALLIGRAM_DEBUG"):
            raise
        hint = "this is a bug in calligram; CALLIGRAM_DEBUG=1 shows where"
        message = f"{type(error).__name__}: {error}"
        problem = Problem("internal", message, unit.place, hint)
        return Failed(unit.name, (problem,), False)
    outputs = {path: sha256(content).hexdigest() for path, content in made.contents.items()}
    return Done(unit.name, outputs, made.more, made.warnings)


def _replace(path: str, content: bytes) -> None:
    from .inputs import InputFileError

    try:
        replace_if_changed(Path(path), content)
    except (OSError, ValueError) as error:
        message = f"cannot be written: {reason_of(error)}"
        raise InputFileError.at("cannot-write", message, Origin(file=path)) from None


def main() -> None:
    """Answer jobs until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Whoever started this ends it.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # What is printed by accident is no answer.
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            unit, write = pickle.load(sys.stdin.buffer)
            pickle.dump(work(unit, write), answers)
            answers.flush()
