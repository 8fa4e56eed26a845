"""What is stale: units held against the record and the files that are there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .digests import SHIPPED, Digests, file_digest
from .plan import Plan, Unit
from .record import Entry

Reason: TypeAlias = Literal["new", "stale", "missing", "edited", "differs", "unnamed", "unreadable"]

MEANING: Mapping[Reason, str] = {
    "new": "was not built yet",
    "stale": "what it is made of has changed",
    "missing": "is not there",
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


def stale_outputs(unit: Unit, entry: Entry | None, digests: Digests) -> list[Stale]:
    """The outputs of a unit that a build would make again, in its order."""
    found = []
    inputs_differ = entry is not None and (
        entry.key != unit.key
        or dict(entry.more) != digests_of_more(unit.folder, entry.more, digests)
    )
    for _, path in unit.outputs:
        there = file_digest(unit.path(path))
        reason: Reason
        if there is None:
            reason = "missing"
        elif entry is None or path not in entry.outputs:
            reason = "new"
        elif inputs_differ:
            reason = "stale"
        elif there != entry.outputs[path]:
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
        else digests.of(os.path.join(folder, name)) or ""
        for name in names
    }


def unnamed(made: Plan, entries: Mapping[str, Entry]) -> dict[str, tuple[str, str]]:
    """Outputs of the record that no unit has any more: path -> (unit's name, digest then).

    What belongs to a grammar that cannot be planned is not among them: nobody knows.
    """
    named = {path for unit in made.units.values() for _, path in unit.outputs}
    return {
        path: (name, digest)
        for name, entry in entries.items()
        if name.split("/")[0] not in made.failed
        for path, digest in entry.outputs.items()
        if path not in named
    }
