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

from ...compiler.automaton.distinct import INSIDE
from ...compiler.automaton.least_texts import LeastTexts
from ...compiler.automaton.machine_distance import FAR
from ...compiler.automaton.remembered import UNKNOWN
from ...compiler.errors import VocabularyError
from ...compiler.grammar import Distinct, Expr, Literal, Members
from .bitmask import allow, forbid
from .lacking import lacking_bytes
from .reach import Group, Reach, Reached
from .states import DEAD, ENDED
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

    least: tokens to the end, the end token included. far: from this budget on nothing is refused.
    first: a token on the way. ends: may the text end here? parts: what the tokens lead to from
        each continuation.
    tokens: of the tokens that are taken one by one, what each needs with all that follows it.
    """

    least: int
    far: int
    first: int | None
    ends: bool
    parts: tuple[tuple[int, Reached], ...]
    tokens: dict[int, int]


class Ends:
    """The distances of one automaton's states, and the masks within budgets."""

    def __init__(self, automaton: MaskAutomaton, walker: Walker) -> None:
        self._automaton = automaton
        self._core, self._walker = automaton.core, walker
        vocabulary = automaton.vocabulary
        complete = not lacking_bytes(automaton.grammar, vocabulary)
        self._least = LeastTexts(automaton.core)
        self._ways = Ways(automaton.core, self._least, vocabulary, complete)
        self._reach = Reach(automaton, walker, self._ways)
        self._end = 1 if vocabulary.eos_ids else 0
        self._longest = max(
            vocabulary.longest, *(len(text.encode()) for text in vocabulary.specials), 1
        )
        self._plans: dict[int, _Plan] = {}
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
        budget = max(budget, plan.least)
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
        for cell, reached in plan.parts:
            for group in reached.groups:
                if self._fits(cell, group, budget - 1):
                    _put(row, group)
                elif any(map(self._is_untold, group.cells)):
                    doubtful += group.ids
        doubtful = doubtful[:MAX_DOUBTFUL]
        needed = self._needed(state, whole, doubtful)
        allow(row, [t for t in doubtful if needed.get(t, FAR) <= budget])
        forbid(row, list(plan.tokens))
        allow(row, [t for t, needed in plan.tokens.items() if needed <= budget])
        if plan.ends:
            allow(row, self._automaton.vocabulary.eos_ids)
        if plan.first is not None:
            allow(row, (plan.first,))
        row &= whole.view(np.uint32)
        row.flags.writeable = False
        return row.view(np.int32)

    def _plan(self, state: int, whole: NDArray[np.int32]) -> _Plan:
        least = self.tokens(state)
        if least >= FAR:
            raise no_end()
        cells = self._automaton.cells(state)
        slack = self._automaton.vocabulary.longest + 1
        sources = dict.fromkeys(self._ways.canonical(cell, slack) for cell in cells)
        parts = tuple((cell, self._reach.of(cell)) for cell in sources)
        far = 0
        single: set[int] = set()
        left = whole.view(np.uint32).copy()
        ends = self._automaton.may_end(state)
        if ends:
            forbid(left, self._automaton.vocabulary.eos_ids)
        for cell, reached in parts:
            single |= reached.single
            for group in reached.groups:
                bound = self._bound(cell, group)
                if bound < FAR:
                    _take(left, group)
                    far = max(far, bound)
        # What no group has or can be told of, as behind texts that are remembered.
        single.update(_ids(left))
        tokens = self._needed(state, whole, single)
        far = max([far, *(n for n in tokens.values() if n < FAR)])
        if any(n >= FAR for n in tokens.values()):
            far = FAR
        first = min(
            (self._ways.canonical(cell) for cell in cells), key=self._ways.tokens, default=None
        )
        token = None if first is None else self._ways.first(first)
        return _Plan(least, far, token, ends, parts, tokens)

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

    def _bound(self, source: int, group: Group) -> int:
        """A budget that is enough for the group's tokens, found without cutting texts into tokens
        where that can be helped; FAR if they must be taken one by one."""
        return max(self._bound_of(source, cell) for cell in group.cells)

    def _bound_of(self, source: int, cell: int) -> int:
        least = self._least
        if least.exact(cell):
            if self._ways.complete or least.of(cell) >= FAR:
                return min(1 + least.of(cell) + self._end, FAR)
            return min(1 + self._to_end(cell), FAR)
        if not self._is_untold(cell):
            return min(1 + self._to_end(cell), FAR)
        return self._forgotten(source, cell)

    def _is_untold(self, cell: int) -> bool:
        """Does the way from a place depend on a text that it does not know?"""
        return not self._least.exact(cell) and self._core.remembering.is_forgotten(cell)

    def _forgotten(self, source: int, cell: int) -> int:
        """A budget that is enough behind a token in an item whose text is not told.

        The item may end as soon as it likes, since it begins like none before. Those behind it may
        be the ones on the way from where the token is taken; should this item be one of them, the
        one that the way begins with is left in its place. Keys of an object likewise.
        """
        head, _ = self._core.parts(cell)
        if head[0] != INSIDE or head[6] != UNKNOWN or not self._ways.complete:
            return FAR
        remembering = self._core.remembering
        if (
            not _is_alike(self._core.exprs[head[1]])
            or remembering.alive.is_careful(head[4])
            or remembering.remembers(head[5])
        ):
            return FAR
        origin, _ = self._core.parts(source)
        if not origin or origin[0] != INSIDE or origin[:5] != head[:5]:
            return FAR
        return min(1 + self._least.of(cell) + self._ways.bytes(source) + self._end, FAR)

    def _fits(self, source: int, group: Group, left: int) -> bool:
        """May one of the group's tokens be taken so that `left` tokens are enough behind it?"""
        for cell in group.cells:
            if self._bound_of(source, cell) <= left + 1:
                continue
            if self._is_untold(cell):
                return False
            if -(-self._least.of(cell) // self._longest) + self._end > left:
                return False
            if self._to_end(cell) > left:
                return False
        return True


def _is_alike(node: Expr) -> bool:
    """May what differs from one item or key stand in the place of another, so that the shortest
    that are left are the shortest together? Keys of two kinds never meet."""
    if not isinstance(node, (Distinct, Members)):
        return False
    if not isinstance(node.separator, Literal) or not node.separator.text:
        return False
    if isinstance(node, Distinct):
        return not node.prefix
    ordered = node.order == "schema" or not node.keys
    return ordered and node.memory == "distinct" and not node.conditions


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
