"""Where a node came from, and what is wrong there.

Every spec node, schema node and grammar node carries an :class:`Origin`; every diagnostic is a
:class:`Problem` at one. Problems are data, so that a program can read them (``to_json``) and a
person can (``str``).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

Severity = Literal["error", "warning", "note"]

_LONGEST_WORD: Final = 200
"""Characters from which on a word is not a slip of the pen."""


def escape_pointer(token: str | int) -> str:
    """One reference token of a JSON pointer, escaped as RFC 6901 section 3 says."""
    text = str(token)
    return text.replace("~", "~0").replace("/", "~1") if "~" in text or "/" in text else text


@dataclass(frozen=True, slots=True)
class Origin:
    """A place: a file position, a tool's name, a JSON pointer, whichever are known.

    ``line`` and ``column`` count from 1. ``pointer`` is RFC 6901 into the YAML document or the
    tool's parameter schema ("" is the whole document). ``span`` is a place in a parsed text: byte
    offsets, the end not included.
    """

    pointer: str = ""
    tool: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    span: tuple[int, int] | None = None

    def child(self, *tokens: str | int) -> Origin:
        """The same origin, `tokens` further down; the file position no longer applies."""
        tail = "".join("/" + escape_pointer(t) for t in tokens)
        return replace(self, pointer=self.pointer + tail, line=None, column=None, span=None)

    def __str__(self) -> str:
        parts = []
        if self.file is not None:
            where = self.file
            if self.line is not None:
                where += f":{self.line}:{self.column or 1}"
            parts.append(where)
        if self.tool is not None:
            parts.append(f"tool '{self.tool}'")
        parts.append(self.pointer or "/")
        return ": ".join(parts)


@dataclass(frozen=True, slots=True)
class Problem:
    """One diagnostic: a stable code (see docs/reference/errors.md), a sentence, a place, a hint."""

    code: str
    message: str
    origin: Origin = Origin()
    hint: str | None = None
    severity: Severity = "error"

    def __str__(self) -> str:
        place = self.place
        text = f"{self.severity}[{self.code}]: {self.message}"
        text = f"{place}: {text}" if place else text
        return f"{text}\n  {self.hint}" if self.hint else text

    @property
    def place(self) -> str:
        """The origin in words; a pointer to the whole document says nothing and is left out."""
        text = str(self.origin)
        if self.origin.pointer or self.origin.tool is not None:
            return text
        return text.removesuffix("/").removesuffix(": ")

    def to_json(self) -> dict[str, object]:
        """A plain dict; keys that are unknown are left out."""
        pairs: dict[str, object | None] = {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "tool": self.origin.tool,
            "pointer": self.origin.pointer,
            "file": self.origin.file,
            "line": self.origin.line,
            "column": self.origin.column,
            "span": None if self.origin.span is None else list(self.origin.span),
            "hint": self.hint,
        }
        return {k: v for k, v in pairs.items() if v is not None}


def in_file(problems: Iterable[Problem], file: str) -> list[Problem]:
    """`problems` with the file filled in where the origin does not know it."""
    return [
        replace(p, origin=replace(p.origin, file=file)) if p.origin.file is None else p
        for p in problems
    ]


def did_you_mean(word: str, legal: Iterable[str]) -> str | None:
    """A hint naming the closest legal word, or None if nothing is close."""
    if len(word) > _LONGEST_WORD:
        return None
    close = _closest(word, tuple(legal))
    return f"did you mean `{close}`?" if close else None


@lru_cache(maxsize=256)
def _closest(word: str, legal: tuple[str, ...]) -> str | None:
    # A text that makes one mistake often makes it again.
    close = difflib.get_close_matches(word, legal, n=1, cutoff=0.6)
    return close[0] if close else None


def closest_first(word: str, legal: Iterable[str], rest: str) -> str:
    """A hint that names the closest legal word, if one is close, before `rest`."""
    near = did_you_mean(word, legal)
    return f"{near} {rest}" if near else rest
