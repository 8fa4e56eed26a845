"""Grammar -> token table that counts, for grammars whose counts take too many states otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ...compiler.automaton.counted import TangledCounts, counted
from ...compiler.grammar import Grammar
from ...compiler.passes.shorten_counts import shorten_counts
from ...compiler.vocabulary.vocabulary import Vocabulary
from .automaton import uncollected
from .classes import Progress, token_classes
from .counted_build import counted_table
from .counted_maps import MAX_LOOPS, CountedMaps
from .counted_places import TooShort
from .counted_table import CountedTable

USUAL: Final = 2
"""Counts of larger things than characters that a token is first thought to get through."""


def counted_from(
    grammar: Grammar,
    vocabulary: Vocabulary,
    header: Mapping[str, Any],
    max_states: int,
    max_bytes: int,
    progress: Progress | None = None,
    usual: int = USUAL,
    longest: int | None = None,
) -> CountedTable | None:
    """The table of a grammar without recursion; None if no count of it can be shortened.

    What is left of a count must be more than a token gets through. How much that is shows when
    tokens are followed: where it was not enough, twice as much is left.

    Args:
        usual, longest: see `shorten_counts`; the most characters of a token unless given.

    Raises:
        TooManyStates: more than `max_states` configurations of the shortened grammar.
        TooManyEntries, TooManyBytes: the table takes more than `max_bytes`.
    """
    kept: dict[int, int] = {}
    longest = _longest(vocabulary) if longest is None else longest
    while True:
        short, loops = shorten_counts(grammar, kept, usual, longest)
        if not loops:
            return None
        if len(loops) > MAX_LOOPS:
            least = sorted(loops, key=lambda loop: (loop.taken, -loop.number))
            kept |= {loop.number: loop.most for loop in least[:-MAX_LOOPS]}
            continue
        try:
            with uncollected():
                dfa = counted(short, loops, vocabulary.specials, max_states)
        except TangledCounts as error:
            kept[loops[error.loop].number] = loops[error.loop].most
            continue
        if dfa is None:
            return None
        maps = CountedMaps(dfa, max_bytes // 2)
        classes = token_classes(dfa.dfa, vocabulary, maps, progress)
        try:
            return counted_table(dfa, loops, classes, vocabulary, header, max_bytes)
        except TooShort as error:
            for at in error.loops:
                kept[loops[at].number] = 2 * (loops[at].kept - loops[at].margin)


def _longest(vocabulary: Vocabulary) -> int:
    """The most characters of a token."""
    trie = vocabulary.trie
    begins = np.append((trie.data & 0xC0) != 0x80, False).astype(np.int64)
    before = np.concatenate([[0], np.cumsum(begins)])
    sizes = before[trie.offsets + trie.sizes] - before[trie.offsets]
    return int(sizes.max(initial=0)) + 1
