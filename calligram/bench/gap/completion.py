"""What a server sent back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model wrote.

    Attributes:
        cut: it met a limit instead of ending.
        tokens: how many it wrote; `seconds`: how long that took, without reading the prompt where
            the server tells.
        error: why the server broke off, in its words; then there is no text.
    """

    text: str
    cut: bool
    tokens: int
    seconds: float
    error: str | None = None
