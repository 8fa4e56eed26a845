"""Which tokens a continuation can read: vocabulary trie and grammar, walked side by side.

Walked in pieces: a literal down the trie at once, a loop by the vocabulary's slices, and only what
is left byte by byte. A place in a text that may yet become an excluded one ("any key but these")
has the mask of the same place without them, less the tokens that would end one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.core import TOKEN_BASE, Core
from ...compiler.automaton.fronts import Fronts, Loop
from ...compiler.automaton.liveness import searched
from ...compiler.grammar import Machine
from ...compiler.vocabulary.loop_table import Place
from ...compiler.vocabulary.trie import ROOT, Node
from ...compiler.vocabulary.vocabulary import Vocabulary
from .bitmask import allow, forbid

if TYPE_CHECKING:
    from .distinct import MemoryRows

Row = NDArray[np.uint32]

_FEW: Final = 48
"""Tokens below a node up to which single bytes are as good as slices."""


class Walker:
    """Walks for one core over one vocabulary."""

    def __init__(
        self, core: Core, fronts: Fronts, vocabulary: Vocabulary, memory: MemoryRows
    ) -> None:
        self.core, self.fronts, self.vocabulary = core, fronts, vocabulary
        self._memory = memory
        self._places: dict[tuple[int, int], Place | None] = {}
        self._exits: dict[tuple[Node, int], tuple[tuple[Row, ...], tuple[int, ...]]] = {}
        self._generation = vocabulary.generation

    def forget(self) -> None:
        """Drop the rows kept."""
        self._exits.clear()

    def row(self, cell: int) -> Row:
        """The packed mask of what a continuation can read, its end included."""
        masks: list[Row] = []
        ids: list[int] = []
        self.vocabulary.trim()
        if self._generation != self.vocabulary.generation:
            self._generation = self.vocabulary.generation
            self._exits.clear()
        self._walk(ROOT, cell, masks, ids)
        if self.core.specials:
            ids += self.fronts.specials(cell)
        if self.fronts.ends(cell):
            ids += self.vocabulary.eos_ids
        return union(masks, ids, self.vocabulary.words)

    # The walk ---------------------------------------------------------------------------------

    def _walk(self, root: Node, cell: int, masks: list[Row], ids: list[int]) -> None:
        """Collect the tokens below a trie node that can be read from a continuation."""
        fronts, front_of, path = self.fronts.known, self.fronts.front, self.vocabulary.path
        leads_of, size = self.vocabulary.forest.leads, self.vocabulary.forest.size
        remembering = self.core.remembering
        stack = [(root, cell)]
        seen: set[tuple[Node, int]] = set()
        while stack:
            pair = stack.pop()
            if pair in seen:
                continue
            seen.add(pair)
            node, here = pair
            if remembering.in_use and size[node] > _FEW and remembering.is_known(here):
                here = self._memory.forget(node, here)
            front = fronts.get(here) or front_of(here)
            leads = leads_of(node)
            for rest, _, _, tail in front.literals:
                if leads >> rest[0] & 1:
                    found, end = path(node, rest)
                    if found:
                        ids += found
                    if end:
                        stack.append((end, tail))
            for loop in front.loops:
                if leads & loop.around:
                    self._loop(node, here, loop, masks, ids, stack)
            if front.arcs:
                self._arcs(node, front.arcs, ids, stack)

    def _arcs(
        self,
        node: Node,
        arcs: tuple[tuple[int, int, int], ...],
        ids: list[int],
        stack: list[tuple[Node, int]],
    ) -> None:
        forest, read = self.vocabulary.forest, self.core.read
        leads = forest.leads(node)
        for low, high, target in arcs:
            if high >= TOKEN_BASE:
                continue
            here = leads >> low & (1 << (high - low + 1)) - 1
            while here:
                bit = here & -here
                here ^= bit
                byte = low + bit.bit_length() - 1
                child = forest.children(node)[byte]
                ids += forest.ids[child]
                if forest.size[child]:
                    stack.append((child, read(target, byte)))

    def _loop(
        self,
        node: Node,
        cell: int,
        loop: Loop,
        masks: list[Row],
        ids: list[int],
        stack: list[tuple[Node, int]],
    ) -> None:
        """A node below which most tokens go around one loop."""
        # The loop without excluded texts, less the tokens that would leave it behind one.
        wrong = [] if loop.but is None else self._excluded(node, loop)
        if not wrong:
            self._around(node, cell, loop, masks, ids, stack)
            return
        others: list[Row] = []
        more: list[int] = []
        below: list[tuple[Node, int]] = []
        self._around(node, cell, loop, others, more, below)
        for after, here in below:
            self._walk(after, here, others, more)
        row = union(others, more, self.vocabulary.words)
        forbid(row, wrong)
        masks.append(row)

    def but_row(self, loop: Loop, whole: Row) -> Row:
        """The row of a place in a text that may yet become an excluded one.

        Args:
            whole: the row of the same place without excluded texts (:meth:`Fronts.whole`).
        """
        wrong = self._excluded(ROOT, loop)
        if loop.closed:
            # The text cannot end here.
            wrong += self._leaving(ROOT, loop)
            wrong += self.vocabulary.eos_ids
            wrong += self.fronts.specials(loop.tail)
        if not wrong:
            return whole
        row = whole.copy()
        forbid(row, wrong)
        return row

    def _excluded(self, node: Node, loop: Loop) -> list[int]:
        """The tokens below a node that hold the rest of an excluded text and what may follow it."""
        assert loop.but is not None
        index, place = loop.but
        found: list[int] = []
        for rest in self.core.exclusion(index).rests(place):
            _, end = self.vocabulary.path(node, rest)
            if end:
                found += self._leaving(end, loop)
        return found

    def _leaving(self, node: Node, loop: Loop) -> list[int]:
        """The tokens below a node that leave the loop there."""
        forest = self.vocabulary.forest
        found: list[int] = []
        behind = self.fronts.firsts(loop.tail) & forest.leads(node)
        while behind:
            low = behind & -behind
            behind ^= low
            child = forest.children(node)[low.bit_length() - 1]
            found += forest.ids[child]
            found += forest.below(child)
        return found

    def _around(
        self,
        node: Node,
        cell: int,
        loop: Loop,
        masks: list[Row],
        ids: list[int],
        stack: list[tuple[Node, int]],
    ) -> None:
        """What goes on in a loop, and leaves it after a while."""
        place = self.place(loop)
        if place is None:
            self._arcs(node, self._byte_arcs(cell), ids, stack)
            return
        table, start, _ = place
        slices = self.vocabulary.slices
        part = slices.get(node, table, start, loop.also)
        left = loop.left
        part.add(left, masks, ids)
        behind = self.fronts.firsts(loop.tail) & part.leads
        while behind:
            low = behind & -behind
            behind ^= low
            rests = part.exits(low.bit_length() - 1, loop.need, left)
            if rests is not None:
                if self.core.remembering.in_use:
                    # What was forgotten on the way has to be told each time.
                    self._walk(rests, loop.tail, masks, ids)
                    continue
                key = (rests, loop.tail)
                done = self._exits.get(key)
                if done is None:
                    others: list[Row] = []
                    more: list[int] = []
                    self._walk(rests, loop.tail, others, more)
                    done = self._exits[key] = (tuple(others), tuple(more))
                masks += done[0]
                ids += done[1]

    def _byte_arcs(self, cell: int) -> tuple[tuple[int, int, int], ...]:
        return tuple((a.low, a.high, a.target) for a in self.core.expand(cell).arcs)

    def place(self, loop: Loop) -> Place | None:
        """The loop's byte automaton, made once a vocabulary."""
        key = (loop.number, loop.state)
        if key not in self._places:
            tables = self.vocabulary.tables
            if isinstance(loop.body, Machine):
                self._places[key] = tables.place(loop.body, loop.state)
            else:
                table = tables.item(self.fronts.items(loop.number).rows)
                self._places[key] = Place(table, loop.state, (0,))
        return self._places[key]

    def canonical(self, cell: int) -> int:
        """The same continuation where a count is so large that no token can tell."""
        loop = self.fronts.loop(cell)
        if loop is None or (loop.left is None and not loop.need):
            return cell
        if loop.state and not isinstance(loop.body, Machine):
            # Inside an item: there are few such places.
            return cell
        # A token completes an item a byte at most.
        enough = self.vocabulary.longest + 2
        need, left = min(loop.need, enough), loop.left
        if left is not None:
            if isinstance(loop.body, Machine):
                enough += searched(loop.body).farthest
            place = self.place(loop) if left < enough else None
            if place is not None:
                # Between two numbers of items that tokens can have, one more makes no difference.
                slices = self.vocabulary.slices
                left = slices.get(ROOT, place.table, place.start, loop.also).level(left)
            left = max(min(left, enough), need)
        if (need, left) == (loop.need, loop.left):
            return cell
        return self.fronts.at(loop, loop.state, need, left)


def union(masks: list[Row], ids: list[int], words: int) -> Row:
    """Masks and ids as one packed mask, a new one."""
    if not masks:
        row = np.zeros(words, dtype=np.uint32)
    else:
        row = masks[0].copy()
        done = {id(masks[0])}
        for mask in masks:
            if id(mask) not in done:
                done.add(id(mask))
                row |= mask
    allow(row, ids)
    return row
