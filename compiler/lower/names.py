"""Unique, readable, deterministic rule names: ``[a-z][a-z0-9-]*``."""

from __future__ import annotations

import re

_OTHERS = re.compile(r"[^a-z0-9]+")


class Names:
    """Hands out rule names; the same sequence of hints gives the same names."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def fresh(self, *hints: str) -> str:
        """A name made of the hints, made unique by a number if need be."""
        text = _OTHERS.sub("-", "-".join(h for h in hints if h).lower()).strip("-")
        text = text[:48].strip("-")
        if not text or not text[0].isalpha():
            text = f"r-{text}" if text else "r"
        while True:
            count = self._used.get(text, 0)
            self._used[text] = count + 1
            if count == 0:
                return text
            text = f"{text}-{count + 1}"
