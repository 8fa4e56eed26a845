"""Cutting rendered texts: at marked words, and where two texts stop agreeing.

No cut goes through a marker such as ``<|end|>``: markers that begin or end alike are not shared in
part.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

MARKER: Final = re.compile(r"<\|[^<>\s]*>|<[^<>\s\"'={}\[\]]+>|\[/?[A-Z][A-Z0-9_ ]+\]")
"""What looks like one token of a vocabulary, or like a tag."""
_SPAN: Final = re.compile(r"<[^<>]*>|\[/?[A-Z][A-Z0-9_ ]+\]")


@dataclass(frozen=True, slots=True)
class Slot:
    """A marked word that stood in a text: what it is, and of which call or argument."""

    kind: str
    number: int = 0


Piece = str | Slot


def cut(text: str, words: Mapping[str, Slot]) -> list[Piece]:
    """The text with slots for the words: literals (perhaps "") and slots in turn."""
    spelled = "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))
    pieces: list[Piece] = []
    at = 0
    for found in re.finditer(spelled, text):
        pieces += [text[at : found.start()], words[found[0]]]
        at = found.end()
    return [*pieces, text[at:]]


def _inside(text: str, at: int) -> tuple[int, int] | None:
    """The marker that a cut at this place would go through."""
    return next((m.span() for m in _SPAN.finditer(text) if m.start() < at < m.end()), None)


def common_suffix(left: str, right: str) -> str:
    """The longest end that both have and that begins outside markers."""
    size = len(os.path.commonprefix([left[::-1], right[::-1]]))
    while size:
        spans = [(text, _inside(text, len(text) - size)) for text in (left, right)]
        ends = [len(text) - span[1] for text, span in spans if span is not None]
        if not ends:
            break
        size = min(ends)
    return left[len(left) - size :]


def common_prefix(left: str, right: str) -> str:
    """The longest beginning that both have and that ends outside markers."""
    size = len(os.path.commonprefix([left, right]))
    while size:
        starts = [s[0] for s in (_inside(left, size), _inside(right, size)) if s is not None]
        if not starts:
            break
        size = min(starts)
    return left[:size]


def tidy(left: str, right: str, at: int) -> bool:
    """Whether a cut after `at` characters of `left` + `right` splits neither marker nor word."""
    text = left + right
    if _inside(text, at) is not None:
        return False
    return not (0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum())


@dataclass(frozen=True, slots=True)
class Joint:
    """A gap between two things of one kind: the end of one, a separator, the start of the other."""

    tail: str
    separator: str
    head: str


def joints(before: str, gap: str, behind: str, most: int = 400) -> Iterator[Joint]:
    """All ways to take a gap apart so that `before` ends with the head, `behind` begins with the
    tail: each describes the same texts. Longer tails, then longer heads first.
    """
    head_size = len(os.path.commonprefix([before[::-1], gap[::-1]]))
    tail_size = len(os.path.commonprefix([behind, gap]))
    heads = [
        size
        for size in range(min(head_size, most), -1, -1)
        if tidy(before, "", len(before) - size) and tidy(gap, "", len(gap) - size)
    ]
    tails = [
        size
        for size in range(min(tail_size, most), -1, -1)
        if tidy(behind, "", size) and tidy(gap, "", size)
    ]
    for tail in tails:
        for head in heads:
            if head + tail <= len(gap):
                yield Joint(gap[:tail], gap[tail : len(gap) - head], gap[len(gap) - head :])


def ugliness(joint: Joint) -> int:
    """How far a joint is from what a person would write down."""
    broken = joint.head[:1].isspace() and "\n" in joint.head[: _space(joint.head)]
    return 4 * broken + 2 * bool(joint.separator.strip()) + bool(joint.separator)


def _space(text: str) -> int:
    return len(text) - len(text.lstrip())
