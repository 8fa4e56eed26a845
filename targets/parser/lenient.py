"""Calls in shapes that nobody taught the model: where they are looked for.

They are looked for behind markers that no prose holds, where calls broke off and, where nothing
marks a call, at the beginning of the message; without a marker they have to stand apart from prose.
What is read there is in :mod:`.attempt`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from ...compiler.ir import Call
from ...compiler.origin import Origin, Problem
from .apart import standing_apart
from .attempt import Attempt
from .build import Builder
from .engulfed import Engulfed
from .envelope import Refused
from .found import Found, Note
from .frames import Span
from .markers import Ahead, Marks

_WORK: Final = 8
"""Bytes that all attempts may read together, as a multiple of the text."""
_NOTED: Final = 100
"""Near misses of one kind that are told of one text."""
_LOOKS: Final = "this looks like a call of '{}', but is content as the dialect has it"
_OTHERS: Final = (
    "this looks like the beginning of a call of '{}' in another dialect, but is content"
)
_TAKEN: Final = "lenient reading takes it for a call"
_NOT_TAKEN: Final = (
    "no call begins there: what marks one is missing, or it does not stand apart at the beginning "
    "of the message"
)
_UNREAD: Final = "behind it stands what is none of an object, or nothing"
_NOT_OWN: Final = "the model may write another dialect than the one that is read"


def recover(
    marks: Marks,
    tools: Mapping[str, Call],
    text: bytearray,
    spans: Sequence[Span],
    attempts: Sequence[int],
    *,
    stops: Sequence[int] = (),
    noting: int = 0,
    refused: list[Refused] | None = None,
) -> tuple[list[Found], list[Span]]:
    """The calls in what would else be content; -> the calls, and what is left of the content.

    Args:
        spans: the content, in order.
        attempts: where calls broke off, or may begin.
        stops: up to the next of these places a call may go on through what was read as calls, if
            all of that stands in its strings.
        noting: if not 0, as many calls are enough, those in the midst of prose among them.
        refused: where to put what looks like a call and is none; None: nowhere.
    """
    data = bytes(text)
    ahead = Ahead(marks, data)
    work = _WORK * len(data)
    found: list[Found] = []
    left: list[Span] = []
    armed = deque(sorted(set(attempts)))
    engulfed = Engulfed(marks, data)
    whole = joined(spans)
    for index, (start, end) in enumerate(whole):
        at = kept = max(start, found[-1].end if found else 0)
        across = next(islice(stops, bisect_left(stops, end), None), 0)
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
            if at < (inside := engulfed.behind(at)):
                at = inside
                continue
            limit = end
            if work <= 0:
                later = next((place for place in armed if place > at), end)
                following = marks.first(text, at + 1, end)
                limit = min(later, end if following is None else following)
            attempt = Attempt(marks, tools, data, at, limit, ahead)
            calls = attempt.calls()
            work -= attempt.loose.at - at + 1
            if not calls and attempt.loose.at >= end and end < across and work > 0:
                # What was read as a call may stand in a string of this one.
                longer = Attempt(marks, tools, data, at, across, ahead)
                more = longer.calls()
                work -= longer.loose.at - at + 1
                if more and _is_across(longer, whole, index, across):
                    attempt, calls = longer, more
            why = attempt.refused or (None if calls else _unread(attempt))
            if refused is not None and why is not None:
                refused.append(why)
            engulfed.failed(attempt, calls[-1].end if calls else at)
            if calls and engulfed.holds(calls[-1].end, end):
                calls = []
            if not calls or not (_apart(attempt, (kept, end)) or noting):
                at = max(at + 1, attempt.headed)
                continue
            if 0 < noting <= len(found):
                return found, left
            at = max(kept, calls[0].start)
            if kept < at:
                left.append((kept, at))
            found += calls
            at = kept = calls[-1].end
        if kept < end:
            left.append((kept, end))
    return found, left


def _unread(attempt: Attempt) -> Refused | None:
    """A call of an offered tool, begun as an object behind a marker, that cannot be read on."""
    loose, marks = attempt.loose, attempt.marks
    begun = marks.begun and marks.begun.match(loose.text, attempt.headed, loose.end)
    if begun is None or not marks.is_marked(loose.text, attempt.start, begun.start()):
        return None
    return Refused(begun[1].decode(), (begun.start(), max(begun.end(), loose.at)), _UNREAD)


def _is_across(attempt: Attempt, spans: Sequence[Span], index: int, across: int) -> bool:
    """Does all that stands between these spans, from one of them up to the end of the calls found,
    stand in their strings?"""
    end, text, strings = attempt.found[-1].end, attempt.loose.text, attempt.loose.quoted
    starts = [start for start, _ in strings]
    while index < len(spans) and (low := spans[index][1]) < end:
        index += 1
        high = spans[index][0] if index < len(spans) else across
        # Space before calls is part of what is read with them.
        at = bisect_right(starts, high - len(text[low:high].lstrip())) - 1
        if at < 0 or strings[at][1] < high:
            return False
    return True


def _apart(attempt: Attempt, within: Span) -> bool:
    """Are the calls that were found marked, or do they stand apart? Then a code fence that stands
    around them is theirs."""
    if attempt.is_marked():
        return True
    first, last = attempt.found[0], attempt.found[-1]
    found = standing_apart(attempt.loose.text, first.start, last.end, within, fenced=attempt.fenced)
    if found is None:
        for call in attempt.found:
            call.apart = False
        return False
    if found[0] < first.start:
        fence = Note("code-fence", "the call is in a code fence", found[0], first.start)
        first.recoveries.insert(0, fence)
    first.start, last.end = found
    return True


def misnamed(
    marks: Marks, tools: Mapping[str, Call], text: bytearray, builder: Builder
) -> tuple[list[Found], list[Span]]:
    """The calls in what was read as calls of tools that are not offered: its name may be a whole
    call. -> the calls, and what is left of the text around them, which is content then.
    """
    ends = zip(builder.starts, builder.ends, builder.calls, strict=True)
    spans = {start: end for start, end, call in ends if call["name"] not in tools}
    if not spans:
        return [], []
    found, left = recover(marks, tools, text, list(spans.items()), list(spans))
    read = {call.start for call in found}
    # Behind what is no call from its beginning on, another one may stand; so it is left alone.
    whole = [(start, end) for start, end in spans.items() if start in read]
    return (
        [f for f in found if any(a <= f.start < b for a, b in whole)],
        [(a, b) for a, b in left if any(low <= a < high for low, high in whole)],
    )


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
    broken: Sequence[Span],
) -> list[Problem]:
    """Content that looks like calls of offered tools, as notes.

    Args:
        broken: what is content because a call broke off, from where it began to where it did: a
            problem says so, and no note is needed.
        first: where the message begins as a call that nothing marks.
    """
    spans = _without(joined(spans), broken)
    places = [*first, *marks.bare_places(text, spans)]
    refused: list[Refused] = []
    near = recover(marks, tools, text, spans, places, noting=_NOTED, refused=refused)[0]
    out = []
    told = 0
    for each in islice(refused, _NOTED):
        # One inside another says the same.
        if each.span[0] >= told:
            told = each.span[1]
            hint = f"no call is made of it: {each.why}"
            out.append(_near_miss(each.name, each.span, _LOOKS, hint))
    for found in near:
        at_marker = marks.first(text, found.start, found.end) == found.start
        hint = _TAKEN if at_marker or (found.start in first and found.apart) else _NOT_TAKEN
        out.append(_near_miss(found.call["name"], (found.start, found.end), _LOOKS, hint))
    # Calls stand one behind the other.
    starts, ends = [f.start for f in near], [f.end for f in near]
    for name, start, end in islice(marks.foreign(text, spans), _NOTED):
        behind = bisect_left(ends, start)
        if behind == len(near) or starts[behind] > end:
            out.append(_near_miss(name, (start, end), _OTHERS, _NOT_OWN))
    return sorted(out, key=lambda note: note.origin.span or (0, 0))


def _near_miss(name: str, span: Span, message: str, hint: str) -> Problem:
    origin = Origin(tool=name, span=span)
    return Problem("near-miss", message.format(name), origin, hint, "note")


def _without(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """The spans without what lies in others; both ascend."""
    out: list[Span] = []
    left = deque(others)
    for start, end in spans:
        at = start
        while left and left[0][0] < end:
            low, high = left[0]
            if at < low:
                out.append((at, low))
            at = max(at, high)
            if high > end:
                break
            left.popleft()
        if at < end:
            out.append((at, end))
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
