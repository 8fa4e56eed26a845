"""Regular node -> fragment: states are taken out one by one, loops that count stay counts.

A place is a state with the counts that are still wanted and allowed. A place that does nothing but
repeat is written ``(?:...){m,n}``; the others are joined along their edges until only the start
and the end are left (Brzozowski and McCluskey). Both are read off a deterministic machine, so no
text can be read in two ways, and an engine that backtracks has little to go back to.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Final

from ...compiler.errors import GrammarError, TargetError
from ...compiler.grammar import Expr, Regular
from ...compiler.passes.regular_counts import Counts
from ...compiler.passes.regular_edges import Edges, edges_of
from .fragments import EMPTY, Fragment, choice, repeat, sequence

MAX_PLACES: Final = 4000
"""Places of one machine."""

Place = tuple[int, int, int | None]
"""A state, and how many counts must and may still come."""

_END: Final[Place] = (-1, 0, None)
_ENTRY: Final[Place] = (-2, 0, None)

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
        self.out: dict[Place, dict[Place, Fragment]] = {}
        self.into: dict[Place, dict[Place, None]] = {}

    def fragment(self) -> Fragment:
        start = self._place(self.edges.start, self.node.min, self.node.max)
        self._join(_ENTRY, start, EMPTY)
        queue = [start]
        seen = {start}
        for place in queue:
            for target, label in self._steps(place):
                self._join(place, target, label)
                if target not in seen and target != _END:
                    seen.add(target)
                    queue.append(target)
            if len(queue) > MAX_PLACES:
                raise self._too_long()
        self._take_out(queue)
        return self.out[_ENTRY][_END]

    def _place(self, state: int, low: int, high: int | None) -> Place:
        """The same place for counts that make no difference."""
        if low <= self.counts.shortest[state]:
            low = 0
        longest = self.counts.longest[state]
        if high is not None and longest is not None and longest <= high:
            high = None
        return state, low, high

    def _steps(self, place: Place) -> list[tuple[Place, Fragment]]:
        state, low, high = place
        if (low, high) != (0, None) and self.edges.is_loop(state):
            back = [self._label(e) for e, target, _ in self.edges.out[state] if target == state]
            return [(_END, repeat(choice(back), low, high))]
        found = []
        for label, target, count in self.edges.out[state]:
            left = None if high is None else high - count
            need = max(0, low - count)
            if left is not None and left < 0:
                continue
            if target == self.edges.final:
                if not need:
                    found.append((_END, self._label(label)))
            elif self.counts.feasible(target, need, left):
                found.append((self._place(target, need, left), self._label(label)))
        return found

    def _label(self, label: Expr) -> Fragment:
        found = self._labels.get(id(label))
        if found is None:
            found = self._labels[id(label)] = self._spell(label)
        return found

    def _join(self, source: Place, target: Place, label: Fragment) -> None:
        """One more way from a place to another."""
        row = self.out.setdefault(source, {})
        made = choice([row[target], label]) if target in row else label
        if len(made.text) > self.most:
            raise self._too_long()
        row[target] = made
        self.into.setdefault(target, {})[source] = None

    def _cost(self, place: Place) -> int:
        """By how much the whole grows without the place."""
        out = self.out.get(place, {})
        loop = len(out[place].text) if place in out else 0
        ways = [len(f.text) for target, f in out.items() if target != place]
        sources = [s for s in self.into.get(place, {}) if s != place]
        entering = sum(len(self.out[s][place].text) for s in sources)
        return (
            entering * (len(ways) - 1)
            + sum(ways) * (len(sources) - 1)
            + loop * (len(ways) * len(sources) - 1)
        )

    def _take_out(self, places: list[Place]) -> None:
        order = {place: at for at, place in enumerate(places)}
        heap = [(self._cost(place), at) for place, at in order.items()]
        heapq.heapify(heap)
        left = set(places)
        while heap:
            cost, at = heapq.heappop(heap)
            place = places[at]
            if place not in left:
                continue
            now = self._cost(place)
            if now > cost:
                heapq.heappush(heap, (now, at))
                continue
            left.remove(place)
            out = self.out.pop(place, {})
            loop = repeat(out.pop(place), 0, None) if place in out else EMPTY
            sources = [s for s in self.into.pop(place) if s != place]
            for target in out:
                self.into[target].pop(place, None)
            for source in sources:
                entering = self.out[source].pop(place)
                for target, leaving in out.items():
                    self._join(source, target, sequence([entering, loop, leaving]))
            for near in {*sources, *out}:
                if near in left:
                    heapq.heappush(heap, (self._cost(near), order[near]))

    def _too_long(self) -> TargetError:
        node = self.node
        bounds = f"{node.min} to {'any number of' if node.max is None else node.max} characters"
        return _refused(
            node, "counting", f"{node.what} of {bounds} takes more than {self.most:,} characters"
        )
