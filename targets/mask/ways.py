"""Ways to the end: a shortest text from a continuation, and the fewest tokens that spell it.

A way is one text, chosen byte by byte: each place has one next step, so that a way's rest is the
way of the place where it begins. The tokens of a place are the fewest that its way can be cut into.
Taking them one by one the number falls by one each time: it is a promise that can be kept.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Final

from ...compiler.automaton.cells import BYTES, END, REGULAR, REPEAT
from ...compiler.automaton.core import TOKEN_BASE, Core
from ...compiler.automaton.distinct import INSIDE
from ...compiler.automaton.least_texts import LeastTexts
from ...compiler.automaton.machine_distance import FAR
from ...compiler.vocabulary.trie import ROOT
from ...compiler.vocabulary.vocabulary import Vocabulary

MAX_WAY: Final = 200_000
"""Bytes of a way beyond which it is not cut into longer tokens."""

MAX_SEARCH: Final = 5_000
"""Places that are looked at for a way where texts must differ."""

Step = tuple[int, int]
"""A byte or special token, and the place behind it."""


class Ways:
    """The ways of one core's continuations over one vocabulary.

    Args:
        complete: whether every byte that the grammar can ask for is a token by itself.
    """

    def __init__(
        self, core: Core, least: LeastTexts, vocabulary: Vocabulary, complete: bool
    ) -> None:
        self.core, self.least, self.vocabulary = core, least, vocabulary
        self.complete = complete
        self._steps: dict[int, Step | None] = {END: None}
        self._tokens: dict[int, int] = {END: 0}
        self._first: dict[int, int] = {}
        self._sizes = {number: len(text.encode()) for text, number in vocabulary.specials.items()}
        self._runs = _runs(vocabulary)
        self._best: dict[tuple[int, int], int] = {}

    # Places ------------------------------------------------------------------------------------

    def canonical(self, cell: int, slack: int = 0) -> int:
        """The same place of a loop without its upper bound where no way meets that, not even
        after `slack` items more."""
        head, tail = self.core.parts(cell)
        if not head or head[0] not in (REGULAR, REPEAT) or head[-1] is None:
            return cell
        index, need, left = head[1], max(head[-2], 0), head[-1]
        if head[0] == REPEAT:
            if left < need + slack or not left:
                return cell
            return self.core.repeat_cell(index, head[2], None, tail)
        machine = self.core.machine(index)
        if machine.known is not None or left < need + slack + len(machine.transitions):
            return cell
        return self.core.cell((*head[:-1], None), tail)

    # Bytes -------------------------------------------------------------------------------------

    def bytes(self, cell: int) -> int:
        """Bytes of the place's way; FAR if there is none."""
        if self.least.exact(cell):
            return min(self.least.of(cell), FAR)
        total = 0
        while True:
            if self.least.exact(cell):
                return total + min(self.least.of(cell), FAR)
            if not self._find(cell):
                return FAR
            step = self._steps[cell]
            if step is None:
                return total
            symbol, cell = step
            total += self._size(symbol)

    def _size(self, symbol: int) -> int:
        return 1 if symbol < TOKEN_BASE else self._sizes[symbol - TOKEN_BASE]

    # Steps -------------------------------------------------------------------------------------

    def _find(self, cell: int) -> bool:
        """Settle the place's next step; False if there is no way."""
        if cell in self._steps:
            return True
        if self.least.of(cell) >= FAR:
            return False
        if not self.least.exact(cell):
            if self._is_free(cell):
                step = self._descend(cell)
                if step is not None:
                    self._steps[cell] = step
                    return True
            return self._search(cell)
        head, tail = self.core.parts(cell)
        if head[0] == BYTES:
            _, data, at = head
            after = self.core.literal_cell(data, at + 1, self.core.settled(tail))
            self._steps[cell] = data[at], after
        elif not self.least.of(cell):
            self._steps[cell] = None
        else:
            step = self._descend(cell)
            assert step is not None, "some byte always brings the end nearer"
            self._steps[cell] = step
        return True

    def _descend(self, cell: int) -> Step | None:
        """The step that brings the end nearer by its own bytes; of several the one that long
        tokens are likeliest to hold."""
        want, of, read = self.least.of(cell), self.least.of, self.core.read
        best: tuple[int, int, int] | None = None
        for low, high, target, _ in self.core.expand(cell).arcs:
            if low >= TOKEN_BASE:
                found = (1 << 30, -low, target)
                size = self._sizes[low - TOKEN_BASE]
            else:
                byte = self._byte(low, high)
                found = (self._runs[byte], -byte, target)
                size = 1
            if (best is None or found[:2] > best[:2]) and size + of(target) == want:
                best = found
        if best is None:
            return None
        return -best[1], read(best[2], -best[1])

    def _byte(self, low: int, high: int) -> int:
        """Of a range the byte of which the vocabulary has the longest runs."""
        found = self._best.get((low, high))
        if found is None:
            runs = self._runs
            found = max(range(low, high + 1), key=lambda byte: (runs[byte], -byte))
            self._best[low, high] = found
        return found

    def _search(self, cell: int) -> bool:
        """The steps from a place where texts must differ: the shortest to the end of the item that
        is before it, or to where that is like no other any more.

        Items one by one, each the shortest that is left: where all are of one kind, no others are
        shorter together.
        """
        of, read, expand = self.least.of, self.core.read, self.core.expand
        came: dict[int, Step] = {}
        lengths = {cell: 0}
        heap = [(of(cell), 0, cell)]
        done: set[int] = set()
        number = 0
        begun = self._is_free(cell)
        while heap and number < MAX_SEARCH:
            _, _, here = heappop(heap)
            if here in done:
                continue
            done.add(here)
            before = came.get(here)
            if self._is_settled(here, None if before is None else before[1], begun):
                while here != cell:
                    symbol, last = came[here]
                    self._steps[last] = symbol, here
                    here = last
                return True
            for low, high, target, _ in expand(here).arcs:
                symbol = low if low >= TOKEN_BASE else self._byte(low, high)
                after = read(target, symbol)
                length = lengths[here] + self._size(symbol)
                if of(after) < FAR and length < lengths.get(after, FAR):
                    lengths[after] = length
                    came[after] = symbol, here
                    number += 1
                    # The latest of those that are as near: one text is followed to its end.
                    heappush(heap, (length + of(after), -number, after))
        return False

    def _is_settled(self, cell: int, before: int | None, begun: bool) -> bool:
        """Is the rest of the item known here: as it is over, or need differ no more (but not where
        that was `begun` with)?"""
        if self.least.exact(cell):
            return True
        if self.core.expand(cell).final is not None:
            self._steps[cell] = None
            return True
        if before is None:
            return False
        if not begun and self._is_free(cell):
            return True
        item = self._item(before)
        return item is not None and self._item(cell) != item

    def _item(self, cell: int) -> tuple[object, ...] | None:
        """Which item a place is inside of; None where it is in none."""
        head, tail = self.core.parts(cell)
        return (*head[1:5], tail) if head and head[0] == INSIDE else None

    def _is_free(self, cell: int) -> bool:
        """Inside an item that may become any text?"""
        head, _ = self.core.parts(cell)
        if not head or head[0] != INSIDE or not head[7] or not self.least.exact(head[5]):
            return False
        return not self.core.remembering.alive.is_careful(head[4])

    # Tokens ------------------------------------------------------------------------------------

    def tokens(self, cell: int) -> int:
        """The fewest tokens of the place's way, without one that ends the text; FAR if none spell
        it or there is none."""
        found = self._tokens.get(cell)
        return self._count(cell) if found is None else found

    def first(self, cell: int) -> int | None:
        """The first of these tokens; None at the end of the way, or if none spell it."""
        self.tokens(cell)
        return self._first.get(cell)

    def _count(self, cell: int) -> int:
        if self.complete and self.least.exact(cell) and MAX_WAY < self.least.of(cell) < FAR:
            return self._byte_by_byte(cell)
        cells, symbols = [cell], list[int]()
        known = self._tokens
        while cells[-1] not in known:
            if len(symbols) > MAX_WAY or not self._find(cells[-1]):
                known[cell] = FAR
                return FAR
            step = self._steps[cells[-1]]
            if step is None:
                known[cells[-1]] = 0
                break
            symbols.append(step[0])
            cells.append(step[1])
        size = len(symbols)
        here = cells[-1]
        # A token may reach beyond the first place that is known.
        for _ in range(self.vocabulary.longest):
            step = self._steps.get(here)
            if step is None or step[1] not in known:
                break
            symbols.append(step[0])
            here = step[1]
            cells.append(here)
        for at in range(size - 1, -1, -1):
            self._cut(at, cells, symbols)
        return known[cell]

    def _cut(self, at: int, cells: list[int], symbols: list[int]) -> None:
        """The fewest tokens from one place of a way on, those of all later ones being known."""
        known, forest = self._tokens, self.vocabulary.forest
        best, token = FAR, -1
        if symbols[at] >= TOKEN_BASE:
            best, token = 1 + known[cells[at + 1]], symbols[at] - TOKEN_BASE
        else:
            node, here = ROOT, at
            while here < len(symbols) and forest.size[node]:
                child = forest.children(node).get(symbols[here])
                if child is None:
                    break
                node = child
                here += 1
                if forest.ids[node] and 1 + known[cells[here]] <= best:
                    best, token = 1 + known[cells[here]], forest.ids[node][0]
        known[cells[at]] = min(best, FAR)
        if best < FAR:
            self._first[cells[at]] = token

    def _byte_by_byte(self, cell: int) -> int:
        """A way too long to be looked at, one byte a token."""
        self._find(cell)
        step = self._steps[cell]
        assert step is not None, "the way is long"
        symbol = step[0]
        if symbol >= TOKEN_BASE:
            token = symbol - TOKEN_BASE
        else:
            forest = self.vocabulary.forest
            token = forest.ids[forest.children(ROOT)[symbol]][0]
        self._first[cell] = token
        found = self._tokens[cell] = self.least.of(cell)
        return found


def _runs(vocabulary: Vocabulary) -> list[int]:
    """For each byte how many times the longest token holds it that holds nothing else; 0: none."""
    forest = vocabulary.forest
    found = []
    for byte in range(256):
        node, length, longest = ROOT, 0, 0
        while length == 0 or forest.size[node]:
            child = forest.children(node).get(byte)
            if child is None:
                break
            node = child
            length += 1
            if forest.ids[node]:
                longest = length
        found.append(longest)
    return found
