"""What bytes tokens hold, for all the tokens of a trie at once.

Inside a loop over a class of characters most tokens are of one kind: whole characters, all of the
class. Which ones these are is told from sets of bytes, without running the tokens through the loop.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .trie import TokenTrie


class TokenBytes:
    """The bytes of a trie's strings.

    Attributes:
        ascii: two uint64[strings], bit b of word w is byte 64 * w + b.
        whole: bool[strings], whether it is whole characters of UTF-8.
        beyond: bool[strings], whether it holds a byte beyond ASCII.
        characters: int32[strings], how many characters begin in it.
    """

    def __init__(self, trie: TokenTrie) -> None:
        size = len(trie.strings)
        data = trie.data
        token = np.repeat(np.arange(size), trie.sizes)
        self.ascii = (np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.uint64))
        for word, found in enumerate(self.ascii):
            here = (data >> 6) == word
            bits = np.uint64(1) << (data[here] & 63).astype(np.uint64)
            np.bitwise_or.at(found, token[here], bits)
        self.beyond = np.zeros(size, dtype=bool)
        self.beyond[token[data >= 0x80]] = True
        begins = (data & 0xC0) != 0x80
        self.characters = np.bincount(token[begins], minlength=size).astype(np.int32)
        self.whole = np.ones(size, dtype=bool)
        for index in np.flatnonzero(self.beyond).tolist():
            try:
                trie.strings[index].decode("utf-8")
            except UnicodeDecodeError:
                self.whole[index] = False

    def within(self, low: int, high: int, ascii_bytes: int, beyond: bool) -> NDArray[np.bool_]:
        """Which strings ``low..high`` are whole characters of a class.

        Args:
            ascii_bytes: the ASCII characters of the class, as a set of bits.
            beyond: whether all other characters are of the class; none, if not.
        """
        found = self.whole[low:high] if beyond else ~self.beyond[low:high]
        for word, sets in enumerate(self.ascii):
            other = np.uint64(~(ascii_bytes >> 64 * word) & 0xFFFF_FFFF_FFFF_FFFF)
            if other:
                found = found & ((sets[low:high] & other) == 0)
        return found
