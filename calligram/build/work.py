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
from collections.abc import Mapping
from pathlib import Path

from ..compiler.errors import CalligramError, reason_of
from ..compiler.origin import Origin, Problem
from ..compiler.replace_file import replace_if_changed
from .digests import SHIPPED, content_digest, file_digest, state_of
from .inputs import InputFileError
from .outcome import Done, Failed, Outcome
from .places import file_of
from .plan import Unit


def work(unit: Unit, mine: frozenset[str] | None) -> Outcome:
    """Compile a unit and replace its outputs, one by one, each in one step.

    Nothing is written before all its targets are made. An output that is right already is left
    alone, so that its time stays.

    Args:
        mine: the outputs that builds made before, which may be replaced; None: nothing is written.
    """
    from ..cli.exit_codes import ExitCode, exit_code_of
    from .make import TargetFailed, make

    target = None
    try:
        try:
            made = make(unit)
        except TargetFailed as failed:
            target = failed.target
            raise failed.error from None
        _unchanged(unit)
        _no_parent(unit, made.more)
        if mine is not None:
            _free(unit, made.contents, mine)
            for path, content in made.contents.items():
                _replace(unit.path(path), content)
    except CalligramError as error:
        return Failed(unit.name, error.problems, exit_code_of(error) == ExitCode.INPUT, target)
    except Exception as error:
        if os.environ.get("CALLIGRAM_DEBUG"):
            raise
        hint = "this is a bug in calligram; CALLIGRAM_DEBUG=1 shows where"
        message = f"{type(error).__name__}: {error}"
        problem = Problem("internal", message, unit.place, hint)
        return Failed(unit.name, (problem,), False)
    outputs = {path: content_digest(content) for path, content in made.contents.items()}
    return Done(unit.name, outputs, made.more, made.warnings)


def _unchanged(unit: Unit) -> None:
    """What was read is what the unit's key is a digest of."""
    changed = [file for file, state in unit.inputs if state_of(file) != state]
    if changed:
        raise InputFileError(
            Problem(
                "input-changed",
                "was written to while a grammar was made of it",
                Origin(file=file),
                "build again",
            )
            for file in changed
        )


def _no_parent(unit: Unit, more: Mapping[str, str]) -> None:
    """No output is what the dialect extends, which is known now."""
    parents = {file_of(unit.folder, name) for name in more if name != SHIPPED}
    problems = [
        Problem("manifest-output", f"`{path}` is an input", unit.place.child("output"))
        for _, path in unit.outputs
        if file_of(unit.folder, path) in parents
    ]
    if problems:
        raise InputFileError(problems)


def _free(unit: Unit, contents: Mapping[str, bytes], mine: frozenset[str]) -> None:
    """What is there and was not built is what it would be replaced by; that is taken over."""
    problems = []
    for path, content in contents.items():
        file = os.path.realpath(unit.path(path))
        if path in mine or not os.path.lexists(file):
            continue
        if file_digest(file) == content_digest(content):
            continue
        message = f"`{path}` is there already, and no build made it"
        hint = "move or delete it, or let `calligram build --overwrite` replace it"
        problems.append(Problem("output-exists", message, unit.place.child("output"), hint))
    if problems:
        raise InputFileError(problems)


def _replace(path: str, content: bytes) -> None:
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
            unit, mine = pickle.load(sys.stdin.buffer)
            pickle.dump(work(unit, mine), answers)
            answers.flush()
