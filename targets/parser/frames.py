"""An open capture, and where values stand in the text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...compiler.grammar import Slot

Span = tuple[int, int]
"""Two byte offsets of the text."""


@dataclass(slots=True)
class Place:
    """Where a value stands, and what is known of the values in it.

    Attributes:
        json: its text is JSON, to be looked through when somebody asks.
    """

    span: Span
    inner: dict[str | int, Place] = field(default_factory=dict)
    json: bool = False


class Frame:
    """An open capture. What few captures have is the class's until it is set, for there are many.

    Attributes:
        outer: the capture around it.
        members, names, items, inner: what it holds, the members' keys, and where its values stand;
            None: nothing.
        tells, told, held, count: of what is told of it: how, up to which byte, whether the rest
            waits for its end, and how many members it has.
        spoilt: does it hold what stands for no value? Then the call is none.
    """

    name: str | None = None
    id: str | None = None
    key: str | None = None
    value: Any = None
    has_value: bool = False
    members: list[tuple[str, Any]] | None = None
    names: set[str] | None = None
    items: list[Any] | None = None
    arguments_start: int | None = None
    arguments_end: int | None = None
    place: Place | None = None
    inner: dict[str | int, Place] | None = None
    tells: str | None = None
    held: bool = False
    count: int = 0
    spoilt: bool = False

    def __init__(self, slot: Slot, start: int, outer: Frame | None) -> None:
        self.slot = slot
        self.start = self.told = start
        self.outer = outer

    def add_member(self, key: str, value: Any, place: Place | None) -> bool:
        """Take in a member; -> whether its key was there already."""
        if self.members is None or self.names is None:
            self.members, self.names = [], set()
        repeated = key in self.names
        self.names.add(key)
        self.members.append((key, value))
        if place is not None:
            self._put(key, place)
        return repeated

    def add_item(self, value: Any, place: Place) -> None:
        """Take in an item."""
        if self.items is None:
            self.items = []
        self._put(len(self.items), place)
        self.items.append(value)

    def _put(self, step: str | int, place: Place) -> None:
        if self.inner is None:
            self.inner = {}
        self.inner[step] = place
