"""Call and parameter templates: literal text with holes.

Only the spellings that a template may use are holes; every other brace is literal text, so JSON
can be written as it is: ``{"name": {name:json}, "arguments": {args}}`` has two holes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

CALL_HOLES = frozenset({"name", "name:json", "id", "index", "args"})
PARAM_HOLES = frozenset({"key", "key:json", "type", "value"})
ITEM_HOLES = frozenset({"type", "value"})
BODY_HOLES = frozenset({"name", "name:json", "id", "index", "body"})
TRIGGER_HOLES = frozenset({"name"})
ALL_HOLES = CALL_HOLES | PARAM_HOLES | BODY_HOLES


@dataclass(frozen=True, slots=True)
class Hole:
    """A place to fill. ``form`` "json": as a JSON string with its quotes; "raw": as it is."""

    name: str
    form: Literal["raw", "json"] = "raw"

    def __str__(self) -> str:
        return f"{{{self.name}:json}}" if self.form == "json" else f"{{{self.name}}}"


Part = str | Hole


def _spelled(holes: frozenset[str]) -> re.Pattern[str]:
    spelled = "|".join(re.escape(h) for h in sorted(holes, key=lambda h: (-len(h), h)))
    return re.compile(r"\{(" + spelled + r")\}")


_HOLES = (CALL_HOLES, PARAM_HOLES, ITEM_HOLES, BODY_HOLES, TRIGGER_HOLES)
_SPELLED = {holes: _spelled(holes) for holes in _HOLES}


@lru_cache(maxsize=256)
def parse_template(text: str, holes: frozenset[str]) -> tuple[Part, ...]:
    """The parts of a template, left to right; literals are never empty and never adjacent.

    `holes` are the spellings between the braces ("name", "name:json").
    """
    parts: list[Part] = []
    position = 0
    for found in _SPELLED[holes].finditer(text):
        if found.start() > position:
            parts.append(text[position : found.start()])
        name, _, form = found[1].partition(":")
        parts.append(Hole(name, "json" if form else "raw"))
        position = found.end()
    if position < len(text):
        parts.append(text[position:])
    return tuple(parts)


def parse_call(text: str) -> tuple[Part, ...]:
    """The parts of a call template."""
    return parse_template(text, CALL_HOLES)


def parse_param(text: str) -> tuple[Part, ...]:
    """The parts of the template of one argument."""
    return parse_template(text, PARAM_HOLES)


def parse_item(text: str) -> tuple[Part, ...]:
    """The parts of the template of one array item."""
    return parse_template(text, ITEM_HOLES)


def literal_after(parts: tuple[Part, ...], hole: str) -> str:
    """The literal right behind the last hole of that name, "" if another hole or nothing is."""
    for index in range(len(parts) - 1, -1, -1):
        part = parts[index]
        if isinstance(part, Hole) and part.name == hole:
            following = parts[index + 1] if index + 1 < len(parts) else ""
            return following if isinstance(following, str) else ""
    return ""


def suspicious_holes(text: str, holes: frozenset[str]) -> list[tuple[int, str]]:
    """What looks like a hole and is literal text: (offset, the words between the braces)."""
    return [
        (m.start(), m[1])
        for m in re.finditer(r"\{([A-Za-z_]+(?::[A-Za-z_]*)?)\}", text)
        if m[1] not in holes
    ]
