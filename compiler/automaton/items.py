"""Repeated items that are more than one character, as a byte automaton of their own.

Raw text up to a closer is units: a character, or a beginning of the closer that goes on otherwise.
A place inside a unit is a state of the unit's automaton, with the repeat behind it.
"""

from __future__ import annotations

from array import array
from typing import Final, TypeAlias

from ..grammar import Expr
from .cells import END, REPEAT, Head
from .core import Core

MAX_ITEM_STATES: Final = 1000
"""States beyond which an item is not treated as a whole."""

_DEEPEST: Final = 12
"""Heads in front of the repeat that a place inside an item has at most."""

NONE: Final = -1
NO_ROW: Final = array("h", [NONE]) * 256
"""No byte leads anywhere."""


Rows: TypeAlias = "list[array[int]]"
"""For each place inside an item where each byte leads, NONE if nowhere; 0: it is complete."""

_MOST_KNOWN: Final = 256

_known: dict[tuple[int, int], tuple[Expr, Rows | None]] = {}


def plain_rows(core: Core, index: int, item: Expr, longest: int) -> Rows | None:
    """The byte automaton of an item that refers to no rules; None if it cannot be treated as a
    whole.

    Kept, as the characters of a notation's strings are one expression in all grammars.

    Args:
        core, index, longest: as of :class:`ItemStates`; `item` is the expression.
    """
    key = (id(item), longest)
    found = _known.get(key)
    if found is None:
        states = ItemStates(core, index, longest)
        # The expression is kept alive, so that its identity stays its own.
        found = item, states.rows if states.usable else None
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = found
    return found[1]


class ItemStates:
    """The places inside one repeated item, numbered; 0 is between two items.

    Args:
        core: whose continuations the places are.
        index: the number of the item's expression.
        longest: the most bytes that are read in one go: bounds of repeats inside the item that are
            no less do not matter, and places that differ in them are one.

    Attributes:
        rows: for each place where each byte leads, NONE if nowhere; 0: an item is complete.
        usable: False where an item begins like another one or has too many places.
    """

    def __init__(self, core: Core, index: int, longest: int) -> None:
        self._core = core
        self._index = index
        self._longest = longest
        self.rows: Rows = []
        self._number: dict[tuple[int, ...], int] = {}
        start = core.continuation(core.exprs[index])
        self.usable = self._explore((self._canonical(start),))

    def state(self, cell: int) -> tuple[int, int] | None:
        """The place inside the item at a continuation, and the repeat behind it; None elsewhere."""
        core = self._core
        heads: list[Head] = []
        while cell != END and len(heads) < _DEEPEST:
            head, tail = core.parts(cell)
            if head[0] == REPEAT and head[1] == self._index:
                break
            heads.append(head)
            cell = tail
        else:
            return None
        state = self._number.get((self._unbounded(heads),))
        return None if not state else (state, cell)

    def _canonical(self, cell: int) -> int:
        """The same place with bounds that cannot be reached left out."""
        heads: list[Head] = []
        while cell != END:
            head, cell = self._core.parts(cell)
            heads.append(head)
        return self._unbounded(heads)

    def _unbounded(self, heads: list[Head]) -> int:
        """The heads one after the other, bounds that cannot be reached left out."""
        here = END
        for head in reversed(heads):
            if head[0] == REPEAT and head[3] is not None and head[3] >= self._longest >= head[2]:
                head = (*head[:3], None)
            here = self._core.cell(head, here)
        return here

    def _explore(self, start: tuple[int, ...]) -> bool:
        core = self._core
        self._number[start] = 0
        queue = [start]
        for cells in queue:
            row = NO_ROW[:]
            self.rows.append(row)
            arcs = [(a.low, a.high, a.target) for cell in cells for a in core.expand(cell).arcs]
            edges = sorted({low for low, _, _ in arcs} | {high + 1 for _, high, _ in arcs})
            for low, after in zip(edges, edges[1:], strict=False):
                targets = {self._canonical(t) for a, b, t in arcs if a <= low <= b}
                if not targets:
                    continue
                if after > 256:
                    return False
                if any(core.expand(t).final is not None for t in targets):
                    if any(core.expand(t).arcs for t in targets):
                        return False
                    number = 0
                else:
                    config = tuple(sorted(targets))
                    if config not in self._number:
                        if len(self._number) >= MAX_ITEM_STATES:
                            return False
                        self._number[config] = len(self._number)
                        queue.append(config)
                    number = self._number[config]
                row[low:after] = array("h", [number]) * (after - low)
        return True
