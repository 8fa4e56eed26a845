"""Tokens told apart by nothing but what they do: byte automaton + vocabulary -> token classes.

What a text does is a partial map of states: from each state that can read it to the state behind
it. Two tokens with the same map are of one class. Maps are followed down the sorted tokens, a byte
at a time for all of them at once, and interned: the map behind one more byte is worked out once
for each map and each column of the automaton, however many tokens go that way.

A map is held as two arrays: the states that can read the text, ascending, and where each leads. So
a text that few states can read costs little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.byte_dfa import ByteDfa
from ...compiler.automaton.core import TOKEN_BASE
from ...compiler.vocabulary.vocabulary import Vocabulary

Ints = NDArray[np.int32]

Map = tuple[Ints, NDArray[Any]]
"""States, and where each leads."""

Progress = Callable[[float], None]
"""How much is done, 0 to 1 -> nothing."""

NONE: Final = -1
"""In place of a map: no state can read the text."""

_UNKNOWN: Final = -2


class TooManyEntries(Exception):
    """The maps hold more entries than the limit."""


@dataclass(frozen=True, eq=False, slots=True)
class Classes:
    """``of_token``: int32[V], the class of each token, NONE if no state can read it; ``maps``: one
    for each class. Classes are numbered by their lowest token. ``passed``: the maps of all texts
    that tokens begin with, classes among them."""

    of_token: Ints
    maps: list[Map]
    passed: list[Map]


class Maps:
    """Maps by number; 0 is that of the empty text."""

    def __init__(self, dfa: ByteDfa, max_entries: int) -> None:
        self.columns: NDArray[Any] = np.ascontiguousarray(dfa.table.T)
        self.width = max(1, len(self.columns))
        every = np.arange(len(dfa), dtype=np.int32)
        self.maps: list[Map] = [(every, every)]
        self._numbers: dict[bytes, int] = {}
        self._left = max_entries
        # What is behind a map and a column, at ``map * width + column``.
        self.after = np.full(self.width, _UNKNOWN, dtype=np.int32)
        self.intern(every, every)

    def intern(self, states: Ints, targets: NDArray[Any]) -> int:
        """The number of a map, NONE if it is empty."""
        if not len(states):
            return NONE
        key = states.tobytes() + targets.tobytes()
        found = self._numbers.get(key)
        if found is None:
            found = len(self._numbers)
            self._numbers[key] = found
            self._left -= len(states)
            if self._left < 0:
                raise TooManyEntries
            if found:
                self.maps.append((states, targets))
            if (found + 1) * self.width > len(self.after):
                more = np.full(len(self.after), _UNKNOWN, dtype=np.int32)
                self.after = np.concatenate([self.after, more])
        return found

    def step(self, number: int, column: int) -> int:
        """The map behind a map and one more symbol."""
        states, targets = self.maps[number]
        behind = self.columns[column][targets]
        kept = behind >= 0
        return self.intern(states[kept], behind[kept])

    def behind(self, places: NDArray[np.int64]) -> Ints:
        """The maps at these places of `after`, worked out where they are not known."""
        found = self.after[places]
        unknown = np.unique(places[found == _UNKNOWN])
        if len(unknown):
            for place in unknown.tolist():
                number, column = divmod(place, self.width)
                # `step` may replace the array.
                made = self.step(number, column)
                self.after[place] = made
            found = self.after[places]
        return found


def token_classes(
    dfa: ByteDfa, vocabulary: Vocabulary, maps: Maps, progress: Progress | None = None
) -> Classes:
    """The classes of a vocabulary's tokens.

    Ordinary tokens are read by their bytes, special ones by their id. An end token's class is that
    of the special token that it may be besides; padding has none.

    Raises:
        TooManyEntries: all maps together have more states than they may have.
    """
    trie = vocabulary.trie
    columns = dfa.byte_columns
    of_string = np.full(len(trie.strings), NONE, dtype=np.int32)
    here = np.flatnonzero(trie.sizes > 0)
    numbers = np.zeros(len(here), dtype=np.int64)
    depth, total = 0, max(1, len(here))
    while len(here):
        column = columns[trie.data[trie.offsets[here] + depth]]
        kept = column >= 0
        here, places = here[kept], numbers[kept] * maps.width + column[kept]
        after = maps.behind(places)
        kept = after != NONE
        here, numbers = here[kept], after[kept].astype(np.int64)
        depth += 1
        done = trie.sizes[here] == depth
        of_string[here[done]] = numbers[done]
        here, numbers = here[~done], numbers[~done]
        if progress is not None:
            progress(1 - len(here) / total)
    of_token = np.full(len(vocabulary), NONE, dtype=np.int32)
    of_token[trie.id_array] = of_string
    for token in sorted(vocabulary.special_ids - vocabulary.padding_ids):
        symbol = dfa.column_of.get(TOKEN_BASE + token)
        if symbol is not None:
            of_token[token] = maps.step(0, symbol)
    return _numbered(of_token, maps.maps)


def _numbered(of_token: Ints, maps: list[Map]) -> Classes:
    used, first = np.unique(of_token, return_index=True)
    first, used = first[used != NONE], used[used != NONE]
    used = used[np.argsort(first, kind="stable")]
    number = np.full(len(maps) + 1, NONE, dtype=np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    return Classes(number[of_token], [maps[at] for at in used.tolist()], maps)
