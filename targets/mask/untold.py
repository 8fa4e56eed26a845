"""Ways behind a token in an item whose text is not told: how long can they be at most?

Of items and keys that must differ, masks look at thousands of tokens at once without telling what
each would write (distinct.py). A way takes the shortest text that is left, item by item: how many
are taken says which that is at worst.
"""

from __future__ import annotations

from typing import Any, Final

from ...compiler.automaton.cells import Head
from ...compiler.automaton.core import Core
from ...compiler.automaton.distinct import BETWEEN, INSIDE, NEXT
from ...compiler.automaton.least_texts import LeastTexts
from ...compiler.automaton.machine_distance import FAR
from ...compiler.automaton.remembered import UNKNOWN
from ...compiler.grammar import Distinct, Expr, Literal, Members

_LONGER: Final = 64
"""Bytes by which the shortest text that is left may be longer than the shortest of all."""


class Untold:
    """Bounds for one core's continuations in which a text is not told."""

    def __init__(self, core: Core, least: LeastTexts) -> None:
        self._core, self._least = core, least
        self._longer: dict[tuple[int, int], int] = {}

    def bytes(self, cell: int) -> int:
        """No fewer bytes than the way of any place that `cell` stands for; FAR: not known.

        The item itself may end as soon as it likes, since it begins like none before. Each one
        behind it that is owed is longer than the shortest of its kind by no more than the
        shortest that is left once all the texts are taken that there will be.
        """
        here = cell
        head, tail = self._core.parts(here)
        while head and head[0] not in (BETWEEN, NEXT, INSIDE):
            here = tail
            head, tail = self._core.parts(here)
        if not head or not self._least.exact(tail):
            return FAR
        if head[0] == INSIDE and not self._may_end(head):
            return FAR
        node = self._core.exprs[head[1]]
        owed = _owed(node, head)
        kinds = self._kinds(node)
        if owed is None or kinds is None:
            return FAR
        if not owed:
            return self._least.of(cell)
        memory = head[4] if head[0] == INSIDE else head[3]
        # Those remembered, this one, those to come, and as many that others cannot do without.
        number = len(self._core.remembering.texts.members(memory)) + 2 + 2 * owed
        return self._least.of(cell) + owed * max(self._more(kind, number) for kind in kinds)

    def _may_end(self, head: Head) -> bool:
        """Is it an item of an untold text, behind told ones?"""
        remembering = self._core.remembering
        return (
            head[6] == UNKNOWN
            and not remembering.alive.is_careful(head[4])
            and self._least.exact(head[5])
        )

    def _kinds(self, node: Expr) -> list[Expr] | None:
        """The texts that are remembered; None where it is not told what is left of them."""
        if isinstance(node, Distinct):
            kinds = [*node.prefix, *(() if node.rest is None else (node.rest,))]
            behind: tuple[Expr, ...] = ()
        elif isinstance(node, Members) and node.memory == "distinct" and not node.conditions:
            kinds, behind = list(node.names), (*node.open, *(key.body for key in node.keys))
        else:
            return None
        separator = node.separator
        if not isinstance(separator, Literal) or not separator.text:
            return None
        return kinds if all(map(self._least.is_sure, (*kinds, *behind))) else None

    def _more(self, kind: Expr, number: int) -> int:
        """Bytes that the `number`-th shortest text of a kind has more than the shortest."""
        key = (self._core.index(kind), number)
        found = self._longer.get(key)
        if found is None:
            shortest = self._least.expression(kind)
            words = self._core.remembering.words
            start = self._core.continuation(kind)
            length = words.length(start, number, shortest + _LONGER) if shortest < FAR else None
            found = self._longer[key] = FAR if length is None else length - shortest
        return found


def _owed(node: Expr, head: Head) -> int | None:
    """How many items or keys must follow at most, behind the one that is being written."""
    begun = int(head[0] == NEXT)
    state: Any = head[3] if head[0] == INSIDE else head[2]
    if isinstance(node, Distinct):
        return max(node.min_count - int(state), begun)
    if isinstance(node, Members):
        required = sum(key.required for key in node.keys)
        return max(node.min_count - int(state[2]), begun) + required
    return None
