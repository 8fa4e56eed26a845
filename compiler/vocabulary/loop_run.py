"""Running the tokens below a trie node through a loop's byte automaton."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..automaton.items import NONE
from .loop_table import LoopTable
from .trie import Forest, Node

FEW: Final = 64
"""Up to so many tokens plain Python is quicker than numpy."""


_NARROW: Final = 40
"""First bytes up to which tokens are found by the trie's ranges, not by looking at all."""

_BULK: Final = 4096
"""Tokens from which on looking at their bytes as sets pays."""


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


def run(
    forest: Forest, node: Node, loop: LoopTable, start: int, *, also: int = 0, costs: bool
) -> Run:
    """The tokens below `node` that are longer than it, from the loop's state `start`.

    Args:
        also: bytes that may begin what is behind the loop though it can go on with them, as a set
            of bits. Tokens are outside at each of them, besides staying inside.
    """
    if forest.size[node] <= FEW:
        return _run_few(forest, node, loop, start, also)
    return _Many(forest, node, loop, start, also, costs).run()


def _run_few(forest: Forest, node: Node, loop: LoopTable, start: int, also: int) -> Run:
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
            if (merged < 0 or also >> text[at] & 1) and at > depth and free[state]:
                outside.append(index - low)
                stops.append(at)
                counts.append(count)
            if merged < 0:
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
    """Many tokens at once, byte by byte; those that just go around in the loop are told before.

    Only the tokens whose first byte goes on in the loop are looked at; arrays are as long as these
    are many, and ``which`` has their places below the node.
    """

    def __init__(
        self, forest: Forest, node: Node, loop: LoopTable, start: int, also: int, costs: bool
    ) -> None:
        self.loop, self.start, self.also, self.costs = loop, start, also, costs
        self.trie = forest.trie[node]
        self.low, self.high, self.depth = forest.low[node], forest.high[node], forest.depth[node]
        self.all = slice(self.low, self.high)
        row, gains = loop.table[start], loop.gain[start]
        if np.count_nonzero(row >= 0) <= _NARROW:
            # The ranges of the children, where these are a few.
            parts: list[NDArray[np.int64]] = []
            states: list[NDArray[np.int16]] = []
            counts: list[NDArray[np.int32]] = []
            for byte, child in forest.children(node).items():
                if row[byte] >= 0:
                    size = forest.high[child] - forest.first[child]
                    parts.append(np.arange(size) + (forest.first[child] - self.low))
                    states.append(np.full(size, row[byte], dtype=np.int16))
                    counts.append(np.full(size, gains[byte], dtype=np.int32))
            nothing = np.zeros(0, dtype=np.int64)
            self.which = np.concatenate(parts) if parts else nothing
            self.state = np.concatenate(states) if states else nothing.astype(np.int16)
            self.count = np.concatenate(counts) if counts else nothing.astype(np.int32)
        else:
            first = self.trie.data[self.trie.offsets[self.all] + self.depth]
            state = row.take(first)
            self.which = np.flatnonzero(state >= 0)
            self.state = state[self.which]
            self.count = gains.take(first[self.which]).astype(np.int32)
        self.offsets = self.trie.offsets[self.all][self.which]
        self.sizes = self.trie.sizes[self.all][self.which]

    def run(self) -> Run:
        state, count, offsets, data = self.state, self.count, self.offsets, self.trie.data
        sizes = self.sizes
        table, gain = self.loop.table.reshape(-1), self.loop.gain.reshape(-1)
        free = self.loop.free
        left: list[NDArray[np.int64]] = []
        stops: list[NDArray[np.int64]] = []
        counts: list[NDArray[np.int32]] = []
        also = _bits(self.also)
        alive = np.arange(state.size)
        if not self.depth and state.size > _BULK:
            alive = self._settle()
        depth = self.depth + 1
        while True:
            alive = alive[sizes[alive] > depth]
            if not alive.size:
                break
            before = state[alive]
            byte = data[offsets[alive] + depth]
            place = (before.astype(np.int32) << 8) | byte
            after = table[place]
            on = after >= 0
            if self.also or not on.all():
                out = alive[free[before] & (~on | also[byte])]
                left.append(out)
                stops.append(np.full(out.size, depth, dtype=np.int64))
                counts.append(count[out])
                state[alive[~on]] = NONE
                alive, after, place = alive[on], after[on], place[on]
            state[alive] = after
            count[alive] += gain[place]
            depth += 1
        stays = state >= 0
        outside = np.concatenate(left) if left else np.zeros(0, dtype=np.int64)
        return Run(
            self.trie.id_array[self.all][self.which[stays]],
            count[stays] + self.loop.short[state[stays]] if self.costs else None,
            self.which[outside],
            np.concatenate(stops) if stops else np.zeros(0, dtype=np.int64),
            np.concatenate(counts) if counts else np.zeros(0, dtype=np.int32),
        )

    def _settle(self) -> NDArray[np.int64]:
        """Settle the whole tokens that go around from their second character to their end, and
        give the others."""
        state, count = self.state, self.count
        known, which = self.trie.bytes, self.which
        targets, gains = self.loop.characters(self.start)
        first = self.trie.data[self.offsets]
        behind = targets[first]
        done = np.zeros(state.size, dtype=bool)
        widths = np.bincount(behind[behind >= 0])
        for target in np.flatnonzero(widths > FEW).tolist():
            characters, counts = self.loop.circle(target)
            characters &= ~self.also
            around = known.within(self.low, self.high, characters)[which]
            around &= behind == target
            done |= around
            if self.costs:
                more = known.characters[self.all][which[around]] - 1
                count[around] = gains[first[around]] + counts * more
        state[done] = behind[done]
        return np.flatnonzero(~done)


def _bits(byte_set: int) -> NDArray[np.bool_]:
    """A set of bytes as bool[256]."""
    return np.array([byte_set >> byte & 1 for byte in range(256)], dtype=bool)
