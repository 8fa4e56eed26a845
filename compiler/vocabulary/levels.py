"""A trie level by level, as arrays: every node of all strings, for running them all at once.

Nodes of one depth are numbered in the order of their strings, and those of a smaller depth come
first. So the children of a node, and all that stands below it at one depth, are ranges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .trie import TokenTrie


class Level(NamedTuple):
    """The nodes of one depth.

    byte: uint8[nodes], the last byte of each.
    parent: intp[nodes], its place in the level before.
    first, low, high: int32[nodes]: its strings are ``first..high``; those before `low` end there.
    children: intp[nodes + 1]: a node's children are the nodes ``children[n]..children[n + 1]`` of
        the next level.
    """

    byte: NDArray[np.uint8]
    parent: NDArray[np.intp]
    first: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    children: NDArray[np.intp]


class Levels:
    """The levels of a trie.

    Attributes:
        levels: by depth; the first one is the root.
        starts: the number of each level's first node among all nodes.
        size: how many nodes there are.
        node_of: intp[strings], the number of the node where each string ends.
        by_id: intp[ids], the same by what the strings stand for, `size` where no string does; None
            until :meth:`index` was called.
    """

    def __init__(self, trie: TokenTrie) -> None:
        sizes, offsets, data = trie.sizes, trie.offsets, trie.data
        shared = _shared(trie)
        self.node_of = np.zeros(sizes.size, dtype=np.intp)
        self.by_id: NDArray[np.intp] | None = None
        self.levels: list[Level] = []
        self.starts: list[int] = []
        self.size = 0
        which = np.arange(sizes.size)
        depth = 0
        while which.size or not depth:
            # A node begins where fewer bytes are shared with the string before.
            begins = shared[which] < depth
            begins[:1] = True
            first = which[begins].astype(np.int32)
            number = np.cumsum(begins) - 1
            ends = sizes[which] == depth
            own = np.bincount(number[ends], minlength=first.size).astype(np.int32)
            total = np.bincount(number, minlength=first.size).astype(np.int32)
            byte = data[offsets[first] + (depth - 1)] if depth else np.zeros(1, dtype=np.uint8)
            parent = np.zeros(first.size, dtype=np.intp)
            if depth:
                above = self.levels[-1]
                parent += np.searchsorted(above.first, first, side="right") - 1
                at = np.searchsorted(parent, np.arange(above.first.size + 1))
                above.children[:] = at
            empty = np.zeros(first.size + 1, dtype=np.intp)
            self.levels.append(Level(byte, parent, first, first + own, first + total, empty))
            self.starts.append(self.size)
            self.node_of[which[ends]] = number[ends] + self.size
            self.size += first.size
            which = which[~ends]
            depth += 1

    def index(self, ids: NDArray[np.int32], count: int) -> None:
        """Make `by_id`, for ids below `count`."""
        self.by_id = np.full(count, self.size, dtype=np.intp)
        self.by_id[ids] = self.node_of


def _shared(trie: TokenTrie) -> NDArray[np.int32]:
    """How many bytes each string shares with the one before it."""
    sizes, offsets, data = trie.sizes, trie.offsets, trie.data
    shared = np.zeros(sizes.size, dtype=np.int32)
    if sizes.size < 2:
        return shared
    most = np.minimum(sizes[1:], sizes[:-1])
    alive = np.flatnonzero(most > 0)
    depth = 0
    while alive.size:
        same = data[offsets[alive] + depth] == data[offsets[alive + 1] + depth]
        alive = alive[same]
        shared[alive + 1] += 1
        depth += 1
        alive = alive[most[alive] > depth]
    return shared
