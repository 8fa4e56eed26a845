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
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .loop_run import FEW, run
from .loop_table import LoopTable
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
        self, forest: Forest, node: Node, loop: LoopTable, start: int, also: int, words: int
    ) -> None:
        self.words = words
        self._forest, self._node, self._loop, self._start = forest, node, loop, start
        made = run(forest, node, loop, start, also=also, costs=False)
        inside, costs, outside, stops, counts = made
        few = forest.size[node] <= FEW
        self._none = not inside.size
        # A few ids, or a mask; of many tokens the costs are worked out when a limit asks.
        self._ids: tuple[int, ...] = tuple(inside.tolist()) if few else ()
        self._all = None if few else pack(inside, words)
        self._costs: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None
        if costs is not None:
            self._costs = inside, costs
        self._limited: dict[int, tuple[int, ...] | NDArray[np.uint32]] = {}
        self._most_out = int(counts.max(initial=0))
        self._outside, self._stops, self._counts = outside, stops, counts
        trie, low = forest.trie[node], forest.low[node]
        first = trie.data[trie.offsets[low + outside] + stops]
        self._by_first: dict[int, NDArray[np.int64]] = {}
        self.leads = 0
        for byte in set(first.tolist()):
            self._by_first[byte] = np.flatnonzero(first == byte)
            self.leads |= 1 << byte
        self._exits: dict[tuple[int, int, int], Node | None] = {}
        kept = [self._all, *self._by_first.values(), outside, stops, counts]
        self.size = 256 + sum(array.nbytes for array in kept if array is not None)

    def add(self, limit: int | None, masks: list[NDArray[np.uint32]], ids: list[int]) -> None:
        """Add the tokens inside that cost at most `limit` items (None: any), as a packed mask or
        by their ids."""
        if self._none:
            return
        if limit is not None and limit < self._most:
            self._add_within(limit, masks, ids)
        elif self._all is None:
            ids += self._ids
        else:
            masks.append(self._all)

    def _add_within(self, limit: int, masks: list[NDArray[np.uint32]], ids: list[int]) -> None:
        found = self._limited.get(limit)
        if found is None:
            inside, costs = self._with_costs()
            within = inside[costs <= limit]
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
        counts = np.concatenate((self._with_costs()[1], self._counts))
        return np.flatnonzero(np.bincount(counts)).tolist() if counts.size else []

    @cached_property
    def _most(self) -> int:
        """The most that a token inside costs."""
        return int(self._with_costs()[1].max())

    def _with_costs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        if self._costs is not None:
            return self._costs
        made = run(self._forest, self._node, self._loop, self._start, costs=True)
        assert made.costs is not None
        self._costs = made.inside, made.costs
        return self._costs

    def exits(self, byte: int, need: int, limit: int | None) -> Node | None:
        """The trie of what is left of the tokens that leave with `byte`, after `need` to `limit`
        whole items."""
        which = self._by_first.get(byte)
        if which is None:
            return None
        top = self._most_out if limit is None else min(limit, self._most_out)
        key = (byte, need, top)
        if key not in self._exits:
            counts = self._counts[which]
            self._exits[key] = self._rests(which[(counts >= need) & (counts <= top)])
        return self._exits[key]

    def _rests(self, which: NDArray[np.int64]) -> Node | None:
        if not which.size:
            return None
        trie, low = self._forest.trie[self._node], self._forest.low[self._node]
        pairs = sorted(
            (trie.strings[low + i][stop:], trie.ids[low + i])
            for i, stop in zip(
                self._outside[which].tolist(), self._stops[which].tolist(), strict=True
            )
        )
        rests = TokenTrie([rest for rest, _ in pairs], [token for _, token in pairs])
        return self._forest.plant(rests)


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

    def get(self, node: Node, table: LoopTable, start: int, also: int = 0) -> Slice:
        """The slice of the tokens below a node, seen from a state of a loop; `also` as in
        :func:`~.loop_run.run`."""
        key = (node, table.number, start, also)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = Slice(self._forest, node, table, start, also, self._words)
            self.size += found.size
        return found


def pack(ids: NDArray[np.int32] | NDArray[np.int64], words: int) -> NDArray[np.uint32]:
    """Ids as a packed mask: uint32[words], bit i of word w is id 32 * w + i."""
    bits = np.zeros(words * 32, dtype=bool)
    bits[ids] = True
    return np.packbits(bits, bitorder="little").view("<u4")
