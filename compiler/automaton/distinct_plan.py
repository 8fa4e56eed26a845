"""What may come next in an array of distinct items, and in an object whose keys are remembered.

One plan for one node. Its states say how far the array or object has come, `memory` is the number
of the set of texts read so far (:class:`~.remembered.Texts`). A way is offered only where it leads
to the end: another item only if one is left, and only such items as leave enough for those that
must follow.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

from ..errors import LimitExceeded
from ..grammar import Distinct, Expr, Members
from ..limits import MAX_REMEMBERED
from ..origin import Origin
from .matching import can_match, forced_words
from .members import MembersPlan
from .remembered import NOTHING, UNKNOWN, Texts, Word
from .word_counts import WordCounts

PLAIN: Final = -1
"""In place of a memory: nothing is remembered, and more is allowed than there is."""

MAX_REMEMBERED_BYTES: Final = 16 * 1024 * 1024
"""Bytes of the texts that one array or object remembers."""

_NEAR: Final = 64
"""Items that a plain array still counts one by one before its end."""


class Way(NamedTuple):
    """Something that may come next.

    `name`: its text is remembered; None for a declared key. `body` follows. `state`: the plan's
    state behind it. `which`: the number of the open member, -1 for items and declared keys.
    """

    name: Expr | None
    body: Expr | None
    which: int
    state: Any


class Plan(Protocol):
    """The plan of one node."""

    ascending: bool
    separator: Expr
    origin: Origin
    start: Any

    def needs_separator(self, state: Any) -> bool:
        """Is there an item before the next one?"""

    def may_end(self, state: Any) -> bool:
        """May the array or object end here?"""

    def ways(self, state: Any, memory: int) -> list[Way]:
        """What may come next, in the order of preference."""

    def follows(self, which: int) -> Expr | None:
        """What stands behind the remembered text."""

    def barred(self, which: int, state: Any, memory: int) -> tuple[Word, ...]:
        """The texts that the one that leads to `state` may not be, sorted."""

    def plain(self, state: Any) -> Any:
        """A state that stands for `state` where nothing is remembered: what may follow is the same
        but for counts that are far from their end."""


class Alive:
    """Whether a place has a text left besides some that it may not be."""

    def __init__(self, words: WordCounts, texts: Texts) -> None:
        self.words = words
        self.texts = texts

    def has_other(self, cell: int, barred: tuple[Word, ...], at: int, unknown: bool) -> bool:
        """Has `cell` a text that is none of `barred` from byte `at` on?

        `unknown`: one text more may be barred, nobody knows which.
        """
        if self.words.more_than(cell, len(barred) + unknown):
            return True
        taken = sum(self.words.accepts(cell, text[at:]) for text in barred)
        return self.words.more_than(cell, taken + unknown)

    def is_careful(self, memory: int) -> bool:
        """Is one of the texts remembered unknown?"""
        return UNKNOWN in self.texts.members(memory)


class ItemsPlan:
    """The plan of a :class:`~..grammar.Distinct`; a state is the number of items so far."""

    ascending = False
    start = 0

    def __init__(self, node: Distinct, alive: Alive) -> None:
        self.node = node
        self.separator = node.separator
        self.origin = node.origin
        self.alive = alive
        self._barred: dict[tuple[int, int], tuple[Word, ...] | None] = {}
        self._settled = max(node.min_count, len(node.prefix), 1)

    def needs_separator(self, state: int) -> bool:
        return state > 0

    def may_end(self, state: int) -> bool:
        return state >= self.node.min_count

    def follows(self, which: int) -> Expr | None:
        return None

    def item(self, at: int) -> Expr | None:
        """The item at a place, None where there is none."""
        node = self.node
        if node.max_count is not None and at >= node.max_count:
            return None
        return node.prefix[at] if at < len(node.prefix) else node.rest

    def ways(self, state: int, memory: int) -> list[Way]:
        item = self.item(state)
        if item is None:
            return []
        if memory == PLAIN:
            return [Way(item, None, -1, self.plain(state + 1))]
        barred = self._not_at(state, memory)
        if barred is None:
            return []
        start = self._start(state)
        if not self.alive.has_other(start, barred, 0, self.alive.is_careful(memory)):
            return []
        return [Way(item, None, -1, state + 1)]

    def plain(self, state: int) -> int:
        most = self.node.max_count
        if most is not None and most - state <= _NEAR:
            return state
        return min(state, self._settled)

    def barred(self, which: int, state: int, memory: int) -> tuple[Word, ...]:
        found = self._not_at(state - 1, memory)
        assert found is not None, "no item is begun where none can be"
        return found

    def _start(self, at: int) -> int:
        item = self.item(at)
        assert item is not None
        return self.alive.words.core.continuation(item)

    def _not_at(self, at: int, memory: int) -> tuple[Word, ...] | None:
        """What the item at a place may not be; None if no item there leads to the end."""
        key = (at, memory)
        if key not in self._barred:
            seen = self.alive.texts.spelled(memory)
            forced = self._forced(at, seen, memory)
            self._barred[key] = None if forced is None else tuple(sorted({*seen, *forced}))
        return self._barred[key]

    def _forced(self, at: int, seen: tuple[Word, ...], memory: int) -> set[Word] | None:
        """The texts that the items behind this one cannot do without."""
        owed = self.node.min_count - at - 1
        if owed <= 0:
            return set()
        words = self.alive.words
        taken = len(self.alive.texts.members(memory)) + 1 + owed
        scarce: list[tuple[int, int]] = []
        for place, times in self._owed(at + 1):
            if self.item(place) is None:
                return None
            start = self._start(place)
            if not words.more_than(start, taken):
                scarce.append((start, times))
        if not scarce:
            return set()
        if self.alive.is_careful(memory):
            return None
        groups = [(set(words.words(start)) - set(seen), times) for start, times in scarce]
        size = sum(len(options) * min(times, len(options) + 1) for options, times in groups)
        if len(groups) > 1 and size > MAX_REMEMBERED:
            raise LimitExceeded.at(
                "automaton-too-large",
                "distinct items of many kinds, each of which has few values",
                self.origin,
            )
        return forced_words(groups) if can_match(groups) else None

    def _owed(self, first: int) -> list[tuple[int, int]]:
        """The places from `first` on that must be filled: one of each kind, and how many."""
        node = self.node
        places = [(place, 1) for place in range(first, min(node.min_count, len(node.prefix)))]
        rest = node.min_count - max(first, len(node.prefix))
        return [*places, (max(first, len(node.prefix)), rest)] if rest > 0 else places


class NamesPlan(MembersPlan):
    """The plan of a :class:`~..grammar.Members` with names."""

    def __init__(self, node: Members, alive: Alive) -> None:
        super().__init__(node)
        self.ascending = node.memory == "ascending"
        self.separator = node.separator
        self.origin = node.origin
        self.alive = alive
        self._starts: tuple[int, ...] | None = None
        # What may stand behind each name, the variants behind all that are none.
        self._bodies = [*node.open, *(v.body for kind in node.open_variants for v in kind)]

    def follows(self, which: int) -> Expr | None:
        return self._bodies[which] if which >= 0 else None

    def _names(self) -> tuple[int, ...]:
        if self._starts is None:
            core = self.alive.words.core
            self._starts = tuple(core.continuation(name) for name in self.node.names)
        return self._starts

    def ways(self, state: Any, memory: int) -> list[Way]:
        left = self._left(memory)
        out = [
            Way(None, body, -1, nxt)
            for body, nxt in self.declared(state)
            if self.feasible(nxt, left)
        ]
        after = self.after_open(state)
        if after is None:
            return out
        left = None if left is None else left - 1
        behind = len(self.node.open)
        for number, start in enumerate(self._names()):
            ways = self.opened(after, number, self.node.open[number])
            kinds = self.node.open_variants[number] if self.node.open_variants else ()
            numbers = {id(v.body): behind + i for i, v in enumerate(kinds)}
            behind += len(kinds)
            if not self._has_name(start, memory):
                continue
            for body, nxt in ways:
                if self.feasible(nxt, left):
                    which = numbers.get(id(body), number)
                    out.append(Way(self.node.names[number], None, which, nxt))
        return out

    def _has_name(self, start: int, memory: int) -> bool:
        """Is there a name that may follow those remembered?"""
        if memory in (PLAIN, NOTHING):
            return True
        careful = self.alive.is_careful(memory)
        seen = self.alive.texts.spelled(memory)
        if self.ascending:
            return not careful and self.alive.words.has_greater(start, seen[-1])
        return self.alive.has_other(start, seen, 0, careful)

    def _left(self, memory: int) -> int | None:
        """How many open members could still come; None: as many as it takes."""
        need = self.node.min_count
        if memory == PLAIN or need == 0:
            return None
        if self.ascending:
            # At most one open member is ever owed (see the lowering).
            return need if any(self._has_name(s, memory) for s in self._names()) else 0
        taken = len(self.alive.texts.members(memory))
        counts = self.alive.words.count
        return sum(counts(start, need + taken + 1) for start in self._names()) - taken

    def barred(self, which: int, state: Any, memory: int) -> tuple[Word, ...]:
        return self.alive.texts.spelled(memory)

    def plain(self, state: Any) -> Any:
        keys, opens, total, met = state
        most = self.node.max_open
        return keys, 0 if most is not None and most - opens > _NEAR else opens, total, met
