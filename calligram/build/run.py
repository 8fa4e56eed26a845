"""Build, check and clean: manifest -> outputs and record, or what is wrong with them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ..compiler.origin import Problem
from . import record
from .digests import file_digest
from .lock import held, sweep
from .manifest import Loaded, load
from .outcome import Done, Failed
from .plan import Plan, Unit, plan
from .pool import outcomes
from .record import Entry, RecordError
from .state import Stale, stale_outputs, unnamed

_EVERY: Final = 1.0
"""Seconds between two times that the record is written; a killed build loses what is younger."""

Show = Callable[[int, int], None]
"""Told how many units of how many are done."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a build did.

    Attributes:
        built: names of the units that were compiled, sorted.
        fresh: how many were as they should be.
        removed: outputs that the manifest named no longer.
        failed: problems by the name of the unit, or of the table of the manifest.
        input: whether all failures are about input that is wrong.
        notes: sentences for people.
        inputs: the files that were looked at.
    """

    built: tuple[str, ...]
    fresh: int
    removed: tuple[str, ...]
    failed: Mapping[str, tuple[Problem, ...]]
    input: bool
    notes: tuple[str, ...]
    inputs: tuple[str, ...]


def _nothing(*_: object) -> None:
    return


def build(
    file: str,
    jobs: int,
    force: bool = False,
    show: Show = _nothing,
    waiting: Callable[[], None] = _nothing,
) -> Summary:
    """Bring the outputs of a manifest up to date.

    Args:
        jobs: the most processes.
        force: compile everything, whatever the record says.
        show: progress.
        waiting: called if another build has to end first.

    Raises:
        CalligramError: the manifest is wrong, or the record cannot be written. What is wrong with
            single grammars is in the summary.
    """
    with held(file, waiting) as lock:
        return _build(load(file), jobs, force, show, lock)


def _build(loaded: Loaded, jobs: int, force: bool, show: Show, lock: int | None) -> Summary:
    notes: list[str] = []
    path = os.path.join(loaded.folder, loaded.record)
    try:
        entries = record.read(path)
    except RecordError as error:
        notes.append(f"warning: {path}: {error.problems[0].message}; everything is built anew")
        entries = {}
    made = plan(loaded)
    _sweep(made, entries, loaded, path)
    old = unnamed(made, entries)
    wanted = [
        unit
        for unit in made.units.values()
        if force or stale_outputs(unit, entries.get(unit.name), made.digests)
    ]
    failed = dict(made.failed)
    all_input = True
    built: list[str] = []
    written = time.monotonic()
    try:
        if wanted:
            show(0, len(wanted))
        # Closed, so that workers end when somebody interrupts.
        with closing(outcomes(wanted, jobs, True, lock)) as coming:
            for count, outcome in enumerate(coming, 1):
                match outcome:
                    case Done(unit=name):
                        built.append(name)
                        notes += [f"{name}: {warning}" for warning in outcome.warnings]
                        before = entries[name].outputs if name in entries else {}
                        kept = {p: d for p, d in before.items() if p in old}
                        entries[name] = Entry(
                            made.units[name].key, outcome.more, {**kept, **outcome.outputs}
                        )
                    case Failed(unit=name):
                        failed[name] = outcome.problems
                        all_input = all_input and outcome.input
                if time.monotonic() - written > _EVERY:
                    record.write(path, entries)
                    written = time.monotonic()
                show(count, len(wanted))
        # Somebody who gave a grammar another name and broke it loses nothing yet.
        removed = () if failed else _remove(loaded.folder, old, entries, notes)
    finally:
        record.write(path, entries)
    return Summary(
        tuple(sorted(built)), len(made.units) - len(wanted), removed, _placed(loaded, failed),
        all_input,
        tuple(sorted(notes)), _inputs(loaded, made, entries),
    )  # fmt: skip


def check(
    file: str, jobs: int, force: bool = False, show: Show = _nothing
) -> tuple[list[Stale], Summary]:
    """What a build would change; nothing is written. The summary tells what cannot be built.

    Args:
        force: compile everything too, and compare the files byte for byte.

    Raises:
        CalligramError: the manifest is wrong.
    """
    loaded = load(file)
    path = os.path.join(loaded.folder, loaded.record)
    found: list[Stale] = []
    try:
        entries = record.read(path)
    except RecordError:
        entries = {}
        found.append(Stale(loaded.record, "", "unreadable"))
    made = plan(loaded)
    failed, all_input = dict(made.failed), True
    if force:
        units = list(made.units.values())
        show(0, len(units))
        with closing(outcomes(units, jobs, False)) as coming:
            for count, outcome in enumerate(coming, 1):
                match outcome:
                    case Done(unit=name):
                        found += _differing(made.units[name], outcome.outputs)
                    case Failed(unit=name):
                        failed[name] = outcome.problems
                        all_input = all_input and outcome.input
                show(count, len(units))
    told = {stale.output for stale in found}
    for unit in made.units.values():
        recorded = stale_outputs(unit, entries.get(unit.name), made.digests)
        found += [stale for stale in recorded if stale.output not in told]
    found += [Stale(p, name, "unnamed") for p, (name, _) in unnamed(made, entries).items()]
    found.sort(key=lambda stale: (stale.output, stale.grammar))
    fresh = len(set(made.units) - {stale.grammar for stale in found} - set(failed))
    inputs = _inputs(loaded, made, entries)
    return found, Summary((), fresh, (), _placed(loaded, failed), all_input, (), inputs)


def _placed(
    loaded: Loaded, failed: Mapping[str, tuple[Problem, ...]]
) -> Mapping[str, tuple[Problem, ...]]:
    """The problems with their lines in the manifest."""
    return {name: loaded.placed(problems) for name, problems in failed.items()}


def _differing(unit: Unit, outputs: Mapping[str, str]) -> list[Stale]:
    """Files that are not what was just compiled; `outputs` has the digests of that."""
    found = []
    for path, digest in outputs.items():
        there = file_digest(unit.path(path))
        if there != digest:
            found.append(Stale(path, unit.name, "missing" if there is None else "differs"))
    return found


def clean(
    file: str, waiting: Callable[[], None] = _nothing
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Remove the outputs that builds made and nobody changed since, and then the record.

    Returns: what was removed, and what was left because it was changed.

    Raises:
        CalligramError: the manifest or the record cannot be read.
    """
    with held(file, waiting):
        loaded = load(file)
        path = os.path.join(loaded.folder, loaded.record)
        entries = record.read(path)
        outputs = {
            output: (name, digest)
            for name, entry in entries.items()
            for output, digest in entry.outputs.items()
        }
        sweep([path, *(os.path.join(loaded.folder, output) for output in outputs)])
        left = _changed(loaded.folder, outputs)
        removed = _remove(loaded.folder, outputs, entries, [])
        record.write(path, entries)
        return removed, left


def _remove(
    folder: str,
    outputs: Mapping[str, tuple[str, str]],
    entries: dict[str, Entry],
    notes: list[str],
) -> tuple[str, ...]:
    """Remove files that are as they were built, and take all of them out of the entries."""
    left = _changed(folder, outputs)
    notes += [f"left: {path}: named no longer, but changed since it was built" for path in left]
    removed = []
    for path, (name, _) in outputs.items():
        there = Path(folder, path)
        if path not in left and there.exists():
            try:
                there.unlink()
            except OSError as error:
                notes.append(f"left: {path}: cannot be removed: {error.strerror or error}")
                continue
            removed.append(path)
        entry = entries[name]
        kept = {p: d for p, d in entry.outputs.items() if p != path}
        entries[name] = replace(entry, outputs=kept)
        if not kept:
            del entries[name]
    return tuple(sorted(removed))


def _changed(folder: str, outputs: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    found = []
    for path, (_, digest) in outputs.items():
        there = os.path.join(folder, path)
        if os.path.lexists(there) and file_digest(there) != digest:
            found.append(path)
    return tuple(sorted(found))


def _sweep(made: Plan, entries: Mapping[str, Entry], loaded: Loaded, path: str) -> None:
    outputs = {p for unit in made.units.values() for _, p in unit.outputs}
    outputs.update(p for entry in entries.values() for p in entry.outputs)
    sweep([path, *(os.path.join(loaded.folder, p) for p in sorted(outputs))])


def _inputs(loaded: Loaded, made: Plan, entries: Mapping[str, Entry]) -> tuple[str, ...]:
    more = {name for entry in entries.values() for name in entry.more}
    files = {loaded.file, *made.digests.files, *(os.path.join(loaded.folder, m) for m in more)}
    return tuple(sorted(files))
