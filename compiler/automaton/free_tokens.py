"""Special tokens in free text, as arcs of a core's continuations.

A special token stands for no text where a grammar enforces something: it is read where the grammar
names it. In free text one that means nothing to the dialect is read as its text, by one symbol,
so that it arms nothing and ends nothing. Masks tell the same, from pieces of free text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..grammar import FreeText, Machine
from ..vocabulary.vocabulary import Vocabulary
from .core import TOKEN_BASE, Core
from .front_parts import Loop
from .fronts import Fronts

Free = Mapping[int, str]
"""The texts of special tokens that free text may hold, by their ids."""

NO_TOKENS: Final[Free] = MappingProxyType({})


def free_tokens(free: FreeText | None, vocabulary: Vocabulary) -> Free:
    """Those of a vocabulary in a grammar's free text; none if it has none."""
    if free is None or not free.texts:
        return {}
    ids = vocabulary.specials_but(free.markers)
    return {token: vocabulary.tokens[token].decode("utf-8") for token in ids}


class FreeArcs:
    """Where the tokens lead from continuations that may go on with free text.

    There are vocabularies of thousands of them, most of which do the same: the lowest of these
    stands for all.
    """

    def __init__(self, core: Core, free: FreeText | None, tokens: Free) -> None:
        self._texts: dict[int, str] = {}
        self._alike: dict[int, tuple[int, ...]] = {}
        self._numbers: frozenset[int] = frozenset()
        if free is None or not tokens:
            return
        for ids in _groups([text.machine for text in free.texts], tokens):
            self._texts[ids[0]] = tokens[ids[0]]
            self._alike[TOKEN_BASE + ids[0]] = tuple(TOKEN_BASE + token for token in ids)
        self._numbers = frozenset(map(core.index, free.texts))
        self._fronts = Fronts(core, max(map(len, tokens.values())))
        self._known: dict[int, list[tuple[int, int]]] = {}
        self._inside: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def of(self, cell: int) -> list[tuple[int, int]]:
        """Symbols, each for all that do the same, and the continuations that they lead to."""
        if not self._numbers:
            return []
        found = self._known.get(cell)
        if found is None:
            fronts = self._fronts
            found = self._known[cell] = [
                (TOKEN_BASE + token, fronts.after(loop, state, 0, self._texts[token].encode()))
                for loop in fronts.front(cell)[1]
                if loop.number in self._numbers
                for token, state in self._steps(loop)
            ]
        return found

    def widened(self, columns: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        """Columns of symbols, with all that one stands for."""
        if not self._alike:
            return columns
        return tuple(
            tuple(sorted(s for symbol in column for s in self._alike.get(symbol, (symbol,))))
            for column in columns
        )

    def _steps(self, loop: Loop) -> list[tuple[int, int]]:
        """The tokens that the text can go on with, and the machine's state behind each."""
        key = (loop.number, loop.state)
        if key not in self._inside:
            assert isinstance(loop.body, Machine)
            self._inside[key] = [
                (token, state)
                for token, text in self._texts.items()
                if (state := _after(loop.body, loop.state, text)) is not None
            ]
        return self._inside[key]


def _groups(machines: Sequence[Machine], tokens: Free) -> list[list[int]]:
    """The tokens that do the same in every state of every machine, ascending."""
    found: dict[int, tuple[bytes, ...]] = dict.fromkeys(sorted(tokens), ())
    for machine in machines:
        steps: dict[str, NDArray[np.int32]] = {}
        behind: dict[tuple[bytes, str], bytes] = {}
        every = np.arange(len(machine.transitions), dtype=np.int32).tobytes()
        for token in found:
            here = every
            for char in tokens[token]:
                after = behind.get((here, char))
                if after is None:
                    if char not in steps:
                        steps[char] = _steps_of(machine, char)
                    # Nothing follows -1, the last of them.
                    after = steps[char][np.frombuffer(here, dtype=np.int32)].tobytes()
                    behind[here, char] = after
                here = after
            found[token] += (here,)
    groups: dict[tuple[bytes, ...], list[int]] = {}
    for token, behaviour in found.items():
        groups.setdefault(behaviour, []).append(token)
    return list(groups.values())


def _steps_of(machine: Machine, char: str) -> NDArray[np.int32]:
    """Where a character leads from each state, and -1 at the end."""
    states = range(len(machine.transitions))
    after = (_after(machine, state, char) for state in states)
    return np.array([*(-1 if state is None else state for state in after), -1], dtype=np.int32)


def _after(machine: Machine, state: int, text: str) -> int | None:
    """The state behind a text; None if the machine cannot read it."""
    for code in map(ord, text):
        for low, high, target, _ in machine.transitions[state]:
            if low <= code <= high:
                state = target
                break
        else:
            return None
    return state
