"""What JSON values may hold to be written or read back.

Values are walked recursively, a few frames of the interpreter's stack a level; texts are not, and
the automaton has a limit of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MAX_NESTING: Final = 128
"""Arrays and objects inside one another."""

MAX_REMEMBERED: Final = 10_000
"""Texts that one array or object remembers, so that items or keys differ."""

MAX_EXPONENT: Final = 4000
"""Exponent beyond which a number is refused rather than written out."""


def too_deep(value: Any) -> bool:
    """Whether arrays and objects nest more than `MAX_NESTING` deep."""
    level = [value]
    for _ in range(MAX_NESTING):
        inner: list[Any] = []
        for part in level:
            if isinstance(part, Mapping):
                inner += part.values()
            elif isinstance(part, (list, tuple)):
                inner += part
        level = [v for v in inner if isinstance(v, (Mapping, list, tuple))]
        if not level:
            return False
    return True
