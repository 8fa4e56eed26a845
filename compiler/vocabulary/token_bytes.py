"""What bytes tokens hold, for all the tokens of a trie at once.

Inside a loop over a class of characters most tokens are of one kind: whole characters, all of the
class. Which ones these are is told from sets of bytes, without running the tokens through the loop.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .trie import TokenTrie

_FIRST: Final = (0, 64, 192)


class TokenBytes:
    """The bytes of a trie's strings.

    Attributes:
        sets: three uint64[strings]: the ASCII bytes from 0 and from 64 on, and the bytes from 192
            on, with which other characters begin. Bit b of word w is byte ``_FIRST[w] + b``.
        whole: bool[strings], whether it is whole characters of UTF-8.
        characters: int32[strings], how many characters begin in it.
    """

    def __init__(self, trie: TokenTrie) -> None:
        size = len(trie.strings)
        data = trie.data
        token = np.repeat(np.arange(size), trie.sizes)
        self.sets = tuple(np.zeros(size, dtype=np.uint64) for _ in _FIRST)
        for first, found in zip(_FIRST, self.sets, strict=True):
            here = (data >> 6) == first >> 6
            bits = np.uint64(1) << (data[here] & 63).astype(np.uint64)
            np.bitwise_or.at(found, token[here], bits)
        begins = (data & 0xC0) != 0x80
        self.characters = np.bincount(token[begins], minlength=size).astype(np.int32)
        self.whole = np.ones(size, dtype=bool)
        beyond = np.zeros(size, dtype=bool)
        beyond[token[data >= 0x80]] = True
        for index in np.flatnonzero(beyond).tolist():
            try:
                trie.strings[index].decode("utf-8")
            except UnicodeDecodeError:
                self.whole[index] = False

    def within(self, low: int, high: int, characters: int) -> NDArray[np.bool_]:
        """Which strings ``low..high`` are whole characters of a class.

        Args:
            characters: the class, as a set of bits: ASCII characters, and the bytes from 192 on of
                which all characters that begin with them are of the class.
        """
        found = self.whole[low:high]
        for first, sets in zip(_FIRST, self.sets, strict=True):
            other = np.uint64(~(characters >> first) & 0xFFFF_FFFF_FFFF_FFFF)
            if other:
                found = found & ((sets[low:high] & other) == 0)
        return found
