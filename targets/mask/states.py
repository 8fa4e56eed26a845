"""The two states that every mask automaton has."""

from __future__ import annotations

from typing import Final

DEAD: Final = 0
"""Nothing can follow."""

ENDED: Final = -1
"""The state of a sequence that has taken an end token."""
