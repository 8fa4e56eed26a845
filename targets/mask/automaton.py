"""The mask automaton: which tokens may come next, in every configuration of a grammar.

Configurations are sets of the compiler's continuations, interned to integers. Token transitions
and masks are computed when first asked for and kept, so that in steady state a mask is one table
row and accepting a token one look-up. A configuration's mask is the union of the masks of its
continuations, which many configurations share.
"""

from __future__ import annotations

import gc
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.core import TOKEN_BASE, Core
from ...compiler.automaton.fronts import Fronts, Loop
from ...compiler.automaton.machine_distance import FAR
from ...compiler.automaton.machine_loops import ByteSet
from ...compiler.errors import LimitExceeded
from ...compiler.grammar import Grammar
from ...compiler.vocabulary.vocabulary import Vocabulary
from .advance import advance
from .bitmask import allow
from .budget import Ends, no_end
from .distinct import MemoryRows
from .matcher import Matcher
from .states import DEAD, ENDED
from .walk import Walker

Row = NDArray[np.uint32]

MAX_ROW_BYTES: Final = 512 * 1024 * 1024
"""Rows kept by one automaton; beyond, they are forgotten and made anew."""

MAX_THREADS: Final = 20_000
"""Continuations of one configuration (ambiguous counting makes many)."""


class MaskAutomaton:
    """Masks and transitions of one grammar over one vocabulary.

    While a mask is worked out no garbage is collected: a full collection in a process with much in
    it takes longer than a hundred masks. It comes when the host makes its next object.

    Threads may share it: what is known is read without a lock, what is not is worked out under
    the vocabulary's. Matchers are cheap and one per sequence.
    """

    def __init__(self, grammar: Grammar, vocabulary: Vocabulary, *, remember: bool = True) -> None:
        self.grammar = grammar
        self.vocabulary = vocabulary
        self.core = Core(
            grammar.rules,
            specials=vocabulary.specials,
            markers=grammar.markers,
            remember=remember,
        )
        self.fronts = Fronts(self.core, vocabulary.longest)
        self._memory = MemoryRows(self)
        self._walker = Walker(self.core, self.fronts, vocabulary, self._memory)
        self._lock = vocabulary.lock
        self._configs: list[tuple[int, ...]] = [()]
        self._index: dict[tuple[int, ...], int] = {(): DEAD}
        self.known_tokens: list[dict[int, int]] = [{}]
        self.known_rows: dict[int, NDArray[np.int32]] = {}
        self._cell_rows: dict[int, Row] = {}
        self._row_bytes = 0
        self._distances: Ends | None = None
        self._end_row = np.zeros(vocabulary.words, dtype=np.uint32)
        allow(self._end_row, vocabulary.eos_ids)
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
            found = len(self._configs)
            self._configs.append(cells)
            self.known_tokens.append({})
            self._index[cells] = found
        return found

    def matcher(self) -> Matcher:
        """A matcher at the start of a text."""
        return Matcher(self)

    # Masks ------------------------------------------------------------------------------------

    def row(self, state: int) -> NDArray[np.int32]:
        """The packed mask of a state: int32[ceil(V / 32)], read-only, shared."""
        found = self.known_rows.get(state)
        if found is None:
            with self._lock:
                on = gc.isenabled()
                gc.disable()
                try:
                    found = self.known_rows[state] = self._make_row(state).view(np.int32)
                finally:
                    if on:
                        gc.enable()
        return found

    def _make_row(self, state: int) -> Row:
        if state == ENDED:
            return self._end_row
        rows = [self.cell_row(cell) for cell in self._configs[state]]
        if len(rows) == 1:
            return rows[0]
        row = np.zeros(self.vocabulary.words, dtype=np.uint32)
        for part in rows:
            row |= part
        self.keep(row)
        return row

    def keep(self, row: Row) -> None:
        """Count a row that will be kept."""
        row.flags.writeable = False
        self._row_bytes += row.nbytes
        if self._row_bytes > MAX_ROW_BYTES:
            self.known_rows.clear()
            self._cell_rows.clear()
            self._walker.forget()
            self._row_bytes = row.nbytes

    def cell_row(self, cell: int) -> Row:
        """The tokens that one continuation can read, the end included where it may end."""
        found = self._cell_rows.get(cell)
        if found is None:
            found = self._cell_rows[cell] = self._make_cell_row(self._walker.canonical(cell))
        return found

    def canonical(self, cell: int) -> int:
        """The continuation whose row is that of `cell`."""
        return self._walker.canonical(cell)

    def _make_cell_row(self, cell: int) -> Row:
        found = self._cell_rows.get(cell)
        if found is not None:
            return found
        if self.core.remembering.is_known(cell):
            row = self._memory.inside_row(cell)
        elif (loop := self._but(cell)) is not None:
            whole = self.cell_row(self.fronts.whole(loop))
            row = self._walker.but_row(loop, whole)
            if row is not whole:
                self.keep(row)
        else:
            self._memory.begin()
            row = self._walker.row(cell)
            suspects = self._memory.suspects
            if suspects is not None:
                row = self._memory.corrected(cell, row, suspects)
            self.keep(row)
        self._cell_rows[cell] = row
        return row

    def _but(self, cell: int) -> Loop | None:
        """The loop of a text that may yet become an excluded one, where nothing is remembered."""
        if self.core.remembering.in_use:
            return None
        loop = self.fronts.loop(cell)
        return None if loop is None or loop.but is None else loop

    # Transitions ------------------------------------------------------------------------------

    def accept(self, state: int, token: int) -> int:
        """The state after a token; DEAD if it is not allowed."""
        if state == ENDED:
            # Hosts that run ahead go on past the end; more ends change nothing.
            return ENDED if token in self._eos else DEAD
        row = self.known_tokens[state]
        found = row.get(token)
        if found is None:
            with self._lock:
                on = gc.isenabled()
                gc.disable()
                try:
                    found = row[token] = self._accept(state, token)
                finally:
                    if on:
                        gc.enable()
        return found

    def _accept(self, state: int, token: int) -> int:
        if not 0 <= token < len(self.vocabulary.tokens) or token in self._padding:
            return DEAD
        cells = self._configs[state]
        if token in self._eos and self.may_end(state):
            return ENDED
        if token in self._special:
            return self._intern(self.core.step(cells, TOKEN_BASE + token))
        if token in self._eos:
            return DEAD
        return self.read(state, self.vocabulary.tokens[token])

    def read(self, state: int, data: bytes) -> int:
        """The state after ordinary text; DEAD if it cannot be read, or is empty."""
        if not data or state == ENDED:
            return DEAD
        with self._lock:
            cells = self._configs[state]
            return self._intern(advance(self.core, self.fronts, self._walker, cells, data))

    def reads(self, cell: int, token: int) -> bool:
        """Can a token be read from one continuation?"""
        if token in self._eos and self.fronts.ends(cell):
            return True
        if token in self._special:
            return bool(self.core.step((cell,), TOKEN_BASE + token))
        data = self.vocabulary.tokens[token]
        return bool(data and advance(self.core, self.fronts, self._walker, (cell,), data))

    def may_end(self, state: int) -> bool:
        """May the text end here?"""
        if state == ENDED:
            return True
        with self._lock:
            return any(self.fronts.ends(cell) for cell in self._configs[state])

    def next_bytes(self, state: int) -> list[int]:
        """The bytes of ordinary text that may come next, ascending."""
        if state == ENDED:
            return []
        with self._lock:
            found = self._firsts(self._configs[state])
        return [byte for byte in range(256) if found >> byte & 1]

    def forced(self, state: int) -> bytes:
        """The bytes that must come next, as far as there is no choice."""
        out = bytearray()
        if state == ENDED:
            return b""
        fronts = self.fronts
        with self._lock:
            cells = self._configs[state]
            while len(out) < 65_536:
                if any(fronts.ends(cell) or fronts.specials(cell) for cell in cells):
                    break
                found = self._firsts(cells)
                if found & (found - 1) or not found:
                    break
                byte = found.bit_length() - 1
                out.append(byte)
                cells = self.core.step(cells, byte)
        return bytes(out)

    # Distances --------------------------------------------------------------------------------

    def cells(self, state: int) -> tuple[int, ...]:
        """The continuations of a state; none of ENDED."""
        return () if state == ENDED else self._configs[state]

    def ends(self) -> Ends:
        """The distances of the states, and the masks within budgets; under the lock."""
        if self._distances is None:
            self._distances = Ends(self, self._walker)
        return self._distances

    def row_within(self, state: int, budget: int) -> NDArray[np.int32]:
        """The packed mask of a state with `budget` tokens left, see :class:`~.budget.Ends`."""
        with self._lock:
            return self.ends().row(state, budget)

    def bytes_to_end(self, state: int) -> int:
        """Bytes of a shortest rest of the text."""
        with self._lock:
            return _known(self.ends().bytes(state))

    def tokens_to_end(self, state: int) -> int:
        """Tokens that suffice to the end, an end token included."""
        with self._lock:
            return _known(self.ends().tokens(state))

    def _firsts(self, cells: tuple[int, ...]) -> ByteSet:
        """The bytes of ordinary text that may come next."""
        found = 0
        for cell in cells:
            found |= self.fronts.firsts(cell)
        return found


def _known(distance: int) -> int:
    if distance >= FAR:
        raise no_end()
    return distance
