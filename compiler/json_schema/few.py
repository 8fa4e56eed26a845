"""Goals of few values: whether there are as many distinct items as an array needs.

Values are listed one by one and counted; goals of many values, or of values that are hard to list,
have enough. What is left undecided so is found when the array is lowered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING

from ..ir import Json
from .admits import admits
from .forms import Alternative, Arrays, Booleans, Goal, Nulls, Numbers, Objects, Strings, Values
from .json_values import json_key

if TYPE_CHECKING:
    from .resolve import Graph

MAX_WANTED = 400
"""Items that must differ and are placed one by one."""
MAX_LENGTH = 64
"""Code points of a string that is listed; so many more items than values, too."""
MAX_DEPTH = 16
"""Goals inside one another whose values are listed."""

Listed = dict[Hashable, Json]


class Few:
    """Lists the values of goals.

    Args:
        graph: what the goals come to.
        most: goals of more values than this count as endless.
    """

    def __init__(self, graph: Graph, most: int) -> None:
        self._graph = graph
        self._most = most
        self._known: dict[Hashable, Listed | None] = {}
        self._depth = 0

    def values(self, goal: Goal) -> Listed | None:
        """The values of a goal, None if they are many or hard to list."""
        if not goal or self._depth >= MAX_DEPTH:
            return None
        node = self._graph.node(goal)
        key = id(node)
        if key not in self._known:
            self._known[key] = None  # What holds itself is not listed.
            self._depth += 1
            found: Listed | None = {}
            for x in node.alternatives:
                found = self._more(found, self._of(x))
            self._depth -= 1
            self._known[key] = found
        return self._known[key]

    def _more(self, found: Listed | None, others: list[Json] | None) -> Listed | None:
        if found is None or others is None:
            return None
        found = {**found, **{json_key(v): v for v in others}}
        return found if len(found) <= self._most else None

    def _of(self, x: Alternative) -> list[Json] | None:
        match x:
            case Nulls():
                return [None]
            case Booleans():
                return [False, True]
            case Values():
                return list(x.values)
            case Numbers():
                return self._numbers(x)
            case Strings():
                return self._strings(x)
            case Arrays():
                return self._arrays(x)
            case Objects():
                return self._objects(x)

    def _numbers(self, x: Numbers) -> list[Json] | None:
        step = x.multiple or (Decimal(1) if x.kind == "integer" else None)
        if x.low is None or x.high is None or (step is None and x.low < x.high):
            return None
        if step is None:
            return [x.low]
        if x.high - x.low > self._most * step:
            return None
        first, last = int(x.low / step) - 1, int(x.high / step) + 1
        return [n * step for n in range(first, last + 1) if admits(self._graph.reader, x, n * step)]

    def _strings(self, x: Strings) -> list[Json] | None:
        if x.longest == 0:
            return [""]
        if x.language is None:
            return None
        language, low, high = x.language.split_length()
        longest = high if x.longest is None else x.longest if high is None else min(high, x.longest)
        if longest is not None and longest <= MAX_LENGTH:
            return list(language.dfa.with_length(max(low, x.shortest), longest).words(self._room))
        if longest is None and language.dfa.is_finite:
            words = language.dfa.words(self._room)
            return [w for w in words if len(w) >= max(low, x.shortest)]
        return None

    @property
    def _room(self) -> int:
        return self._most + 1

    def _arrays(self, x: Arrays) -> list[Json] | None:
        if x.track is not None:
            return None
        made: list[Json] = []
        layer: list[list[Json]] = [[]]
        for length in range(self._most + MAX_LENGTH):
            if length >= x.shortest:
                made += layer
            item = x.at(length)
            if length == x.longest or item is None or not self._graph.alive(item.goal):
                return made
            values = self.values(item.goal)
            if values is None or len(made) > self._most:
                return None
            pairs = ((array, key) for array in layer for key in values)
            if x.unique is not None:
                pairs = ((a, key) for a, key in pairs if key not in set(map(json_key, a)))
            layer = [[*array, values[key]] for array, key in islice(pairs, self._room)]
            if len(layer) > self._most:
                return None
            if not layer:
                return made
        return None

    def _objects(self, x: Objects) -> list[Json] | None:
        if x.beyond or any(self._graph.alive(c.goal) for c in x.classes):
            return None
        alive = [
            (name, m.required, m.goal)
            for name, m in x.members.items()
            if m.goal is not None and self._graph.alive(m.goal)
        ]
        most = len(alive) if x.most is None else x.most
        layer: list[dict[str, Json]] = [{}]
        for i, (name, required, goal) in enumerate(alive):
            values = self.values(goal)
            if values is None:
                return None
            pairs = (
                (made, value) for made in layer for value in values.values() if len(made) < most
            )
            longer = [{**made, name: value} for made, value in islice(pairs, self._room)]
            fewest = x.fewest - (len(alive) - i - 1)
            without = [made for made in layer if len(made) >= fewest and not required]
            layer = longer + without
            if len(layer) > self._most:
                return None
        return list(layer)


def enough_distinct(x: Arrays, graph: Graph) -> bool:
    """Whether the items that an array of distinct ones must have can all be different."""
    if x.unique is None or x.track is not None or not 2 <= x.shortest <= MAX_WANTED:
        return True
    few = Few(graph, x.shortest)
    places: list[list[Hashable]] = []
    for i in range(x.shortest):
        item = x.at(i)
        assert item is not None
        values = few.values(item.goal)
        # As many values as there are items are enough, whatever the others are.
        if values is not None and len(values) < x.shortest:
            places.append(list(values))
    return _all_placed(places)


def _all_placed(places: list[list[Hashable]]) -> bool:
    """Whether each place can have a value of its list that no other has, by augmenting paths."""
    holder: dict[Hashable, int] = {}
    return all(_place(i, places, holder) for i in range(len(places)))


def _place(start: int, places: list[list[Hashable]], holder: dict[Hashable, int]) -> bool:
    """Give one more place a value; others may have to move on to another of theirs."""
    came: dict[Hashable, int] = {}
    had: dict[int, Hashable] = {}
    queue = deque([start])
    while queue:
        place = queue.popleft()
        for value in places[place]:
            if value in came:
                continue
            came[value] = place
            if value in holder:
                had[holder[value]] = value
                queue.append(holder[value])
                continue
            while True:
                place = came[value]
                holder[value] = place
                if place == start:
                    return True
                value = had[place]
    return False
