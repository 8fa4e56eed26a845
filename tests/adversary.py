"""Models that want the worst: logits against which a mask must hold."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calligram import Vocabulary
from calligram.targets import mask

WANTS: Final = (
    "anything", "special tokens", "quotes", "braces", "white space", "long tokens", "short tokens",
    "unlikely tokens", "no end", "the end",
)  # fmt: skip

_CHARACTERS: Final = {
    "quotes": b"\"'\\",
    "braces": b"{}[](),:",
    "white space": b" \n\t\r",
}


@lru_cache(maxsize=64)
def wishes(vocabulary: Vocabulary, want: str) -> NDArray[np.float32]:
    """What is wanted of each token: float32[V], the more the better."""
    size = len(vocabulary)
    lengths = np.fromiter(map(len, vocabulary.tokens), dtype=np.float32, count=size)
    wish = np.zeros(size, dtype=np.float32)
    if want in _CHARACTERS:
        wanted = bytes(_CHARACTERS[want])
        counts = (sum(t.count(byte) for byte in wanted) for t in vocabulary.tokens)
        wish = np.fromiter(counts, dtype=np.float32, count=size)
    elif want == "special tokens":
        wish[sorted(vocabulary.special_ids)] = 9
    elif want == "long tokens":
        wish = lengths
    elif want == "short tokens":
        wish = -lengths
    elif want == "unlikely tokens":
        # One order for good, so that it is the same ones over and over.
        wish = np.random.default_rng(0).standard_normal(size).astype(np.float32) * 20
    ends = list(vocabulary.eos_ids)
    wish[ends] = {"no end": -99.0, "the end": 99.0}.get(want, 0.5)
    return wish


class Adversary:
    """Draws tokens by its wishes, with some noise."""

    def __init__(self, vocabulary: Vocabulary, want: str, random: Random) -> None:
        self._wishes = wishes(vocabulary, want)
        self._size = len(vocabulary)
        self._noise = np.random.default_rng(random.getrandbits(32))
        # Long stretches of one token among short ones that lead elsewhere.
        self._spread = random.choice((0.3, 1.5))

    def draw(self, matcher: mask.Matcher) -> int | None:
        """An allowed token; None if there is none."""
        bits = np.unpackbits(matcher.mask_row().view(np.uint8), bitorder="little")
        allowed = np.flatnonzero(bits[: self._size])
        if not allowed.size:
            return None
        noise = self._noise.gumbel(size=allowed.size) * self._spread
        return int(allowed[np.argmax(self._wishes[allowed] + noise)])


def written(
    matcher: mask.Matcher, adversary: Adversary, vocabulary: Vocabulary, most: int
) -> bytes:
    """The text of one run, without what ends it. After `most` bytes the end is what is wanted.

    Raises:
        AssertionError: a dead end, or a token that is allowed and not taken.
    """
    text = bytearray()
    hurried = False
    while not matcher.is_terminated():
        if len(text) > most and not hurried:
            hurried = True
            adversary = Adversary(vocabulary, "the end", Random(0))
        token = adversary.draw(matcher)
        assert token is not None, bytes(text[-200:])
        assert matcher.accept_token(token), bytes(text[-200:])
        if not matcher.is_terminated():
            text += vocabulary.tokens[token]
        assert len(text) <= 100 * most + 10_000, "it does not end"
    return bytes(text)
