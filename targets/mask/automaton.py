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

from ...compiler.automaton.core import TOKEN_BASE, Loop
from ...compiler.automaton.recogniser import DEAD, Recogniser
from ...compiler.grammar import Grammar, Machine
from ...compiler.vocabulary.slices import LoopTable, Slice, item_table, machine_table
from ...compiler.vocabulary.trie import TrieNode
from ...compiler.vocabulary.vocabulary import Vocabulary
from .distinct import MemoryRows
from .matcher import Matcher

Row = NDArray[np.uint32]
Pending = list[tuple[TrieNode, int]]
"""Nodes to walk, each with a configuration."""

ENDED: Final = -1
"""The state of a sequence that has taken an end token."""

_SLICE_FROM: Final = 48
"""Tokens below a node from which on a slice pays."""

_WIDE: Final = 20
"""Characters that a machine's state must be able to read for a slice to pay."""

MAX_ROW_BYTES: Final = 512 * 1024 * 1024
"""Rows kept by one automaton; beyond, they are forgotten and made anew."""


class MaskAutomaton:
    """Masks and transitions of one grammar over one vocabulary. May be shared by threads that
    take turns (Python's lock makes each step whole); matchers are cheap and one per sequence."""

    def __init__(self, grammar: Grammar, vocabulary: Vocabulary, *, remember: bool = True) -> None:
        self.grammar = grammar
        self.vocabulary = vocabulary
        self.recogniser = Recogniser(
            grammar.rules, grammar.start, specials=vocabulary.specials, remember=remember
        )
        self.core = self.recogniser.core
        self.start = self.recogniser.start
        self._memory = MemoryRows(self)
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

    def cell_row(self, cell: int) -> Row:
        """The tokens that one continuation can read, the end included where it may end."""
        return self._cell_row(cell)

    def canonical(self, cell: int) -> int:
        """The continuation whose row is that of `cell`."""
        return self._canonical(cell)

    def keep(self, row: Row) -> None:
        """Count a row that will be kept."""
        self._keep(row)

    def _cell_row(self, cell: int) -> Row:
        """The tokens that one continuation can read, the end included where it may end."""
        cell = self._canonical(cell)
        found = self._cell_rows.get(cell)
        if found is not None:
            return found
        if self.core.remembering.is_known(cell):
            found = self._cell_rows[cell] = self._memory.inside_row(cell)
            return found
        expansion = self.core.expand(cell)
        masks: list[Row] = []
        ids: list[int] = []
        self._memory.begin()
        self._walk(self.vocabulary.trie.root, cell, masks, ids)
        suspects = self._memory.suspects
        for arc in expansion.arcs:
            if arc.low >= TOKEN_BASE:
                ids.append(arc.low - TOKEN_BASE)
        if expansion.final is not None:
            ids.extend(self._eos)
        row = self._union(masks, ids)
        if suspects is not None:
            row = self._memory.corrected(cell, row, suspects)
        self._keep(row)
        self._cell_rows[cell] = row
        return row

    def _canonical(self, cell: int) -> int:
        """The same continuation where a count is so large that no token can tell."""
        loop = self.core.loop(cell)
        enough = 2 * self.vocabulary.longest
        if loop is None or loop.left is None or loop.left <= enough or loop.need:
            return cell
        return self.core.shorter(cell, enough)

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
        stack: Pending = [(root, recogniser.configuration((cell,)))]
        while stack:
            node, config = stack.pop()
            if node.size > _SLICE_FROM:
                cells = recogniser.threads(config)
                if len(cells) > 1:
                    stack += [(node, recogniser.configuration((c,))) for c in cells]
                    continue
                if core.remembering.is_known(cells[0]):
                    cells = (self._memory.forget(node, cells[0]),)
                    config = recogniser.configuration(cells)
                loop = core.loop(cells[0])
                table = None if loop is None else self._table(loop)
                if loop is not None and table is not None:
                    self._slice(node, loop, table, masks, stack)
                    continue
            children = node.children
            spans = recogniser.next_bytes(config)
            if sum(high - low + 1 for low, high in spans) < len(children):
                found = [
                    (b, children[b])
                    for low, high in spans
                    for b in range(low, min(high, TOKEN_BASE - 1) + 1)
                    if b in children
                ]
            else:
                found = list(children.items())
            for byte, child in found:
                nxt = recogniser.step(config, byte)
                if nxt != DEAD:
                    ids += child.ids
                    if child.size:
                        stack.append((child, nxt))

    def _slice(
        self, node: TrieNode, loop: Loop, table: LoopTable, masks: list[Row], stack: Pending
    ) -> None:
        """A node below which most tokens go around one loop."""
        start = table.start[loop.state]
        slices = self.vocabulary.slices
        key = (node, table, start)
        part = slices.get(key)
        if part is None:
            part = slices[key] = Slice(node, table, start, self.vocabulary.words)
        masks.append(part.mask(loop.left))
        behind = self.recogniser.configuration((loop.tail,))
        for low, high in self.recogniser.next_bytes(behind):
            for byte in range(low, min(high, TOKEN_BASE - 1) + 1):
                rests = part.exits(byte, loop.need, loop.left)
                if rests is not None:
                    stack.append((rests.root, behind))

    def _table(self, loop: Loop) -> LoopTable | None:
        """The loop's byte automaton, made once a vocabulary."""
        tables = self.vocabulary.tables
        if loop.body not in tables:
            if isinstance(loop.body, Machine):
                machine = loop.body.known.plain if loop.body.known else loop.body
                wide = any(len(row) and _width(row) >= _WIDE for row in machine.transitions)
                tables[loop.body] = machine_table(loop.body) if wide else None
            else:
                tables[loop.body] = item_table(loop.body)
        return tables[loop.body]

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


def _width(row: tuple[tuple[int, int, int, int], ...]) -> int:
    """How many characters a machine's state can read."""
    return sum(high - low + 1 for low, high, _, _ in row)
