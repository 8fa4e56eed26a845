"""White space around what a call says: does a text differ from its grammar in nothing else?

The reading grammar takes any white space between the literals of the dialect. Whether that is all
that is wrong shows when the calls are written anew: the same text but for white space, the values
as they were written, and the grammar takes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...compiler.errors import CalligramError
from .frames import Span

if TYPE_CHECKING:
    from .reader import Reader

Part = tuple[str, int, int]
"""What something captured is, and where it stands."""


class Gap(NamedTuple):
    """White space that is not as the dialect has it, and what the dialect has."""

    span: Span
    found: str
    wanted: str


class _Read(NamedTuple):
    """What was read of a text, without a problem.

    Attributes:
        start, end: the first call's beginning and the last one's end.
        parts: names, ids, keys and values, or all the arguments if they are JSON.
    """

    start: int
    end: int
    parts: list[Part]
    content: list[Span]


def misplaced_space(reader: Reader, text: bytes, calls: list[dict[str, Any]]) -> Gap | None:
    """The first white space around calls that the dialect has otherwise; None if there is none, or
    something else is wrong too.

    Args:
        text: one that the grammar does not accept.
        calls: what was read in it.
    """
    try:
        canonical = reader.grammar.render(calls, validate=False).encode()
    except CalligramError:
        return None
    given, own = _read(reader, text), _read(reader, canonical)
    if given is None or own is None or len(given.parts) != len(own.parts):
        return None
    inside = [(a, b) for a, b in given.content if given.start < b and a < given.end]
    if any(text[a:b].strip() for a, b in inside):
        return None
    first = _begins(text, given.start, canonical[: own.start])
    last = _ends(text, given.end, canonical[own.end :])
    if first is None or last is None:
        return None
    written: list[bytes] = []
    gap: Gap | None = None
    at, mine = first, 0
    for (kind, start, end), (named, low, high) in zip(given.parts, own.parts, strict=True):
        around, wanted = text[at:start], canonical[mine:low]
        if kind != named or _squeezed(around) != _squeezed(wanted):
            return None
        gap = gap or _difference(at, around, wanted)
        part, whole = text[start:end], canonical[low:high]
        same = _squeezed(part) == _squeezed(whole)
        gap = gap or (_difference(start, part, whole) if same else None)
        written += [wanted, whole if same else part]
        at, mine = end, high
    around, wanted = text[at:last], canonical[mine:]
    gap = gap or _difference(at, around, wanted)
    if _squeezed(around) != _squeezed(wanted):
        return None
    turn = b"".join([*written, wanted])
    before, behind = text[:first], text[last:]
    if gap is not None and reader.grammar.check(before + turn + behind).accepted:
        return gap
    # White space that stands where content may, and may not be content.
    bare, rest = before if before.strip() else b"", behind.lstrip()
    if (bare, rest) == (before, behind) or not reader.grammar.check(bare + turn + rest).accepted:
        return None
    if bare != before:
        return Gap((0, first), before.decode(), "")
    end = last + len(behind) - len(rest)
    return gap or Gap((last, end), text[last:end].decode(), "")


def _read(reader: Reader, text: bytes) -> _Read | None:
    """What is read of a text; None if there is no call, or something breaks off."""
    broken: list[int] = []
    parts: list[Part] = []
    run, builder = reader.start(bytearray(), None, lambda at, start: broken.append(at), parts)
    run.feed(text)
    if not run.close() or broken or not builder.calls:
        return None
    return _Read(builder.starts[0], builder.ends[-1], parts, builder.content)


def _squeezed(text: bytes) -> bytes:
    """Without white space."""
    return b"".join(text.split())


def _begins(text: bytes, at: int, opening: bytes) -> int | None:
    """Where what opens the calls begins, if it stands before `at`, white space apart."""
    for byte in reversed(_squeezed(opening)):
        while text[at - 1 : at].isspace():
            at -= 1
        if text[at - 1 : at] != bytes([byte]):
            return None
        at -= 1
    return at


def _ends(text: bytes, at: int, closing: bytes) -> int | None:
    """Where what closes the calls ends, if it stands behind `at`, white space apart."""
    for byte in _squeezed(closing):
        while text[at : at + 1].isspace():
            at += 1
        if text[at : at + 1] != bytes([byte]):
            return None
        at += 1
    return at


def _difference(start: int, given: bytes, wanted: bytes) -> Gap | None:
    """The first white space in which two texts differ that are the same without."""
    if given == wanted:
        return None
    # What both begin with, found by halves: values may be megabytes long.
    here, beyond = 0, min(len(given), len(wanted)) + 1
    while beyond - here > 1:
        middle = (here + beyond) // 2
        if given[here:middle] == wanted[here:middle]:
            here = middle
        else:
            beyond = middle
    while given[here - 1 : here].isspace():
        here -= 1
    mine = theirs = here
    while given[mine : mine + 1].isspace():
        mine += 1
    while wanted[theirs : theirs + 1].isspace():
        theirs += 1
    span = (start + here, start + mine)
    return Gap(span, given[here:mine].decode(), wanted[here:theirs].decode())
