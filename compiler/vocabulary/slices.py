"""Slices: what a vocabulary does inside a loop.

In a string's content, in digits, in raw text, nearly every token stays inside the loop. For a trie
node and a loop, the tokens below the node are run through the loop's byte automaton once,
vectorised: those that stay inside are one packed mask, and of those that break off where the loop
may be left, the rests go into a small trie of exits. A slice knows no grammar; all grammars of a
vocabulary that have the same loop share it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..automaton.recogniser import DEAD, Recogniser
from ..automaton.utf8 import byte_sequences
from ..grammar import Distinct, Expr, Machine, Members, RuleRef, Rules, Sequence, Token, children
from .trie import TokenTrie, TrieNode

_NONE: Final = -1
MAX_STATES: Final = 4000
MAX_ITEM_STATES: Final = 64

Ways = tuple[tuple[tuple[tuple[int, int], ...], int], ...]
"""What is left of a character's bytes, with the state behind it."""


@dataclass(frozen=True, slots=True, eq=False)
class LoopTable:
    """A loop as a byte automaton.

    Attributes:
        table: int16[states, 256]; -1: the byte breaks off.
        free: bool[states]; whether the loop may be left in a state.
        start: for each state of the loop's machine its number here (a single 0 for expressions).
    """

    table: NDArray[np.int16]
    free: NDArray[np.bool_]
    start: tuple[int, ...]


def item_table(item: Expr) -> LoopTable | None:
    """The automaton of texts of whole items; None where items are more than single characters
    in some spelling: rules, tokens, many states."""
    if any(isinstance(part, (RuleRef, Token, Members, Distinct)) for part in _parts(item)):
        return None
    # One item and the end: an item's end is the state that accepts.
    recogniser = Recogniser(Rules(), Sequence((item,)))
    order = {recogniser.start: 0}
    queue = [recogniser.start]
    rows = []
    for config in queue:
        row = [_NONE] * 256
        for low, high in recogniser.next_bytes(config):
            for byte in range(low, min(high, 255) + 1):
                target = recogniser.step(config, byte)
                if target == DEAD:
                    continue
                if recogniser.accepting(target):
                    if not recogniser.at_end(target):
                        return None  # An item that another begins like: not one path.
                    row[byte] = 0
                    continue
                if target not in order:
                    if len(order) >= MAX_ITEM_STATES:
                        return None
                    order[target] = len(order)
                    queue.append(target)
                row[byte] = order[target]
        rows.append(row)
    free = np.zeros(len(rows), dtype=bool)
    free[0] = True
    return LoopTable(np.asarray(rows, dtype=np.int16), free, (0,))


def _parts(expr: Expr) -> Iterator[Expr]:
    """The expression and all the expressions inside it."""
    todo = [expr]
    while todo:
        part = todo.pop()
        yield part
        todo += children(part)


def machine_table(machine: Machine) -> LoopTable | None:
    """The byte automaton of a machine over code points; None if it has too many states."""
    size = len(machine.transitions)
    rows: list[list[int]] = [[_NONE] * 256 for _ in range(size)]
    inner: dict[Ways, int] = {}
    for state, row in enumerate(machine.transitions):
        byte_targets: dict[int, list[tuple[tuple[tuple[int, int], ...], int]]] = {}
        for low, high, target, _ in row:
            for first, *rest in byte_sequences(((low, high),)):
                for byte in range(first[0], first[1] + 1):
                    byte_targets.setdefault(byte, []).append((tuple(rest), target))
        for byte, ways in byte_targets.items():
            rows[state][byte] = _way(tuple(ways), rows, inner)
            if len(rows) > MAX_STATES:
                return None
    free = np.zeros(len(rows), dtype=bool)
    free[sorted(machine.accepting)] = True
    return LoopTable(np.asarray(rows, dtype=np.int16), free, tuple(range(size)))


def _way(ways: Ways, rows: list[list[int]], known: dict[Ways, int]) -> int:
    """The state behind some bytes of a character: what is left of it, and where each leads."""
    if not ways[0][0]:
        return ways[0][1]
    if ways in known:
        return known[ways]
    number = known[ways] = len(rows)
    rows.append([_NONE] * 256)
    after: dict[int, list[tuple[tuple[tuple[int, int], ...], int]]] = {}
    for rest, target in ways:
        for byte in range(rest[0][0], rest[0][1] + 1):
            after.setdefault(byte, []).append((rest[1:], target))
    for byte, more in after.items():
        rows[number][byte] = _way(tuple(more), rows, known)
    return number


class Slice:
    """The tokens below a trie node, seen from inside a loop."""

    def __init__(self, node: TrieNode, loop: LoopTable, start: int, words: int) -> None:
        self.words = words
        self._node = node
        trie, low, high = node.trie, node.low, node.high
        size = high - low
        offsets, sizes = trie.offsets[low:high], trie.sizes[low:high]
        table, free = loop.table, loop.free
        state = np.full(size, _NONE, dtype=np.int16)
        count = np.zeros(size, dtype=np.int32)
        stop = np.full(size, node.depth, dtype=np.int32)
        going: list[NDArray[np.int64]] = []
        left: list[NDArray[np.int64]] = []
        # The first byte decides for whole children at once.
        for byte, child in node.children.items():
            here = np.arange(child.first - low, child.high - low)
            target = int(table[start, byte])
            if target >= 0:
                state[here] = target
                count[here] = int(free[target])
                going.append(here)
            elif free[start]:
                left.append(here)
        alive = np.concatenate(going) if going else np.zeros(0, dtype=np.int64)
        depth = node.depth + 1
        while True:
            alive = alive[sizes[alive] > depth]
            if not alive.size:
                break
            before = state[alive]
            after = table[before, trie.data[offsets[alive] + depth]]
            on = after >= 0
            if not on.all():
                off = alive[~on]
                left.append(off[free[before[~on]]])
                stop[off] = depth
                state[off] = _NONE
                alive, after = alive[on], after[on]
            state[alive] = after
            depth += 1
            count[alive[free[after]]] += 1
        stays = state >= 0
        ends = state[stays]
        self.inside: NDArray[np.int64] = trie.id_array[low:high][stays]
        self.counts: NDArray[np.int32] = count[stays] + ~free[ends]
        self.most = int(self.counts.max(initial=0))
        self._limited: dict[int, NDArray[np.uint32]] = {}
        self._mask: NDArray[np.uint32] | None = None
        self._outside = np.concatenate(left) if left else np.zeros(0, dtype=np.int64)
        self._stop = stop[self._outside]
        self._out_counts = count[self._outside]
        self._most_out = int(self._out_counts.max(initial=0))
        self._first = trie.data[offsets[self._outside] + self._stop]
        self._leads = np.bincount(self._first, minlength=256).astype(bool).tolist()
        self._exits: dict[tuple[int, int, int], TokenTrie | None] = {}

    def mask(self, limit: int | None) -> NDArray[np.uint32]:
        """The packed mask of the tokens inside that begin at most `limit` items (None: any)."""
        if limit is None or limit >= self.most:
            if self._mask is None:
                self._mask = pack(self.inside, self.words)
            return self._mask
        found = self._limited.get(limit)
        if found is None:
            found = self._limited[limit] = pack(self.inside[self.counts <= limit], self.words)
        return found

    def exits(self, byte: int, need: int, limit: int | None) -> TokenTrie | None:
        """The rests, beginning with `byte`, of the tokens that leave after `need` to `limit`
        whole items."""
        if not self._leads[byte]:
            return None
        top = self._most_out if limit is None else min(limit, self._most_out)
        key = (byte, need, top)
        if key not in self._exits:
            fits = (self._first == byte) & (self._out_counts >= need) & (self._out_counts <= top)
            self._exits[key] = self._rests(np.flatnonzero(fits))
        return self._exits[key]

    def _rests(self, which: NDArray[np.int64]) -> TokenTrie | None:
        if not which.size:
            return None
        trie, low = self._node.trie, self._node.low
        pairs = sorted(
            (trie.strings[low + i][stop:], trie.ids[low + i])
            for i, stop in zip(
                self._outside[which].tolist(), self._stop[which].tolist(), strict=True
            )
        )
        return TokenTrie([rest for rest, _ in pairs], [token for _, token in pairs])


def pack(ids: NDArray[np.int64], words: int) -> NDArray[np.uint32]:
    """Ids as a packed mask: uint32[words], bit i of word w is id 32 * w + i."""
    bits = np.zeros(words * 32, dtype=bool)
    bits[ids] = True
    return np.packbits(bits, bitorder="little").view("<u4")
