"""Running the tokens below a trie node through a loop's byte automaton."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .loop_table import NONE, LoopTable
from .trie import Forest, Node

FEW: Final = 64
"""Up to so many tokens plain Python is quicker than numpy."""


class Run(NamedTuple):
    """What became of the tokens.

    inside: the ids of those that stay in the loop, int32; ``costs``: of each, the items that it
        completes and that must be completed after it before the loop may be left, int32; None if
        not asked for.
    outside: the places, from the node's first longer token on, of those that leave the loop where
        it may be left, int64; ``stops``: how many of their bytes lie before that, int64;
        ``counts``: the items completed until then, int32.
    """

    inside: NDArray[np.int32]
    costs: NDArray[np.int32] | None
    outside: NDArray[np.int64]
    stops: NDArray[np.int64]
    counts: NDArray[np.int32]


def run(forest: Forest, node: Node, loop: LoopTable, start: int, *, costs: bool) -> Run:
    """The tokens below `node` that are longer than it, from the loop's state `start`."""
    if forest.size[node] <= FEW:
        return _run_few(forest, node, loop, start)
    return _Many(forest, node, loop, start, costs).run()


def _run_few(forest: Forest, node: Node, loop: LoopTable, start: int) -> Run:
    """Token by token."""
    steps, free, short = loop.steps, loop.free_list, loop.short_list
    inside: list[int] = []
    costs: list[int] = []
    outside: list[int] = []
    stops: list[int] = []
    counts: list[int] = []
    depth, trie, low = forest.depth[node], forest.trie[node], forest.low[node]
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
    return Run(
        np.asarray(inside, dtype=np.int32),
        np.asarray(costs, dtype=np.int32),
        np.asarray(outside, dtype=np.int64),
        np.asarray(stops, dtype=np.int64),
        np.asarray(counts, dtype=np.int32),
    )


class _Many:
    """All tokens at once, byte by byte; those that just go around in the loop are told before."""

    def __init__(
        self, forest: Forest, node: Node, loop: LoopTable, start: int, costs: bool
    ) -> None:
        self.loop, self.start, self.costs = loop, start, costs
        self.trie = forest.trie[node]
        self.low, self.high, self.depth = forest.low[node], forest.high[node], forest.depth[node]
        offsets = self.trie.offsets[self.low : self.high]
        self.offsets = offsets
        first = self.trie.data[offsets + self.depth]
        self.state: NDArray[np.int16] = loop.table[start].take(first)
        self.count: NDArray[np.int32] = loop.gain[start].take(first).astype(np.int32)

    def run(self) -> Run:
        state, count, offsets, data = self.state, self.count, self.offsets, self.trie.data
        sizes = self.trie.sizes[self.low : self.high]
        table, gain = self.loop.table.reshape(-1), self.loop.gain.reshape(-1)
        free = self.loop.free
        left: list[NDArray[np.int64]] = []
        stops: list[NDArray[np.int64]] = []
        alive = np.flatnonzero(state >= 0)
        if not self.depth:
            alive = self._settle(alive)
        depth = self.depth + 1
        while True:
            alive = alive[sizes[alive] > depth]
            if not alive.size:
                break
            before = state[alive]
            place = (before.astype(np.int32) << 8) | data[offsets[alive] + depth]
            after = table[place]
            on = after >= 0
            if not on.all():
                off = alive[~on]
                may = off[free[before[~on]]]
                left.append(may)
                stops.append(np.full(may.size, depth, dtype=np.int64))
                state[off] = NONE
                alive, after, place = alive[on], after[on], place[on]
            state[alive] = after
            count[alive] += gain[place]
            depth += 1
        stays = state >= 0
        outside = np.concatenate(left) if left else np.zeros(0, dtype=np.int64)
        return Run(
            self.trie.id_array[self.low : self.high][stays],
            count[stays] + self.loop.short[state[stays]] if self.costs else None,
            outside,
            np.concatenate(stops) if stops else np.zeros(0, dtype=np.int64),
            count[outside],
        )

    def _settle(self, alive: NDArray[np.int64]) -> NDArray[np.int64]:
        """After the first byte of whole tokens: settle those that go around from there to their
        end, and give the others."""
        state, count, low, high = self.state, self.count, self.low, self.high
        known = self.trie.bytes
        done = np.zeros(high - low, dtype=bool)
        widths = np.bincount(state[alive])
        for target in np.flatnonzero(widths > FEW).tolist():
            ascii_bytes, beyond, gains = self.loop.circle(target)
            if ascii_bytes:
                around = known.within(low, high, ascii_bytes, beyond) & (state == target)
                done |= around
                if gains and self.costs:
                    count += np.where(around, known.characters[low:high] - 1, 0)
        ascii_bytes, beyond, gains = self.loop.circle(self.start)
        if beyond:
            # Characters of several bytes that lead back to the start.
            around = known.within(low, high, ascii_bytes, beyond) & (state >= 0) & ~done
            done |= around
            state[around] = self.start
            count[around] = known.characters[low:high][around] if gains else 0
        return alive[~done[alive]]
