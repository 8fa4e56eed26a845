"""What is stale: units held against the record and the files that are there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .digests import SHIPPED, Digests, file_digest
from .places import file_of
from .plan import Plan, Unit
from .record import Entry, Record

Reason: TypeAlias = Literal[
    "new", "missing", "unrecorded", "stale", "edited", "differs", "unnamed", "unreadable"
]

MEANING: Mapping[Reason, str] = {
    "new": "was not built yet",
    "missing": "was built, and is not there any more",
    "unrecorded": "is there, but not in the record",
    "stale": "what it is made of has changed",
    "edited": "was changed since it was built",
    "differs": "is not what a build makes of the same input now",
    "unnamed": "the manifest names it no longer",
    "unreadable": "is no record of a build",
}


@dataclass(frozen=True, slots=True)
class Stale:
    """One output that is not as it should be; ``grammar`` is the unit's name."""

    output: str
    grammar: str
    reason: Reason


class Recorded:
    """A record by files rather than names: one file may have several."""

    def __init__(self, folder: str, record: Record) -> None:
        self.folder = folder
        self.entries = record.entries
        self.digests: dict[str, str] = {}
        self._own: dict[tuple[str, str], str] = {}
        for name, path, digest in record.outputs():
            file = file_of(folder, path)
            self.digests[file] = self._own[name, file] = digest

    def digest_of(self, unit: Unit, path: str) -> str | None:
        """The digest of an output when it was built; None if it was not."""
        file = file_of(self.folder, path)
        return self._own.get((unit.name, file), self.digests.get(file))


def stale_outputs(unit: Unit, recorded: Recorded, digests: Digests) -> list[Stale]:
    """The outputs of a unit that a build would make again, in its order."""
    entry = recorded.entries.get(unit.name)
    inputs_differ = (
        entry is None
        or entry.key != unit.key
        or dict(entry.more) != digests_of_more(unit.folder, entry.more, digests)
    )
    found = []
    for _, path in unit.outputs:
        there, before = file_digest(unit.path(path)), recorded.digest_of(unit, path)
        reason: Reason
        if before is None:
            reason = "new" if there is None else "unrecorded"
        elif there is None:
            reason = "missing"
        elif inputs_differ:
            reason = "stale"
        elif there != before:
            reason = "edited"
        else:
            continue
        found.append(Stale(path, unit.name, reason))
    return found


def digests_of_more(folder: str, names: Iterable[str], digests: Digests) -> dict[str, str]:
    """The digests now of files that a dialect extends; "" for one that is not there."""
    return {
        name: digests.of_shipped()
        if name == SHIPPED
        else digests.of_spec(os.path.join(folder, name)) or ""
        for name in names
    }


def unnamed(made: Plan, entries: Mapping[str, Entry], folder: str) -> dict[str, tuple[str, str]]:
    """Outputs of the record that no unit has any more: path -> (unit's name, digest then).

    What belongs to a grammar that cannot be planned is not among them: nobody knows.
    """
    named = {file_of(folder, path) for unit in made.units.values() for _, path in unit.outputs}
    return {
        path: (name, digest)
        for name, entry in entries.items()
        if name.split("/")[0] not in made.failed
        for path, digest in entry.outputs.items()
        if file_of(folder, path) not in named
    }
