"""Slices: what a vocabulary does inside a loop over one class of characters.

In a string's content, in digits, in raw text, nearly every token stays inside the loop. For a trie
node and a class, the tokens below the node are run through the loop once, vectorised: those that
stay inside are one packed mask, and for every other the rest behind its last whole character inside
goes into a small trie of exits. A slice knows no grammar; all grammars of a vocabulary share it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..automaton.utf8 import byte_sequences
from ..grammar import Ranges
from .trie import TokenTrie, TrieNode

_DEAD: Final = -1


def loop_table(ranges: Ranges) -> NDArray[np.int16]:
    """The automaton of texts over a class: int16[states, 256]; state 0 is between characters, -1
    none."""
    start = frozenset(byte_sequences(ranges))
    index: dict[frozenset[tuple[tuple[int, int], ...]], int] = {start: 0}
    todo = [start]
    rows: list[list[int]] = []
    for here in todo:
        row = [_DEAD] * 256
        for byte in range(256):
            rests = frozenset(s[1:] for s in here if s[0][0] <= byte <= s[0][1])
            if not rests:
                continue
            # A character's end: a well-formed character is never the beginning of another.
            nxt = start if () in rests else rests
            if nxt not in index:
                index[nxt] = len(index)
                todo.append(nxt)
            row[byte] = index[nxt]
        rows.append(row)
    return np.asarray(rows, dtype=np.int16)


class Slice:
    """The tokens below a trie node, seen from inside a loop.

    Attributes:
        inside: ids that stay inside, int64, with `counts`: the characters each begins (a cut
            one at its end included), int64.
        exits: for each number of whole characters inside, a trie of the rests; key None: all.
    """

    def __init__(self, node: TrieNode, table: NDArray[np.int16], words: int) -> None:
        self.words = words
        trie, low, high = node.trie, node.low, node.high
        size = high - low
        offsets, sizes = trie.offsets[low:high], trie.sizes[low:high]
        state = np.zeros(size, dtype=np.int16)
        boundary = np.full(size, node.depth, dtype=np.int64)
        count = np.zeros(size, dtype=np.int64)
        alive = np.arange(size)
        depth = node.depth
        left = []
        while alive.size:
            alive = alive[sizes[alive] > depth]
            if not alive.size:
                break
            state[alive] = table[state[alive], trie.data[offsets[alive] + depth]]
            dead = state[alive] < 0
            if dead.any():
                left.append(alive[dead])
                alive = alive[~dead]
            depth += 1
            whole = alive[state[alive] == 0]
            boundary[whole] = depth
            count[whole] += 1
        stays = state >= 0
        self.inside: NDArray[np.int64] = trie.id_array[low:high][stays]
        self.counts: NDArray[np.int64] = (count + (state > 0))[stays]
        self.most = int(self.counts.max(initial=0))
        self._mask: NDArray[np.uint32] | None = None
        self._limited: dict[int, NDArray[np.uint32]] = {}
        self._node = node
        self._outside = np.concatenate(left) if left else np.zeros(0, dtype=np.int64)
        self._boundary, self._count = boundary, count
        self._exits: dict[int | None, TokenTrie | None] = {}

    def mask(self, limit: int | None) -> NDArray[np.uint32]:
        """The packed mask of the tokens inside with at most `limit` characters (None: any)."""
        if limit is None or limit >= self.most:
            if self._mask is None:
                self._mask = pack(self.inside, self.words)
            return self._mask
        found = self._limited.get(limit)
        if found is None:
            found = self._limited[limit] = pack(self.inside[self.counts <= limit], self.words)
        return found

    def exit_counts(self) -> list[int]:
        """The numbers of whole characters that tokens read before they leave, ascending."""
        return sorted({int(c) for c in self._count[self._outside]})

    def exits(self, count: int | None) -> TokenTrie | None:
        """The rests of the tokens that leave after `count` characters (None: after any number)."""
        if count not in self._exits:
            out = self._outside
            if count is not None:
                out = out[self._count[out] == count]
            self._exits[count] = self._rests(out)
        return self._exits[count]

    def _rests(self, out: NDArray[np.int64]) -> TokenTrie | None:
        if not out.size:
            return None
        trie, low = self._node.trie, self._node.low
        pairs = sorted(
            (trie.strings[low + i][self._boundary[i] :], trie.ids[low + i]) for i in out.tolist()
        )
        return TokenTrie([rest for rest, _ in pairs], [token for _, token in pairs])


def pack(ids: NDArray[np.int64], words: int) -> NDArray[np.uint32]:
    """Ids as a packed mask: uint32[words], bit i of word w is id 32 * w + i."""
    bits = np.zeros(words * 32, dtype=bool)
    bits[ids] = True
    return np.packbits(bits, bitorder="little").view("<u4")
