"""The tokens that stay inside a loop, out of the trie's nodes that a run has reached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .levels import Level
from .loop_table import LoopTable
from .trie import TokenTrie

_DENSE: Final = 40_000
"""Nodes beyond which it is quicker to ask each token for its node than each node for its token."""

_SCATTERED: Final = 8_000
"""Tokens up to which bits are set one by one."""

_NO_TOKENS: Final = np.zeros(0, dtype=np.int32)

Nodes: TypeAlias = "slice | NDArray[np.intp]"

Few: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]
"""Nodes by number, in no order, with their states and counts."""


class Reached(NamedTuple):
    """The nodes of one level that were looked at (None: all), their states and counts."""

    level: Level
    depth: int
    which: NDArray[np.intp] | None
    states: NDArray[np.intp]
    counts: NDArray[np.intp]


class Inside:
    """What a run has found.

    Args:
        found: by level; a state of -1 is none.
        few: nodes that were looked at one by one.
        settled: where the tokens begin and end that are all inside.
        counting: whether counts matter; without they are 0.
    """

    def __init__(
        self,
        trie: TokenTrie,
        loop: LoopTable,
        found: list[Reached],
        few: Few | None,
        settled: list[tuple[NDArray[np.int32], NDArray[np.int32]]],
        counting: bool,
    ) -> None:
        self._trie, self._tree, self._loop = trie, trie.levels, loop
        self._found, self._few, self._settled = found, few, settled
        self._counting = counting
        self._dense = sum(reached.states.size for reached in found) > _DENSE

    def mask(self, words: int) -> NDArray[np.uint32]:
        """The tokens, as a packed mask: uint32[words]."""
        if self._dense:
            alive = np.zeros(self._tree.size, dtype=bool)
            for here, states, _ in self._places():
                alive[here] = states >= 0
            inside = alive.take(self._tree.node_of)
        else:
            ends = [tokens for tokens, _, _ in self._ends()]
            size = sum(tokens.size for tokens in ends)
            size += sum(int(high.sum() - first.sum()) for first, high in self._settled)
            if size < _SCATTERED:
                ends += [_ranges(first, high - first) for first, high in self._settled]
                return pack(self._trie.id_array.take(np.concatenate((_NO_TOKENS, *ends))), words)
            inside = np.zeros(self._tree.node_of.size, dtype=bool)
            for tokens in ends:
                inside[tokens] = True
        if self._settled:
            # How many settled ranges are open at each token.
            edges = np.zeros(inside.size + 1, dtype=np.int8)
            for first, high in self._settled:
                edges[first] += 1
                edges[high] -= 1
            inside |= np.cumsum(edges[:-1], dtype=np.int8).view(bool)
        rank = self._trie.rank
        if rank is None:
            return pack(self._trie.id_array[inside], words)
        bits = np.append(inside, False).take(rank)
        return np.packbits(bits, bitorder="little").view("<u4")

    def with_costs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The ids, and what they cost; nothing may be settled."""
        if not self._dense:
            return self._few_with_costs()
        states = np.full(self._tree.size, -1, dtype=np.intp)
        counts = np.zeros(self._tree.size, dtype=np.int32)
        for here, own, count in self._places():
            states[here] = own
            if self._counting:
                counts[here] = count
        behind = states.take(self._tree.node_of)
        tokens = np.flatnonzero(behind >= 0)
        costs = counts.take(self._tree.node_of.take(tokens))
        costs += self._loop.short.take(behind.take(tokens))
        return self._trie.id_array.take(tokens), costs

    def _few_with_costs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        found, costs = [_NO_TOKENS], [_NO_TOKENS]
        for tokens, states, counts in self._ends():
            found.append(tokens)
            costs.append(self._loop.short.take(states))
            if self._counting:
                costs[-1] += counts.astype(np.int32)
        return self._trie.id_array.take(np.concatenate(found)), np.concatenate(costs)

    def _places(self) -> Iterator[tuple[Nodes, NDArray[np.intp], NDArray[np.intp]]]:
        """The numbers of the nodes that were looked at, with their states and counts."""
        if self._few is not None:
            yield self._few
        for level, depth, which, states, counts in self._found:
            first = self._tree.starts[depth]
            if which is None:
                yield slice(first, first + level.first.size), states, counts
            else:
                yield which + first, states, counts

    def _ends(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.intp], NDArray[np.intp]]]:
        """The tokens that end in nodes, by their places in the trie, with states and counts."""
        tree = self._tree
        for level, _, which, states, counts in self._found:
            alive = np.flatnonzero(states >= 0)
            nodes = alive if which is None else which.take(alive)
            own = counts.take(alive) if self._counting else counts
            yield self._tokens(level.first, level.low, nodes, states.take(alive), own)
        if self._few is not None:
            yield self._tokens(tree.first, tree.low, *self._few)

    def _tokens(
        self,
        first: NDArray[np.int32],
        low: NDArray[np.int32],
        nodes: NDArray[np.intp],
        states: NDArray[np.intp],
        counts: NDArray[np.intp],
    ) -> tuple[NDArray[np.int32], NDArray[np.intp], NDArray[np.intp]]:
        begin = first.take(nodes)
        times = low.take(nodes) - begin
        some = np.flatnonzero(times)
        tokens, states = begin.take(some), states.take(some)
        counts = counts.take(some) if self._counting else counts
        if self._tree.repeats:
            times = times.take(some)
            tokens, states = _ranges(tokens, times), np.repeat(states, times)
            counts = np.repeat(counts, times) if self._counting else counts
        return tokens, states, counts


def _ranges(first: NDArray[np.int32], sizes: NDArray[np.int32]) -> NDArray[np.int32]:
    """All the numbers of ranges, given by where they begin and how long they are."""
    before = np.cumsum(sizes) - sizes
    found = np.repeat(first - before, sizes) + np.arange(sizes.sum())
    return found.astype(np.int32)


def pack(ids: NDArray[np.int32] | NDArray[np.int64], words: int) -> NDArray[np.uint32]:
    """Ids as a packed mask: uint32[words], bit i of word w is id 32 * w + i."""
    bits = np.zeros(words * 32, dtype=bool)
    bits[ids] = True
    return np.packbits(bits, bitorder="little").view("<u4")
