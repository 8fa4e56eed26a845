"""`calligram build` and `calligram clean`: the grammars of a manifest."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..compiler.errors import CalligramError
from ..compiler.origin import Problem
from .exit_codes import ExitCode
from .files import write_out
from .problems import print_problems, visible

if TYPE_CHECKING:
    from ..build.run import Summary
    from ..build.state import Stale

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
_NAMED = 4
"""Grammars that are named in one line."""

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
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace files that are there already and that no build made.",
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
    if check and overwrite:
        raise typer.BadParameter("does not go with --check", param_hint="'--overwrite'")
    jobs = jobs or _cores()
    if watch:
        return _watch(manifest, jobs, force, overwrite)
    from ..build import run

    file = _find(manifest)
    with _Bar() as bar:
        if check:
            stale, summary = run.check(file, jobs, force, bar.show)
        else:
            stale, summary = None, run.build(file, jobs, force, bar.show, _waiting, overwrite)
    if as_json:
        _print(_document(summary, stale))
    lines = summary.notes if stale is None else _listed(stale, summary)
    if summary.failed:
        if not as_json:
            _say([*lines, "" if check else _line(summary)])
        _print_failures(summary, as_json)
        return ExitCode.INPUT if summary.input else ExitCode.CANNOT_COMPILE
    if check:
        if not as_json:
            lines = lines or [f"{_grammars(summary.fresh)} up to date"]
            write_out("".join(f"{visible(line)}\n" for line in lines))
        return ExitCode.REFUSED if stale else ExitCode.OK
    if not as_json:
        _say(lines)
        write_out(visible(_line(summary)) + "\n")
    return ExitCode.OK


def _document(summary: Summary, stale: list[Stale] | None) -> dict[str, Any]:
    """What a build did, or a check found, for a program."""
    failed = sorted(summary.failed)
    if stale is not None:
        return {
            "fresh": summary.fresh, "stale": [asdict(s) for s in stale], "failed": failed
        }  # fmt: skip
    return {
        "built": summary.built, "fresh": summary.fresh, "removed": summary.removed,
        "failed": failed, "notes": summary.notes,
    }  # fmt: skip


def _listed(stale: list[Stale], summary: Summary) -> list[str]:
    """A line for each output that is not as it should be; one for all where nothing was built."""
    from ..build.state import MEANING

    if summary.first and stale and all(s.reason == "new" for s in stale):
        return [f"nothing was built yet: `calligram build` makes {_counted(len(stale), 'file')}"]
    return [f"{s.output}: {MEANING[s.reason]}" for s in stale]


def clean(manifest: Manifest = None, as_json: Json = False) -> None:
    """Remove what builds made, and their record, but for files that were changed since."""
    from ..build import run

    removed, left, notes = run.clean(_find(manifest), _waiting)
    if as_json:
        _print({"removed": removed, "left": left, "notes": notes})
        return
    _say([*(f"left: {path}: changed since it was built" for path in left), *notes])
    write_out(f"{_counted(len(removed), 'file')} removed\n")


def _find(manifest: str | None) -> str:
    from ..build.manifest import find

    if manifest is None or os.path.isdir(manifest):
        return find(manifest or "")
    return manifest


def _watch(manifest: str | None, jobs: int, force: bool, overwrite: bool) -> int:
    """Build until Ctrl-C, which is how this ends, and so no failure."""
    from ..build import run, watch

    file = _find(manifest)
    inputs: tuple[str, ...] = (file,)
    outputs: tuple[str, ...] = ()
    told: list[Problem] = []
    sys.stderr.write("watching; Ctrl-C ends it\n")
    try:
        while True:
            seen = watch.look((*inputs, *outputs))
            found: list[Problem] = []
            made, changed = outputs, False
            try:
                with _Bar() as bar:
                    summary = run.build(file, jobs, force, bar.show, _waiting, overwrite)
                found = [replace(f.problem, hint=f.words()) for f in _failures(summary)]
                if summary.built or summary.removed or (told and not found):
                    _say(summary.notes)
                    over = "; all is well again" if told and not found else ""
                    write_out(visible(_line(summary)) + over + "\n")
                looked, made = summary.inputs, summary.outputs
                changed = bool(summary.built or summary.removed)
            except CalligramError as error:
                found = list(error.problems)
                looked = tuple(sorted({file, *inputs}))
            force = False
            if found and found != told:
                print_problems(found, False)
            told = found
            if changed or (looked, made) != (inputs, outputs):
                # What changed while nobody looked at it yet is built now.
                inputs, outputs = looked, made
                continue
            # Whoever deletes or edits an output gets it back.
            watch.wait(seen)
    except KeyboardInterrupt:
        return ExitCode.OK


@dataclass(slots=True)
class _Failure:
    """A problem, and the grammars that it is one of."""

    problem: Problem
    target: str | None
    grammars: list[str] = field(default_factory=list)

    def words(self) -> str:
        """The hint, and what the problem is of."""
        shown = ", ".join(f"'{name}'" for name in self.grammars[:_NAMED])
        more = len(self.grammars) - _NAMED
        shown += f" and {more} more" if more > 0 else ""
        line = f"of grammar{'s' if len(self.grammars) > 1 else ''} {shown}"
        if self.target:
            whose = "their" if len(self.grammars) > 1 else "its"
            line += f", target {self.target}; none of {whose} files was written"
        return f"{self.problem.hint}\n  {line}" if self.problem.hint else line

    def to_json(self) -> dict[str, object]:
        """The problem for a program, with these."""
        own: dict[str, object] = {"grammars": self.grammars}
        own |= {"target": self.target} if self.target else {}
        return {**self.problem.to_json(), **own}


def _failures(summary: Summary) -> list[_Failure]:
    """All problems, each once, in the order of the grammars' names."""
    found: dict[tuple[Problem, str | None], _Failure] = {}
    for name in sorted(summary.failed):
        target = summary.targets.get(name)
        for problem in summary.failed[name]:
            worded = replace(problem, hint=problem.hint and as_keys(problem.hint))
            made = found.setdefault((worded, target), _Failure(worded, target))
            made.grammars.append(name)
    return list(found.values())


def _print_failures(summary: Summary, as_json: bool) -> None:
    failures = _failures(summary)
    if as_json:
        document = [failure.to_json() for failure in failures]
        sys.stderr.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        return
    print_problems([replace(f.problem, hint=f.words()) for f in failures], False)


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
    return _counted(count, "grammar")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _say(lines: Any) -> None:
    """Sentences for people, on standard error."""
    sys.stderr.write("".join(f"{visible(line)}\n" for line in lines if line))


def _print(document: dict[str, Any]) -> None:
    write_out(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def _waiting() -> None:
    sys.stderr.write("another build in this folder is at work; waiting for it\n")


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
