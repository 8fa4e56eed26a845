"""Matching a text against pieces of which some may vary, and saying where it stops matching.

A plan is a list of pieces. A literal must stand there; white space may; of alternatives one must.
Unlike a regular expression this knows, when nothing fits, how far the best try came and what
should have stood there.
"""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True)
class Literal:
    """A text that the spec says: `field` is the JSON pointer of what says so."""

    field: str
    text: str


@dataclass(frozen=True, slots=True)
class Space:
    """White space, as much as there is or less; `note` says what it means that there is any."""

    note: str = ""


@dataclass(frozen=True, slots=True)
class Either:
    """One of several plans, the first that fits."""

    plans: tuple[Plan, ...]
    field: str = ""


Piece: TypeAlias = Literal | Space | Either
Plan: TypeAlias = Sequence[Piece]

_SPACE: Final = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Match:
    """The whole text fits: the fields whose literals stood in it, and notes."""

    fields: tuple[Literal, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class Miss:
    """How far the best try came.

    Attributes:
        position: where the text stops fitting.
        expected: what could have stood from there on, by field; "" is the end of the text.
        fields: the literals that stood before it.
    """

    position: int = -1
    expected: list[Literal] = field(default_factory=list)
    fields: tuple[Literal, ...] = ()

    def at(self, position: int, wanted: Literal, fields: tuple[Literal, ...]) -> None:
        """A try ended at `position`."""
        if position > self.position:
            self.position, self.expected, self.fields = position, [], fields
        if position == self.position and wanted not in self.expected:
            self.expected.append(wanted)


def match(text: str, plan: Plan) -> Match | Miss:
    """The first way in which the whole text fits the plan."""
    miss = Miss()
    found = _match(text, 0, tuple(plan), (), (), miss)
    return found or miss


def _match(
    text: str,
    at: int,
    plan: tuple[Piece, ...],
    fields: tuple[Literal, ...],
    notes: tuple[str, ...],
    miss: Miss,
) -> Match | None:
    if not plan:
        if at == len(text):
            return Match(fields, notes)
        miss.at(at, Literal("", ""), fields)
        return None
    piece, rest = plan[0], plan[1:]
    match piece:
        case Literal():
            if text.startswith(piece.text, at):
                seen = (*fields, piece) if piece.text else fields
                return _match(text, at + len(piece.text), rest, seen, notes, miss)
            same = len(os.path.commonprefix([text[at : at + len(piece.text)], piece.text]))
            miss.at(at + same, Literal(piece.field, piece.text[same:]), fields)
            return None
        case Space():
            end = at
            while end < len(text) and text[end] in _SPACE:
                end += 1
            for stop in (at, *range(end, at, -1)):
                said = (*notes, piece.note) if piece.note and stop > at else notes
                found = _match(text, stop, rest, fields, said, miss)
                if found:
                    return found
            return None
        case Either():
            for option in piece.plans:
                found = _match(text, at, (*option, *rest), fields, notes, miss)
                if found:
                    return found
            return None
