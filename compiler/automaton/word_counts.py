"""How many texts a continuation has, as far as a question asks.

Counted by length, over sets of continuations, and never further than needed: every place of the
core leads to some text, so that as soon as there are more beginnings of one length than asked for
there are more texts too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ..errors import LimitExceeded
from .remembered import Word

if TYPE_CHECKING:
    from .core import Core

Cells = tuple[int, ...]
"""Sorted, distinct continuations: where one text stands."""

MAX_WORDS: Final = 20_000
"""Most texts that are listed one by one."""


MAX_FRONTIER: Final = 1_000
"""Most places that beginnings of one length stand in, where lengths are asked for."""


class _Progress:
    """Texts found so far, and the longer beginnings that are left, by how many there are.

    `known`: there are at least so many texts; exactly so many where no beginning is left.
    """

    __slots__ = ("frontier", "known", "total")

    def __init__(self, core: Core, cell: int) -> None:
        expansion = core.expand(cell)
        self.total = int(expansion.final is not None)
        self.frontier: dict[Cells, int] = {(cell,): 1} if expansion.arcs else {}
        self.known = self.total + len(self.frontier)


class WordCounts:
    """Counts the texts of the continuations of one core (those that end with it)."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self._progress: dict[int, _Progress] = {}
        self._words: dict[int, tuple[Word, ...]] = {}

    def more_than(self, cell: int, number: int) -> bool:
        """Does the continuation have more than `number` texts?"""
        progress = self._progress.get(cell)
        if progress is None:
            progress = self._progress[cell] = _Progress(self.core, cell)
        while progress.known <= number and progress.frontier:
            self._advance(progress, number)
        return progress.known > number

    def count(self, cell: int, most: int) -> int:
        """How many texts the continuation has, `most` if there are more."""
        return most if self.more_than(cell, most) else self._progress[cell].total

    def words(self, cell: int) -> tuple[Word, ...]:
        """All the texts of a continuation, shortest first.

        Raises:
            LimitExceeded: more than `MAX_WORDS`.
        """
        found = self._words.get(cell)
        if found is None:
            if self.more_than(cell, MAX_WORDS):
                raise LimitExceeded.at(
                    "automaton-too-large", f"more than {MAX_WORDS} texts to tell apart"
                )
            found = self._words[cell] = tuple(self._listed(cell))
        return found

    def length(self, cell: int, number: int, longest: int) -> int | None:
        """Bytes of the continuation's `number`-th shortest text, None if that is longer than
        `longest` bytes or cannot be told easily."""
        frontier: dict[Cells, int] = {(cell,): 1}
        total = int(self._ends((cell,)))
        bytes_ = 0
        while total < number:
            longer: dict[Cells, int] = {}
            for cells, count in frontier.items():
                for low, high, target in self._steps(cells):
                    ways = count * (high - low + 1)
                    total += ways if self._ends(target) else 0
                    longer[target] = longer.get(target, 0) + ways
            bytes_ += 1
            frontier = longer
            if not frontier or bytes_ > longest or len(frontier) > MAX_FRONTIER:
                return None
        return bytes_

    def _listed(self, cell: int) -> Iterator[Word]:
        level: list[tuple[Cells, Word]] = [((cell,), "")]
        while level:
            yield from (text for cells, text in level if self._ends(cells))
            level = [
                (target, text + chr(byte))
                for cells, text in level
                for low, high, target in self._steps(cells)
                for byte in range(low, high + 1)
            ]

    def accepts(self, cell: int, text: Word) -> bool:
        """Is `text` one of the continuation's texts?"""
        cells: Cells = (cell,)
        for byte in map(ord, text):
            cells = self.core.step(cells, byte)
            if not cells:
                return False
        return self._ends(cells)

    def has_greater(self, cell: int, text: Word) -> bool:
        """Does the continuation have a text behind `text` in the order of bytes?"""
        cells: Cells = (cell,)
        for byte in map(ord, text):
            if any(a.high > byte for c in cells for a in self.core.expand(c).arcs):
                return True
            cells = self.core.step(cells, byte)
            if not cells:
                return False
        return any(self.core.expand(c).arcs for c in cells)

    def _advance(self, progress: _Progress, number: int) -> None:
        """Look at the beginnings of the next length, or at as many as show that there are more
        than `number` texts."""
        longer: dict[Cells, int] = {}
        ended = going = 0
        for cells, count in progress.frontier.items():
            for low, high, target in self._steps(cells):
                ways = count * (high - low + 1)
                if self._ends(target):
                    ended += ways
                if any(self.core.expand(c).arcs for c in target):
                    longer[target] = longer.get(target, 0) + ways
                    going += ways
                if progress.total + ended + going > number:
                    progress.known = progress.total + ended + going
                    return
        progress.total += ended
        progress.known = progress.total + going
        progress.frontier = longer

    def _ends(self, cells: Cells) -> bool:
        return any(self.core.expand(c).final is not None for c in cells)

    def _steps(self, cells: Cells) -> Iterator[tuple[int, int, Cells]]:
        """The bytes that may come next, those together that lead to one place."""
        core = self.core
        arcs = [a for c in cells for a in core.expand(c).arcs]
        if len(arcs) == 1 and not core.is_pending(arcs[0].target):
            yield arcs[0].low, arcs[0].high, (arcs[0].target,)
            return
        edges = sorted({a.low for a in arcs} | {a.high + 1 for a in arcs})
        for low, after in zip(edges, edges[1:], strict=False):
            targets = {a.target for a in arcs if a.low <= low <= a.high}
            if not targets:
                continue
            if any(map(core.is_pending, targets)):
                # Each byte leads to a place of its own.
                for byte in range(low, after):
                    yield byte, byte, tuple(sorted({core.read(t, byte) for t in targets}))
            else:
                yield low, after - 1, tuple(sorted(targets))
