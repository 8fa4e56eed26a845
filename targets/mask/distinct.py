"""Masks inside remembered texts: items of a `uniqueItems` array, keys to be told apart.

Each such text makes every place in it a configuration of its own. Their masks are nearly those of
places that remember nothing, so they are made from two rows that many places share, and only what
may differ is stepped through:

- the row where the text so far is *forgotten*: it does not know when the item is one of those
  before. Tokens on the way of a remembered text are looked at one by one.
- the row of the *plain* place, which allows every token of the mask and more. What it has beyond
  the first row (tokens that complete a second item) is looked at one by one too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from ...compiler.automaton.core import TOKEN_BASE
from ...compiler.automaton.remembered import Word
from ...compiler.owners import back_to
from ...compiler.vocabulary.trie import ROOT, Forest, Node
from .bitmask import allow, forbid
from .results import Row

if TYPE_CHECKING:
    from .automaton import MaskAutomaton

_MAX_EXTRAS: Final = 4096


class MemoryRows:
    """The part of a mask automaton that knows of remembered texts."""

    def __init__(self, automaton: MaskAutomaton) -> None:
        self._automaton = back_to(automaton)
        self._plain: MaskAutomaton | None = None
        self._passed_on: dict[int, tuple[int, ...]] = {}
        self._extras: dict[tuple[int, int], tuple[Row, Row, list[int]]] = {}

    def doubtful(self, node: Node, cell: int) -> list[int]:
        """The tokens below a node that may be wrong if the text of `cell` is forgotten there."""
        found: list[int] = []
        for rest in self._automaton.core.remembering.rests(cell):
            along(self._automaton.vocabulary.forest, node, rest, found)
        return found

    def inside_row(self, cell: int) -> Row:
        """The row of a place inside a remembered text."""
        automaton = self._automaton
        remembering = automaton.core.remembering
        forgotten = remembering.forget(cell)
        base = automaton.cell_row(forgotten)
        suspects = [*self._passed_on.get(forgotten, ()), *self.doubtful(ROOT, cell)]
        return self._settle(cell, base, suspects)

    def corrected(self, cell: int, row: Row, suspects: tuple[int, ...]) -> Row:
        """The row of a place, where `row` was walked with texts forgotten on the way.

        Places where the text is unknown anyhow stay as they are: they only serve others, which
        look at the suspects.
        """
        if self._automaton.core.remembering.is_forgotten(cell):
            self._passed_on[cell] = suspects
            return row
        return self._settle(cell, row, suspects)

    def _settle(self, cell: int, base: Row, suspects: Iterable[int]) -> Row:
        wrong = [t for t in dict.fromkeys(suspects) if _has(base, t) and not self._reads(cell, t)]
        right = [t for t in self._beyond(cell, base) if self._reads(cell, t)]
        if not wrong and not right:
            return base
        row = base.copy()
        forbid(row, wrong)
        allow(row, right)
        return row

    def _beyond(self, cell: int, base: Row) -> list[int]:
        """The tokens that the plain place has beyond `base`."""
        automaton, plainly = self._automaton, self._plain
        if plainly is None:
            plainly = self._plain = automaton.forgetful()
        plain = plainly.cell_row(automaton.core.remembering.plain(cell, plainly.core))
        key = (id(base), id(plain))
        found = self._extras.get(key)
        if found is None:
            bits = np.unpackbits((plain & ~base).view(np.uint8), bitorder="little")
            ids = [int(i) for i in np.flatnonzero(bits)]
            if len(self._extras) >= _MAX_EXTRAS:
                self._extras.clear()
            # The rows are kept too, so that their identities stay their own.
            found = self._extras[key] = (base, plain, ids)
        return found[2]

    def _reads(self, cell: int, token: int) -> bool:
        return self._automaton.reads(cell, token)


def _has(row: Row, token: int) -> bool:
    return bool(int(row[token >> 5]) >> (token & 31) & 1)


def along(forest: Forest, node: Node, rest: Word, found: list[int]) -> None:
    """Add the tokens below a node that are a beginning of `rest`, or begin with it."""
    for at, symbol in enumerate(map(ord, rest)):
        if symbol >= TOKEN_BASE:
            # A special token stands by itself.
            if node == ROOT and not at:
                found.append(symbol - TOKEN_BASE)
            return
        child = forest.children(node).get(symbol)
        if child is None:
            return
        found += forest.ids[child]
        node = child
    found += forest.below(node)
