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


@dataclass(slots=True)
class Frame:
    """An open capture.

    Attributes:
        outer: the capture around it.
        tells, told, held, count: of what is told of it: how, up to which byte, whether the rest
            waits for its end, and how many members it has.
        spoilt: does it hold what stands for no value? Then the call is none.
    """

    slot: Slot
    start: int
    told: int
    outer: Frame | None = None
    name: str | None = None
    id: str | None = None
    key: str | None = None
    value: Any = None
    has_value: bool = False
    members: list[tuple[str, Any]] = field(default_factory=list)
    items: list[Any] = field(default_factory=list)
    arguments_start: int | None = None
    arguments_end: int | None = None
    place: Place | None = None
    inner: dict[str | int, Place] = field(default_factory=dict)
    tells: str | None = None
    held: bool = False
    count: int = 0
    spoilt: bool = False
