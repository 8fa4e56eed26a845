"""Special tokens in free text, as arcs of a core's continuations.

A special token stands for no text where a grammar enforces something: it is read where the grammar
names it. In free text one that means nothing to the dialect is read as its text, by one symbol,
so that it arms nothing and ends nothing. Masks tell the same, from pieces of free text.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

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
    """Where the tokens lead from continuations that may go on with free text."""

    def __init__(self, core: Core, free: FreeText | None, tokens: Free) -> None:
        self._core = core
        self._tokens = tokens if free is not None else {}
        self._numbers = frozenset(map(core.index, free.texts)) if free and tokens else frozenset()
        self._fronts = Fronts(core, max(map(len, tokens.values()), default=0))
        self._known: dict[int, list[tuple[int, int]]] = {}
        self._inside: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def of(self, cell: int) -> list[tuple[int, int]]:
        """Symbols, and the continuations that they lead to."""
        if not self._numbers:
            return []
        found = self._known.get(cell)
        if found is None:
            found = self._known[cell] = [
                (
                    TOKEN_BASE + token,
                    self._fronts.after(loop, state, 0, self._tokens[token].encode()),
                )
                for loop in self._fronts.front(cell)[1]
                if loop.number in self._numbers
                for token, state in self._steps(loop)
            ]
        return found

    def _steps(self, loop: Loop) -> list[tuple[int, int]]:
        """The tokens that the text can go on with, and the machine's state behind each."""
        key = (loop.number, loop.state)
        if key not in self._inside:
            assert isinstance(loop.body, Machine)
            self._inside[key] = [
                (token, state)
                for token, text in self._tokens.items()
                if (state := _after(loop.body, loop.state, text)) is not None
            ]
        return self._inside[key]


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
