"""Every configuration of a grammar and where each symbol leads: the whole automaton, eagerly.

Symbols are the 256 bytes and, from ``TOKEN_BASE`` on (see :mod:`.core`), special tokens by id. The
grammar must have no recursion but in last position and remember nothing, or there is no end to it:
the stated limit is reached, and the part of the grammar that took most states is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..grammar import Grammar, Members, Regular, Token
from ..origin import Origin
from .cells import BUT, MEMBER, MEMBERS, REGULAR
from .core import Core
from .free_tokens import NO_TOKENS, Free, FreeArcs

Ints = NDArray[np.int32]

Span = tuple[int, int, int]
"""Symbols ``low..high`` lead to a state."""


Place = tuple[int, int | None]
"""A text or an object, by the number of its expression, and the number of the object's key."""


class Share(NamedTuple):
    """How many of the states are inside one part of the grammar: a text, an object, or the value
    of the object's declared key `key`."""

    origin: Origin
    key: str | None
    what: str
    states: int


class TooManyStates(Exception):
    """There are more configurations than the limit; `share` is the largest part of them."""

    def __init__(self, limit: int, share: Share | None) -> None:
        super().__init__(limit)
        self.limit = limit
        self.share = share


@dataclass(frozen=True, eq=False, slots=True)
class Moves:
    """A deterministic automaton as it comes; state 0 is the start.

    Attributes:
        table: int32[states, columns], the state that a column leads to, -1 for none.
        columns: the symbols of each column, ascending by the lowest one.
        accepting: bool[states].
    """

    table: Ints
    columns: tuple[tuple[int, ...], ...]
    accepting: NDArray[np.bool_]


def determinise(
    grammar: Grammar, specials: Mapping[str, int], max_states: int, free: Free = NO_TOKENS
) -> Moves:
    """The automaton of ``grammar.start``; captures are just their items.

    Args:
        free: special tokens that free text may hold besides.

    Raises:
        TooManyStates: more than `max_states` configurations.
        LimitExceeded: from the core, see there.
    """
    core = core_of(grammar, specials)
    start: tuple[int, ...] = (core.continuation(grammar.start),)
    numbers = {start: 0}
    queue = [start]
    rows: list[list[Span]] = []
    accepting: list[bool] = []
    expand = core.expand
    others = FreeArcs(core, grammar.free, free)
    for cells in queue:
        if len(queue) > max_states:
            raise TooManyStates(max_states, largest(core, queue))
        found = [expand(cell) for cell in cells]
        accepting.append(any(e.final is not None for e in found))
        spans = sorted(
            {(a.low, a.high, a.target) for e in found for a in e.arcs}
            | {(symbol, symbol, target) for cell in cells for symbol, target in others.of(cell)}
        )
        row: list[Span] = []
        for low, high, targets in apart(spans):
            number = numbers.get(targets)
            if number is None:
                number = numbers[targets] = len(queue)
                queue.append(targets)
            row.append((low, high, number))
        rows.append(row)
    moves = moves_of(rows, accepting)
    return replace(moves, columns=others.widened(moves.columns))


def core_of(grammar: Grammar, specials: Mapping[str, int]) -> Core:
    """The core that configurations of a grammar are made of."""
    markers: tuple[Token, ...] = grammar.markers
    return Core(grammar.rules, specials=specials, markers=markers)


def apart(spans: list[Span]) -> list[tuple[int, int, tuple[int, ...]]]:
    """Sorted spans cut so that none overlap, each with all its targets."""
    last = -1
    for low, high, _ in spans:
        if low <= last:
            break
        last = high
    else:
        return [(low, high, (target,)) for low, high, target in spans]
    cuts = sorted({low for low, _, _ in spans} | {high + 1 for _, high, _ in spans})
    out = []
    for low, after in zip(cuts, cuts[1:], strict=False):
        targets = {target for first, final, target in spans if first <= low <= final}
        if targets:
            out.append((low, after - 1, tuple(sorted(targets))))
    return out


def moves_of(rows: list[list[Span]], accepting: list[bool]) -> Moves:
    """The automaton of states whose moves are given as disjoint spans, ascending."""
    flat = np.array([span for row in rows for span in row], dtype=np.int64).reshape(-1, 3)
    source = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    cuts = np.unique(np.concatenate([flat[:, 0], flat[:, 1] + 1]))
    first = np.searchsorted(cuts, flat[:, 0])
    width = np.searchsorted(cuts, flat[:, 1] + 1) - first
    at = np.arange(int(width.sum())) - np.repeat(np.cumsum(width) - width, width)
    table = np.full((len(rows), len(cuts)), -1, dtype=np.int32)
    table[np.repeat(source, width), np.repeat(first, width) + at] = np.repeat(flat[:, 2], width)
    symbols: dict[bytes, list[int]] = {}
    places: dict[bytes, int] = {}
    turned = np.ascontiguousarray(table.T)
    bounds = zip(cuts.tolist(), cuts.tolist()[1:], strict=False)
    for number, (low, after) in enumerate(bounds):
        column = turned[number].tobytes()
        if not (turned[number] >= 0).any():
            continue
        places.setdefault(column, number)
        symbols.setdefault(column, []).extend(range(low, after))
    kept = list(places.values())
    return Moves(
        np.ascontiguousarray(table[:, kept]),
        tuple(tuple(found) for found in symbols.values()),
        np.array(accepting, dtype=bool),
    )


def largest(
    core: Core,
    configurations: Iterable[tuple[int, ...]],
    sizes: Iterable[int] | None = None,
) -> Share | None:
    """The part of the grammar that most configurations are inside of, the first in a tie.

    Args:
        sizes: for how many each of them stands; for one, if not given.
    """
    counts: dict[Place, int] = {}
    places: dict[int, Place | None] = {0: None}
    for cells, size in zip(configurations, repeat(1) if sizes is None else sizes, strict=False):
        for place in {_place(core, cell, places) for cell in cells}:
            if place is not None:
                counts[place] = counts.get(place, 0) + size
    if not counts:
        return None
    index, key = max(counts, key=lambda place: counts[place])
    node = core.exprs[index]
    assert isinstance(node, (Regular, Members))
    if isinstance(node, Regular):
        return Share(node.origin, None, node.what, counts[index, key])
    name = None if key is None else node.keys[key].name
    what = "an object" if name is None else f"`{name}`"
    return Share(node.origin, name, what, counts[index, key])


def _place(core: Core, cell: int, places: dict[int, Place | None]) -> Place | None:
    """The innermost text or object of a known place that a continuation is inside of."""
    way = []
    while cell not in places:
        head, tail = core.parts(cell)
        if head[0] in (MEMBERS, MEMBER) or (head[0] in (REGULAR, BUT) and _placed(core, head[1])):
            places[cell] = (head[1], None)
            break
        way.append(cell)
        cell = tail
    found = places[cell]
    if way and found is not None:
        head, _ = core.parts(cell)
        node = core.exprs[head[1]]
        if head[0] == MEMBERS and isinstance(node, Members) and node.order == "schema":
            key, opens, _, _ = head[2]
            # In front of the next member is the value of the one before it.
            found = (head[1], key - 1 if key and not opens else None)
    for passed in way:
        places[passed] = found
    return found


def _placed(core: Core, index: int) -> bool:
    node = core.exprs[index]
    return isinstance(node, Regular) and node.origin != Origin()
