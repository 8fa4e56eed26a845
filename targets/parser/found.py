"""A call that lenient reading found, and what was overlooked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .frames import Place
from .result import Recovery


@dataclass(slots=True)
class Found:
    """A recovered call: where, and what was overlooked.

    Attributes:
        cut: may the call have had more arguments, which were cut off?
        apart: is it marked, or does it stand apart from prose?
    """

    start: int
    end: int
    call: dict[str, Any]
    place: Place | None
    recoveries: list[Note]
    cut: bool = False
    apart: bool = True


@dataclass(frozen=True, slots=True)
class Note:
    """A recovery before the calls are counted."""

    code: str
    message: str
    start: int
    end: int

    def numbered(self, call: int) -> Recovery:
        """As it is in the result."""
        return Recovery(self.code, self.message, self.start, self.end, call)
