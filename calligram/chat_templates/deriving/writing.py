"""A spec as YAML, each part under a comment that says where it is from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from ...spec_yaml import to_yaml
from .notes import Notes
from .verify import Verified

_WIDTH = 100


def as_yaml(
    data: dict[str, Any], notes: Notes | None = None, verified: tuple[Verified, ...] = ()
) -> str:
    """The text of a spec; with comments if there are notes."""
    lines: list[str] = []
    if notes is not None:
        lines += _head(notes, verified)
    for key, value in data.items():
        if notes is not None:
            lines += _comments(key, notes)
        lines.append(to_yaml({key: value}).rstrip("\n"))
    return "\n".join(lines) + "\n"


def _head(notes: Notes, verified: tuple[Verified, ...]) -> Iterator[str]:
    yield from _comment(
        "Derived from a chat template: what it writes into history was read, not what the model "
        "writes. Look it over before it is used."
    )
    for unknown in notes.unknown:
        yield from _comment(f"Not found: {unknown.field[1:]}: {unknown.why}.")
    for row in verified:
        if row.status in ("refused", "misread"):
            said = "the grammar refuses it" if row.status == "refused" else "it is not read back"
            yield from _comment(f"Checked, {row.name}: {said}: {row.message}.")


def _comments(key: str, notes: Notes) -> Iterator[str]:
    for found in notes.found:
        if found.field.split("/")[1] == key:
            inner = "/".join(found.field.split("/")[2:])
            said = f"{inner}: {found.why}" if inner else found.why[:1].upper() + found.why[1:]
            yield from _comment(f"Not followed: {said}." if found.quirk else f"{said}.")


def _comment(text: str) -> list[str]:
    # A template's own words may be in it.
    safe = "".join(c if c.isprintable() else " " for c in text)
    return textwrap.wrap(safe, _WIDTH, initial_indent="# ", subsequent_indent="#   ")
