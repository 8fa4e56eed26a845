"""A trie over sorted byte strings, its nodes made when first visited.

A node is a range of the sorted strings that share their first `depth` bytes. Children are found on
the packed bytes, vectorised where the range is long, so that a vocabulary of a quarter of a million
tokens costs a sort and nothing more until it is walked.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_SMALL = 24
"""Ranges up to this length are split with plain Python, which is quicker there."""


class TrieNode:
    """The strings ``low..high`` of a trie, equal in their first `depth` bytes.

    ``first``: where the node's strings begin, those that end here included; ``low``: where the
    longer ones do. ``ids``: what the strings that end here stand for. ``children``: by next
    byte, ascending.
    """

    __slots__ = ("_children", "depth", "first", "high", "ids", "low", "trie")

    def __init__(self, trie: TokenTrie, low: int, high: int, depth: int) -> None:
        self.trie = trie
        self.depth = depth
        self.first = low
        self.high = high
        end = low
        lengths = trie.lengths
        # Of strings with a common prefix, the ones that are the prefix sort first.
        while end < high and lengths[end] == depth:
            end += 1
        self.ids: list[int] = trie.ids[low:end]
        self.low = end
        self._children: dict[int, TrieNode] | None = None

    @property
    def size(self) -> int:
        """How many strings lie below, not counting those that end here."""
        return self.high - self.low

    @property
    def children(self) -> dict[int, TrieNode]:
        """The nodes one byte further."""
        if self._children is None:
            self._children = self._split()
        return self._children

    def _split(self) -> dict[int, TrieNode]:
        trie, low, high, depth = self.trie, self.low, self.high, self.depth
        found: dict[int, TrieNode] = {}
        if high - low <= _SMALL:
            start = low
            while start < high:
                byte = trie.strings[start][depth]
                stop = start + 1
                while stop < high and trie.strings[stop][depth] == byte:
                    stop += 1
                found[byte] = TrieNode(trie, start, stop, depth + 1)
                start = stop
            return found
        column = trie.data[trie.offsets[low:high] + depth]
        cuts = np.flatnonzero(column[1:] != column[:-1]) + 1
        edges = [0, *cuts.tolist(), high - low]
        for start, stop in zip(edges, edges[1:], strict=False):
            node = TrieNode(trie, low + start, low + stop, depth + 1)
            found[int(column[start])] = node
        return found


class TokenTrie:
    """Sorted byte strings with ids.

    Attributes:
        data: all the strings one after the other, uint8.
        offsets: where each begins in `data`, int64; ``lengths``: their lengths, as a list.
    """

    def __init__(self, strings: Sequence[bytes], ids: Sequence[int]) -> None:
        self.strings = list(strings)
        self.ids = list(ids)
        self.lengths = [len(s) for s in self.strings]
        self.data: NDArray[np.uint8] = np.frombuffer(b"".join(self.strings), dtype=np.uint8)
        sizes = np.asarray(self.lengths, dtype=np.int64)
        self.sizes = sizes
        self.offsets: NDArray[np.int64] = np.cumsum(sizes) - sizes
        self.id_array: NDArray[np.int64] = np.asarray(self.ids, dtype=np.int64)
        self.root = TrieNode(self, 0, len(self.strings), 0)
