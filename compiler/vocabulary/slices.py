"""Slices: what a vocabulary does inside a loop.

In a string's content, in digits, in raw text, nearly every token stays inside the loop. For a trie
node and a loop, the tokens below the node are run through the loop's byte automaton once: those
that stay inside are one packed mask, and of those that break off where the loop may be left, the
rests go into a small trie of exits. A slice knows no grammar; all grammars of a vocabulary that
have the same loop share it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .loop_table import NONE, LoopTable
from .trie import Forest, Node, TokenTrie

_FEW: Final = 64
"""Up to so many tokens plain Python is quicker than numpy."""


class Slice:
    """The tokens below a trie node, seen from inside a loop.

    A token's cost is the number of items that it completes, and must still be completed after it
    before the loop may be left. Tokens that leave the loop at once, before a byte of it, are not
    the slice's business: they stand below the node as they are.
    """

    def __init__(self, forest: Forest, node: Node, loop: LoopTable, start: int, words: int) -> None:
        self.words = words
        self._forest, self._node, self._loop, self._start = forest, node, loop, start
        few = forest.size[node] <= _FEW
        run = self._run_few() if few else self._run_many()
        inside, costs, outside, stops, counts = run
        self._most = int(costs.max(initial=0)) if inside.size else -1
        # A few ids, or a mask; of many tokens ids and costs are only made when a limit asks.
        self._ids: tuple[int, ...] = tuple(inside.tolist()) if few else ()
        self._all = None if few else pack(inside, words)
        self._stays = (inside, costs) if inside.size <= 1024 else None
        self._limited: dict[int, NDArray[np.uint32]] = {}
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
        if self._most < 0:
            return
        if limit is None or limit >= self._most:
            if self._all is None:
                ids += self._ids
            else:
                masks.append(self._all)
        elif self._all is not None:
            masks.append(self._within(limit))
        else:
            assert self._stays is not None
            inside, costs = self._stays
            ids += inside[costs <= limit].tolist()

    def _within(self, limit: int) -> NDArray[np.uint32]:
        found = self._limited.get(limit)
        if found is None:
            if self._stays is None:
                run = self._run_many()
                self._stays = run[0], run[1]
            inside, costs = self._stays
            found = self._limited[limit] = pack(inside[costs <= limit], self.words)
        return found

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

    # Running the tokens through -----------------------------------------------------------------

    def _run_few(self) -> Run:
        """Token by token."""
        forest, node, table = self._forest, self._node, self._loop
        steps, free, short = table.steps, table.free_list, table.short_list
        inside: list[int] = []
        costs: list[int] = []
        outside: list[int] = []
        stops: list[int] = []
        counts: list[int] = []
        depth, start, trie = forest.depth[node], self._start, forest.trie[node]
        low = forest.low[node]
        for index in range(low, forest.high[node]):
            text = trie.strings[index]
            state, count = start, 0
            for at in range(depth, len(text)):
                merged = steps[(state << 8) | text[at]]
                if merged < 0:
                    if at > depth and free[state]:
                        outside.append(index - low)
                        stops.append(at)
                        counts.append(count)
                    break
                state = merged >> 1
                count += merged & 1
            else:
                inside.append(trie.ids[index])
                costs.append(count + short[state])
        return (
            np.asarray(inside, dtype=np.int32),
            np.asarray(costs, dtype=np.int32),
            np.asarray(outside, dtype=np.int64),
            np.asarray(stops, dtype=np.int64),
            np.asarray(counts, dtype=np.int32),
        )

    def _run_many(self) -> Run:
        """All tokens at once, byte by byte."""
        forest, node = self._forest, self._node
        table, start = self._loop.table, self._start
        gain, free = self._loop.gain, self._loop.free
        trie, low, high = forest.trie[node], forest.low[node], forest.high[node]
        size = high - low
        offsets, sizes = trie.offsets[low:high], trie.sizes[low:high]
        state = np.full(size, NONE, dtype=np.int16)
        count = np.zeros(size, dtype=np.int32)
        stop = np.full(size, forest.depth[node], dtype=np.int64)
        going: list[NDArray[np.int64]] = []
        left: list[NDArray[np.int64]] = []
        # The first byte decides for whole children at once.
        for byte, child in forest.children(node).items():
            target = int(table[start, byte])
            if target >= 0:
                here = np.arange(forest.first[child] - low, forest.high[child] - low)
                state[here] = target
                count[here] = gain[start, byte]
                going.append(here)
        alive = np.concatenate(going) if going else np.zeros(0, dtype=np.int64)
        depth = forest.depth[node] + 1
        flat_table, flat_gain = table.reshape(-1), gain.reshape(-1)
        while True:
            alive = alive[sizes[alive] > depth]
            if not alive.size:
                break
            before = state[alive]
            place = before.astype(np.int64) * 256 + trie.data[offsets[alive] + depth]
            after = flat_table[place]
            on = after >= 0
            if not on.all():
                off = alive[~on]
                left.append(off[free[before[~on]]])
                stop[off] = depth
                state[off] = NONE
                alive, after, place = alive[on], after[on], place[on]
            state[alive] = after
            count[alive] += flat_gain[place]
            depth += 1
        stays = state >= 0
        outside = np.concatenate(left) if left else np.zeros(0, dtype=np.int64)
        return (
            trie.id_array[low:high][stays].astype(np.int32),
            count[stays] + self._loop.short[state[stays]],
            outside,
            stop[outside],
            count[outside],
        )


Run = tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int32],
]
"""Ids and costs of the tokens inside; indices, stops and counts of those that leave."""


class Slices:
    """The slices that a vocabulary has made, by node, table and state.

    Attributes:
        size: bytes that they take, about.
    """

    def __init__(self, forest: Forest, words: int) -> None:
        self._forest = forest
        self._words = words
        self._made: dict[tuple[Node, int, int], Slice] = {}
        self.size = 0

    def get(self, node: Node, table: LoopTable, start: int) -> Slice:
        """The slice of the tokens below a node, seen from a state of a loop."""
        key = (node, table.number, start)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = Slice(self._forest, node, table, start, self._words)
            self.size += found.size
        return found


def pack(ids: NDArray[np.int32] | NDArray[np.int64], words: int) -> NDArray[np.uint32]:
    """Ids as a packed mask: uint32[words], bit i of word w is id 32 * w + i."""
    bits = np.zeros(words * 32, dtype=bool)
    bits[ids] = True
    return np.packbits(bits, bitorder="little").view("<u4")
