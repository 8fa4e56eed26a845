r"""Pieces of regular expressions, in the syntax that three engines read alike.

Rust's `regex`, Python's `re` and interegular agree on: literal characters; escapes of
``\ . ^ $ | ? * + ( ) [ ] { }``; ``\n \r \t`` and ``\xHH``; classes ``[...]`` and ``[^...]`` of
characters and ranges; ``(?:...)``; ``|``; ``? * + {m} {m,} {m,n}``. Nothing else is written. In
classes ``- & ~ | [ ^`` are escaped besides: doubled or nested they mean set operations to Rust,
and Python warns of them. Characters beyond ASCII stand as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from ...compiler.grammar import Ranges
from ...compiler.regular.charset import MAX_CODE_POINT, charset

MAX_COUNT: Final = 2**32 - 2
"""The largest number in braces: Python's `re` reads no larger one, Rust's `regex` one more."""


class Unwritable(Exception):
    """What engines do not take: which feature, and why."""

    def __init__(self, feature: str, why: str) -> None:
        super().__init__(feature, why)
        self.feature, self.why = feature, why


class Level(IntEnum):
    """How tightly a fragment holds together."""

    CHOICE = 0
    SEQUENCE = 1
    ATOM = 2
    """May be repeated: one character, a class, a group."""


class Fragment(NamedTuple):
    """A printed piece with its level, the depth of groups in it, and whether it matches the empty
    text."""

    text: str
    level: Level
    depth: int = 0
    empty: bool = False


EMPTY: Final = Fragment("", Level.SEQUENCE, 0, True)

_META: Final = frozenset("\\.^$|?*+()[]{}")
_IN_CLASS: Final = frozenset("\\]-[^&~|")
_NAMED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def literal(text: str) -> Fragment:
    """Exactly this text."""
    if not text:
        return EMPTY
    spelled = "".join([_escaped(c, _META) for c in text])
    return Fragment(spelled, Level.ATOM if len(text) == 1 else Level.SEQUENCE)


def characters(ranges: Ranges) -> Fragment:
    """One character of a class, positive or negated, whichever lists fewer characters.

    interegular lists them one by one, so that a million of them would take a second.
    """
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return literal(chr(ranges[0][0]))
    outside = _outside(ranges)
    if not outside:
        # Python's surrogates aside, which no UTF-8 text has, these are all there are.
        return Fragment("[^\\x00]|\\x00", Level.CHOICE)
    negated = _count(outside) < _count(ranges)
    listed = _listed(outside if negated else ranges)
    return Fragment(f"[^{listed}]" if negated else f"[{listed}]", Level.ATOM)


def sequence(items: Sequence[Fragment]) -> Fragment:
    """All of them in order."""
    kept = [item for item in items if item.text]
    if len(kept) < 2:
        return kept[0] if kept else EMPTY
    parts = [_grouped(item) if item.level is Level.CHOICE else item for item in kept]
    text = "".join([part.text for part in parts])
    empty = all([part.empty for part in parts])
    return Fragment(text, Level.SEQUENCE, max([part.depth for part in parts]), empty)


def choice(options: Sequence[Fragment]) -> Fragment:
    """One of them; the empty text is written as an option that may be left out.

    Engines that stop at the first option that matches (Rust's automata) would miss others behind
    it: options that may be empty stand last, and options one of which begins another longest first.
    """
    kept = {option.text: option for option in options if option.text}
    if not kept:
        return EMPTY
    ordered = sorted(kept.values(), key=lambda option: option.empty)
    if len(kept) == 1:
        made = ordered[0]
    else:
        texts = sorted(kept)
        if any(b.startswith(a) for a, b in zip(texts, texts[1:], strict=False)):
            ordered.sort(key=lambda option: (option.empty, -len(option.text)))
        depth = max([option.depth for option in ordered])
        text = "|".join([option.text for option in ordered])
        made = Fragment(text, Level.CHOICE, depth, ordered[-1].empty)
    return repeat(made, 0, 1) if len(kept) < len({option.text for option in options}) else made


def repeat(item: Fragment, low: int, high: int | None) -> Fragment:
    """`low` to `high` (None: without end) times.

    Raises:
        Unwritable: a count that engines cannot read.
    """
    most = max(low, high or 0)
    if most > MAX_COUNT:
        raise Unwritable("counting", f"engines read no counts above {MAX_COUNT:,}, as {most:,}")
    if not item.text or high == 0:
        return EMPTY
    if (low, high) == (1, 1):
        return item
    atom = item if item.level is Level.ATOM else _grouped(item)
    text = atom.text + _count_of(low, high)
    # What is repeated may not be repeated again without a group.
    return Fragment(text, Level.SEQUENCE, atom.depth, item.empty or not low)


def _count_of(low: int, high: int | None) -> str:
    match low, high:
        case 0, 1:
            return "?"
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case _, None:
            return f"{{{low},}}"
        case _ if low == high:
            return f"{{{low}}}"
        case _:
            return f"{{{low},{high}}}"


def _grouped(item: Fragment) -> Fragment:
    return Fragment(f"(?:{item.text})", Level.ATOM, item.depth + 1, item.empty)


def _escaped(character: str, special: frozenset[str]) -> str:
    if character in special:
        return "\\" + character
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    # C0, DEL and C1: nothing that an editor shows.
    return f"\\x{code:02x}" if code < 0x20 or 0x7F <= code < 0xA0 else character


def _listed(ranges: Ranges) -> str:
    parts = []
    for low, high in ranges:
        parts.append(_escaped(chr(low), _IN_CLASS))
        if high > low + 1:
            parts.append("-")
        if high > low:
            parts.append(_escaped(chr(high), _IN_CLASS))
    return "".join(parts)


def _outside(ranges: Ranges) -> Ranges:
    """The characters that are not in a class."""
    gaps = []
    at = 0
    for low, high in (*ranges, (MAX_CODE_POINT + 1, MAX_CODE_POINT + 1)):
        gaps.append((at, low - 1))
        at = high + 1
    return charset(gaps)


def _count(ranges: Ranges) -> int:
    return sum(high - low + 1 for low, high in ranges)
