"""`calligram build` and `calligram clean`: the grammars of a manifest."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..compiler.errors import CalligramError
from ..compiler.origin import Problem
from .exit_codes import ExitCode
from .files import write_out
from .problems import print_problems, visible

if TYPE_CHECKING:
    from ..build.run import Summary

Manifest = Annotated[
    str | None,
    typer.Option(
        "--manifest",
        "-m",
        metavar="FILE",
        help="The manifest, or its folder: calligram.toml, else pyproject.toml with "
        "[tool.calligram].",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, also for errors (on stderr).")]


def build(
    manifest: Manifest = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; list what a build would change, and exit 1."),
    ] = False,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Build again whenever an input changes, until Ctrl-C."),
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Compile everything, whatever the record says; with --check the files are "
            "compared with what comes out.",
        ),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="The most processes; as many as cores unless given."
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Bring the grammars of a manifest up to date. Only what has changed is compiled."""
    if watch and (check or as_json):
        other = "--check" if check else "--json"
        raise typer.BadParameter(f"does not go with {other}", param_hint="'--watch'")
    jobs = jobs or _cores()
    if watch:
        return _watch(manifest, jobs, force)
    from ..build import run
    from ..build.state import MEANING

    file = _find(manifest)
    with _Bar() as bar:
        if check:
            stale, summary = run.check(file, jobs, force, bar.show)
        else:
            stale, summary = [], run.build(file, jobs, force, bar.show, _waiting)
    if summary.failed:
        if not as_json:
            lines = [f"{s.output}: {MEANING[s.reason]}" for s in stale]
            _say([*lines, *summary.notes, "" if check else _line(summary)])
        print_problems(_problems(summary), as_json)
        return ExitCode.INPUT if summary.input else ExitCode.CANNOT_COMPILE
    if check:
        if as_json:
            document: dict[str, Any] = {"fresh": summary.fresh, "stale": [asdict(s) for s in stale]}
            _print(document)
        else:
            lines = [f"{s.output}: {MEANING[s.reason]}" for s in stale]
            lines = lines or [f"{_grammars(summary.fresh)} up to date"]
            write_out("".join(f"{visible(line)}\n" for line in lines))
        return ExitCode.REFUSED if stale else ExitCode.OK
    if as_json:
        _print(
            {
                "built": summary.built,
                "fresh": summary.fresh,
                "removed": summary.removed,
                "notes": summary.notes,
            }
        )
    else:
        _say(summary.notes)
        write_out(visible(_line(summary)) + "\n")
    return ExitCode.OK


def clean(manifest: Manifest = None, as_json: Json = False) -> None:
    """Remove what builds made, but for files that were changed since."""
    from ..build import run

    removed, left = run.clean(_find(manifest), _waiting)
    if as_json:
        _print({"removed": removed, "left": left})
        return
    _say(f"left: {path}: changed since it was built" for path in left)
    write_out(f"{len(removed):,} file{'' if len(removed) == 1 else 's'} removed\n")


def _find(manifest: str | None) -> str:
    from ..build.manifest import find

    if manifest is None or os.path.isdir(manifest):
        return find(manifest or "")
    return manifest


def _watch(manifest: str | None, jobs: int, force: bool) -> int:
    """Build until Ctrl-C, which is how this ends, and so no failure."""
    from ..build import run, watch

    file = _find(manifest)
    inputs: tuple[str, ...] = (file,)
    told: list[Problem] = []
    sys.stderr.write("watching; Ctrl-C ends it\n")
    try:
        while True:
            seen = watch.look(inputs)
            found: list[Problem] = []
            try:
                with _Bar() as bar:
                    summary = run.build(file, jobs, force, bar.show, _waiting)
                if summary.built or summary.removed:
                    _say(summary.notes)
                    write_out(visible(_line(summary)) + "\n")
                found = _problems(summary)
                looked = summary.inputs
            except CalligramError as error:
                found = list(error.problems)
                looked = tuple(sorted({file, *inputs}))
            force = False
            if found and found != told:
                print_problems(found, False)
            told = found
            if looked != inputs:
                # What changed while nobody looked at it yet is built now.
                inputs = looked
                continue
            watch.wait(seen)
    except KeyboardInterrupt:
        return ExitCode.OK


def _problems(summary: Summary) -> list[Problem]:
    """All problems, each once, in the order of the grammars' names."""
    found = [p for name in sorted(summary.failed) for p in summary.failed[name]]
    return [replace(p, hint=p.hint and as_keys(p.hint)) for p in dict.fromkeys(found)]


def as_keys(words: str) -> str:
    """`words` with arguments of ``compile_tools`` spelled as keys of a manifest."""
    words = re.sub(r"\bbounds=None\b", 'bounds = "none"', words)
    words = words.replace("`max_depth`", "the key max_depth")
    words = re.sub(r'\bdocuments=\{("[^"]*"): …\}', r'documents = {\1 = "FILE"}', words)
    words = re.sub(r"\b([a-z_]+)=True\b", r"\1 = true", words)
    return re.sub(r'\b([a-z_]+)=("[\w-]+")', r"\1 = \2", words)


def _line(summary: Summary) -> str:
    """What a build did, in one line."""
    parts = [
        f"{_grammars(len(summary.built))} built" if summary.built else "",
        f"{summary.fresh:,} up to date" if summary.built else "",
        f"{_grammars(summary.fresh)} up to date" if not summary.built else "",
        f"{len(summary.removed):,} removed" if summary.removed else "",
        f"{len(summary.failed):,} failed" if summary.failed else "",
    ]
    return ", ".join(filter(None, parts))


def _grammars(count: int) -> str:
    return f"{count:,} grammar{'' if count == 1 else 's'}"


def _say(lines: Any) -> None:
    """Sentences for people, on standard error."""
    sys.stderr.write("".join(f"{visible(line)}\n" for line in lines if line))


def _print(document: dict[str, Any]) -> None:
    write_out(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def _waiting() -> None:
    sys.stderr.write("another build of this manifest is at work; waiting for it\n")


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Bar:
    """A bar on a terminal, from the first time that there is something to show."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._update: Any = None

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def show(self, done: int, total: int) -> None:
        """So many of so many grammars are done."""
        if not sys.stderr.isatty():
            return
        if self._update is None:
            from .progress import bars

            shown = self._stack.enter_context(bars())
            task = shown.add_task("grammars", total=total)
            self._update = lambda count: shown.update(task, completed=count)
        self._update(done)
