"""Reading a run of characters that one place counts, at once.

Inside a bounded string each character leads to a configuration of its own, which a walk byte by
byte has to make. Where all continuations of a configuration count characters of the same loop, the
one behind the whole run is known without the ones on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from .cells import REGULAR, REPEAT
from .core import Arc, Core
from .liveness import liveness

_SHORTEST: Final = 8
"""Bytes below which stepping is as good."""
_MOST_PLACES: Final = 300
"""Places looked at to find the spellings of a character."""
_DEEPEST: Final = 20
"""Continuations behind one another in one of them."""

Span = tuple[int, int]


class _Loop(NamedTuple):
    """What a place counts and stays among: as much as there is, and one at a time."""

    run: re.Pattern[bytes]
    unit: re.Pattern[bytes]
    spelled: bool
    """Do some characters have a spelling that is not their UTF-8?"""


class Leaps:
    """The runs of one core's continuations."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._loops: dict[object, _Loop | None] = {}

    def leap(
        self, threads: tuple[int, ...], data: bytes, at: int
    ) -> tuple[tuple[int, ...], int] | None:
        """The continuations behind the run of characters at `at`, and where it ends; None if there
        is no run that can be read at once."""
        end = most = len(data)
        if end - at < _SHORTEST or not threads:
            return None
        unit = None
        spelled = False
        for thread in threads:
            head = self._core.parts(thread)[0]
            if not head or head[0] not in (REPEAT, REGULAR):
                return None
            loop = self._loop(thread)
            if loop is None or (unit is not None and loop.unit is not unit):
                return None
            unit, spelled = loop.unit, loop.spelled
            found = loop.run.match(data, at)
            assert found is not None
            end = min(end, found.end())
            need, left = head[-2:]
            # Up to the edge of the window: there, the loop is another.
            if left is not None:
                most = min(most, left - 1)
            if need > 0:
                most = min(most, need - 1)
        if unit is None or end - at < _SHORTEST:
            return None
        run = data[at:end]
        if run.isascii() and not spelled:
            run = run[:most]
            count = len(run)
        else:
            units = unit.findall(run)[:most]
            run, count = b"".join(units), len(units)
        if len(run) < _SHORTEST:
            return None
        after = [self._after(thread, count) for thread in threads]
        if None in after:
            return None
        return tuple(sorted({t for t in after if t is not None})), at + len(run)

    def _after(self, thread: int, count: int) -> int | None:
        """The continuation `count` characters further on in its loop; None if it is dead there."""
        core = self._core
        head, tail = core.parts(thread)
        need, left = max(head[-2] - count, 0), None if head[-1] is None else head[-1] - count
        if head[0] == REPEAT:
            return core.cell((REPEAT, head[1], need, left), tail)
        # Alive there is alive all the way: the rest of the run leads there.
        if not liveness(core.machine(head[1])).live(head[2], need, left):
            return None
        return core.regular_cell(head[1], head[2], need, left, tail)

    def _loop(self, thread: int) -> _Loop | None:
        head, tail = self._core.parts(thread)
        key = (*head[:-2], head[-2] > 0, tail)
        found = self._loops.get(key)
        if found is None and key not in self._loops:
            found = self._loops[key] = self._make(thread)
        return found

    def _make(self, thread: int) -> _Loop | None:
        """What leads from a continuation to the same one with one character counted, and to nothing
        else."""
        core = self._core
        need, left = core.parts(thread)[0][-2:]
        if (left is not None and left < 2) or (left is None and need < 2):
            return None
        after = self._after(thread, 1)
        if after is None:
            return None
        plain: list[Span] = []
        longer: list[str] = []
        spelled = False
        for span, targets in _grouped(core.expand(thread).arcs).items():
            if targets == (after,):
                plain.append(span)
                continue
            rest = self._way(targets, after, [_MOST_PLACES])
            # A first byte that could also mean something else is left to single steps.
            if rest is not None:
                longer.append(f"[{_span(span)}]{rest}")
                spelled = spelled or span[0] < 0x80
        if not plain:
            return None
        single = f"[{''.join(map(_span, plain))}]"
        unit, run = single, f"{single}*+"
        if longer:
            unit = f"{single}|{'|'.join(longer)}"
            run = f"{run}(?>(?:{'|'.join(longer)})++{run})*+"
        return _Loop(_compiled(run), _compiled(unit), spelled)

    def _way(self, cells: tuple[int, ...], after: int, budget: list[int]) -> str | None:
        """The pattern of what leads from these continuations to another and to nothing else; None
        if there is none, or if it would take too long to tell. Texts of it begin no others."""
        if cells == (after,):
            return ""
        budget[0] -= 1
        if budget[0] < 0 or not all(self._is_before(cell, after) for cell in cells):
            return None
        # What is remembered depends on the byte: that is for single steps.
        if any(self._core.is_pending(cell) for cell in cells):
            return None
        expansions = [self._core.expand(cell) for cell in cells]
        options = []
        for span, targets in _grouped(arc for e in expansions for arc in e.arcs).items():
            rest = self._way(targets, after, budget)
            if rest is not None:
                options.append(f"[{_span(span)}]{rest}")
        if not options:
            return None
        return options[0] if len(options) == 1 else f"(?:{'|'.join(options)})"

    def _is_before(self, cell: int, after: int) -> bool:
        """Is a continuation something and then `after`?"""
        for _ in range(_DEEPEST):
            if not cell:
                return False
            cell = self._core.parts(cell)[1]
            if cell == after:
                return True
        return False


def _grouped(arcs: Iterable[Arc]) -> dict[Span, tuple[int, ...]]:
    """Where disjoint ranges of bytes lead."""
    known = tuple(arcs)
    edges = sorted({a.low for a in known} | {a.high + 1 for a in known})
    found: dict[Span, tuple[int, ...]] = {}
    for low, edge in pairwise(edges):
        targets = tuple(sorted({a.target for a in known if a.low <= low <= a.high}))
        if targets:
            found[low, edge - 1] = targets
    return found


def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode("ascii"), re.DOTALL)


def _span(span: Span) -> str:
    return f"\\x{span[0]:02x}-\\x{span[1]:02x}"


def run_of(plain: Sequence[Span], longer: Sequence[Sequence[Span]]) -> re.Pattern[bytes]:
    """The pattern of any number of single bytes and of longer sequences of ranges; it never goes
    back. The two begin with different bytes."""
    single = f"[{''.join(map(_span, plain))}]*+" if plain else ""
    more = "|".join("".join(f"[{_span(r)}]" for r in s) for s in longer)
    return _compiled(f"{single}(?>(?:{more})++{single})*+" if more else single)
