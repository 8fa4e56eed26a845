"""Grammar -> token table that counts, for grammars whose counts take too many states otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import numpy as np

from ...compiler.automaton.byte_dfa import ByteDfa, minimal
from ...compiler.automaton.counted import TangledCounts, counted
from ...compiler.automaton.determinise import TooManyStates, determinise
from ...compiler.automaton.free_tokens import free_tokens
from ...compiler.grammar import Grammar
from ...compiler.passes.shorten_counts import shorten_counts
from ...compiler.vocabulary.vocabulary import Vocabulary
from .automaton import Find, automaton, too_large, too_many, uncollected
from .build import token_table
from .classes import Progress, TooManyEntries, token_classes
from .counted_build import TooManyBytes, counted_table
from .counted_maps import MAX_LOOPS, CountedMaps
from .counted_places import TooShort
from .counted_table import CountedTable
from .states import START
from .table import TokenTable

WRITTEN_OUT: Final = 20_000
"""States before minimising up to which each has a row of its own. With more, counts are shortened
if that is possible."""

USUAL: Final = 2
"""Counts of larger things than characters that a token is first thought to get through."""

Header = Callable[[str, int], Mapping[str, Any]]
"""A digest of the automaton and the number of states -> what a file says of a table."""


def table_of(
    grammar: Grammar,
    vocabulary: Vocabulary,
    header: Header,
    max_states: int,
    max_bytes: int,
    find: Find,
    progress: Progress | None = None,
) -> TokenTable:
    """The table of a grammar without recursion, written out or counted.

    Raises:
        TargetError: code ``unsupported-feature`` (states, table): larger than that.
    """
    specials = vocabulary.specials
    free = free_tokens(grammar.free, vocabulary)
    made: ByteDfa | None = None
    with uncollected(), suppress(TooManyStates):
        made = minimal(determinise(grammar, specials, min(max_states, WRITTEN_OUT), free))
    if made is None:
        try:
            found = counted_from(grammar, vocabulary, header, max_states, max_bytes, progress)
        except TooManyStates as error:
            share = error.share
            raise too_many(max_states, share, find) from None
        except TooManyBytes as error:
            what = f"table: {error.states:,} states take more than {max_bytes:,} bytes"
            raise too_large(what, error.share, find) from None
        if found is not None:
            return found
        made = automaton(grammar, specials, max_states, find, free)
    own = header(made.digest, len(made) + START)
    return token_table(made, vocabulary, own, max_bytes, progress)


def counted_from(
    grammar: Grammar,
    vocabulary: Vocabulary,
    header: Header,
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
        TooManyBytes: the table takes more than `max_bytes`.
    """
    kept: dict[int, int] = {}
    longest = _longest(vocabulary) if longest is None else longest
    free = free_tokens(grammar.free, vocabulary)
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
                dfa = counted(short, loops, vocabulary.specials, max_states, free)
        except TangledCounts as error:
            kept[loops[error.loop].number] = loops[error.loop].most
            continue
        if dfa is None or not any(dfa.nests):
            return None
        try:
            # Here, too, entries are sparse while the table is not.
            maps = CountedMaps(dfa, max_bytes // 2)
            classes = token_classes(dfa.dfa, vocabulary, maps, progress)
            return counted_table(dfa, loops, classes, vocabulary, header, max_bytes)
        except TooManyEntries:
            size = len(dfa.dfa)
            share = dfa.share(np.ones(size, dtype=np.int64))
            raise TooManyBytes(size, share) from None
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
