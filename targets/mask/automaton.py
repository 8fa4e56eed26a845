"""The mask automaton: which tokens may come next, in every configuration of a grammar.

Configurations are sets of the compiler's continuations, interned to integers. Token transitions
and masks are computed when first asked for and kept, so that in steady state a mask is one table
row and accepting a token one look-up. A configuration's mask is the union of the masks of its
continuations, which many configurations share.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.core import TOKEN_BASE, Core
from ...compiler.automaton.fronts import Fronts
from ...compiler.automaton.machine_distance import FAR
from ...compiler.automaton.machine_loops import ByteSet
from ...compiler.errors import LimitExceeded
from ...compiler.grammar import Grammar
from ...compiler.recipe import Recipe
from ...compiler.vocabulary.vocabulary import Vocabulary
from .advance import advance
from .bitmask import allow
from .budget import Ends, no_end
from .distinct import MemoryRows
from .free_text import FreeTokens
from .matcher import Matcher
from .results import NOTHING, Row
from .states import DEAD, ENDED
from .walk import Walker

if TYPE_CHECKING:
    from .explore import Sample
    from .save import SaveBudget, SaveReport

MAX_ROW_BYTES: Final = 512 * 1024 * 1024
"""Rows kept by one automaton; beyond, they are forgotten and made anew."""

MAX_THREADS: Final = 20_000
"""Continuations of one configuration (ambiguous counting makes many)."""


class MaskAutomaton:
    """Masks and transitions of one grammar over one vocabulary.

    Threads may share it: what is known is read without a lock, what is not is worked out under
    the vocabulary's. Matchers are cheap and one per sequence.
    """

    def __init__(
        self,
        grammar: Grammar,
        vocabulary: Vocabulary,
        *,
        remember: bool = True,
        recipe: Recipe | None = None,
    ) -> None:
        self._begin(vocabulary, recipe)
        self._build(grammar, remember)
        self.start = self._intern((self.core.continuation(grammar.start),))

    def _begin(self, vocabulary: Vocabulary, recipe: Recipe | None) -> None:
        """What is known before anything is asked."""
        self.vocabulary = vocabulary
        self._recipe = recipe
        self._lock = vocabulary.lock
        self._configs: list[tuple[int, ...]] = [()]
        self._index: dict[tuple[int, ...], int] = {(): DEAD}
        self.known_tokens: list[dict[int, int]] = [{}]
        self.known_rows: dict[int, NDArray[np.int32]] = {}
        self._cell_rows: dict[int, Row] = {}
        self._kept: dict[int, tuple[Row, NDArray[np.int32]]] = {}
        self._row_bytes = 0
        self._distances: Ends | None = None
        self.all_row = vocabulary.all_row
        self._end_row = np.zeros(vocabulary.words, dtype=np.uint32)
        allow(self._end_row, vocabulary.eos_ids)
        self._eos = frozenset(vocabulary.eos_ids)
        self._special = vocabulary.special_ids - frozenset(vocabulary.padding_ids)
        self._padding = vocabulary.padding_ids

    def _build(self, grammar: Grammar, remember: bool) -> None:
        """What works out the rest."""
        self.grammar = grammar
        self.core = Core(
            grammar.rules,
            specials=self.vocabulary.specials,
            markers=grammar.markers,
            remember=remember,
        )
        self.fronts = Fronts(self.core, self.vocabulary.longest)
        self._memory = MemoryRows(self)
        self._walker = Walker(self.core, self.fronts, self.vocabulary, self._memory)
        self._free = FreeTokens(self.core, self.fronts, self._walker, self.vocabulary, grammar.free)

    def forgetful(self) -> MaskAutomaton:
        """The same automaton where items and keys that must differ need not."""
        return MaskAutomaton(self.grammar, self.vocabulary, remember=False)

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

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        budget: SaveBudget | None = None,
        samples: Sequence[Sample] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> SaveReport:
        """Write the automaton to a file, with the masks that texts are likely to ask for.

        The file holds the masks along `samples` and those reached first, token by token, from the
        start, as far as the budget goes; and what the grammar was compiled from, for all the
        others. :func:`load` reads it. It depends on nothing but grammar, vocabulary and these
        arguments, and is replaced in one step.

        Args:
            budget: how much to search; ``SaveBudget()`` unless given.
            samples: texts that are likely: whole turns or beginnings, str or UTF-8 bytes, covered
                however they are cut into tokens; or token ids.
            progress: called now and then with the states found and the most that there may be.

        Raises:
            ArtefactError: the grammar was compiled from what JSON cannot hold, or the file cannot
                be written.
            LimitExceeded: samples of more than 256 KiB.
        """
        from .save import save

        return save(self.vocabulary, self._compiled_from(), path, budget, samples, progress)

    def _compiled_from(self) -> Recipe | None:
        return self._recipe

    # Masks ------------------------------------------------------------------------------------

    def row(self, state: int) -> NDArray[np.int32]:
        """The packed mask of a state: int32[ceil(V / 32)], read-only, shared."""
        found = self.known_rows.get(state)
        if found is None:
            with self._lock:
                found = self.known_rows[state] = self._view(self._make_row(state))
        return found

    def _view(self, row: Row) -> NDArray[np.int32]:
        """A row for those who ask from outside; that of all tokens is one object, so that matchers
        know it at a glance."""
        kept = self._kept.get(id(row))
        if kept is not None:
            return kept[1]
        if row[0] == self.all_row[0] and np.array_equal(row.view(np.int32), self.all_row):
            return self.all_row
        return row.view(np.int32)

    def _make_row(self, state: int) -> Row:
        if state == ENDED:
            return self._end_row
        results = self._walker.results
        results.trim(self.vocabulary)
        cells = self._configs[state]
        if len(cells) == 1:
            found = self._result(cells[0])
            if found is None:
                return self.cell_row(cells[0])
            return self.keep(results.row(found, self._apart(cells[0])))
        parts: list[int] = []
        apart: tuple[int, ...] = ()
        rows: list[Row] = []
        for cell in cells:
            found = self._result(cell)
            if found is None:
                rows.append(self.cell_row(cell))
            else:
                if found:
                    parts.append(found)
                apart += self._apart(cell)
        if not rows:
            return self.keep(results.row(results.union(NOTHING, parts), apart))
        row = results.row(results.union(NOTHING, parts), apart).copy()
        for more in rows:
            row |= more
        return self.keep(row)

    def keep(self, row: Row) -> Row:
        """Count a row that will be kept; once, as most are shared by many states."""
        if id(row) not in self._kept:
            row.flags.writeable = False
            self._row_bytes += row.nbytes
            if self._row_bytes > MAX_ROW_BYTES:
                self._forget_rows()
                self._kept.clear()
                self._row_bytes = row.nbytes
            # With the row itself, so that its identity stays its own.
            self._kept[id(row)] = row, self._view(row)
        return row

    def _result(self, cell: int) -> int | None:
        """What one continuation can read; None if remembered texts make it a row of its own."""
        remembering = self.core.remembering
        if remembering.in_use and remembering.is_known(cell):
            return None
        found = self._walker.result(cell)
        return found if self._walker.suspects(cell) is None else None

    def _forget_rows(self) -> None:
        self.known_rows.clear()
        self._cell_rows.clear()
        self._walker.forget()

    def cell_row(self, cell: int) -> Row:
        """The tokens that one continuation can read, the end included where it may end."""
        row = self._cell_rows.get(cell)
        if row is None:
            row = self._cell_rows[cell] = self.keep(self._make_cell_row(cell))
        return row

    def _apart(self, cell: int) -> tuple[int, ...]:
        """The special and end tokens that a continuation can read."""
        ids = self._walker.apart(cell)
        return ids + self._free.ids(cell) if self._free else ids

    def canonical(self, cell: int) -> int:
        """A continuation with the same row, one for many counts that no token can tell apart."""
        return self._walker.canonical(cell)

    def _make_cell_row(self, cell: int) -> Row:
        remembering = self.core.remembering
        if remembering.in_use and remembering.is_known(cell):
            return self._memory.inside_row(cell)
        found = self._walker.result(cell)
        row = self._walker.results.row(found, self._apart(cell))
        suspects = self._walker.suspects(cell)
        return row if suspects is None else self._memory.corrected(cell, row, suspects)

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
                found = row[token] = self._accept(state, token)
        return found

    def _accept(self, state: int, token: int) -> int:
        if not 0 <= token < len(self.vocabulary.tokens) or token in self._padding:
            return DEAD
        if token in self._eos and self.may_end(state):
            return ENDED
        if token in self._eos and token not in self._special:
            return DEAD
        return self._intern(self._step(self._configs[state], token))

    def _step(self, cells: tuple[int, ...], token: int) -> tuple[int, ...]:
        """The continuations after a token that is no end here."""
        if token in self._special:
            return self._special_step(cells, token)
        data = self.vocabulary.tokens[token]
        return advance(self.core, self.fronts, self._walker, cells, data) if data else ()

    def _special_step(self, cells: tuple[int, ...], token: int) -> tuple[int, ...]:
        """The continuations after a special token, sorted."""
        named = self.core.step(cells, TOKEN_BASE + token)
        return tuple(sorted({*named, *self._free.step(cells, token)}))

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
        return bool(self._step((cell,), token))

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
