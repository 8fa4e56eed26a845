"""Minimal deterministic automata over bytes and special tokens: `Moves -> ByteDfa`.

Minimised by refining a partition, round by round: only states whose targets changed blocks in the
round before are looked at again, all of them at once. States are numbered breadth first by
symbol, so that equal languages have equal automata, byte for byte.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .core import TOKEN_BASE
from .determinise import Moves

Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ByteDfa:
    """A trim, minimal automaton; every state lies on a path from the start to acceptance.

    Attributes:
        table: int32[states, columns]: the state that a column leads to, -1 for none. State 0 is
            the start. A language without texts is one state without moves.
        columns: the symbols of each column, ascending by the lowest: bytes, and special tokens as
            ``TOKEN_BASE + id``. No two columns are equal, none is all -1.
        accepting: bool[states].
    """

    table: Ints
    columns: tuple[tuple[int, ...], ...]
    accepting: Flags

    def __len__(self) -> int:
        return len(self.accepting)

    @cached_property
    def column_of(self) -> dict[int, int]:
        """The column of each symbol that leads anywhere."""
        return {symbol: at for at, symbols in enumerate(self.columns) for symbol in symbols}

    @cached_property
    def byte_columns(self) -> Ints:
        """int32[256]: the column of each byte, -1 if it leads nowhere."""
        found = np.full(256, -1, dtype=np.int32)
        for symbol, column in self.column_of.items():
            if symbol < TOKEN_BASE:
                found[symbol] = column
        return found

    def step(self, state: int, symbol: int) -> int:
        """The state after one symbol, -1 if it is refused."""
        column = self.column_of.get(symbol)
        return -1 if column is None or state < 0 else int(self.table[state, column])

    def walk(self, data: bytes, state: int = 0) -> int:
        """The state after `data`, -1 if it is refused."""
        for byte in data:
            state = self.step(state, byte)
        return state

    def accepts(self, data: bytes) -> bool:
        """Is `data` a whole text of the language?"""
        state = self.walk(data)
        return state >= 0 and bool(self.accepting[state])

    @cached_property
    def digest(self) -> str:
        """SHA-256; equal for equal languages."""
        found = hashlib.sha256(repr((self.table.shape, self.columns)).encode())
        found.update(self.table.astype("<i4").tobytes())
        found.update(self.accepting.tobytes())
        return found.hexdigest()


def minimal(moves: Moves) -> ByteDfa:
    """The minimal automaton of the same language."""
    kept = living(moves)
    if not kept[0]:
        return ByteDfa(np.zeros((1, 0), np.int32), (), np.zeros(1, dtype=bool))
    number = np.full(len(kept) + 1, -1, dtype=np.int32)
    number[:-1][kept] = np.arange(int(kept.sum()), dtype=np.int32)
    table = number[moves.table[kept]]
    accepting = moves.accepting[kept]
    blocks = _refined(table, accepting)
    _, first, dense = np.unique(blocks, return_index=True, return_inverse=True)
    quotient = np.append(dense.ravel(), -1).astype(np.int32)[table[first]]
    # The start is the first state that is left, since acceptance is reached from it.
    return _numbered(quotient, accepting[first], moves.columns, int(dense.ravel()[0]))


def sources_of(table: Ints) -> tuple[Ints, NDArray[np.int64]]:
    """The states that lead to each, one after the other, and where those of each begin."""
    sources, _ = np.nonzero(table >= 0)
    targets = table[table >= 0]
    order = np.argsort(targets, kind="stable")
    begins = np.searchsorted(targets[order], np.arange(len(table) + 1))
    return sources[order].astype(np.int32), begins


def before(states: Ints, sources: Ints, begins: NDArray[np.int64]) -> Ints:
    """The states that lead to any of `states`, ascending."""
    low, width = begins[states], begins[states + 1] - begins[states]
    at = np.arange(int(width.sum())) - np.repeat(np.cumsum(width) - width, width)
    return np.unique(sources[np.repeat(low, width) + at])


def living(moves: Moves) -> Flags:
    """The states from which acceptance is reached."""
    sources, begins = sources_of(moves.table)
    alive = moves.accepting.copy()
    new = np.flatnonzero(alive).astype(np.int32)
    while len(new):
        found = before(new, sources, begins)
        new = found[~alive[found]]
        alive[new] = True
    return alive


def _refined(table: Ints, accepting: Flags) -> NDArray[np.int64]:
    """The coarsest partition that tells apart what some text tells apart: each state's block."""
    size = len(table)
    sources, begins = sources_of(table)
    # The last entry is that of -1: no way on is a block of its own and never changes.
    blocks = np.append(accepting.astype(np.int64), -1)
    members = np.bincount(blocks[:-1], minlength=2).tolist()
    dirty = np.arange(size, dtype=np.int32)
    while len(dirty):
        rows = np.column_stack([blocks[dirty], blocks[table[dirty]]])
        number_of, shown = groups(rows)
        changed = np.zeros(len(dirty), dtype=bool)
        # A block of which some states are not looked at keeps them: none of the others is like
        # them, since their targets are in new blocks. One that is looked at as a whole keeps its
        # largest group.
        sizes = np.bincount(number_of)
        owners = blocks[dirty[shown]]
        seen: dict[int, int] = {}
        largest: dict[int, int] = {}
        for group, owner in enumerate(owners.tolist()):
            seen[owner] = seen.get(owner, 0) + int(sizes[group])
            if owner not in largest or sizes[group] > sizes[largest[owner]]:
                largest[owner] = group
        renamed = np.full(len(shown), -1, dtype=np.int64)
        for group, owner in enumerate(owners.tolist()):
            if seen[owner] == members[owner] and largest[owner] == group:
                continue
            renamed[group] = len(members)
            members.append(int(sizes[group]))
        for group, owner in enumerate(owners.tolist()):
            if renamed[group] >= 0:
                members[owner] -= int(sizes[group])
        changed = renamed[number_of] >= 0
        moved = dirty[changed]
        blocks[moved] = renamed[number_of[changed]]
        dirty = before(moved, sources, begins)
    return blocks[:-1]


def groups(rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Equal rows have equal numbers: the number of each row, and a row of each number."""
    rows = np.ascontiguousarray(rows)
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, shown, number_of = np.unique(whole, return_index=True, return_inverse=True)
    return number_of.ravel(), shown


def _numbered(
    table: Ints, accepting: Flags, columns: tuple[tuple[int, ...], ...], start: int
) -> ByteDfa:
    """The states that are reached, numbered breadth first; columns that are equal are joined."""
    order = np.full(len(table), -1, dtype=np.int32)
    order[start] = 0
    level = np.array([start])
    known = [level]
    count = 1
    while len(level):
        targets = table[level].ravel()
        targets = targets[targets >= 0]
        targets = targets[order[targets] < 0]
        found, first = np.unique(targets, return_index=True)
        level = found[np.argsort(first, kind="stable")]
        order[level] = np.arange(count, count + len(level))
        count += len(level)
        known.append(level)
    places = np.concatenate(known)
    table = np.append(order, np.int32(-1))[table[places]]
    joined: dict[bytes, list[int]] = {}
    shown = []
    turned = np.ascontiguousarray(table.T)
    for at, symbols in enumerate(columns):
        key = turned[at].tobytes()
        if key not in joined and (turned[at] >= 0).any():
            joined[key] = []
            shown.append(at)
        if key in joined:
            joined[key] += symbols
    return ByteDfa(
        np.ascontiguousarray(table[:, shown]),
        tuple(tuple(sorted(symbols)) for symbols in joined.values()),
        accepting[places],
    )
