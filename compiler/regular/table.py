"""Deterministic automata as tables of class numbers: the working form of the language algebra.

A row holds one target a class, -1 where there is none. What leaves this module through
:func:`minimise` is trim, minimal and numbered breadth first by code point, hence canonical.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from .alphabet import Alphabet, partition, refine
from .charset import CharSet

MAX_STATES = 50_000
"""Most states of one automaton while it is built; more is refused as too large."""

Row = list[int]
S = TypeVar("S", bound=Hashable)


class TooLarge(Exception):
    """An automaton outgrew a limit. Callers turn it into LimitExceeded, with an origin."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A deterministic automaton; state 0 is the start."""

    alphabet: Alphabet
    rows: list[Row]
    accepting: frozenset[int]


def empty() -> Table:
    """The automaton that accepts nothing: one state, no transition."""
    alphabet, _ = partition(())
    return Table(alphabet, [[-1] * alphabet.size], frozenset())


def explore(
    start: S,
    sets: Sequence[CharSet],
    step: Callable[[S, int], S | None],
    accepts: Callable[[S], bool],
    limit: int = MAX_STATES,
) -> Table:
    """The automaton of a step function over disjoint character sets, minimised.

    ``step(state, i)`` is where a character of ``sets[i]`` leads, None if nowhere.

    Raises:
        TooLarge: more than `limit` states.
    """
    alphabet, members = partition(sets)
    numbers: dict[S, int] = {start: 0}
    states = [start]
    rows: list[Row] = []
    for state in states:
        row = [-1] * alphabet.size
        for i, classes in enumerate(members):
            target = step(state, i)
            if target is None:
                continue
            number = numbers.get(target)
            if number is None:
                number = numbers[target] = len(states)
                states.append(target)
                if number >= limit:
                    raise TooLarge(f"more than {limit} states")
            for c in classes:
                row[c] = number
        rows.append(row)
    accepting = frozenset(i for i, state in enumerate(states) if accepts(state))
    return minimise(Table(alphabet, rows, accepting))


def product(left: Table, right: Table, keep: Callable[[bool, bool], bool]) -> Table:
    """The texts of which `keep` says yes, given whether left and right accept them; minimised.

    ``keep(False, False)`` must be False.

    Raises:
        TooLarge: more than MAX_STATES states.
    """
    alphabet, of_left, of_right = refine(left.alphabet, right.alphabet)
    left_rows = [[row[c] for c in of_left] for row in left.rows]
    right_rows = [[row[c] for c in of_right] for row in right.rows]
    nowhere = [-1] * alphabet.size
    need_left, need_right = not keep(False, True), not keep(True, False)
    numbers: dict[tuple[int, int], int] = {(0, 0): 0}
    pairs = [(0, 0)]
    rows: list[Row] = []
    for a, b in pairs:
        row: Row = []
        left_row = left_rows[a] if a >= 0 else nowhere
        right_row = right_rows[b] if b >= 0 else nowhere
        for pair in zip(left_row, right_row, strict=True):
            if (pair[0] < 0 and (need_left or pair[1] < 0)) or (pair[1] < 0 and need_right):
                row.append(-1)
                continue
            number = numbers.get(pair)
            if number is None:
                number = numbers[pair] = len(pairs)
                pairs.append(pair)
                if number >= MAX_STATES:
                    raise TooLarge(f"more than {MAX_STATES} states")
            row.append(number)
        rows.append(row)
    accepting = frozenset(
        i for i, (a, b) in enumerate(pairs) if keep(a in left.accepting, b in right.accepting)
    )
    return minimise(Table(alphabet, rows, accepting))


def intersection(left: Table, right: Table) -> Table:
    """Texts of both."""
    return product(left, right, lambda a, b: a and b)


def union(left: Table, right: Table) -> Table:
    """Texts of either."""
    return product(left, right, lambda a, b: a or b)


def difference(left: Table, right: Table) -> Table:
    """Texts of `left` that are not of `right`."""
    return product(left, right, lambda a, b: a and not b)


def complement(table: Table) -> Table:
    """Every text (over code points that are no surrogates) but those of `table`."""
    sink = len(table.rows)
    rows = [[sink if t < 0 else t for t in row] for row in table.rows]
    rows.append([sink] * table.alphabet.size)
    accepting = frozenset(i for i in range(sink + 1) if i not in table.accepting)
    return minimise(Table(table.alphabet, rows, accepting))


def minimise(table: Table) -> Table:
    """The canonical automaton of the same language."""
    kept = _useful(table)
    if not kept:
        return empty()
    place = {q: i for i, q in enumerate(kept)}
    place[-1] = -1
    rows = [[place.get(t, -1) for t in table.rows[q]] for q in kept]
    accepting = [q in table.accepting for q in kept]
    alphabet, rows = _merge_columns(table.alphabet, rows)
    order = _topological(rows)
    block = _blocks_acyclic(rows, accepting, order) if order else _blocks(rows, accepting)
    rows, final = _quotient(rows, accepting, block, block[place[0]])
    alphabet, rows = _merge_columns(alphabet, rows)
    return Table(alphabet, rows, final)


def _useful(table: Table) -> list[int]:
    """The states on a path from the start to acceptance, the start first; [] if there are none."""
    reached = [0]
    seen = {0, -1}
    before: dict[int, list[int]] = {}
    for q in reached:
        for target in set(table.rows[q]):
            before.setdefault(target, []).append(q)
            if target not in seen:
                seen.add(target)
                reached.append(target)
    live = [q for q in reached if q in table.accepting]
    alive = set(live)
    for q in live:
        for p in before.get(q, ()):
            if p not in alive:
                alive.add(p)
                live.append(p)
    return [q for q in reached if q in alive] if 0 in alive else []


def _merge_columns(alphabet: Alphabet, rows: list[Row]) -> tuple[Alphabet, list[Row]]:
    """The same automaton without classes that behave alike in every state."""
    numbers: dict[tuple[int, ...], int] = {}
    renamed = [numbers.setdefault(column, len(numbers)) for column in zip(*rows, strict=True)]
    if len(numbers) == alphabet.size:
        return alphabet, rows
    return alphabet.merged(renamed), [list(row) for row in zip(*numbers, strict=True)]


def _topological(rows: list[Row]) -> list[int]:
    """The states, each after all its targets; [] if there is a cycle."""
    targets = [set(row) - {-1} for row in rows]
    waiting = [len(t) for t in targets]
    before: list[list[int]] = [[] for _ in rows]
    for q, reached in enumerate(targets):
        for t in reached:
            before[t].append(q)
    order = [q for q, n in enumerate(waiting) if n == 0]
    for q in order:
        for p in before[q]:
            waiting[p] -= 1
            if waiting[p] == 0:
                order.append(p)
    return order if len(order) == len(rows) else []


def _blocks_acyclic(rows: list[Row], accepting: list[bool], order: list[int]) -> list[int]:
    """Equivalence classes bottom up: states are equal if their rows are, targets merged first."""
    block = [-1] * (len(rows) + 1)  # The extra entry stands for target -1.
    numbers: dict[tuple[bool, tuple[int, ...]], int] = {}
    for q in order:
        key = (accepting[q], tuple(block[t] for t in rows[q]))
        block[q] = numbers.setdefault(key, len(numbers))
    return block[:-1]


def _blocks(rows: list[Row], accepting: list[bool]) -> list[int]:
    """Equivalence classes by partition refinement (Hopcroft 1971), for partial automata.

    All initial blocks are splitters at first; afterwards the smaller half of a split suffices,
    since the preimage of the rest is what is left of a preimage already split by.
    """
    before: list[list[tuple[int, int]]] = [[] for _ in rows]
    for q, row in enumerate(rows):
        for c, t in enumerate(row):
            if t >= 0:
                before[t].append((c, q))
    members: list[set[int]] = []
    block = [0] * len(rows)
    for want in (True, False):
        group = {q for q, final in enumerate(accepting) if final == want}
        if group:
            for q in group:
                block[q] = len(members)
            members.append(group)
    work = deque(range(len(members)))
    queued = set(work)
    while work:
        splitter = work.popleft()
        queued.discard(splitter)
        preimages: dict[int, list[int]] = {}
        for q in members[splitter]:
            for c, p in before[q]:
                preimages.setdefault(c, []).append(p)
        for preimage in preimages.values():
            hit: dict[int, list[int]] = {}
            for p in preimage:
                hit.setdefault(block[p], []).append(p)
            for b, inside in hit.items():
                if len(inside) == len(members[b]):
                    continue
                fresh = set(inside)
                members[b] -= fresh
                number = len(members)
                if len(fresh) > len(members[b]) and b not in queued:
                    # The smaller half is the splitter, so the larger keeps its number.
                    fresh, members[b] = members[b], fresh
                members.append(fresh)
                for p in fresh:
                    block[p] = number
                queued.add(number)
                work.append(number)
    return block


def _quotient(
    rows: list[Row], accepting: list[bool], block: list[int], start: int
) -> tuple[list[Row], frozenset[int]]:
    """One state a block, numbered breadth first by class."""
    example: dict[int, int] = {}
    for q, b in enumerate(block):
        example.setdefault(b, q)
    numbers = {start: 0}
    order = [start]
    result: list[Row] = []
    for b in order:
        row: Row = []
        for t in rows[example[b]]:
            if t < 0:
                row.append(-1)
                continue
            number = numbers.get(block[t])
            if number is None:
                number = numbers[block[t]] = len(order)
                order.append(block[t])
            row.append(number)
        result.append(row)
    return result, frozenset(i for i, b in enumerate(order) if accepting[example[b]])
