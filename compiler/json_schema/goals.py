"""What the algebra of forms asks of the reader, who knows what goals stand for."""

from __future__ import annotations

from typing import Protocol

from ..ir import Json
from ..origin import Origin
from .forms import Alternative, Goal


class Goals(Protocol):
    """What the algebra asks of the reader, who knows what goals stand for."""

    def dead(self, goal: Goal) -> bool:
        """Whether the goal provably lets no value through."""
        ...

    def admits(self, alternative: Alternative, value: Json) -> bool:
        """Whether the alternative lets the value through; may look into goals."""
        ...

    def constant(self, value: Json, origin: Origin) -> Goal:
        """The goal of being equal to `value`."""
        ...

    def step(self, origin: Origin, units: int = 1) -> None:
        """Count units of work; raises LimitExceeded when the budget is spent."""
        ...
