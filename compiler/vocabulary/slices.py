"""Slices: what a vocabulary does inside a loop.

In a string's content, in digits, in raw text, nearly every token stays inside the loop. For a trie
node and a loop, the tokens below the node are run through the loop's byte automaton once: those
that stay inside are one packed mask, and of those that break off where the loop may be left, the
rests go into a small trie of exits. A slice knows no grammar; all grammars of a vocabulary that
have the same loop share it.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .loop_run import Run, run
from .loop_table import LoopTable
from .loop_tokens import pack
from .trie import Forest, Node, TokenTrie

_LISTED: Final = 64
"""Up to so many ids are kept as such, more as a mask."""


class Slice:
    """The tokens below a trie node, seen from inside a loop.

    A token's cost is the number of items that it completes, and must still be completed after it
    before the loop may be left. Tokens that leave the loop at once, before a byte of it, are not
    the slice's business: they stand below the node as they are. `also` as in
    :func:`~.loop_run.run`.
    """

    def __init__(
        self,
        forest: Forest,
        node: Node,
        loop: LoopTable,
        start: int,
        also: int,
        words: int,
        counting: bool,
        coarse: Slice | None = None,
    ) -> None:
        self.words = words
        self._forest = forest
        self._trie = forest.trie[node]
        self._from = forest, node, loop, start, words
        self._also = also
        made = (
            run(*self._from, also=also, costs=counting)
            if coarse is None
            else coarse.narrowed(*self._from)
        )
        # A few ids, or a mask; of many tokens the costs are worked out when a limit asks.
        self._ids: tuple[int, ...] = ()
        self._all = made.mask
        self._counted: Counted | None = None
        if made.inside is not None and made.costs is not None:
            self._counted = Counted(made.inside, made.costs, made.exits)
            if counting and made.inside.size > _LISTED:
                self._all = pack(made.inside, words)
            else:
                self._ids = tuple(made.inside.tolist())
        self._none = not (self._ids if self._all is None else self._all.any())
        self._limited: dict[int, tuple[int, ...] | NDArray[np.uint32]] = {}
        exits = made.exits
        self._exits = exits
        self.leads = 0
        for byte in set(exits[:, 0].tolist()):
            self.leads |= 1 << byte
        self._rests: dict[tuple[int, int, int | None], Node | None] = {}
        self.size = 256 + exits.nbytes + (0 if self._all is None else self._all.nbytes)

    def narrowed(self, forest: Forest, node: Node, loop: LoopTable, start: int, words: int) -> Run:
        """What the run of a finer table gives that breaks off at the same bytes, and so leaves the
        same tokens inside; it may be left at fewer places."""
        exits = self._exits
        trie, here = forest.trie[node], forest.depth[node]
        states = np.full(len(exits), start, dtype=np.intp)
        offsets, stops = trie.offsets.take(exits[:, 1]), exits[:, 3]
        for depth in range(here, int(stops.max(initial=here))):
            on = np.flatnonzero(stops > depth)
            byte = trie.data.take(offsets.take(on) + depth)
            states[on] = loop.flat.take(states.take(on) << 8 | byte)
        return Run(None, self.inside_mask, None, exits[loop.free_flat.take(states)])

    def add(self, limit: int | None, masks: list[NDArray[np.uint32]], ids: list[int]) -> None:
        """Add the tokens inside that cost at most `limit` items (None: any), as a packed mask or
        by their ids."""
        if self._none:
            return
        if limit is not None and limit < self.counted.most:
            self._add_within(limit, masks, ids)
        elif self._all is None:
            ids += self._ids
        else:
            masks.append(self._all)

    def _add_within(self, limit: int, masks: list[NDArray[np.uint32]], ids: list[int]) -> None:
        found = self._limited.get(limit)
        if found is None:
            counted = self.counted
            within = counted.inside[counted.costs <= limit]
            if within.size <= _LISTED:
                found = tuple(within.tolist())
            else:
                found = pack(within, self.words)
            self._limited[limit] = found
        if isinstance(found, tuple):
            ids += found
        else:
            masks.append(found)

    def level(self, limit: int) -> int:
        """The least limit that allows the same tokens, inside and outside."""
        at = bisect_right(self._levels, limit)
        return self._levels[at - 1] if at else 0

    @cached_property
    def _levels(self) -> list[int]:
        """What tokens cost inside, and count outside, ascending."""
        counts = np.concatenate((self.counted.costs, self.counted.exits[:, 4]))
        return np.flatnonzero(np.bincount(counts)).tolist() if counts.size else []

    @property
    def inside_mask(self) -> NDArray[np.uint32]:
        """All that stay inside, as a packed mask."""
        if self._all is None:
            return pack(np.asarray(self._ids, dtype=np.int32), self.words)
        return self._all

    @property
    def counted(self) -> Counted:
        """The same with what tokens cost."""
        if self._counted is None:
            made = run(*self._from, also=self._also, costs=True)
            assert made.inside is not None and made.costs is not None
            self._counted = Counted(made.inside, made.costs, made.exits)
        return self._counted

    def exits(self, byte: int, need: int, limit: int | None) -> Node | None:
        """The trie of what is left of the tokens that leave with `byte`, after `need` to `limit`
        whole items."""
        if need or limit is not None:
            most = self.counted.most_out
            limit = None if limit is None or limit >= most else limit
        key = (byte, need, limit)
        if key not in self._rests:
            self._rests[key] = self._plant(*key)
        return self._rests[key]

    def _plant(self, byte: int, need: int, limit: int | None) -> Node | None:
        exits = self.counted.exits if need or limit is not None else self._exits
        exits = exits[exits[:, 0] == byte]
        if need:
            exits = exits[exits[:, 4] >= need]
        if limit is not None:
            exits = exits[exits[:, 4] <= limit]
        if not exits.size:
            return None
        strings, ids = self._trie.strings, self._trie.ids
        # Many tokens leave with the same rest.
        found: dict[bytes, list[int]] = {}
        for _, first, high, stop, _ in exits.tolist():
            for i in range(first, high):
                found.setdefault(strings[i][stop:], []).append(ids[i])
        rests = sorted(found)
        texts = [rest for rest in rests for _ in found[rest]]
        return self._forest.plant(TokenTrie(texts, [i for rest in rests for i in found[rest]]))


class Counted(NamedTuple):
    """The tokens that stay inside with their costs, and the exits with counts, as in
    :class:`~.loop_run.Run`."""

    inside: NDArray[np.int32]
    costs: NDArray[np.int32]
    exits: NDArray[np.int32]

    @property
    def most(self) -> int:
        """The most that a token inside costs."""
        return int(self.costs.max(initial=0))

    @property
    def most_out(self) -> int:
        """The most items that are completed before an exit."""
        return int(self.exits[:, 4].max(initial=0))


class Slices:
    """The slices that a vocabulary has made, by node, table and state.

    Attributes:
        size: bytes that they take, about.
    """

    def __init__(self, forest: Forest, words: int) -> None:
        self._forest = forest
        self._words = words
        self._made: dict[tuple[Node, int, int, int], Slice] = {}
        self.size = 0

    def get(
        self,
        node: Node,
        table: LoopTable,
        start: int,
        also: int = 0,
        *,
        counting: bool = False,
    ) -> Slice:
        """The slice of the tokens below a node, seen from a state of a loop; `also` as in
        :func:`~.loop_run.run`. With `counting` a limit will be asked for, so that costs are worked
        out at once."""
        key = (node, table.number, start, also)
        found = self._made.get(key)
        if found is None:
            coarse = None
            if table.coarse is not None and not counting and start < len(table.coarse[1]):
                smaller, states = table.coarse
                coarse = self.get(node, smaller, states[start], also)
            found = self._made[key] = Slice(
                self._forest, node, table, start, also, self._words, counting, coarse
            )
            self.size += found.size
        return found
