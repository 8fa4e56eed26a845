"""Patterns of a dialect's literals, for reading that is not exact."""

from __future__ import annotations

import re
from collections.abc import Iterable


def loose(text: str) -> bytes:
    """The pattern of a literal whose white space is free; at its end there may be none."""
    words = [re.escape(w.encode()) for w in text.split()]
    return rb"\s*".join(words)


def any_of(texts: Iterable[bytes]) -> bytes:
    """The pattern of one of these; of nothing at all, if there is none."""
    return b"|".join(map(re.escape, texts)) or rb"(?!)"
