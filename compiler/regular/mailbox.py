"""The length of an e-mail address's local part (RFC 5321 4.5.3.1.1), in octets of UTF-8.

A character counts as many states as it has octets, which as repeats of a regular expression would
multiply with its grammar; as an automaton of its own it is intersected with that.
"""

from __future__ import annotations

from typing import TypeAlias

from . import charset
from .charset import CharSet
from .table import Table, explore

MOST_LOCAL = 64
"""Octets of a local part, the quotes and backslashes of a quoted one among them."""

_OCTETS = (1, 1, 1, 1, 2, 3, 4)
_QUOTE, _BACKSLASH, _AT = range(3)
_SETS: tuple[CharSet, ...] = (
    charset.of('"'),
    charset.of("\\"),
    charset.of("@"),
    charset.difference(((0, 0x7F),), charset.of('"\\@')),
    ((0x80, 0x7FF),),
    charset.charset([(0x800, 0xFFFF)]),
    ((0x10000, charset.MAX_CODE_POINT),),
)

_State: TypeAlias = tuple[str, int]
_DOMAIN: _State = ("domain", 0)


def local_octets() -> Table:
    """The texts with at most :data:`MOST_LOCAL` octets before the first `@` that is not quoted."""
    return explore(("start", 0), _SETS, _step, lambda state: state == _DOMAIN)


def _step(state: _State, i: int) -> _State | None:
    part, octets = state
    if part == "domain" or (i == _AT and part in ("plain", "start")):
        return _DOMAIN
    octets += _OCTETS[i]
    if octets > MOST_LOCAL:
        return None
    match part:
        case "start":
            return ("quoted" if i == _QUOTE else "plain"), octets
        case "quoted" if i == _QUOTE:
            return "plain", octets
        case "quoted" if i == _BACKSLASH:
            return "escaped", octets
        case "escaped":
            return "quoted", octets
        case _:
            return part, octets
