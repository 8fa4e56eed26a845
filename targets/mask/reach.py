"""Where each token leads: the vocabulary's trie and the grammar walked side by side, as for masks
(walk.py), but with the places that tokens end in.

Tokens that end in one place are one group. Some tokens are not settled here: those along a text
that is excluded or remembered, which whoever asks has to take one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.core import TOKEN_BASE
from ...compiler.automaton.front_parts import Loop
from ...compiler.grammar import Machine
from ...compiler.vocabulary.loop_tokens import pack
from ...compiler.vocabulary.trie import ROOT, Node
from .advance import advance
from .distinct import along
from .loop_ends import MAX_BYTES, Ending, LoopEnds

if TYPE_CHECKING:
    from .automaton import MaskAutomaton
    from .walk import Walker
    from .ways import Ways

Row = NDArray[np.uint32]

_FEW: Final = 48
"""Tokens below a node up to which remembered texts are followed byte by byte."""

_LISTED: Final = 64
"""Up to so many ids are kept as such, more as a mask."""


class Group(NamedTuple):
    """Tokens that all lead to one of `cells`: nearly always there is just one.

    ids, rows: the tokens, by id and as packed masks.
    """

    cells: tuple[int, ...]
    ids: list[int]
    rows: list[Row]


class Reached(NamedTuple):
    """What the tokens lead to from one continuation; `single`: to be taken one by one."""

    groups: tuple[Group, ...]
    single: frozenset[int]


class Reach:
    """The groups of the continuations of one automaton, made when first asked for.

    Args:
        bounded: keep upper bounds that only a text much longer than a token or a way can meet.
            Without, places that differ in nothing else are one.
    """

    def __init__(
        self, automaton: MaskAutomaton, walker: Walker, ways: Ways, *, bounded: bool = False
    ) -> None:
        self.bounded = bounded
        self.core, self.fronts = automaton.core, automaton.fronts
        self.vocabulary = automaton.vocabulary
        self.walker, self.ways = walker, ways
        self._known: dict[int, Reached] = {}
        self._loops: dict[tuple[Node, int, int, int], LoopEnds] = {}
        self._rows: dict[tuple[int, int], tuple[NDArray[np.int32], Row]] = {}
        self._size = 0
        self._generation = self.vocabulary.generation

    def of(self, cell: int) -> Reached:
        """Where the tokens lead from a continuation. End tokens are not among them."""
        found = self._known.get(cell)
        if found is None:
            if self._generation != self.vocabulary.generation or self._size > MAX_BYTES:
                self._generation = self.vocabulary.generation
                self._loops.clear()
                self._rows.clear()
                self._known.clear()
                self._size = 0
            found = self._known[cell] = _Walk(self).run(cell)
        return found

    def canonical(self, cell: int) -> int:
        """The place that stands for `cell`."""
        return cell if self.bounded else self.ways.canonical(cell)

    def after(self, cell: int, token: int) -> tuple[int, ...]:
        """Where one token leads from a continuation; nowhere if it cannot be read."""
        vocabulary = self.vocabulary
        if token in vocabulary.special_ids:
            return self.core.step((cell,), TOKEN_BASE + token)
        data = vocabulary.tokens[token]
        return advance(self.core, self.fronts, self.walker, (cell,), data) if data else ()

    def loop_ends(self, node: Node, loop: Loop) -> tuple[LoopEnds, tuple[int, ...]] | None:
        """Where the tokens below a node end in a loop, with the machine's states by those of the
        table; None if the loop has no table."""
        place = self.walker.place(loop)
        if place is None:
            return None
        key = (node, place.table.number, place.start, loop.also)
        found = self._loops.get(key)
        if found is None:
            forest = self.vocabulary.forest
            found = LoopEnds(forest, node, place.table, place.start, loop.also)
            self._loops[key] = found
            self._size += found.size
        return found, tuple(place.states)

    def row(self, ending: Ending) -> Row:
        """An ending's tokens as a packed mask, shared by all groups of which it is."""
        key = (id(ending.ids), ending.ids.size)
        found = self._rows.get(key)
        if found is None:
            row = pack(ending.ids, self.vocabulary.words)
            self._size += row.nbytes
            # The ids are kept too, so that their identity stays their own.
            found = self._rows[key] = ending.ids, row
        return found[1]


class _Walk:
    """One walk from one continuation."""

    def __init__(self, reach: Reach) -> None:
        self.reach = reach
        self.core, self.fronts, self.walker = reach.core, reach.fronts, reach.walker
        self.vocabulary = reach.vocabulary
        self.groups: dict[tuple[int, ...], Group] = {}
        self.single: list[int] = []
        self.stack: list[tuple[Node, int]] = []

    def run(self, cell: int) -> Reached:
        for low, _, target in self.fronts.front(cell)[2]:
            if low >= TOKEN_BASE:
                self.add(self.core.read(target, low), (low - TOKEN_BASE,))
        remembering, forest = self.core.remembering, self.vocabulary.forest
        self.stack.append((ROOT, cell))
        seen: set[tuple[Node, int]] = set()
        while self.stack:
            pair = self.stack.pop()
            if pair in seen:
                continue
            seen.add(pair)
            node, here = pair
            if remembering.in_use and forest.size[node] > _FEW and remembering.is_known(here):
                for word in remembering.rests(here):
                    along(forest, node, word, self.single)
                here = remembering.forget(here)
            literals, loops, arcs, _, _ = self.fronts.front(here)
            leads = forest.leads(node)
            for rest, data, at, tail in literals:
                if leads >> rest[0] & 1:
                    self.literal(node, data, at, tail)
            for loop in loops:
                if leads & loop.around:
                    self.loop(node, here, loop)
            self.arcs(node, arcs)
        return Reached(tuple(self.groups.values()), frozenset(self.single))

    def add(self, cell: int, ids: tuple[int, ...]) -> None:
        if ids:
            self.group((cell,)).ids.extend(ids)

    def group(self, cells: tuple[int, ...]) -> Group:
        found = self.groups.get(cells)
        if found is None:
            found = self.groups[cells] = Group(cells, [], [])
        return found

    def literal(self, node: Node, data: bytes, at: int, tail: int) -> None:
        forest = self.vocabulary.forest
        for number in range(at, len(data)):
            child = forest.children(node).get(data[number])
            if child is None:
                return
            node = child
            if forest.ids[node]:
                self.add(self.core.literal_cell(data, number + 1, tail), forest.ids[node])
            if not forest.size[node]:
                return
        self.stack.append((node, tail))

    def arcs(self, node: Node, arcs: tuple[tuple[int, int, int], ...]) -> None:
        if not arcs:
            return
        forest, read = self.vocabulary.forest, self.core.read
        for byte, child in forest.children(node).items():
            for low, high, target in arcs:
                if low <= byte <= high:
                    after = read(target, byte)
                    self.add(after, forest.ids[child])
                    if forest.size[child]:
                        self.stack.append((child, after))

    # Loops ------------------------------------------------------------------------------------

    def loop(self, node: Node, cell: int, loop: Loop) -> None:
        if loop.but is not None:
            index, place = loop.but
            for rest in self.core.exclusion(index).rests(place):
                along(self.vocabulary.forest, node, rest.decode("latin-1"), self.single)
            loop = _whole(loop)
        found = self.reach.loop_ends(node, loop)
        if found is None:
            arcs = ((a.low, a.high, a.target) for a in self.core.expand(cell).arcs)
            self.arcs(node, tuple(arcs))
            return
        ends, states = found
        loop = self.unbounded(loop)
        table = self.walker.place(loop)
        assert table is not None
        short, places = table.table.short_list, table.table.places
        for ending in ends.endings:
            state, count = ending.state, ending.items
            if loop.left is not None and count + short[state] > loop.left:
                continue
            if loop.left is None:
                count = min(count, max(loop.need, 0))
            if state < places:
                after = self.fronts.after(loop, states[state], count, b"")
                cells: tuple[int, ...] = (self.reach.canonical(after),)
            else:
                cells = self.inside(cell, ends, ending)
            group = self.group(cells)
            if ending.ids.size <= _LISTED:
                group.ids.extend(ending.ids.tolist())
            else:
                group.rows.append(self.reach.row(ending))
        rests = ends.exits(max(loop.need, 0), loop.left)
        if rests is not None:
            self.stack.append((rests, loop.tail))

    def inside(self, cell: int, ends: LoopEnds, ending: Ending) -> tuple[int, ...]:
        """Where tokens end inside of a character or item: one of them tells for all. It may also
        have left the loop, so that there may be more places than the one they share."""
        wrong = self.single
        place = next(
            (
                int(place)
                for place, token in zip(ending.which, ending.ids.tolist(), strict=True)
                if token not in wrong
            ),
            int(ending.which[0]),
        )
        read = advance(self.core, self.fronts, self.walker, (cell,), ends.text(place))
        return tuple(map(self.reach.canonical, read))

    def unbounded(self, loop: Loop) -> Loop:
        """The loop without an upper bound that neither a token nor a way behind it can meet."""
        if loop.left is None or loop.item is not None or self.reach.bounded:
            return loop
        room = max(loop.need, 0) + self.vocabulary.longest + 1
        if isinstance(loop.body, Machine):
            room += len(loop.body.transitions)
        return loop._replace(left=None) if loop.left >= room else loop


def _whole(loop: Loop) -> Loop:
    """The loop without excluded texts."""
    item = None if loop.item is None else (loop.item[0], _whole(loop.item[1]))
    return loop._replace(but=None, closed=False, item=item)
