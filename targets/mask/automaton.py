"""The mask automaton: which tokens may come next, in every configuration of a grammar.

Configurations are sets of the compiler's continuations, interned to integers. Token transitions
and masks are computed when first asked for and kept, so that in steady state a mask is one table
row and accepting a token one look-up. A configuration's mask is the union of the masks of its
continuations, which many configurations share.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.core import TOKEN_BASE, Core
from ...compiler.automaton.fronts import Fronts
from ...compiler.errors import LimitExceeded
from ...compiler.grammar import Grammar
from ...compiler.vocabulary.vocabulary import Vocabulary
from .advance import advance
from .matcher import Matcher
from .states import DEAD, ENDED
from .walk import Walker

Row = NDArray[np.uint32]

MAX_ROW_BYTES: Final = 512 * 1024 * 1024
"""Rows kept by one automaton; beyond, they are forgotten and made anew."""

MAX_THREADS: Final = 20_000
"""Continuations of one configuration (ambiguous counting makes many)."""


class MaskAutomaton:
    """Masks and transitions of one grammar over one vocabulary. May be shared by threads that
    take turns (Python's lock makes each step whole); matchers are cheap and one per sequence."""

    def __init__(self, grammar: Grammar, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.core = Core(grammar.rules, specials=vocabulary.specials)
        self.fronts = Fronts(self.core)
        self._walker = Walker(self.core, self.fronts, vocabulary)
        self._configs: list[tuple[int, ...]] = [()]
        self._index: dict[tuple[int, ...], int] = {(): DEAD}
        self._tokens: list[dict[int, int]] = [{}]
        self._rows: dict[int, Row] = {}
        self._cell_rows: dict[int, Row] = {}
        self._row_bytes = 0
        self._end_row = np.zeros(vocabulary.words, dtype=np.uint32)
        for token in vocabulary.eos_ids:
            self._end_row[token >> 5] |= np.uint32(1 << (token & 31))
        self._eos = frozenset(vocabulary.eos_ids)
        self._special = vocabulary.special_ids - frozenset(vocabulary.padding_ids)
        self._padding = vocabulary.padding_ids
        self.start = self._intern((self.core.continuation(grammar.start),))

    def _intern(self, cells: tuple[int, ...]) -> int:
        found = self._index.get(cells)
        if found is None:
            if len(cells) > MAX_THREADS:
                raise LimitExceeded.at(
                    "automaton-too-ambiguous",
                    f"more than {MAX_THREADS} readings of the text at once",
                )
            found = self._index[cells] = len(self._configs)
            self._configs.append(cells)
            self._tokens.append({})
        return found

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
        rows = [self._cell_row(cell) for cell in self._configs[state]]
        if len(rows) == 1:
            return rows[0]
        row = np.zeros(self.vocabulary.words, dtype=np.uint32)
        for part in rows:
            row |= part
        self._keep(row)
        return row

    def _keep(self, row: Row) -> None:
        row.flags.writeable = False
        self._row_bytes += row.nbytes
        if self._row_bytes > MAX_ROW_BYTES:
            self._rows.clear()
            self._cell_rows.clear()
            self._walker.forget()
            self._row_bytes = row.nbytes

    def _cell_row(self, cell: int) -> Row:
        """The tokens that one continuation can read, the end included where it may end."""
        found = self._cell_rows.get(cell)
        if found is None:
            found = self._walker.row(cell)
            self._keep(found)
            self._cell_rows[cell] = found
        return found

    # Transitions ------------------------------------------------------------------------------

    def accept(self, state: int, token: int) -> int:
        """The state after a token; DEAD if it is not allowed."""
        if state == ENDED:
            # Hosts that run ahead go on past the end; more ends change nothing.
            return ENDED if token in self._eos else DEAD
        row = self._tokens[state]
        found = row.get(token)
        if found is None:
            found = row[token] = self._accept(state, token)
        return found

    def _accept(self, state: int, token: int) -> int:
        if not 0 <= token < len(self.vocabulary.tokens) or token in self._padding:
            return DEAD
        cells = self._configs[state]
        if token in self._eos and self.may_end(state):
            return ENDED
        if token in self._special:
            return self._symbol(cells, TOKEN_BASE + token)
        if token in self._eos:
            return DEAD
        data = self.vocabulary.tokens[token]
        if not data:
            return DEAD
        return self._intern(advance(self.core, self.fronts, self._walker, cells, data))

    def _symbol(self, cells: tuple[int, ...], symbol: int) -> int:
        """The state after a special token."""
        arcs = (arc for cell in cells for arc in self.core.expand(cell).arcs)
        return self._intern(tuple(sorted({arc.target for arc in arcs if arc.low == symbol})))

    def may_end(self, state: int) -> bool:
        """May the text end here?"""
        return state == ENDED or any(self.fronts.ends(cell) for cell in self._configs[state])

    def forced(self, state: int) -> bytes:
        """The bytes that must come next, as far as there is no choice."""
        out = bytearray()
        if state == ENDED:
            return b""
        cells = self._configs[state]
        while len(out) < 65_536 and not any(self.fronts.ends(cell) for cell in cells):
            arcs = [arc for cell in cells for arc in self.core.expand(cell).arcs]
            bytes_ = {arc.low for arc in arcs} | {arc.high for arc in arcs}
            if len(bytes_) != 1 or min(bytes_) >= TOKEN_BASE:
                break
            out.append(bytes_.pop())
            cells = tuple(sorted({arc.target for arc in arcs}))
        return bytes(out)
