"""The mask automaton: which tokens may come next, in every configuration of a grammar.

Configurations are those of the compiler's automaton core, interned to integers. Byte transitions,
token transitions and masks are computed when first asked for and kept, so that in steady state a
mask is one table row and accepting a token one look-up. A configuration's mask is the union of the
masks of its continuations, which many configurations share; inside a loop over a class of
characters it comes from the vocabulary's slices.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.core import TOKEN_BASE
from ...compiler.automaton.recogniser import DEAD, Recogniser
from ...compiler.grammar import Grammar, Ranges
from ...compiler.vocabulary.slices import Slice, loop_table
from ...compiler.vocabulary.trie import TrieNode
from ...compiler.vocabulary.vocabulary import Vocabulary
from .matcher import Matcher

Row = NDArray[np.uint32]
Pending = list[tuple[TrieNode, int, bool]]
"""Nodes to walk, each with a configuration and whether its loop may be sliced."""

ENDED: Final = -1
"""The state of a sequence that has taken an end token."""

_SLICE_FROM: Final = 48
"""Tokens below a node from which on a slice pays."""

MAX_ROW_BYTES: Final = 512 * 1024 * 1024
"""Rows kept by one automaton; beyond, they are forgotten and made anew."""


class MaskAutomaton:
    """Masks and transitions of one grammar over one vocabulary. May be shared by threads that
    take turns (Python's lock makes each step whole); matchers are cheap and one per sequence."""

    def __init__(self, grammar: Grammar, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.recogniser = Recogniser(grammar.rules, grammar.start, specials=vocabulary.specials)
        self.core = self.recogniser.core
        self.start = self.recogniser.start
        self._rows: dict[int, Row] = {}
        self._cell_rows: dict[int, Row] = {}
        self._tokens: dict[int, dict[int, int]] = {}
        self._row_bytes = 0
        words = vocabulary.words
        self._end_row = np.zeros(words, dtype=np.uint32)
        for token in vocabulary.eos_ids:
            self._end_row[token >> 5] |= np.uint32(1 << (token & 31))
        self._eos = frozenset(vocabulary.eos_ids)
        self._special = vocabulary.special_ids - frozenset(vocabulary.padding_ids)
        self._padding = vocabulary.padding_ids

    def matcher(self) -> Matcher:
        """A matcher at the start of a text."""
        return Matcher(self)

    # Masks ------------------------------------------------------------------------------------

    def row(self, state: int) -> Row:
        """The packed mask of a state: uint32[ceil(V / 32)], read-only, shared."""
        found = self._rows.get(state)
        if found is None:
            found = self._rows[state] = self._make_row(state)
        return found

    def _make_row(self, state: int) -> Row:
        if state == ENDED:
            return self._end_row
        cells = self.recogniser.threads(state)
        rows = [self._cell_row(cell) for cell in cells]
        row = rows[0] if rows else np.zeros(self.vocabulary.words, dtype=np.uint32)
        if len(rows) > 1:
            row = np.bitwise_or.reduce(rows)
            self._keep(row)
        return row

    def _keep(self, row: Row) -> None:
        row.flags.writeable = False
        self._row_bytes += row.nbytes
        if self._row_bytes > MAX_ROW_BYTES:
            self._rows.clear()
            self._cell_rows.clear()
            self._row_bytes = row.nbytes

    def _cell_row(self, cell: int) -> Row:
        """The tokens that one continuation can read, the end included where it may end."""
        cell = self._canonical(cell)
        found = self._cell_rows.get(cell)
        if found is not None:
            return found
        expansion = self.core.expand(cell)
        masks: list[Row] = []
        ids: list[int] = []
        self._walk(self.vocabulary.trie.root, cell, masks, ids)
        for arc in expansion.arcs:
            if arc.low >= TOKEN_BASE:
                ids.append(arc.low - TOKEN_BASE)
        if expansion.final is not None:
            ids.extend(self._eos)
        row = self._union(masks, ids)
        self._keep(row)
        self._cell_rows[cell] = row
        return row

    def _canonical(self, cell: int) -> int:
        """The same continuation where counts are so large that no token can tell."""
        loop = self.core.loop(cell)
        if loop is None or loop.left is None:
            return cell
        longest = self.vocabulary.longest
        if loop.left <= 2 * longest or loop.need:
            return cell
        return self.core.shift(cell, loop.left - 2 * longest)

    def _union(self, masks: list[Row], ids: list[int]) -> Row:
        words = self.vocabulary.words
        if len(ids) > 256:
            bits = np.zeros(words * 32, dtype=bool)
            bits[ids] = True
            masks.append(np.packbits(bits, bitorder="little").view("<u4"))
            ids = []
        if not masks:
            row = np.zeros(words, dtype=np.uint32)
        elif len(masks) == 1:
            row = masks[0].copy()
        else:
            row = np.bitwise_or.reduce(masks)
        for token in ids:
            row[token >> 5] |= np.uint32(1 << (token & 31))
        return row

    # The walk ---------------------------------------------------------------------------------

    def _walk(self, root: TrieNode, cell: int, masks: list[Row], ids: list[int]) -> None:
        """Collect the tokens below a trie node that can be read from a continuation."""
        core, recogniser = self.core, self.recogniser
        stack: Pending = [(root, recogniser.configuration((cell,)), True)]
        while stack:
            node, config, may_slice = stack.pop()
            if may_slice and node.size > _SLICE_FROM:
                cells = recogniser.threads(config)
                if len(cells) > 1:
                    stack += [(node, recogniser.configuration((c,)), True) for c in cells]
                    continue
                loop = core.loop(cells[0])
                if loop is not None and _large(loop.ranges):
                    self._slice(node, cells[0], masks, stack)
                    continue
            children = node.children
            arcs = recogniser.arcs(config)
            width = sum(high - low + 1 for low, high, _ in arcs)
            if width < len(children):
                bytes_: list[int] = sorted(
                    {b for low, high, _ in arcs if low < TOKEN_BASE for b in range(low, high + 1)}
                )
                found = [(b, children[b]) for b in bytes_ if b in children]
            else:
                found = list(children.items())
            for byte, child in found:
                nxt = recogniser.step(config, byte)
                if nxt != DEAD:
                    ids += child.ids
                    if child.size:
                        stack.append((child, nxt, True))

    def _slice(self, node: TrieNode, cell: int, masks: list[Row], stack: Pending) -> None:
        """A node below which most tokens go around one loop."""
        core, recogniser = self.core, self.recogniser
        loop = core.loop(cell)
        assert loop is not None
        part = self._part(node, loop.ranges)
        masks.append(part.mask(loop.left))
        uniform = loop.need == 0 and (loop.left is None or loop.left > part.most)
        for count in [None] if uniform else part.exit_counts():
            if count is not None and loop.left is not None and count > loop.left:
                continue
            rests = part.exits(count)
            if rests is not None:
                after = cell if not count else core.shift(cell, count)
                # No rest begins inside the loop, so its first byte is walked, not sliced.
                stack.append((rests.root, recogniser.configuration((after,)), False))

    def _part(self, node: TrieNode, ranges: Ranges) -> Slice:
        """The slice of a node and a class, made once a vocabulary."""
        slices = self.vocabulary.slices
        key = (node, ranges)
        found = slices.get(key)
        if found is None:
            table = self.vocabulary.tables.get(ranges)
            if table is None:
                table = self.vocabulary.tables[ranges] = loop_table(ranges)
            found = slices[key] = Slice(node, table, self.vocabulary.words)
        return found

    # Transitions ------------------------------------------------------------------------------

    def accept(self, state: int, token: int) -> int:
        """The state after a token; DEAD if it is not allowed."""
        row = self._tokens.get(state)
        if row is None:
            row = self._tokens[state] = {}
        found = row.get(token)
        if found is None:
            found = row[token] = self._accept(state, token)
        return found

    def _accept(self, state: int, token: int) -> int:
        if not 0 <= token < len(self.vocabulary.tokens) or token in self._padding:
            return DEAD
        if state == ENDED:
            # Hosts that run ahead go on past the end; more ends change nothing.
            return ENDED if token in self._eos else DEAD
        if token in self._eos and self.recogniser.accepting(state):
            return ENDED
        if token in self._special:
            return self.recogniser.step(state, TOKEN_BASE + token)
        if token in self._eos:
            return DEAD
        return self._read(state, self.vocabulary.tokens[token])

    def _read(self, state: int, data: bytes) -> int:
        if not data:
            return DEAD
        step = self.recogniser.step
        for byte in data:
            state = step(state, byte)
            if state == DEAD:
                return DEAD
        return state

    def may_end(self, state: int) -> bool:
        """May the text end here?"""
        return state == ENDED or self.recogniser.accepting(state)

    def only_end(self, state: int) -> bool:
        """Is there nothing left but to end?"""
        return state != ENDED and self.recogniser.at_end(state)

    def forced(self, state: int) -> bytes:
        """The bytes that must come next, as far as there is no choice."""
        out = bytearray()
        if state == ENDED:
            return b""
        recogniser = self.recogniser
        while not recogniser.accepting(state) and len(out) < 65_536:
            arcs = recogniser.next_bytes(state)
            if len(arcs) != 1 or arcs[0][0] != arcs[0][1] or arcs[0][0] >= TOKEN_BASE:
                break
            out.append(arcs[0][0])
            state = recogniser.step(state, arcs[0][0])
        return bytes(out)


def _large(ranges: Ranges) -> bool:
    """Does a class hold so many characters that a slice pays?"""
    return sum(high - low + 1 for low, high in ranges) >= 10
