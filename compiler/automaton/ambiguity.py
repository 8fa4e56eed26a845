"""Is a captured text always read in one way? If not, a shortest witness.

Two readings of one text are walked side by side. They part where their capture events differ; if,
once parted, they meet in one continuation, or both may end, some text has two readings. Explored
breadth first over pairs of continuations, so the witness found is a shortest one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ..grammar import Expr, Rules
from .cells import END
from .core import CUT, Arc, Core

_NICE = b"axy1-_ "
"""Bytes that read well in a witness, the best first."""

Pair = tuple[int, int, bool]
P = TypeVar("P", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A text with two readings."""

    witness: str


class Undecided(Exception):
    """More pairs than the limit: no answer."""


def find_ambiguity(rules: Rules, start: Expr, *, limit: int = 300_000) -> Ambiguity | None:
    """A shortest text that two readings of `start` capture differently, or None.

    Raises:
        Undecided: more than `limit` pairs of continuations.
    """
    core = Core(rules, captures=True)
    first = core.continuation(start)
    root: Pair = (first, first, False)
    origin: dict[Pair, tuple[Pair, int] | None] = {root: None}
    queue = deque([root])
    while queue:
        pair = queue.popleft()
        left, right, parted = pair
        if _both_end(core, left, right, parted):
            return Ambiguity(_text(core, origin, pair, END))
        for byte, nxt in _steps(core, left, right, parted):
            if nxt in origin:
                continue
            if len(origin) >= limit:
                raise Undecided
            origin[nxt] = (pair, byte)
            if nxt[2] and nxt[0] == nxt[1]:
                return Ambiguity(_text(core, origin, nxt, nxt[0]))
            queue.append(nxt)
    return None


def _events(events: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(e for e in events if e != CUT)


def _both_end(core: Core, left: int, right: int, parted: bool) -> bool:
    a, b = core.expand(left).final, core.expand(right).final
    if a is None or b is None:
        return False
    return parted or _events(a) != _events(b)


def _steps(core: Core, left: int, right: int, parted: bool) -> list[tuple[int, Pair]]:
    """The pairs after one more byte, each with a byte that leads there."""
    out: dict[Pair, int] = {}
    ours, theirs = core.expand(left).arcs, core.expand(right).arcs
    for i, a in enumerate(ours):
        # From equal continuations the pairs (a, b) and (b, a) are the same.
        for b in theirs[i:] if left == right and not parted else theirs:
            low, high = max(a.low, b.low), min(a.high, b.high)
            if low > high:
                continue
            apart = parted or _events(a.events) != _events(b.events)
            if a.target == b.target and not apart and a is not b:
                continue
            pair, byte = _pair(a, b, apart), _shown(low, high)
            if pair not in out or (byte in _NICE and out[pair] not in _NICE):
                out[pair] = byte
    return [(byte, pair) for pair, byte in out.items()]


def _pair(a: Arc, b: Arc, parted: bool) -> Pair:
    if a.target <= b.target:
        return a.target, b.target, parted
    return b.target, a.target, parted


def _shown(low: int, high: int) -> int:
    """A byte of the range, a letter if there is one."""
    return next((c for c in _NICE if low <= c <= high), low)


def _text(core: Core, origin: dict[Pair, tuple[Pair, int] | None], pair: Pair, rest: int) -> str:
    """The bytes that lead to `pair`, then a shortest way to end from `rest`."""
    return bytes(_way_to(pair, origin) + _ending(core, rest)).decode("utf-8", "replace")


def _way_to(place: P, came: Mapping[P, tuple[P, int] | None]) -> list[int]:
    """The bytes that lead to `place`; `came`: from where and by which byte each was reached."""
    data: list[int] = []
    while (step := came[place]) is not None:
        place, byte = step
        data.append(byte)
    return data[::-1]


def _ending(core: Core, start: int, limit: int = 20_000) -> list[int]:
    """The bytes of a shortest way from a continuation to the end."""
    came: dict[int, tuple[int, int] | None] = {start: None}
    queue = deque([start])
    while queue and len(came) < limit:
        cell = queue.popleft()
        expansion = core.expand(cell)
        if expansion.final is not None:
            return _way_to(cell, came)
        for arc in expansion.arcs:
            if arc.target not in came:
                came[arc.target] = (cell, _shown(arc.low, arc.high))
                queue.append(arc.target)
    return []
