"""Running the tokens below a trie node through a loop's byte automaton."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .levels import Level
from .loop_table import LoopTable
from .loop_tokens import Inside, Reached
from .trie import ROOT, Forest, Node

_FEW: Final = 64
"""Up to so many tokens plain Python is quicker than numpy."""

_NARROW: Final = 40
"""Bytes that go on in a loop up to which nodes are looked at one by one."""

_FEW_RESTS: Final = 512
"""The same where the levels of the trie must be found first."""

_BULK: Final = 128
"""Nodes of a level in one state from which on looking at what is below them pays."""

_SPARSE: Final = 6
"""As long as no fewer than one in so many nodes of a level is reached, all are looked at."""

_FEW_NODES: Final = 64
"""Nodes of a rare level up to which they are looked at one by one."""

_STATES: Final = 4
"""States of a level at most for which this is done."""

_NOTHING: Final = np.zeros(3, dtype=np.uint64)

_NO_EXITS: Final = np.zeros((0, 5), dtype=np.int32)


class Run(NamedTuple):
    """What became of the tokens.

    inside: the ids of those that stay in the loop, int32, or all of them as a packed mask;
        ``costs``: of each, the items that it completes and that must be completed after it before
        the loop may be left, int32; None if not asked for.
    exits: int32[exits, 5], the nodes of the trie with whose last byte tokens leave the loop where
        it may be left: that byte, where their strings begin and end in the trie, how many bytes
        lie before that, and the items completed until then, 0 if costs were not asked for.
    """

    inside: NDArray[np.int32] | None
    mask: NDArray[np.uint32] | None
    costs: NDArray[np.int32] | None
    exits: NDArray[np.int32]


def run(
    forest: Forest,
    node: Node,
    loop: LoopTable,
    start: int,
    words: int,
    *,
    also: int = 0,
    costs: bool = False,
) -> Run:
    """The tokens below `node` that are longer than it, from the loop's state `start`.

    Args:
        words: of a packed mask.
        also: bytes that may begin what is behind the loop though it can go on with them, as a set
            of bits. Tokens leave at each of them, besides staying inside.
        costs: ids and costs instead of a mask, where the tokens are many.
    """
    size = forest.size[node]
    if size <= _FEW:
        return run_few(forest, node, loop, start, also)
    if forest.trie[node] is not forest.trie[ROOT]:
        # A small trie, of which the levels are not known.
        if np.count_nonzero(loop.table[start] >= 0) <= _NARROW:
            return run_narrow(forest, node, loop, start, also)
        if size <= _FEW_RESTS:
            return run_few(forest, node, loop, start, also)
    return run_many(forest, node, loop, start, words, also, costs)


def run_narrow(forest: Forest, node: Node, loop: LoopTable, start: int, also: int) -> Run:
    """The same, node by node."""
    steps, free, short = loop.steps, loop.free_list, loop.short_list
    inside: list[int] = []
    costs: list[int] = []
    exits: list[tuple[int, int, int, int, int]] = []
    stack = [(node, start, 0)]
    while stack:
        here, state, count = stack.pop()
        may_leave = free[state] and here != node
        for byte, child in forest.children(here).items():
            merged = steps[(state << 8) | byte]
            if may_leave and (merged < 0 or also >> byte & 1):
                depth = forest.depth[here]
                exits.append((byte, forest.first[child], forest.high[child], depth, count))
            if merged >= 0:
                after, total = merged >> 1, count + (merged & 1)
                for token in forest.ids[child]:
                    inside.append(token)
                    costs.append(total + short[after])
                if forest.size[child]:
                    stack.append((child, after, total))
    return Run(
        np.asarray(inside, dtype=np.int32),
        None,
        np.asarray(costs, dtype=np.int32),
        np.asarray(exits, dtype=np.int32) if exits else _NO_EXITS,
    )


def run_many(
    forest: Forest, node: Node, loop: LoopTable, start: int, words: int, also: int, costs: bool
) -> Run:
    """The same, all at once."""
    made = _Many(forest, node, loop, start, also, costs)
    reached = Inside(forest.trie[node], loop, made.found, made.few, made.settled, made.counting)
    if costs:
        inside, spent = reached.with_costs()
        return Run(inside, None, spent, made.left())
    return Run(None, reached.mask(words), None, made.left())


def run_few(forest: Forest, node: Node, loop: LoopTable, start: int, also: int) -> Run:
    """The same, token by token."""
    steps, free, short = loop.steps, loop.free_list, loop.short_list
    inside: list[int] = []
    costs: list[int] = []
    exits: list[tuple[int, int, int, int, int]] = []
    depth, trie = forest.depth[node], forest.trie[node]
    for index in range(forest.low[node], forest.high[node]):
        text = trie.strings[index]
        state, count = start, 0
        for at in range(depth, len(text)):
            merged = steps[(state << 8) | text[at]]
            if (merged < 0 or also >> text[at] & 1) and at > depth and free[state]:
                exits.append((text[at], index, index + 1, at, count))
            if merged < 0:
                break
            state = merged >> 1
            count += merged & 1
        else:
            inside.append(trie.ids[index])
            costs.append(count + short[state])
    return Run(
        np.asarray(inside, dtype=np.int32),
        None,
        np.asarray(costs, dtype=np.int32),
        np.asarray(exits, dtype=np.int32) if exits else _NO_EXITS,
    )


class _Many:
    """Many tokens at once: the nodes of their trie, level by level.

    A state of -1 is none: the last row of the loop's flat table leads nowhere. As long as most
    nodes of a level are reached all are looked at; then only those below reached ones. Indices are
    of the machine's own width, with which numpy is quickest.

    Args:
        counting: whether counts matter; without they are 0.
    """

    def __init__(
        self, forest: Forest, node: Node, loop: LoopTable, start: int, also: int, counting: bool
    ) -> None:
        self.trie, self.loop, self.start, self.also = forest.trie[node], loop, start, also
        self.counting = counting and loop.counting
        self.depth = forest.depth[node]
        self.tree = self.trie.levels
        levels = self.tree.levels
        here = int(np.searchsorted(levels[self.depth].first, forest.first[node]))
        self.which = None if levels[self.depth].first.size == 1 else np.array([here])
        self.found: list[Reached] = []
        self.exits: list[NDArray[np.int32]] = []
        # Of the deepest levels: nodes by number, states, counts.
        self.few: tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]] | None = None
        # Where the tokens begin and end that are all inside.
        self.settled: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        self._walk()

    def left(self) -> NDArray[np.int32]:
        """The exits, as in :class:`Run`."""
        return np.concatenate(self.exits) if self.exits else _NO_EXITS

    def _walk(self) -> None:
        loop, levels, which = self.loop, self.tree.levels, self.which
        flat, gains = loop.flat, loop.gain_flat
        also = np.array([self.also >> byte & 1 for byte in range(256)], dtype=bool)
        states = np.array([self.start], dtype=np.intp)
        counts = np.zeros(1, dtype=np.intp)
        for depth in range(self.depth + 1, len(levels)):
            level = levels[depth]
            if depth >= self.tree.rare and states.size < _FEW_NODES:
                self._walk_few(depth, which, states, counts)
                break
            if which is None:
                above, byte = level.parent, level.byte
            else:
                which, above = _below(levels[depth - 1].children, which)
                byte = level.byte.take(which)
            before = states.take(above)
            place = np.left_shift(before, 8)
            place += byte
            # A place from -256 on is one of the last row's.
            states = flat[place].astype(np.intp)
            if self.counting:
                counts = counts.take(above)
            dead = states < 0
            out = np.flatnonzero(dead)
            # A loop is not left before its first byte.
            if depth > self.depth + 1:
                off = np.flatnonzero(dead | also.take(byte)) if self.also else out
                off = off[loop.free_flat[before.take(off)]]
                if off.size:
                    nodes = off if which is None else which.take(off)
                    self._leave(level, depth, nodes, counts.take(off) if self.counting else None)
            if self.counting:
                counts += gains[place]
            if not (self.counting or self.also) and depth < len(self.tree.below):
                self._settle(depth, which, states, dead)
            alive = np.flatnonzero(~dead)
            if alive.size * (_SPARSE if which is None else 2) < states.size:
                which = alive if which is None else which.take(alive)
                states = states.take(alive)
                if self.counting:
                    counts = counts.take(alive)
            if not states.size:
                break
            self.found.append(Reached(level, depth, which, states, counts))

    def _walk_few(
        self,
        depth: int,
        which: NDArray[np.intp] | None,
        states: NDArray[np.intp],
        counts: NDArray[np.intp],
    ) -> None:
        """The nodes from a depth on where there are few of them, one by one."""
        tree, loop, also = self.tree, self.loop, self.also
        children, bytes_ = tree.rare_nodes
        base = tree.starts[tree.rare - 1]
        flat, gains, free = loop.flat.data, loop.gain_flat.data, loop.free_list
        alive = np.flatnonzero(states >= 0)
        known = (alive if which is None else which.take(alive)) + (tree.starts[depth - 1] - base)
        nodes: list[int] = known.tolist()
        here: list[int] = states.take(alive).tolist()
        spent: list[int] = counts.take(alive).tolist() if self.counting else []
        # A loop is not left before its first byte.
        tops = len(nodes) if depth == self.depth + 1 else 0
        out: list[tuple[int, int]] = []
        at = 0
        for node in nodes:
            state = here[at]
            for child in range(children[node], children[node + 1]):
                byte = bytes_[child]
                place = state << 8 | byte
                after = flat[place]
                if (after < 0 or also >> byte & 1) and free[state] and at >= tops:
                    out.append((child, spent[at] if spent else 0))
                if after >= 0:
                    nodes.append(child)
                    here.append(after)
                    if spent:
                        spent.append(spent[at] + gains[place])
            at += 1
        above = known.size
        self.few = (
            np.array(nodes[above:], dtype=np.intp) + base,
            np.array(here[above:], dtype=np.intp),
            np.array(spent[above:], dtype=np.intp),
        )
        levels = tree.levels
        for child, count in out:
            depth = bisect_right(tree.starts, child + base) - 1
            level, n = levels[depth], child + base - tree.starts[depth]
            exit_ = (level.byte[n], level.first[n], level.high[n], depth - 1, count)
            self.exits.append(np.array([exit_], dtype=np.int32))

    def _settle(
        self,
        depth: int,
        which: NDArray[np.intp] | None,
        states: NDArray[np.intp],
        done: NDArray[np.bool_],
    ) -> None:
        """Settle nodes below which everything goes around in their state: their tokens stay
        inside. They are put among the `done`."""
        below, level = self.tree.below[depth], self.tree.levels[depth]
        sizes = np.bincount(states[~done], minlength=1)
        for state in np.argsort(sizes)[-_STATES:].tolist():
            circle = self.loop.circle(state) if sizes[state] > _BULK else _NOTHING
            if not circle.any():
                continue
            around = np.flatnonzero(states == state)
            nodes = around if which is None else which.take(around)
            for word in range(3):
                inside = np.flatnonzero((below[word].take(nodes) & ~circle[word]) == 0)
                nodes, around = nodes.take(inside), around.take(inside)
            states[around] = -1
            done[around] = True
            self.settled.append((level.first.take(nodes), level.high.take(nodes)))

    def _leave(
        self,
        level: Level,
        depth: int,
        nodes: NDArray[np.intp],
        counts: NDArray[np.intp] | None,
    ) -> None:
        made = np.zeros((nodes.size, 5), dtype=np.int32)
        made[:, 0] = level.byte[nodes]
        made[:, 1] = level.first[nodes]
        made[:, 2] = level.high[nodes]
        made[:, 3] = depth - 1
        if counts is not None:
            made[:, 4] = counts
        self.exits.append(made)


def _below(
    children: NDArray[np.intp], which: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The children of some nodes of a level, and for each the place of its parent in `which`."""
    first = children[which]
    times = children[which + 1] - first
    above = np.repeat(np.arange(which.size), times)
    before = np.cumsum(times) - times
    return np.arange(above.size) + (first - before)[above], above
