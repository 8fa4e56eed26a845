"""Places and the texts between them -> one expression, by taking places out one by one.

This is the way of Brzozowski and McCluskey: a place that is taken out leaves, from each place
before it to each behind it, the texts that went through it. Which one goes first is decided by how
much the whole grows.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from .fragments import EMPTY, Fragment, choice, repeat, sequence

Place = TypeVar("Place", bound=Hashable)


class Joined(Generic[Place]):
    """Places with fragments between them.

    Args:
        checked: told every fragment that is made; raises if it is too long.
    """

    def __init__(self, checked: Callable[[Fragment], None]) -> None:
        self._checked = checked
        self.out: dict[Place, dict[Place, Fragment]] = {}
        self.into: dict[Place, dict[Place, None]] = {}

    def join(self, source: Place, target: Place, label: Fragment) -> None:
        """One more way from a place to another."""
        row = self.out.setdefault(source, {})
        made = choice([row[target], label]) if target in row else label
        self._checked(made)
        row[target] = made
        self.into.setdefault(target, {})[source] = None

    def take_out(self, places: Sequence[Place]) -> None:
        """Leave these places out; equal costs go by their order."""
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
            sources = [s for s in self.into.pop(place, {}) if s != place]
            for target in out:
                self.into[target].pop(place, None)
            for source in sources:
                entering = self.out[source].pop(place)
                for target, leaving in out.items():
                    self.join(source, target, sequence([entering, loop, leaving]))
            for near in {*sources, *out}:
                if near in left:
                    heapq.heappush(heap, (self._cost(near), order[near]))

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
