"""A trie level by level, as arrays: every node of all strings, for running them all at once.

Nodes of one depth are numbered in the order of their strings, and those of a smaller depth come
first. So the children of a node, and all that stands below it at one depth, are ranges.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

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
        below: of the first levels, uint64[3, nodes] by depth: what bytes the strings below each
            node hold behind it. Words 0 and 1 are ASCII; bit b of word 2 is byte 192 + b, with
            which a character begins, or for b = 0 something that is no UTF-8, as the node is inside
            a character or a string below does not go on as a character has to.
        levels: by depth; the first one is the root.
        starts: the number of each level's first node among all nodes.
        size: how many nodes there are.
        node_of: intp[strings], the number of the node where each string ends.
        repeats: whether some strings are alike.
        first, low: int32[size], those of the levels, by number.
        rare: the first depth, not the root's, from which on all levels are small.
    """

    def __init__(self, trie: TokenTrie) -> None:
        sizes, offsets, data = trie.sizes, trie.offsets, trie.data
        shared = _shared(trie)
        self.node_of = np.zeros(sizes.size, dtype=np.intp)
        self.repeats = False
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
            self.repeats = self.repeats or bool((own > 1).any())
            self.size += first.size
            which = which[~ends]
            depth += 1

        self.first = np.concatenate([level.first for level in self.levels])
        self.low = np.concatenate([level.low for level in self.levels])
        rare = len(self.levels)
        while rare > 2 and self.levels[rare - 1].byte.size <= _RARE:
            rare -= 1
        self.rare = rare

    @cached_property
    def rare_nodes(self) -> tuple[list[int], list[int]]:
        """The nodes from the level above `rare` on, counted from 0: where their children begin,
        one more at the end, and their bytes."""
        base = self.starts[self.rare - 1]
        children: list[int] = []
        bytes_: list[int] = []
        for depth in range(self.rare - 1, len(self.levels)):
            following = self.starts[depth] + self.levels[depth].byte.size - base
            children += (self.levels[depth].children[:-1] + following).tolist()
            bytes_ += self.levels[depth].byte.tolist()
        children.append(len(children))
        return children, bytes_

    @cached_property
    def below(self) -> list[NDArray[np.uint64]]:
        characters = [np.zeros(1, dtype=np.uint8)]
        for level in self.levels[1:]:
            characters.append(_CHARACTERS[characters[-1][level.parent], level.byte])
        kept: list[NDArray[np.uint64]] = []
        sets = np.zeros((3, 0), dtype=np.uint64)
        for level, inside in zip(reversed(self.levels), reversed(characters), strict=True):
            found = np.zeros((3, level.byte.size), dtype=np.uint64)
            some = np.flatnonzero(np.diff(level.children))
            if some.size:
                found[:, some] = np.bitwise_or.reduceat(sets, level.children[some], axis=1)
            behind = found.copy()
            behind[2, inside != _BETWEEN] |= _NO_TEXT
            kept.append(behind)
            # Now with the node's own byte, for the one above.
            sets = found | _BYTES[:, level.byte]
            sets[2, inside == _BROKEN] |= _NO_TEXT
        return kept[: -_DEEPEST - 2 : -1]


def _characters() -> NDArray[np.uint8]:
    """What each byte does inside and between characters (RFC 3629, section 4).

    Returns:
        uint8[9, 256]: 0 between two characters, 1 to 3: so many bytes to come, 4 to 7: the second
        byte of E0, ED, F0, F4; 8: no UTF-8.
    """
    table = np.full((9, 256), _BROKEN, dtype=np.uint8)
    first = table[_BETWEEN]
    first[:0x80] = _BETWEEN
    first[0xC2:0xE0] = 1
    first[0xE0:0xF0] = 2
    first[0xF0:0xF5] = 3
    first[[0xE0, 0xED, 0xF0, 0xF4]] = range(4, 8)
    for state in (1, 2, 3):
        table[state, 0x80:0xC0] = state - 1
    table[4, 0xA0:0xC0] = table[5, 0x80:0xA0] = 1
    table[6, 0x90:0xC0] = table[7, 0x80:0x90] = 2
    return table


_RARE: Final = 1500
"""Nodes of a small level."""

_DEEPEST: Final = 4
"""The last level of which it is known what bytes stand below."""

_BETWEEN, _BROKEN = 0, 8
_CHARACTERS: Final = _characters()
_NO_TEXT: Final = np.uint64(1)


def _byte_sets() -> NDArray[np.uint64]:
    """Each byte as a set; continuation bytes are none."""
    table = np.zeros((3, 256), dtype=np.uint64)
    for word, start in enumerate((0, 64, 192)):
        table[word, start : start + 64] = np.uint64(1) << np.arange(64, dtype=np.uint64)
    return table


_BYTES: Final = _byte_sets()


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
