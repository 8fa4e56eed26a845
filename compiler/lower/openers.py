"""What the reading grammar takes for the beginning of a call, as regular expressions.

Reading spaces markers freely and knows more shapes than are enforced. Free text must hold none of
their beginnings, or a text would be prose to the grammar and a call to its reader.
"""

from __future__ import annotations

import re

from ..grammar import Expr, Literal, Sequence
from ..origin import Origin
from ..regular.language import Language
from ..spec import DialectSpec
from .read import ReadLowering

GAP = r"[\t\n\r ]*"


def without_openers(language: Language, spec: DialectSpec, stops: tuple[str, ...]) -> Language:
    """The texts of `language` in which no call begins.

    Args:
        stops: texts that `language` does not hold anyway.
    """
    for pattern in opener_patterns(spec, stops):
        language = language - Language.pattern(pattern, origin=Origin("/call"))
    return language


def opener_patterns(spec: DialectSpec, stops: tuple[str, ...]) -> tuple[str, ...]:
    """A pattern for each shape whose beginning holds none of `stops`; up to the tool's name."""
    solid = [s for s in stops if s and not any(c.isspace() or c in '{}[]:,"' for c in s)]
    at_start = bool(spec.triggers) and all(t.at == "message_start" for t in spec.triggers)
    found: dict[str, None] = {}
    for text, opening in ReadLowering(spec, ()).openings():
        if text.strip() and not any(stop in text for stop in solid):
            found[f"^{GAP}{_pattern(opening)}" if at_start else _pattern(opening)] = None
    return tuple(found)


def spaced(text: str) -> str:
    """A pattern of the text with any white space where it has some."""
    return "".join(GAP if char.isspace() else re.escape(char) for char in text)


def _pattern(opening: Expr) -> str:
    """Literals, and gaps where anything else stands."""
    items = opening.items if isinstance(opening, Sequence) else (opening,)
    return "".join(re.escape(i.text) if isinstance(i, Literal) else GAP for i in items)
