"""How the turn ends, told from what closes the calls or the content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ..explain import END
from .notes import Notes
from .texts import MARKER, common_suffix

_SIDES: Final = re.compile(r"(?i)start|begin|open|end|close|stop|finish|prefix|suffix")
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Ending:
    """What ends a turn.

    Attributes:
        tokens: the spec's `turn_end.tokens`.
        calls: what stands between the last call and the turn's end.
        content: the same behind plain text.
    """

    tokens: tuple[str, ...]
    calls: str
    content: str


def words(text: str) -> frozenset[str]:
    """The words of markers without those that say which side it is."""
    return frozenset(_WORD.findall(_SIDES.sub(" ", text).lower()))


def paired(opener: str, marker: str) -> bool:
    """Whether a marker closes something that `opener` opens, or stands in it itself."""
    found = [m[0] for m in MARKER.finditer(opener)]
    return marker in opener or any(words(f) == words(marker) for f in found)


def ending(
    behind: str, said: str | None, call_opener: str, content_opener: str, notes: Notes
) -> Ending:
    """The end of the turn.

    Args:
        behind: what stands behind the last call.
        said: what stands behind plain text in a turn without calls, None if that is not shown.
    """
    calls, content = behind.rstrip(), (said or "").rstrip()
    shared = common_suffix(calls, content)
    ends: list[str] = []
    if shared.strip() and _stands_alone(calls, shared) and _stands_alone(content, shared):
        calls = calls.removesuffix(shared)
        content = content.removesuffix(shared)
        ends = [shared]
        if content and not content.strip():
            # White space behind plain text is a part of its end, not of what is said.
            ends, content = [shared, content + shared], ""
    else:
        calls, first = _parted(calls, call_opener)
        content, second = _parted(content, content_opener)
        ends = [end for end in (first, second) if end]
    tokens = _tokens(ends)
    if any(END in end for end in ends):
        notes.miss(
            "/turn_end/tokens", "the template ends a turn with its eos_token, not known here"
        )
    if tokens:
        notes.say("/turn_end/tokens", "what stands behind calls and behind plain text")
    elif not ends:
        notes.miss("/turn_end/tokens", "nothing ends a turn in history; the tokenizer knows it")
    return Ending(tokens, calls, content)


def _stands_alone(text: str, end: str) -> bool:
    before = text[: len(text) - len(end)]
    return not before or not before[-1].isalnum()


def _parted(text: str, opener: str) -> tuple[str, str]:
    """(text, its last marker) where that closes nothing."""
    found = list(MARKER.finditer(text))
    if found and found[-1].end() == len(text) and not paired(opener, found[-1][0]):
        return text[: found[-1].start()], found[-1][0]
    return text, ""


def _tokens(ends: list[str]) -> tuple[str, ...]:
    made: list[str] = []
    for end in ends:
        text = end.replace(END, "").rstrip()
        made += [text, text.lstrip()]
    return tuple(dict.fromkeys(text for text in made if text))
