"""contains as an automaton over items: how many of them meet each condition, told as they come.

Each item either meets a condition or it does not, so the items of an array are read one by one
into a state: the position as far as that matters, and a count for each condition as far as it is
not settled yet. A count without an upper bound is settled at its lower bound.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

from .forms import Arrays, Contains, Goal, Objects, Step, Track, both

if TYPE_CHECKING:
    from .reading import Reader

MAX_STATES = 2_048
"""Most states of one array: positions times counts."""
MAX_STEPS = 8_192
"""Most steps of one array."""
# A complement of more alternatives than this is not asked for where one can do without.
_MANY = 8

# The position, and the count of each condition.
_State = tuple[int, tuple[int, ...]]


def track(reader: Reader, x: Arrays) -> Track | None:
    """The automaton of an array's items and conditions; None if it would be too large."""
    if any(c.maximum is not None and len(c.goal) != 1 for c in x.contains):
        return None
    made = _Tracker(reader, x)
    if made.top > MAX_STATES:
        return None
    rows: dict[_State, list[tuple[Goal, _State]]] = {}
    todo: list[_State] = [(0, (0,) * len(x.contains))]
    steps = 0
    for state in todo:
        if state in rows:
            continue
        rows[state] = made.steps(state)
        steps += len(rows[state])
        if len(rows) > MAX_STATES or steps > MAX_STEPS:
            return None
        todo.extend(target for _, target in rows[state])
    # Items lead to later positions and higher counts, or nowhere.
    order = sorted(rows, key=lambda s: (s[0], sum(s[1]), s[1]))
    numbers = {state: i for i, state in enumerate(order)}
    return Track(
        tuple(tuple(Step(goal, numbers[t]) for goal, t in rows[state]) for state in order),
        frozenset(i for i, state in enumerate(order) if made.may_end(state)),
    )


class _Tracker:
    def __init__(self, reader: Reader, x: Arrays) -> None:
        self.reader = reader
        self.x = x
        starts = [c.start for c in x.contains]
        # So many items there are anyway where the conditions are met.
        owed = max(c.start + c.minimum if c.minimum else 0 for c in x.contains)
        self.shortest = x.shortest if x.shortest > owed else 0
        # Behind this position all are alike.
        self.top = max(len(x.prefix), self.shortest, x.longest or 0, *starts)
        self.told = [_is_told(reader, c) for c in x.contains]

    def may_end(self, state: _State) -> bool:
        position, counts = state
        met = all(n >= c.minimum for n, c in zip(counts, self.x.contains, strict=True))
        return met and position >= self.shortest

    def steps(self, state: _State) -> list[tuple[Goal, _State]]:
        """The items that may come next, each with the state after it."""
        position, counts = state
        item = self.x.at(position)
        if item is None or position == self.x.longest:
            return []
        ways = [
            self._ways(c, n, told) if c.start <= position else [((), n)]
            for c, n, told in zip(self.x.contains, counts, self.told, strict=True)
        ]
        after = min(position + 1, self.top)
        found: list[tuple[Goal, _State]] = []
        for chosen in product(*ways):
            self.reader.step(self.x.origin)
            goal = item.goal
            for more, _ in chosen:
                goal = both(goal, more)
            if len(goal) < 2 or not self.reader.dead(goal):
                found.append((goal, (after, tuple(n for _, n in chosen))))
        return found

    def _ways(self, c: Contains, count: int, told: bool) -> list[tuple[Goal, int]]:
        """What an item may be to a condition, and its count behind it."""
        if c.maximum is None and count == c.minimum:
            return [((), count)]
        ways: list[tuple[Goal, int]] = [((c.goal[0].opposite,) if told else (), count)]
        if count != c.maximum:
            ways.append((c.goal, count + 1))
        return ways


def _is_told(reader: Reader, c: Contains) -> bool:
    """Whether items that do not meet the condition are kept apart from those that do.

    They must be where there may be only so many. Else it is enough that some items are picked that
    meet it, whatever the others are; keeping them apart only makes the reading unambiguous.
    """
    if c.maximum is not None:
        return True
    if len(c.goal) != 1:
        return False
    form = reader.form_if_read((c.goal[0].opposite,))
    if form is None or len(form.alternatives) > _MANY:
        return False
    return not any(x.residues or (isinstance(x, Objects) and x.beyond) for x in form.alternatives)


def cut(whole: Track, alive: Callable[[Goal], bool]) -> Track:
    """The track without steps of dead goals, and states from which no end can be reached.

    Without an end at all it has one state, in which it may not end.
    """
    good = [i in whole.ends for i in range(len(whole.steps))]
    kept: list[list[Step]] = [[] for _ in whole.steps]
    for i in range(len(whole.steps) - 1, -1, -1):
        kept[i] = [s for s in whole.steps[i] if alive(s.goal) and (s.target == i or good[s.target])]
        good[i] = good[i] or any(s.target != i for s in kept[i])
    if not good[0]:
        return Track(((),), frozenset())
    met = {0}
    for i in range(len(kept)):
        if i in met:
            met.update(s.target for s in kept[i])
    reached = sorted(met)
    numbers = {state: i for i, state in enumerate(reached)}
    return Track(
        tuple(tuple(Step(s.goal, numbers[s.target]) for s in kept[i]) for i in reached),
        frozenset(numbers[i] for i in reached if i in whole.ends),
    )


def fewest(whole: Track) -> int:
    """Items that an array has at least; from every state an end can be reached."""
    found = [0] * len(whole.steps)
    for i in range(len(whole.steps) - 1, -1, -1):
        onwards = [found[s.target] + 1 for s in whole.steps[i] if s.target != i]
        found[i] = 0 if i in whole.ends else min(onwards)
    return found[0]
