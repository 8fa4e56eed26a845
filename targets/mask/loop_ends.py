"""Where tokens end inside a loop: what slices leave out, as masks need it only near the end."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compiler.vocabulary.loop_table import LoopTable
from ...compiler.vocabulary.trie import Forest, Node, TokenTrie

Row = NDArray[np.uint32]

MAX_BYTES: Final = 64 * 1024 * 1024
"""Bytes of what is kept; beyond, it is worked out anew."""


class Ending(NamedTuple):
    """Tokens that stay in the loop and end in one state, after one number of items.

    which: their places below the node, int64; ids: int32.
    """

    state: int
    items: int
    which: NDArray[np.int64]
    ids: NDArray[np.int32]


class LoopEnds:
    """The tokens below a trie node as a loop's byte automaton reads them from a state."""

    def __init__(self, forest: Forest, node: Node, table: LoopTable, start: int, also: int) -> None:
        self._forest, self._node = forest, node
        trie, low, high = forest.trie[node], forest.low[node], forest.high[node]
        depth = forest.depth[node]
        offsets, sizes = trie.offsets[low:high], trie.sizes[low:high]
        follows, gains = table.table.reshape(-1), table.gain.reshape(-1)
        leaves = np.array([also >> byte & 1 for byte in range(256)], dtype=bool)
        state = np.full(high - low, start, dtype=np.int32)
        count = np.zeros(high - low, dtype=np.int32)
        outs: list[tuple[NDArray[np.int64], int, NDArray[np.int32]]] = []
        alive = np.arange(high - low)
        at = depth
        while True:
            alive = alive[sizes[alive] > at]
            if not alive.size:
                break
            byte = trie.data[offsets[alive] + at]
            before = state[alive]
            place = (before << 8) | byte
            after = follows[place]
            on = after >= 0
            if at > depth:
                out = alive[table.free_flat[before] & (~on | leaves[byte])]
                if out.size:
                    outs.append((out, at, count[out]))
            state[alive[~on]] = -1
            alive, after, place = alive[on], after[on], place[on]
            state[alive] = after
            count[alive] += gains[place]
            at += 1
        self._outs = outs
        self._exits: dict[tuple[int, int], Node | None] = {}
        self.endings = self._endings(state, count, trie, low)
        self._most = max((int(c.max()) for _, _, c in outs), default=0)
        self.size = 256 + 12 * (high - low)

    def _endings(
        self, state: NDArray[np.int32], count: NDArray[np.int32], trie: TokenTrie, low: int
    ) -> list[Ending]:
        stays = np.flatnonzero(state >= 0)
        if not stays.size:
            return []
        keys = state[stays].astype(np.int64) << 32 | count[stays]
        order = np.argsort(keys, kind="stable")
        cuts = np.flatnonzero(np.diff(keys[order])) + 1
        return [
            Ending(int(state[which[0]]), int(count[which[0]]), which, trie.id_array[low + which])
            for which in np.split(stays[order], cuts)
        ]

    def text(self, place: int) -> bytes:
        """What a token holds behind the node, by its place below it."""
        trie, low = self._forest.trie[self._node], self._forest.low[self._node]
        return trie.strings[low + place][self._forest.depth[self._node] :]

    def exits(self, need: int, left: int | None) -> Node | None:
        """The trie of what is left of the tokens that leave after `need` to `left` whole items."""
        top = self._most if left is None else min(left, self._most)
        key = (need, top)
        if key not in self._exits:
            trie, low = self._forest.trie[self._node], self._forest.low[self._node]
            pairs = sorted(
                (trie.strings[low + i][at:], trie.ids[low + i])
                for out, at, counts in self._outs
                for i in out[(counts >= need) & (counts <= top)].tolist()
            )
            self._exits[key] = None
            if pairs:
                rests = TokenTrie([rest for rest, _ in pairs], [token for _, token in pairs])
                self._exits[key] = self._forest.plant(rests)
        return self._exits[key]
