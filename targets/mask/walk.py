"""Which tokens a continuation can read: vocabulary trie and grammar, walked side by side.

Walked in pieces: a literal down the trie at once, a loop by the vocabulary's slices, and only what
is left byte by byte. Of the places inside a pattern that differ from another one in little ("any
text but these words": all the places on the way to a word), only the difference is walked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.core import TOKEN_BASE, Core
from ...compiler.automaton.fronts import Fronts, Loop, free
from ...compiler.automaton.liveness import liveness
from ...compiler.grammar import Machine
from ...compiler.vocabulary.loop_table import Place
from ...compiler.vocabulary.trie import TokenTrie, TrieNode
from ...compiler.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from .distinct import MemoryRows

Row = NDArray[np.uint32]

_FEW: Final = 48
"""Tokens below a node up to which single bytes are as good as slices."""

_MANY: Final = 40
"""Ids from which on setting bits one by one is slower than packing."""


class Walker:
    """Walks for one core over one vocabulary."""

    def __init__(
        self, core: Core, fronts: Fronts, vocabulary: Vocabulary, memory: MemoryRows
    ) -> None:
        self.core, self.fronts, self.vocabulary = core, fronts, vocabulary
        self._memory = memory
        self._places: dict[tuple[int, int], Place | None] = {}
        self._exits: dict[tuple[TokenTrie, int], tuple[list[Row], list[int]]] = {}

    def forget(self) -> None:
        """Drop the rows kept."""
        self._exits.clear()

    def row(self, cell: int) -> Row:
        """The packed mask of what a continuation can read, its end included."""
        masks: list[Row] = []
        ids: list[int] = []
        self._walk(self.vocabulary.trie.root, cell, masks, ids)
        ids.extend(self.fronts.specials(cell))
        if self.fronts.ends(cell):
            ids.extend(self.vocabulary.eos_ids)
        return union(masks, ids, self.vocabulary.words)

    # The walk ---------------------------------------------------------------------------------

    def _walk(self, root: TrieNode, cell: int, masks: list[Row], ids: list[int]) -> None:
        """Collect the tokens below a trie node that can be read from a continuation."""
        front_of, path = self.fronts.front, self.vocabulary.path
        remembering = self.core.remembering
        stack = [(root, cell)]
        seen: set[tuple[TrieNode, int]] = set()
        while stack:
            pair = stack.pop()
            if pair in seen:
                continue
            seen.add(pair)
            node, here = pair
            if remembering.in_use and node.size > _FEW and remembering.is_known(here):
                here = self._memory.forget(node, here)
            front = front_of(here)
            for literal in front.literals:
                found, end = path(node, literal.rest)
                if found:
                    ids += found
                if end is not None:
                    stack.append((end, literal.tail))
            for loop in front.loops:
                self._loop(node, here, loop, masks, ids, stack)
            if front.arcs:
                self._arcs(node, front.arcs, ids, stack)

    def _arcs(
        self,
        node: TrieNode,
        arcs: tuple[tuple[int, int, int], ...],
        ids: list[int],
        stack: list[tuple[TrieNode, int]],
    ) -> None:
        children = node.children
        read = self.core.read
        for low, high, target in arcs:
            if low == high:
                child = children.get(low)
                if child is not None:
                    if child.ids:
                        ids += child.ids
                    if child.size:
                        stack.append((child, read(target, low)))
            elif low < TOKEN_BASE:
                for byte, child in children.items():
                    if low <= byte <= high:
                        ids += child.ids
                        if child.size:
                            stack.append((child, read(target, byte)))

    def _loop(
        self,
        node: TrieNode,
        cell: int,
        loop: Loop,
        masks: list[Row],
        ids: list[int],
        stack: list[tuple[TrieNode, int]],
    ) -> None:
        """A node below which most tokens go around one loop."""
        if free(loop):
            stack.append((node, loop.tail))
        if loop.but is None:
            self._around(node, cell, loop, masks, ids, stack)
            return
        # The loop without excluded texts, less the tokens that would leave it behind one.
        wrong = self._excluded(node, loop)
        if not wrong:
            self._around(node, cell, loop, masks, ids, stack)
            return
        others: list[Row] = []
        more: list[int] = []
        below: list[tuple[TrieNode, int]] = []
        self._around(node, cell, loop, others, more, below)
        for after, here in below:
            self._walk(after, here, others, more)
        row = union(others, more, self.vocabulary.words)
        for token in wrong:
            row[token >> 5] &= ~np.uint32(1 << (token & 31))
        masks.append(row)

    def _excluded(self, node: TrieNode, loop: Loop) -> list[int]:
        """The tokens below a node that hold the rest of an excluded text and what may follow it."""
        assert loop.but is not None
        index, place = loop.but
        found: list[int] = []
        behind = self.fronts.firsts(loop.tail)
        for rest in self.core.exclusion(index).rests(place):
            _, end = self.vocabulary.path(node, rest)
            if end is None:
                continue
            for byte, child in end.children.items():
                if behind >> byte & 1:
                    found += child.ids
                    if child.size:
                        found += child.trie.ids[child.low : child.high]
        return found

    def _around(
        self,
        node: TrieNode,
        cell: int,
        loop: Loop,
        masks: list[Row],
        ids: list[int],
        stack: list[tuple[TrieNode, int]],
    ) -> None:
        """What goes on in a loop, and leaves it after a while."""
        place = self.place(loop)
        if place is None:
            self._arcs(node, self._byte_arcs(cell), ids, stack)
            return
        table, start, _ = place
        slices = self.vocabulary.slices
        part = slices.get(node, table, start)
        left = loop.left
        if part.most:
            masks.append(part.mask(left))
        behind = self.fronts.firsts(loop.tail) & part.leads
        while behind:
            low = behind & -behind
            behind ^= low
            rests = part.exits(low.bit_length() - 1, loop.need, left)
            if rests is not None:
                if self.core.remembering.in_use:
                    # What was forgotten on the way has to be told each time.
                    self._walk(rests.root, loop.tail, masks, ids)
                    continue
                key = (rests, loop.tail)
                done = self._exits.get(key)
                if done is None:
                    done = self._exits[key] = ([], [])
                    self._walk(rests.root, loop.tail, *done)
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
                self._places[key] = tables.item(self.core.rules, loop.body)
        return self._places[key]

    def canonical(self, cell: int) -> int:
        """The same continuation where a count is so large that no token can tell."""
        loop = self.fronts.loop(cell)
        if loop is None or (loop.left is None and not loop.need):
            return cell
        # A token completes an item a byte at most.
        enough = self.vocabulary.longest + 2
        need, left = min(loop.need, enough), loop.left
        if left is not None:
            if isinstance(loop.body, Machine):
                enough += liveness(loop.body).farthest
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
        for mask in masks[1:]:
            row |= mask
    if len(ids) > _MANY:
        bits = np.zeros(words * 32, dtype=bool)
        bits[ids] = True
        row |= np.packbits(bits, bitorder="little").view("<u4")
    else:
        for token in ids:
            row[token >> 5] |= np.uint32(1 << (token & 31))
    return row
