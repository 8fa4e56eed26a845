"""Ways between places -> one fragment: places are taken out, what leads to them is joined to what
leads on (Brzozowski and McCluskey), the cheapest first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable
from enum import Enum
from typing import Final

from .fragments import EMPTY, Fragment, choice, repeat, sequence


class Border(Enum):
    """Where ways begin and end: places that no name is the name of."""

    ENTRY = 1
    END = 2


ENTRY: Final = Border.ENTRY
END: Final = Border.END


class Ways:
    """Places from ENTRY to END, and the fragments that lead from one to another.

    Args:
        most: characters that a fragment may have.
        too_long: what is raised if one has more.
    """

    def __init__(self, most: int, too_long: Callable[[], Exception]) -> None:
        self._most = most
        self._too_long = too_long
        self._out: dict[Hashable, dict[Hashable, Fragment]] = {}
        self._into: dict[Hashable, dict[Hashable, None]] = {}

    def join(self, source: Hashable, target: Hashable, label: Fragment) -> None:
        """One more way from a place to another."""
        row = self._out.setdefault(source, {})
        made = choice([row[target], label]) if target in row else label
        if len(made.text) > self._most:
            raise self._too_long()
        row[target] = made
        self._into.setdefault(target, {})[source] = None

    def fragment(self) -> Fragment:
        """All ways from ENTRY to END. Nothing else is left then."""
        places = [place for place in self._into if place != END]
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
            for near in self._take_out(place):
                if near in left:
                    heapq.heappush(heap, (self._cost(near), order[near]))
        return self._out[ENTRY][END]

    def _take_out(self, place: Hashable) -> set[Hashable]:
        """The places around it."""
        out = self._out.pop(place, {})
        loop = repeat(out.pop(place), 0, None) if place in out else EMPTY
        sources = [s for s in self._into.pop(place) if s != place]
        for target in out:
            self._into[target].pop(place, None)
        for source in sources:
            entering = self._out[source].pop(place)
            for target, leaving in out.items():
                self.join(source, target, sequence([entering, loop, leaving]))
        return {*sources, *out}

    def _cost(self, place: Hashable) -> int:
        """By how much the whole grows without the place."""
        out = self._out.get(place, {})
        loop = len(out[place].text) if place in out else 0
        ways = [len(f.text) for target, f in out.items() if target != place]
        sources = [s for s in self._into.get(place, {}) if s != place]
        entering = sum(len(self._out[s][place].text) for s in sources)
        return (
            entering * (len(ways) - 1)
            + sum(ways) * (len(sources) - 1)
            + loop * (len(ways) * len(sources) - 1)
        )
