"""Minimal deterministic automata over code points, and what can be asked of them.

The public form of a regular language: canonical, so that ``==`` is equality of languages. Raw text
of any length and values of millions of characters are walked one transition a character.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ..errors import LimitExceeded
from ..origin import Origin
from . import table as tables
from .alphabet import partition
from .charset import CharSet
from .lengths import Lengths
from .table import MAX_STATES, Table, TooLarge

Transition: TypeAlias = tuple[int, int, int]

# Which character of a range a witness shows: the first of these that the range has.
_READABLE: CharSet = ((0x61, 0x7A), (0x41, 0x5A), (0x30, 0x39), (0x21, 0x7E), (0x20, 0x20))


@dataclass(frozen=True, slots=True)
class Dfa:
    """A trim, minimal automaton: every state lies on a path from the start to acceptance.

    ``transitions[q]`` are state q's (low, high, target), sorted and disjoint, both ends included.
    State 0 is the start; states are numbered breadth first by code point. The empty language is
    one state without transitions that does not accept. Build one with :meth:`of` or
    :meth:`canonical`, which keep these promises.
    """

    transitions: tuple[tuple[Transition, ...], ...]
    accepting: frozenset[int]
    _memo: dict[str, Lengths] = field(
        default_factory=dict, compare=False, repr=False, hash=False, init=False
    )

    @classmethod
    def of(cls, table: Table) -> Dfa:
        """The automaton of a table that :func:`~.table.minimise` has returned."""
        return cls(tuple(table.alphabet.ranges(row) for row in table.rows), table.accepting)

    @classmethod
    def canonical(
        cls, transitions: Sequence[Sequence[Transition]], accepting: frozenset[int]
    ) -> Dfa:
        """The canonical automaton of any deterministic one (sorted, disjoint ranges; start 0)."""
        return cls.of(tables.minimise(_table(transitions, accepting)))

    def table(self) -> Table:
        """The same automaton over classes of code points."""
        return _table(self.transitions, self.accepting)

    def step(self, state: int, code_point: int) -> int | None:
        """Where `state` goes on one code point, None if nowhere."""
        row = self.transitions[state]
        i = bisect_right(row, (code_point, 0x110000, 0)) - 1
        return row[i][2] if i >= 0 and code_point <= row[i][1] else None

    def accepts(self, text: str) -> bool:
        """Whether the whole text is in the language."""
        state = 0
        for char in text:
            target = self.step(state, ord(char))
            if target is None:
                return False
            state = target
        return state in self.accepting

    @property
    def is_empty(self) -> bool:
        """Whether no text is in the language."""
        return not self.accepting

    @property
    def is_finite(self) -> bool:
        """Whether the language has finitely many texts."""
        return self.is_empty or self.lengths.longest[0] is not None

    @property
    def lengths(self) -> Lengths:
        """How many more code points lead to acceptance, by state; made on first use."""
        found = self._memo.get("lengths")
        if found is None:
            targets = [sorted({t for _, _, t in row}) for row in self.transitions]
            found = self._memo["lengths"] = Lengths(targets, self.accepting)
        return found

    def shortest_length(self) -> int | None:
        """Code points of the shortest text, None if there is no text."""
        return None if self.is_empty else self.lengths.shortest[0]

    def longest_length(self) -> int | None:
        """Code points of the longest text; None if there is none, 0 for the empty language."""
        return 0 if self.is_empty else self.lengths.longest[0]

    def live(self, state: int, low: int, high: int | None) -> bool:
        """Whether `low` to `high` (None: no bound) more code points can lead to acceptance."""
        return not self.is_empty and self.lengths.live(state, low, high)

    def shortest(self) -> str | None:
        """A shortest text, of readable characters where there is a choice; None if none."""
        if self.is_empty:
            return None
        shortest = self.lengths.shortest
        state, text = 0, ""
        while state not in self.accepting:
            options = [
                (*_readable(low, high), target)
                for low, high, target in self.transitions[state]
                if shortest[target] == shortest[state] - 1
            ]
            _, code_point, state = min(options)
            text += chr(code_point)
        return text

    def words(self, limit: int) -> list[str]:
        """The first `limit` texts, shorter ones first, then by code point."""
        found: list[str] = []
        if self.is_empty or limit <= 0:
            return found
        length = self.lengths.shortest[0]
        longest = self.lengths.longest[0]
        while longest is None or length <= longest:
            for word in self._words_of(length):
                found.append(word)
                if len(found) == limit:
                    return found
            length += 1
        return found

    def _words_of(self, length: int) -> Iterator[str]:
        """Every text of exactly that length, by code point."""
        if not self.lengths.live(0, length, length):
            return
        if length == 0:
            yield ""
            return
        stack = [self._steps(0, length - 1)]
        prefix: list[int] = []
        while stack:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
                if prefix:
                    prefix.pop()
                continue
            code_point, state = step
            if len(stack) == length:
                yield "".join(map(chr, prefix)) + chr(code_point)
            else:
                prefix.append(code_point)
                stack.append(self._steps(state, length - len(stack) - 1))

    def _steps(self, state: int, left: int) -> Iterator[tuple[int, int]]:
        """The (code point, target) of `state` from which exactly `left` more can follow."""
        for low, high, target in self.transitions[state]:
            if self.lengths.live(target, left, left):
                for code_point in range(low, high + 1):
                    yield code_point, target

    def with_length(self, minimum: int, maximum: int | None, origin: Origin | None = None) -> Dfa:
        """The texts of `minimum` to `maximum` (None: no bound) code points.

        Raises:
            LimitExceeded: the result would have more than MAX_STATES states.
        """
        longest = self.longest_length()
        if maximum is not None and longest is not None and longest <= maximum:
            maximum = None
        if maximum is None and minimum <= (self.shortest_length() or 0):
            return self
        try:
            return self._counted(minimum, maximum)
        except TooLarge as error:
            raise LimitExceeded.at(
                "pattern-too-large",
                f"a language bounded to {minimum}..{maximum} code points needs {error.what}",
                origin,
            ) from None

    def _counted(self, minimum: int, maximum: int | None) -> Dfa:
        top = minimum if maximum is None else maximum
        numbers = {(0, 0): 0}
        pairs = [(0, 0)]
        rows: list[list[Transition]] = []
        for state, count in pairs:
            row: list[Transition] = []
            after = min(count + 1, top) if maximum is None else count + 1
            left = None if maximum is None else maximum - after
            for low, high, target in self.transitions[state]:
                if (left is not None and left < 0) or not self.live(
                    target, max(0, minimum - after), left
                ):
                    continue
                number = numbers.setdefault((target, after), len(pairs))
                if number == len(pairs):
                    pairs.append((target, after))
                    if number >= MAX_STATES:
                        raise TooLarge(f"more than {MAX_STATES} states")
                row.append((low, high, number))
            rows.append(row)
        accepting = frozenset(
            i for i, (q, n) in enumerate(pairs) if q in self.accepting and n >= minimum
        )
        return Dfa.canonical(rows, accepting)


def _readable(low: int, high: int) -> tuple[int, int]:
    """The rank (lower is better) and code point of the most readable character of a range."""
    for rank, (first, last) in enumerate(_READABLE):
        if low <= last and first <= high:
            return rank, max(low, first)
    return len(_READABLE), low


def _table(transitions: Sequence[Sequence[Transition]], accepting: frozenset[int]) -> Table:
    """The automaton over classes of code points that no state tells apart."""
    labels: dict[CharSet, int] = {}
    labelled: list[list[tuple[int, int]]] = []
    for transition in transitions:
        by_target: dict[int, list[tuple[int, int]]] = {}
        for low, high, target in transition:
            by_target.setdefault(target, []).append((low, high))
        labelled.append(
            [(labels.setdefault(tuple(r), len(labels)), t) for t, r in by_target.items()]
        )
    alphabet, members = partition(list(labels))
    rows: list[tables.Row] = []
    for pairs in labelled:
        row = [-1] * alphabet.size
        for label, target in pairs:
            for c in members[label]:
                row[c] = target
        rows.append(row)
    return Table(alphabet, rows, accepting)
