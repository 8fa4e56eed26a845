"""Regular node -> fragment: states are taken out one by one, loops that count stay counts.

A place is a state with the counts that are still wanted and allowed. A place that does nothing but
repeat is written ``(?:...){m,n}``; the others are joined along their edges until only the start
and the end are left (see `joining`). Both are read off a deterministic machine, so no text can be
read in two ways, and an engine that backtracks has little to go back to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...compiler.errors import GrammarError, TargetError
from ...compiler.grammar import Expr, Regular
from ...compiler.passes.regular_counts import Counts
from ...compiler.passes.regular_edges import Edges, edges_of
from .fragments import EMPTY, Fragment, choice, repeat
from .joining import END, ENTRY, Ways

MAX_PLACES: Final = 4000
"""Places of one machine."""

Place = tuple[int, int, int | None]
"""A state, and how many counts must and may still come."""

Print = Callable[[Expr], Fragment]


def machine_fragment(node: Regular, spell: Print, most: int) -> Fragment:
    """The expression of a machine.

    Args:
        spell: prints the labels of its edges.
        most: characters that it may have.

    Raises:
        TargetError: code ``unsupported-feature`` (counting, multiples): it would have more.
        GrammarError: code ``unproductive-rule``: no text has so many characters.
    """
    if node.machine.known is not None:
        raise _refused(node, "multiples", f"{node.what} takes too many states")
    edges = edges_of(node.machine)
    counts = Counts(edges)
    if not counts.feasible(edges.start, node.min, node.max):
        bound = f"{node.min}..{'' if node.max is None else node.max}"
        raise GrammarError.at(
            "unproductive-rule", f"{node.what}: no text has {bound} characters", node.origin
        )
    return _Machine(node, edges, counts, spell, most).fragment()


def _refused(node: Regular, feature: str, message: str) -> TargetError:
    return TargetError.at(
        "unsupported-feature",
        f"{feature}: {message}",
        node.origin,
        "give a smaller maxLength or a simpler pattern; the token table does without the text",
    )


class _Machine:
    def __init__(
        self, node: Regular, edges: Edges, counts: Counts, spell: Print, most: int
    ) -> None:
        self.node = node
        self.edges = edges
        self.counts = counts
        self.most = most
        self._labels: dict[int, Fragment] = {}
        self._spell = spell

    def fragment(self) -> Fragment:
        start = self._place(self.edges.start, self.node.min, self.node.max)
        ways = Ways(self.most, self._too_long)
        ways.join(ENTRY, start, EMPTY)
        queue = [start]
        seen = {start}
        for place in queue:
            for target, label in self._steps(place):
                ways.join(place, target or END, label)
                if target is not None and target not in seen:
                    seen.add(target)
                    queue.append(target)
            if len(queue) > MAX_PLACES:
                raise self._too_long()
        return ways.fragment()

    def _place(self, state: int, low: int, high: int | None) -> Place:
        """The same place for counts that make no difference."""
        if low <= self.counts.shortest[state]:
            low = 0
        longest = self.counts.longest[state]
        if high is not None and longest is not None and longest <= high:
            high = None
        return state, low, high

    def _steps(self, place: Place) -> list[tuple[Place | None, Fragment]]:
        """The ways on; None: to the end of the text."""
        state, low, high = place
        if (low, high) != (0, None) and self.edges.is_loop(state):
            back = [self._label(e) for e, target, _ in self.edges.out[state] if target == state]
            return [(None, repeat(choice(back), low, high))]
        found: list[tuple[Place | None, Fragment]] = []
        for label, target, count in self.edges.out[state]:
            left = None if high is None else high - count
            need = max(0, low - count)
            if left is not None and left < 0:
                continue
            if target == self.edges.final:
                if not need:
                    found.append((None, self._label(label)))
            elif self.counts.feasible(target, need, left):
                found.append((self._place(target, need, left), self._label(label)))
        return found

    def _label(self, label: Expr) -> Fragment:
        found = self._labels.get(id(label))
        if found is None:
            found = self._labels[id(label)] = self._spell(label)
        return found

    def _too_long(self) -> TargetError:
        node = self.node
        bounds = f"{node.min} to {'any number of' if node.max is None else node.max} characters"
        return _refused(
            node, "counting", f"{node.what} of {bounds} takes more than {self.most:,} characters"
        )
