"""The two states that every token table has beside those of its automaton."""

from __future__ import annotations

from typing import Final

DEAD: Final = 0
"""Nothing can follow: where a token that is not allowed leads."""

ENDED: Final = 1
"""An end token has been taken; more of them change nothing."""

START: Final = 2
"""The automaton's state q is START + q."""
