"""Removing outputs that are as builds made them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..compiler.errors import reason_of
from .digests import file_digest
from .places import file_of

Outputs = Mapping[str, tuple[str, str]]
"""Path -> (the unit's name, the digest when it was built)."""


@dataclass(frozen=True, slots=True)
class Removed:
    """``removed``: the paths that are there no longer since, sorted; ``gone``: those that are the
    build's no longer, others among them."""

    removed: tuple[str, ...]
    gone: frozenset[str]


def remove(
    folder: str, outputs: Outputs, kept: Collection[str], left: Collection[str], notes: list[str]
) -> Removed:
    """Remove files. A link to one is whoever's made it, and stays.

    Args:
        kept: files that a build reads, which no record makes its own.
        left: outputs that stay.
        notes: told what could not be removed.
    """
    removed, gone = [], set()
    for path in outputs:
        if path in left:
            continue
        file = file_of(folder, path)
        if os.path.lexists(file) and file not in kept:
            try:
                os.unlink(os.path.realpath(os.path.join(folder, path)))
            except OSError as error:
                notes.append(f"left: {path}: cannot be removed: {reason_of(error)}")
                continue
            removed.append(path)
        gone.add(path)
    return Removed(tuple(sorted(removed)), frozenset(gone))


def changed(folder: str, outputs: Outputs) -> tuple[str, ...]:
    """Outputs that are there and not as they were built, sorted."""
    found = []
    for path, (_, digest) in outputs.items():
        there = os.path.join(folder, path)
        if os.path.exists(there) and file_digest(there) != digest:
            found.append(path)
    return tuple(sorted(found))
