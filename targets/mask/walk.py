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
from .hubs import hubs

if TYPE_CHECKING:
    from .distinct import MemoryRows

Row = NDArray[np.uint32]

_FEW: Final = 48
"""Tokens below a node up to which single bytes are as good as slices."""

_MAX_PAIRS: Final = 256
"""Pairs of places that are walked for a difference; where there are more, it is no small one."""

_MANY: Final = 40
"""Ids from which on setting bits one by one is slower than packing."""


class Walker:
    """Walks for one core over one vocabulary. Keeps the masks of places that differ in little."""

    def __init__(
        self, core: Core, fronts: Fronts, vocabulary: Vocabulary, memory: MemoryRows
    ) -> None:
        self.core, self.fronts, self.vocabulary = core, fronts, vocabulary
        self._memory = memory
        self._places: dict[tuple[int, int], Place | None] = {}
        self._exits: dict[tuple[TokenTrie, int], tuple[list[Row], list[int]]] = {}
        self._hub_rows: dict[tuple[TrieNode, int], Row] = {}
        self._far: set[tuple[int, int]] = set()

    def forget(self) -> None:
        """Drop the rows kept."""
        self._exits.clear()
        self._hub_rows.clear()

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
        if node.size > _FEW and isinstance(loop.body, Machine):
            hub = hubs(loop.body)[loop.state]
            near = None if hub is None else self._near_hub(node, cell, loop, hub)
            if near is not None:
                masks.append(near)
                return
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

    # Differences ------------------------------------------------------------------------------

    def _near_hub(self, node: TrieNode, cell: int, loop: Loop, hub: int) -> Row | None:
        """The mask of a place that differs from the hub, the place most characters lead to; None
        if the difference is too large to be worth it."""
        core = self.core
        which = (loop.number, loop.state)
        if which in self._far or core.remembering.in_use:
            return None
        base = core.regular_cell(loop.number, hub, loop.need, loop.left, loop.tail)
        differences: list[tuple[TrieNode, int, bool]] = []
        changes: list[tuple[TrieNode, tuple[int, ...], bool]] = []
        stack: list[tuple[TrieNode, tuple[int, ...], tuple[int, ...]]] = [(node, (cell,), (base,))]
        for _ in range(_MAX_PAIRS):
            if not stack:
                break
            below, ours, theirs = stack.pop()
            if not ours or not theirs:
                changes.append((below, ours or theirs, bool(ours)))
                continue
            for byte, mine, other in self._differences(ours, theirs):
                child = below.children.get(byte)
                if child is not None:
                    if child.ids and bool(mine) != bool(other):
                        differences.append((child, byte, bool(mine)))
                    if child.size:
                        stack.append((child, mine, other))
        if stack:
            self._far.add(which)
            return None
        row = self._hub_row(node, base).copy()
        for child, _, mine_too in differences:
            for token in child.ids:
                bit = np.uint32(1 << (token & 31))
                if mine_too:
                    row[token >> 5] |= bit
                else:
                    row[token >> 5] &= ~bit
        for below, cells, mine_too in changes:
            masks: list[Row] = []
            ids: list[int] = []
            for here in cells:
                self._walk(below, here, masks, ids)
            part = union(masks, ids, self.vocabulary.words)
            if mine_too:
                row |= part
            else:
                row &= ~part
        return row

    def _hub_row(self, node: TrieNode, cell: int) -> Row:
        key = (node, cell)
        row = self._hub_rows.get(key)
        if row is None:
            masks: list[Row] = []
            ids: list[int] = []
            self._walk(node, cell, masks, ids)
            row = self._hub_rows[key] = union(masks, ids, self.vocabulary.words)
        return row

    def _differences(
        self, ours: tuple[int, ...], theirs: tuple[int, ...]
    ) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
        """``(byte, ours, theirs)`` for the bytes that lead the two to different places."""
        expand = self.core.expand
        mine = {(a.low, a.high, a.target) for c in ours for a in expand(c).arcs}
        other = {(a.low, a.high, a.target) for c in theirs for a in expand(c).arcs}
        cuts: set[int] = set()
        for low, high, _ in mine ^ other:
            cuts.update((low, high + 1))
        edges = sorted(cuts)
        found: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []
        for low, high in zip(edges, edges[1:], strict=False):
            a = tuple(sorted({t for x, y, t in mine if x <= low <= y}))
            b = tuple(sorted({t for x, y, t in other if x <= low <= y}))
            if a != b:
                found += ((byte, a, b) for byte in range(low, min(high, TOKEN_BASE)))
        return found


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
