"""Calls in shapes that nobody taught the model: where they are looked for.

They are looked for behind markers that no prose holds, where calls broke off and, where nothing
marks a call, at the beginning of the message. What is read there is in :mod:`.attempt`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final

from ...compiler.ir import Call
from ...compiler.origin import Origin, Problem
from .attempt import Attempt, Found
from .frames import Span
from .markers import Marks

_WORK: Final = 8
"""Bytes that all attempts may read together, as a multiple of the text."""


def recover(
    marks: Marks,
    tools: Mapping[str, Call],
    text: bytearray,
    spans: Sequence[Span],
    attempts: Sequence[int],
) -> tuple[list[Found], list[Span]]:
    """The calls in what would else be content; -> the calls, and what is left of the content.

    Args:
        spans: the content, in order.
        attempts: where calls broke off, or may begin.
    """
    data = bytes(text)
    work = _WORK * len(data)
    found: list[Found] = []
    left: list[Span] = []
    armed = deque(sorted(set(attempts)))
    for start, end in joined(spans):
        at = kept = start
        marker = marks.first(text, at, end)
        while at < end:
            if marker is not None and marker < at:
                marker = marks.first(text, at, end)
            while armed and armed[0] < at:
                armed.popleft()
            places = [p for p in (marker, armed[0] if armed else None) if p is not None and p < end]
            if not places:
                break
            at = min(places)
            limit = end
            if work <= 0:
                later = next((place for place in armed if place > at), end)
                following = marks.first(text, at + 1, end)
                limit = min(later, end if following is None else following)
            attempt = Attempt(marks, tools, data, at, limit)
            calls = attempt.calls()
            work -= attempt.loose.at - at + 1
            if not calls:
                at = max(at + 1, attempt.headed)
                continue
            if kept < at:
                left.append((kept, at))
            found += calls
            at = kept = calls[-1].end
        if kept < end:
            left.append((kept, end))
    return found, left


def beginning(
    marks: Marks, text: bytearray, spans: Sequence[Span], calls: Sequence[int]
) -> list[int]:
    """Where the message begins, if it begins as a call that nothing marks; else nothing.

    Args:
        calls: where the calls begin that were read.
    """
    for start, end in joined(spans)[:1]:
        found = marks.starts(text, start, end) if not calls or start < calls[0] else None
        if found is not None:
            return [found]
    return []


def near_misses(
    marks: Marks,
    tools: Mapping[str, Call],
    text: bytearray,
    spans: Sequence[Span],
    first: list[int],
) -> list[Problem]:
    """Content that looks like calls of offered tools, as notes.

    Args:
        first: where the message begins as a call that nothing marks.
    """
    out = []
    for found in recover(marks, tools, text, spans, [*first, *marks.bare_places(text, spans)])[0]:
        name = found.call["name"]
        read = found.start in first or marks.first(text, found.start, found.end) == found.start
        out.append(
            Problem(
                "near-miss",
                f"this looks like a call of '{name}', but is content as the dialect has it",
                Origin(tool=name, span=(found.start, found.end)),
                "lenient reading takes it for a call"
                if read
                else "no call begins there: what marks one is missing, or it is not at the "
                "beginning of the message",
                "note",
            )
        )
    return out


def joined(spans: Sequence[Span]) -> list[Span]:
    """Spans that touch as one."""
    out: list[Span] = []
    for start, end in spans:
        if out and out[-1][1] == start:
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out
