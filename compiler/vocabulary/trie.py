"""Tries over sorted byte strings, their nodes made when first visited.

A node is a range of the sorted strings that share their first `depth` bytes. Children are found on
the packed bytes, vectorised where the range is long, so that a vocabulary of a quarter of a million
tokens costs a sort and nothing more until it is walked. Nodes are numbers, and what is known of
them stands in arrays of numbers: Python's garbage collector need not look at each of them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .levels import Levels

Node = int

ROOT: Final[Node] = 0
"""The root of a forest's first trie."""

_SMALL = 24
"""Ranges up to this length are split with plain Python, which is quicker there."""

_BYTES: Final = [bytes((byte,)) for byte in range(256)]


class TokenTrie:
    """Sorted byte strings with ids.

    Attributes:
        strings, ids: side by side; ``lengths``: of the strings.
        data: all the strings one after the other, uint8.
        offsets: where each begins in `data`, int64; ``sizes``: `lengths` as int64.
        id_array: `ids` as int32.
        rank: intp[32 * words] by id the place of its string, `len(strings)` where an id has none;
            None unless :meth:`index` was called.
    """

    def __init__(self, strings: Sequence[bytes], ids: Sequence[int]) -> None:
        self.strings = tuple(strings)
        self.ids = tuple(ids)
        self.lengths = tuple(map(len, self.strings))
        self.data: NDArray[np.uint8] = np.frombuffer(b"".join(self.strings), dtype=np.uint8)
        self.sizes = np.asarray(self.lengths, dtype=np.int64)
        self.offsets: NDArray[np.int64] = np.cumsum(self.sizes) - self.sizes
        self.id_array: NDArray[np.int32] = np.asarray(self.ids, dtype=np.int32)
        self.rank: NDArray[np.intp] | None = None

    def index(self, words: int) -> None:
        """Make `rank`, for packed masks of so many words. Ids must differ."""
        self.rank = np.full(32 * words, len(self.ids), dtype=np.intp)
        self.rank[self.id_array] = np.arange(len(self.ids))

    def along(
        self, low: int, high: int, shared: bytes, text: bytes
    ) -> tuple[tuple[int, ...], int, int]:
        """Of the strings from `low` to `high`, which begin with `shared` and are longer: what those
        stand for that end in a text behind it, and from where to where those are that go on."""
        strings, lengths, size = self.strings, self.lengths, len(shared)
        ids: tuple[int, ...] = ()
        for at, byte in enumerate(text, 1):
            low = bisect_left(strings, shared + text[:at], low, high)
            if byte < 255:
                high = bisect_left(strings, shared + text[: at - 1] + _BYTES[byte + 1], low, high)
            if low == high:
                break
            first = low
            while low < high and lengths[low] == size + at:
                low += 1
            if first < low:
                ids += self.ids[first:low]
                if low == high:
                    break
        return ids, low, high

    @cached_property
    def levels(self) -> Levels:
        """All nodes, level by level."""
        from .levels import Levels

        return Levels(self)


class Forest:
    """The nodes of several tries; the first one's root is ROOT.

    Attributes, by node:
        trie: the trie that it belongs to.
        first, low, high: its strings; those before `low` end here, the others are longer.
        depth: how many bytes they share.
        ids: what the strings that end here stand for.
        size: how many longer ones there are.
    """

    def __init__(self, trie: TokenTrie) -> None:
        self.trie: list[TokenTrie] = []
        self.first = array("i")
        self.low = array("i")
        self.high = array("i")
        self.depth = array("i")
        self.ids: list[tuple[int, ...]] = []
        self.size = array("i")
        self._children: list[dict[int, Node] | None] = []
        self._leads: list[int] = []
        self.plant(trie)

    def __len__(self) -> int:
        return len(self.low)

    def plant(self, trie: TokenTrie) -> Node:
        """The root of another trie."""
        return self._add(trie, 0, len(trie.strings), 0)

    def _add(self, trie: TokenTrie, first: int, high: int, depth: int) -> Node:
        low = first
        lengths = trie.lengths
        # Of strings with a common prefix, the ones that are the prefix sort first.
        while low < high and lengths[low] == depth:
            low += 1
        self.trie.append(trie)
        self.first.append(first)
        self.low.append(low)
        self.high.append(high)
        self.depth.append(depth)
        self.ids.append(trie.ids[first:low])
        self.size.append(high - low)
        self._children.append(None)
        self._leads.append(-1)
        return len(self.low) - 1

    def below(self, node: Node) -> tuple[int, ...]:
        """What the strings below a node stand for, without those that end there."""
        return self.trie[node].ids[self.low[node] : self.high[node]]

    def leads(self, node: Node) -> int:
        """The next bytes of the strings below, as a set of bits."""
        found = self._leads[node]
        if found < 0:
            found = 0
            if self.size[node] <= _SMALL:
                depth = self.depth[node]
                for string in self.trie[node].strings[self.low[node] : self.high[node]]:
                    found |= 1 << string[depth]
            else:
                for byte in self.children(node):
                    found |= 1 << byte
            self._leads[node] = found
        return found

    def along(self, node: Node, text: bytes) -> tuple[tuple[int, ...], bool]:
        """What the strings stand for that lie below a node along a text, and whether there are
        longer ones. No nodes are made: most literals are longer than any token."""
        trie, low, high = self.trie[node], self.low[node], self.high[node]
        if low == high:
            return (), False
        ids, low, high = trie.along(low, high, trie.strings[low][: self.depth[node]], text)
        return ids, low < high

    def descendant(self, node: Node, text: bytes) -> Node:
        """The node below along a text that some string below the node begins with."""
        for byte in text:
            node = self.children(node)[byte]
        return node

    def children(self, node: Node) -> dict[int, Node]:
        """The nodes one byte further, by that byte, ascending."""
        found = self._children[node]
        if found is None:
            found = self._children[node] = self._split(node)
        return found

    def _split(self, node: Node) -> dict[int, Node]:
        trie, low, high, depth = self.trie[node], self.low[node], self.high[node], self.depth[node]
        found: dict[int, Node] = {}
        if high - low <= _SMALL:
            strings = trie.strings
            start = low
            while start < high:
                byte = strings[start][depth]
                stop = start + 1
                while stop < high and strings[stop][depth] == byte:
                    stop += 1
                found[byte] = self._add(trie, start, stop, depth + 1)
                start = stop
            return found
        column = trie.data[trie.offsets[low:high] + depth]
        cuts = np.flatnonzero(column[1:] != column[:-1]) + 1
        edges = [0, *cuts.tolist(), high - low]
        for start, stop in zip(edges, edges[1:], strict=False):
            found[int(column[start])] = self._add(trie, low + start, low + stop, depth + 1)
        return found
