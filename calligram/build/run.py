"""Build, check and clean: manifest -> outputs and record, or what is wrong with them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final

from ..compiler.origin import Problem
from . import record
from .digests import file_digest
from .lock import held, sweep
from .manifest import Loaded, load
from .outcome import Done, Failed
from .places import file_of
from .plan import Plan, Unit, plan
from .pool import outcomes
from .record import Entry, Record, RecordError
from .remove import changed, remove
from .state import Recorded, Stale, stale_outputs, unnamed

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
        targets: of those that failed for one target, which.
        input: whether all failures are about input that is wrong.
        notes: sentences for people.
        inputs: the files that were looked at.
        outputs: the files that belong to the manifest.
        first: whether there was no record yet.
    """

    built: tuple[str, ...]
    fresh: int
    removed: tuple[str, ...]
    failed: Mapping[str, tuple[Problem, ...]]
    targets: Mapping[str, str]
    input: bool
    notes: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    first: bool


def _nothing(*_: object) -> None:
    return


def build(
    file: str,
    jobs: int,
    force: bool = False,
    show: Show = _nothing,
    waiting: Callable[[], None] = _nothing,
    overwrite: bool = False,
) -> Summary:
    """Bring the outputs of a manifest up to date.

    Args:
        jobs: the most processes.
        force: compile everything, whatever the record says.
        show: progress.
        waiting: called if another build has to end first.
        overwrite: replace files that are there already and that no build made.

    Raises:
        CalligramError: the manifest is wrong, or the record cannot be written. What is wrong with
            single grammars is in the summary.
    """
    with held(file, waiting) as lock:
        return _Build(load(file), overwrite).run(jobs, force, show, lock)


class _Build:
    """One build: what was recorded before, and what is to be recorded now."""

    def __init__(self, loaded: Loaded, overwrite: bool) -> None:
        self.loaded, self.overwrite = loaded, overwrite
        self.path = os.path.join(loaded.folder, loaded.record)
        self.notes: list[str] = []
        self.ours: set[str] = set()
        self.made = plan(loaded)
        found = None
        try:
            found = own_record(loaded)
        except RecordError as error:
            if not error.ours:
                raise
            self.notes.append(
                f"warning: {self.path}: {error.problems[0].message}; everything is built anew"
            )
            self.ours |= {file_of(loaded.folder, path) for path in error.named}
        self.first = found is None and not self.notes
        self.entries = dict(found.entries) if found else {}
        self.recorded = Recorded(loaded.folder, Record(self.entries))
        self.ours |= set(self.recorded.digests)
        self.old = unnamed(self.made, self.entries, loaded.folder)

    def run(self, jobs: int, force: bool, show: Show, lock: int | None) -> Summary:
        made = self.made
        sweep([self.path, *_paths(self.loaded, made, self.entries)])
        wanted = [
            unit
            for unit in made.units.values()
            if force or stale_outputs(unit, self.recorded, made.digests)
        ]
        for name in set(made.units) - {unit.name for unit in wanted}:
            self._record(made.units[name], self._as_spelled(made.units[name]))
        failed: dict[str, Failed] = {
            name: Failed(name, problems, True) for name, problems in made.failed.items()
        }
        built: list[str] = []
        removed: tuple[str, ...] = ()
        written = time.monotonic()
        try:
            if wanted:
                show(0, len(wanted))
            # Closed, so that workers end when somebody interrupts.
            mine = {unit.name: self._mine(unit) for unit in wanted}
            with closing(outcomes(wanted, jobs, mine, lock)) as coming:
                for count, outcome in enumerate(coming, 1):
                    match outcome:
                        case Done(unit=name):
                            built.append(name)
                            self.notes += [f"{name}: {warning}" for warning in outcome.warnings]
                            entry = Entry(made.units[name].key, outcome.more, outcome.outputs)
                            self._record(made.units[name], entry)
                        case Failed(unit=name):
                            failed[name] = outcome
                    if time.monotonic() - written > _EVERY:
                        self._write()
                        written = time.monotonic()
                    show(count, len(wanted))
            # Somebody who gave a grammar another name and broke it loses nothing yet.
            if not failed:
                removed = self._remove()
        finally:
            self._settle()
            self._write()
        fresh = len(made.units) - len(wanted)
        return summary(
            self.loaded, made, self.entries, failed, fresh, built=tuple(sorted(built)),
            removed=removed, notes=tuple(sorted(self.notes)), first=self.first,
        )  # fmt: skip

    def _mine(self, unit: Unit) -> frozenset[str]:
        """The outputs of a unit that may be replaced."""
        folder = self.loaded.folder
        return frozenset(
            path for _, path in unit.outputs if self.overwrite or file_of(folder, path) in self.ours
        )

    def _as_spelled(self, unit: Unit) -> Entry:
        """The entry of a unit that is as it should be, with the names that it has now."""
        entry = self.entries[unit.name]
        digests = {path: self.recorded.digest_of(unit, path) or "" for _, path in unit.outputs}
        return replace(entry, outputs=digests)

    def _record(self, unit: Unit, entry: Entry) -> None:
        """Take a unit's entry; what it made once and makes no longer stays until it is removed."""
        before = self.entries.get(unit.name)
        kept = {p: d for p, d in before.outputs.items() if p in self.old} if before else {}
        self.entries[unit.name] = replace(entry, outputs={**kept, **entry.outputs})

    def _remove(self) -> tuple[str, ...]:
        loaded, made = self.loaded, self.made
        left = changed(loaded.folder, self.old)
        self.notes += [
            f"left: {path}: named no longer, but changed since it was built" for path in left
        ]
        kept = {file_of("", path) for path in _inputs(loaded, made, self.entries)}
        kept |= {file_of("", self.path)}
        removed = remove(loaded.folder, self.old, kept, left, self.notes)
        gone = removed.gone | set(left)
        for name, entry in list(self.entries.items()):
            outputs = {p: d for p, d in entry.outputs.items() if p not in gone}
            self.entries[name] = replace(entry, outputs=outputs)
        return removed.removed

    def _settle(self) -> None:
        """Take what other grammars have made meanwhile out of the entries of those that made it
        once: the record says what is there, not how it came to be."""
        folder = self.loaded.folder
        owner = {
            file_of(folder, path): unit.name
            for unit in self.made.units.values()
            for _, path in unit.outputs
            if path in self._outputs_of(unit.name)
        }
        for name, entry in list(self.entries.items()):
            outputs = {
                path: digest
                for path, digest in entry.outputs.items()
                if owner.get(file_of(folder, path), name) == name
            }
            self.entries[name] = replace(entry, outputs=outputs)
            if not outputs:
                del self.entries[name]

    def _outputs_of(self, name: str) -> Mapping[str, str]:
        return self.entries[name].outputs if name in self.entries else {}

    def _write(self) -> None:
        record.write(self.path, Record(self.entries, os.path.basename(self.loaded.file)))


def own_record(loaded: Loaded) -> Record | None:
    """The record of a manifest; None if there is none yet.

    Raises:
        RecordError: it is none, or that of another manifest.
    """
    path = os.path.join(loaded.folder, loaded.record)
    found = record.read(path)
    mine = os.path.basename(loaded.file)
    if found is None or found.manifest in (None, mine):
        return found
    assert found.manifest is not None
    if not os.path.isfile(os.path.join(loaded.folder, found.manifest)):
        return found  # The manifest has another name now.
    message = f"the record `{loaded.record}` is that of {found.manifest}"
    hint = "give one of the two manifests a `record` of another name"
    problem = Problem("record-manifest", message, loaded.origin("record"), hint)
    raise RecordError(loaded.placed([problem]))


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
    made = plan(loaded)
    found: list[Stale] = []
    kept: Record | None = None
    try:
        kept = own_record(loaded)
    except RecordError as error:
        if not error.ours:
            raise
        found.append(Stale(loaded.record, "", "unreadable"))
    first = kept is None and not found
    entries = kept.entries if kept else {}
    recorded = Recorded(loaded.folder, Record(entries))
    failed: dict[str, Failed] = {
        name: Failed(name, problems, True) for name, problems in made.failed.items()
    }
    if force:
        units = list(made.units.values())
        show(0, len(units))
        with closing(outcomes(units, jobs, None)) as coming:
            for count, outcome in enumerate(coming, 1):
                match outcome:
                    case Done(unit=name):
                        found += _differing(made.units[name], outcome.outputs)
                    case Failed(unit=name):
                        failed[name] = outcome
                show(count, len(units))
    told = {stale.output for stale in found}
    for unit in made.units.values():
        listed = stale_outputs(unit, recorded, made.digests)
        found += [stale for stale in listed if stale.output not in told]
    old = unnamed(made, entries, loaded.folder)
    found += [Stale(path, name, "unnamed") for path, (name, _) in old.items()]
    found.sort(key=lambda stale: (stale.output, stale.grammar))
    fresh = len(set(made.units) - {stale.grammar for stale in found} - set(failed))
    return found, summary(loaded, made, entries, failed, fresh, first=first)


def summary(
    loaded: Loaded,
    made: Plan,
    entries: Mapping[str, Entry],
    failed: Mapping[str, Failed],
    fresh: int,
    *,
    built: tuple[str, ...] = (),
    removed: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    first: bool = False,
) -> Summary:
    """The summary, the problems with their lines in the manifest."""
    return Summary(
        built=built,
        fresh=fresh,
        removed=removed,
        failed={name: loaded.placed(found.problems) for name, found in failed.items()},
        targets={name: found.target for name, found in failed.items() if found.target},
        input=all(found.input for found in failed.values()),
        notes=notes,
        inputs=_inputs(loaded, made, entries),
        outputs=tuple(_paths(loaded, made, {})),
        first=first,
    )


def _differing(unit: Unit, outputs: Mapping[str, str]) -> list[Stale]:
    """Files that are there and not what was just compiled; `outputs` has the digests of that."""
    return [
        Stale(path, unit.name, "differs")
        for path, digest in outputs.items()
        if file_digest(unit.path(path)) not in (None, digest)
    ]


def clean(
    file: str, waiting: Callable[[], None] = _nothing
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Remove the outputs that builds made and nobody changed since, and then the record.

    What was changed stays, and stays in the record: the next build may replace it.

    Returns: what was removed, what was left because it was changed, and sentences about the rest.

    Raises:
        CalligramError: the manifest or the record cannot be read.
    """
    with held(file, waiting):
        loaded = load(file)
        found = own_record(loaded) or Record()
        path = os.path.join(loaded.folder, loaded.record)
        outputs = {output: (name, digest) for name, output, digest in found.outputs()}
        sweep([path, *(os.path.join(loaded.folder, output) for output in outputs)])
        left = changed(loaded.folder, outputs)
        kept = {file_of("", p) for p in _inputs(loaded, plan(loaded), found.entries)}
        kept |= {file_of("", path)}
        notes: list[str] = []
        done = remove(loaded.folder, outputs, kept, left, notes)
        entries = {}
        for name, entry in found.entries.items():
            rest = {p: d for p, d in entry.outputs.items() if p not in done.gone}
            if rest:
                entries[name] = replace(entry, outputs=rest)
        record.write(path, Record(entries, os.path.basename(loaded.file)))
        return done.removed, left, tuple(notes)


def _paths(loaded: Loaded, made: Plan, entries: Mapping[str, Entry]) -> Iterator[str]:
    """The outputs of a manifest, and those of entries, to be opened."""
    outputs = {p for unit in made.units.values() for _, p in unit.outputs}
    outputs.update(p for entry in entries.values() for p in entry.outputs)
    return (os.path.join(loaded.folder, path) for path in sorted(outputs))


def _inputs(loaded: Loaded, made: Plan, entries: Mapping[str, Entry]) -> tuple[str, ...]:
    more = {name for entry in entries.values() for name in entry.more}
    files = {loaded.file, *made.digests.files, *(os.path.join(loaded.folder, m) for m in more)}
    return tuple(sorted(files))
