"""What deriving found, why, and what it could not find."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Found:
    """One part of the spec.

    Attributes:
        field: JSON pointer into the spec.
        why: what in the renders says so, one sentence.
        quirk: whether the template writes something else here, taken for a mistake of history.
    """

    field: str
    why: str
    quirk: bool = False

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {"field": self.field, "why": self.why, "history_quirk": self.quirk}


@dataclass(frozen=True, slots=True)
class Unknown:
    """What the renders do not tell."""

    field: str
    why: str

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {"field": self.field, "why": self.why}


@dataclass(slots=True)
class Notes:
    """Both, in the order in which they were found."""

    found: list[Found] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)

    def say(self, pointer: str, why: str) -> None:
        """A part was found."""
        self.found.append(Found(pointer, why))

    def quirk(self, pointer: str, why: str) -> None:
        """The template has it otherwise, and the spec does not follow it."""
        self.found.append(Found(pointer, why, quirk=True))

    def miss(self, pointer: str, why: str) -> None:
        """A part could not be found."""
        self.unknown.append(Unknown(pointer, why))
