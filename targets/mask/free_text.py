"""Special tokens in free text: content and reasoning, where the turn may be without a call.

A special token stands for no text where a grammar enforces something: it is allowed where the
grammar names it. Free text is what a model writes with no grammar, and there models write special
tokens that a dialect knows nothing of: boxes around what they see in a picture, say. Such a token
is taken in free text as the text that stands for it, so that it arms nothing and ends nothing.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from ...compiler.automaton.core import Core
from ...compiler.automaton.front_parts import Loop
from ...compiler.automaton.fronts import Fronts
from ...compiler.grammar import FreeText
from ...compiler.vocabulary.loop_table import Place
from ...compiler.vocabulary.vocabulary import Vocabulary
from .walk import Walker

_NOWHERE: Final = FreeText()


class FreeTokens:
    """The special tokens without a meaning to the dialect, in the free text of one grammar."""

    def __init__(
        self,
        core: Core,
        fronts: Fronts,
        walker: Walker,
        vocabulary: Vocabulary,
        free: FreeText | None,
    ) -> None:
        self._core, self._fronts, self._walker = core, fronts, walker
        self._vocabulary = vocabulary
        free = free or _NOWHERE
        self._markers = free.markers
        self._numbers = frozenset(map(core.index, free.texts))
        self._kept: dict[tuple[int, int], tuple[int, ...]] = {}

    def __bool__(self) -> bool:
        """Is there any free text?"""
        return bool(self._numbers)

    @cached_property
    def _known(self) -> frozenset[int]:
        return frozenset(self._vocabulary.specials_but(self._markers))

    def ids(self, cell: int) -> tuple[int, ...]:
        """Those that a continuation can read."""
        found: tuple[int, ...] = ()
        for loop in self._loops(cell):
            place = self._walker.place(loop)
            if place is not None:
                found += self._of(place)
        return found

    def _of(self, place: Place) -> tuple[int, ...]:
        key = (place.table.number, place.start)
        found = self._kept.get(key)
        if found is None:
            node = self._vocabulary.root_of_specials_but(self._markers)
            inside = self._vocabulary.slices.get(node, place.table, place.start).counted.inside
            found = self._kept[key] = tuple(inside.tolist())
        return found

    def step(self, cells: tuple[int, ...], token: int) -> set[int]:
        """The continuations that one of them leads to; none if it cannot be read."""
        if not self._numbers or token not in self._known:
            return set()
        data = self._vocabulary.tokens[token]
        found = (self._after(loop, data) for cell in cells for loop in self._loops(cell))
        return {cell for cell in found if cell is not None}

    def _loops(self, cell: int) -> list[Loop]:
        """The free texts that a continuation begins with. They have no bounds."""
        if not self._numbers or not self._vocabulary.specials_but(self._markers):
            return []
        return [loop for loop in self._fronts.front(cell)[1] if loop.number in self._numbers]

    def _after(self, loop: Loop, data: bytes) -> int | None:
        place = self._walker.place(loop)
        if place is None:
            return None
        table, state, states = place
        for byte in data:
            merged = table.steps[(state << 8) | byte]
            if merged < 0:
                return None
            state = merged >> 1
        # The text is whole characters, so that this is no place inside one.
        return self._fronts.after(loop, states[state], 0, data)
