"""Masks within a budget of tokens: only what leaves enough of them to come to the end.

Every token of such a mask leads to a place whose way to the end (ways.py) fits into what is left.
The number that a place promises falls by one along its way, so there is always a token that keeps
the promise, and the mask is never empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.least_texts import LeastTexts
from ...compiler.automaton.machine_distance import FAR
from ...compiler.errors import VocabularyError
from ...compiler.owners import back_to
from .bitmask import allow, forbid
from .lacking import lacking_bytes
from .reach import Group, Reach, Reached
from .states import DEAD, ENDED
from .untold import Untold
from .ways import Ways

if TYPE_CHECKING:
    from .automaton import MaskAutomaton
    from .walk import Walker

MAX_ROW_BYTES: Final = 64 * 1024 * 1024
"""Rows kept; beyond, they are forgotten and made anew."""


MAX_DOUBTFUL: Final = 32
"""Tokens inside remembered texts that are taken one by one where the budget is tight."""


class _Plan(NamedTuple):
    """What budgets mean in one state.

    far: from this budget on nothing is refused. parts: what the tokens lead to from each
        continuation.
    tokens: of the tokens that are taken one by one, what each needs with all that follows it.
    """

    far: int
    parts: tuple[Reached, ...]
    tokens: dict[int, int]


class Ends:
    """The distances of one automaton's states, and the masks within budgets."""

    def __init__(self, automaton: MaskAutomaton, walker: Walker) -> None:
        self._automaton = back_to(automaton)
        self._core, self._walker = automaton.core, walker
        vocabulary = automaton.vocabulary
        complete = not lacking_bytes(automaton.grammar, vocabulary)
        self._least = LeastTexts(automaton.core)
        self._ways = Ways(automaton.core, self._least, vocabulary, complete)
        self._untold = Untold(self._core, self._least)
        self._reach = Reach(automaton, walker, self._ways)
        self._end = 1 if vocabulary.eos_ids else 0
        self._longest = max(
            vocabulary.longest, *(len(text.encode()) for text in vocabulary.specials), 1
        )
        self._plans: dict[int, _Plan] = {}
        self._fars: dict[int, int] = {}
        self._rows: dict[tuple[int, int], NDArray[np.int32]] = {}

    def every_place(self) -> Reach:
        """Where tokens lead, no two places taken for one."""
        return Reach(self._automaton, self._walker, self._ways, bounded=True)

    # Distances --------------------------------------------------------------------------------

    def bytes(self, state: int) -> int:
        """Bytes of a shortest rest of the text; FAR: none is known."""
        if state == ENDED:
            return 0
        return min(map(self._ways.bytes, self._automaton.cells(state)), default=FAR)

    def tokens(self, state: int) -> int:
        """Tokens that suffice to the end, an end token included; FAR: none are known."""
        if state == ENDED:
            return 0
        return min((self._to_end(cell) for cell in self._automaton.cells(state)), default=FAR)

    def _to_end(self, cell: int) -> int:
        return min(self._ways.tokens(self._ways.canonical(cell)) + self._end, FAR)

    # Masks ------------------------------------------------------------------------------------

    def row(self, state: int, budget: int) -> NDArray[np.int32]:
        """The packed mask of the tokens that may be taken with `budget` tokens left.

        With fewer than `tokens` says, the mask is that of the least that will do.

        Raises:
            VocabularyError: no way to the end is known in this vocabulary.
        """
        whole = self._automaton.row(state)
        if state == ENDED:
            return whole
        plan = self._plans.get(state)
        if plan is None:
            plan = self._plans[state] = self._plan(state, whole)
        if budget >= plan.far:
            return whole
        least = self.tokens(state)
        if least >= FAR:
            raise no_end()
        budget = max(budget, least)
        found = self._rows.get((state, budget))
        if found is None:
            if (len(self._rows) + 1) * whole.nbytes > MAX_ROW_BYTES:
                self._rows.clear()
            found = self._rows[state, budget] = self._make_row(state, plan, whole, budget)
        return found

    def _make_row(
        self, state: int, plan: _Plan, whole: NDArray[np.int32], budget: int
    ) -> NDArray[np.int32]:
        row = np.zeros(whole.size, dtype=np.uint32)
        doubtful: list[int] = []
        for reached in plan.parts:
            for group in reached.groups:
                if self._fits(group, budget - 1):
                    _put(row, group)
                elif any(map(self._is_untold, group.cells)):
                    doubtful += group.ids
        doubtful = doubtful[:MAX_DOUBTFUL]
        needed = self._needed(state, whole, doubtful)
        allow(row, [t for t in doubtful if needed.get(t, FAR) <= budget])
        forbid(row, list(plan.tokens))
        allow(row, [t for t, needed in plan.tokens.items() if needed <= budget])
        if self._automaton.may_end(state):
            allow(row, self._automaton.vocabulary.eos_ids)
        first = self._first(state)
        if first is not None:
            allow(row, (first,))
        row &= whole.view(np.uint32)
        row.flags.writeable = False
        return row.view(np.int32)

    def _first(self, state: int) -> int | None:
        """A token that begins a way; None where the text may end."""
        ways = self._ways
        cells = map(ways.canonical, self._automaton.cells(state))
        best = min(cells, key=ways.tokens, default=None)
        return None if best is None else ways.first(best)

    def _plan(self, state: int, whole: NDArray[np.int32]) -> _Plan:
        slack = self._automaton.vocabulary.longest + 1
        cells = self._automaton.cells(state)
        sources = dict.fromkeys(self._ways.canonical(cell, slack) for cell in cells)
        parts = tuple(map(self._reach.of, sources))
        single = frozenset[int]().union(*(reached.single for reached in parts))
        far = 0
        for cell in sources:
            bound = self._fars.get(cell)
            if bound is None:
                bound = self._fars[cell] = self._far(cell)
            far = max(far, bound)
        if self._core.remembering.in_use:
            single |= self._untaken(state, whole, parts)
        tokens = self._needed(state, whole, single)
        return _Plan(max((far, *tokens.values())), parts, tokens)

    def _far(self, cell: int) -> int:
        """A budget that is enough for whatever group's tokens are taken from a continuation, but
        for tokens that are taken one by one."""
        groups = self._reach.of(cell).groups
        return max((self._bound(g) for g in groups if not self._is_listed(g)), default=0)

    def _is_listed(self, group: Group) -> bool:
        """Are the group's tokens few, and taken one by one as nothing is told of them together?"""
        few = not group.rows and len(group.ids) <= MAX_DOUBTFUL
        return few and any(map(self._is_untold, group.cells)) and self._bound(group) >= FAR

    def _untaken(
        self, state: int, whole: NDArray[np.int32], parts: tuple[Reached, ...]
    ) -> set[int]:
        """The tokens of the mask that no group has or can be told of, as behind texts that are
        remembered."""
        left = whole.view(np.uint32).copy()
        if self._automaton.may_end(state):
            forbid(left, self._automaton.vocabulary.eos_ids)
        for reached in parts:
            for group in reached.groups:
                if not self._is_listed(group):
                    _take(left, group)
        return set(_ids(left))

    def _needed(
        self, state: int, whole: NDArray[np.int32], single: Iterable[int]
    ) -> dict[int, int]:
        """For each token, of those that the mask has, how many are needed from it on."""
        found = {}
        for token in sorted(single):
            if int(whole[token >> 5]) >> (token & 31) & 1:
                after = self._automaton.accept(state, token)
                found[token] = FAR if after == DEAD else min(1 + self.tokens(after), FAR)
        return found

    # Groups -----------------------------------------------------------------------------------

    def _bound(self, group: Group) -> int:
        """A budget that is enough for the group's tokens, found without cutting texts into tokens
        where that can be helped; FAR if they must be taken one by one."""
        return max(self._bound_of(cell) for cell in group.cells)

    def _bound_of(self, cell: int) -> int:
        least = self._least
        if least.exact(cell):
            if self._ways.complete or least.of(cell) >= FAR:
                return min(1 + least.of(cell) + self._end, FAR)
            return min(1 + self._to_end(cell), FAR)
        if not self._is_untold(cell):
            return min(1 + self._to_end(cell), FAR)
        if not self._ways.complete:
            return FAR
        return min(1 + self._untold.bytes(cell) + self._end, FAR)

    def _is_untold(self, cell: int) -> bool:
        """Does the way from a place depend on a text that it does not know?"""
        return not self._least.exact(cell) and self._core.remembering.is_forgotten(cell)

    def _fits(self, group: Group, left: int) -> bool:
        """May one of the group's tokens be taken so that `left` tokens are enough behind it?"""
        for cell in group.cells:
            if self._bound_of(cell) <= left + 1:
                continue
            if self._is_untold(cell):
                return False
            if -(-self._least.of(cell) // self._longest) + self._end > left:
                return False
            if self._to_end(cell) > left:
                return False
        return True


def no_end() -> VocabularyError:
    """No way to the end is known."""
    return VocabularyError.at(
        "vocabulary-dead-end",
        "no tokens of this vocabulary are known to lead from here to the end of the text",
        hint="mask.dead_ends(grammar, vocabulary) says what is missing",
    )


def _put(row: NDArray[np.uint32], group: Group) -> None:
    allow(row, group.ids)
    for mask in group.rows:
        row |= mask


def _take(row: NDArray[np.uint32], group: Group) -> None:
    forbid(row, group.ids)
    for mask in group.rows:
        row &= ~mask


def _ids(row: NDArray[np.uint32]) -> list[int]:
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    return [int(i) for i in np.flatnonzero(bits)]
