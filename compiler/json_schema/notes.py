"""What is kept of plain schemas for their findings, which are made when somebody looks at them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..findings import Finding, Status
from ..origin import Origin, escape_pointer
from .keywords import IMPLEMENTED, NO_MORE_KEYS, annotation_note

_MORE = "additionalProperties"


@dataclass(slots=True, eq=False)
class Note:
    """The keywords of one schema, as they stood when it was read, for its findings.

    Attributes:
        pointer: where the schema stands.
        keywords: all of them, in order.
        inner: the schemas inside, in the order of reading.
        silent: it says nothing about values.
        closed: it is an object that is closed because it says nothing of undeclared keys.
        said: keywords of which more is to say than that they are enforced.
    """

    pointer: str
    keywords: tuple[str, ...]
    inner: list[Note] = field(default_factory=list)
    silent: bool = False
    closed: bool = False
    said: dict[str, tuple[Status, str]] = field(default_factory=dict)


def findings_of(root: Note, origin: Origin) -> list[Finding]:
    """What became of each keyword, in the order in which the reader finds it."""
    found: dict[tuple[str, str], Finding] = {}
    queue = [root]
    seen: set[int] = set()
    for note in queue:
        if id(note) in seen:
            continue
        seen.add(id(note))
        _add(found, note, origin)
        for inner in note.inner:
            if inner.silent:
                _add(found, inner, origin)
            else:
                queue.append(inner)
        if note.closed:
            at = Origin(note.pointer, origin.tool, origin.file)
            found[at.pointer, _MORE] = Finding("narrowed", _MORE, NO_MORE_KEYS, at)
    return list(found.values())


def _add(found: dict[tuple[str, str], Finding], note: Note, origin: Origin) -> None:
    for keyword in note.keywords:
        at = Origin(f"{note.pointer}/{escape_pointer(keyword)}", origin.tool, origin.file)
        if keyword in note.said:
            status, how = note.said[keyword]
            made = Finding(status, keyword, how, at)
        elif keyword in IMPLEMENTED:
            made = Finding("enforced", keyword, "", at)
        else:
            made = Finding("annotation", keyword, annotation_note(keyword), at)
        found.setdefault((at.pointer, keyword), made)
