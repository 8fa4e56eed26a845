"""Loops as byte automata: what a string's content, digits or a pattern do with each byte.

A table is shared by all grammars of a vocabulary: machines are told apart by what they are, not by
who they are.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import count
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..automaton.items import NO_ROW, NONE
from ..automaton.liveness import searched
from ..automaton.utf8 import ByteRanges, byte_sequences
from ..grammar import Machine, Row

MAX_STATES: Final = 30_000
MAX_PART: Final = 64

_ROUNDS: Final = 4
"""Rounds after which states that are still being told apart are taken for different."""

MAX_TABLE_BYTES: Final = 128 * 1024 * 1024
"""Bytes of tables that one vocabulary keeps."""

Way: TypeAlias = tuple[ByteRanges, int, int]
"""What is left of a character's bytes, the state behind it, what it counts."""

Structure: TypeAlias = tuple[tuple[Row, ...], frozenset[int]]


class LoopTable:
    """A loop as a byte automaton.

    Attributes:
        flat: int16[256 * (states + 1)], at ``256 * state + byte`` the next state; -1: the byte
            breaks off. The last row is that of no state: from -1 on everything is -1.
        gain_flat: uint8[256 * (states + 1)]; 1 where the byte completes an item, or a count of the
            machine; ``counting``: whether any does.
        free_flat: bool[states + 1]; whether the loop may be left in a state.
        short: int32[states]; items that must at least be completed before the loop may be left.
        places: states up to here stand between two items; the others are inside one. A machine's
            states keep their numbers.
        number: one of its own.
        coarse: a smaller table that breaks off at the same bytes, and which of its states each of a
            machine's states is; None where there is none worth it.
    """

    _numbers = count()

    def __init__(
        self,
        rows: Iterable[array[int]],
        gains: Iterable[bytes | bytearray],
        free: Iterable[int],
        short: Sequence[int],
        places: int,
    ) -> None:
        self.flat: NDArray[np.int16] = np.frombuffer(b"".join((*rows, NO_ROW)), dtype=np.int16)
        self.gain_flat: NDArray[np.uint8] = np.frombuffer(
            b"".join((*gains, bytes(256))), dtype=np.uint8
        )
        self.counting = bool(self.gain_flat.any())
        self.free_flat = np.zeros(len(short) + 1, dtype=bool)
        self.free_flat[list(free)] = True
        self.short: NDArray[np.int32] = np.asarray(short, dtype=np.int32)
        self.places = places
        self.number = next(self._numbers)
        self.coarse: tuple[LoopTable, Sequence[int]] | None = None
        self._circles: dict[int, NDArray[np.uint64]] = {}

    @property
    def table(self) -> NDArray[np.int16]:
        """int16[states, 256]: `flat` without the row of no state."""
        return self.flat.reshape(-1, 256)[:-1]

    @property
    def gain(self) -> NDArray[np.uint8]:
        """uint8[states, 256]: `gain_flat` without the row of no state."""
        return self.gain_flat.reshape(-1, 256)[:-1]

    @cached_property
    def steps(self) -> array[int]:
        """The table for plain Python, at ``256 * state + byte``: twice the next state, plus the
        gain; -1 breaks off."""
        merged = np.where(self.flat < 0, NONE, self.flat.astype(np.int32) * 2 + self.gain_flat)
        return array("i", merged.astype(np.int32).tobytes())

    def _characters(self, state: int) -> NDArray[np.int16]:
        """Where whole characters lead from a state, by first byte.

        NONE where characters that begin with the byte lead to different states, or nowhere.

        Returns:
            int16[256].
        """
        table = self.table
        targets = np.full(256, NONE, dtype=np.int16)
        targets[:0x80] = table[state, :0x80]
        for (first, last), *rest in byte_sequences(((0x80, 0xD7FF), (0xE000, 0x10FFFF))):
            known: dict[int, int] = {}
            for byte in range(first, last + 1):
                inside = int(table[state, byte])
                if inside not in known:
                    known[inside] = self._behind(inside, rest)
                targets[byte] = known[inside]
        return targets

    def _behind(self, inside: int, rest: list[tuple[int, int]]) -> int:
        """Where a byte of each range leads from inside a character."""
        # With the row of no state, which is that of NONE.
        rows = self.flat.reshape(-1, 256)
        here = {inside}
        for low, high in rest:
            if here == {NONE}:
                return NONE
            here = set(rows[sorted(here), low : high + 1].ravel().tolist())
        return here.pop() if len(here) == 1 else NONE

    def circle(self, state: int) -> NDArray[np.uint64]:
        """The characters that lead from a state back to it.

        As sets of bytes like those of :class:`~.levels.Levels`: an ASCII character by itself, the
        others by their first byte, where all that begin with it lead back.

        Returns:
            uint64[3].
        """
        found = self._circles.get(state)
        if found is None:
            bits = np.packbits(self._characters(state) == state, bitorder="little").view("<u8")
            found = self._circles[state] = bits[[0, 1, 3]]
        return found

    @cached_property
    def free_list(self) -> list[bool]:
        """`free_flat` for plain Python."""
        free: list[bool] = self.free_flat.tolist()
        return free

    @cached_property
    def short_list(self) -> list[int]:
        """`short` for plain Python."""
        short: list[int] = self.short.tolist()
        return short


def item_table(rows: Sequence[array[int]]) -> LoopTable:
    """The automaton of texts of whole items (:class:`~..automaton.items.ItemStates`)."""
    gains = [bytes(target == 0 for target in row) for row in rows]
    return LoopTable(rows, gains, (0,), [0] + [1] * (len(rows) - 1), 1)


def machine_table(machine: Machine) -> LoopTable | None:
    """The byte automaton of a machine over code points; None if it has too many states."""
    made = _Bytes(len(machine.transitions))
    for state, row in enumerate(machine.transitions):
        made.read(state, row)
        if len(made.rows) > MAX_STATES:
            return None
    if not made.finish():
        return None
    shortest = _shortest(machine)
    shortest += [min(counts + shortest[target] for _, target, counts in w) for w in made.inner]
    return LoopTable(made.rows, made.gains, machine.accepting, shortest, len(machine.transitions))


class _Bytes:
    """Rows of bytes for the states of a machine, and for the places inside its characters."""

    def __init__(self, size: int) -> None:
        self.rows = [NO_ROW[:] for _ in range(size)]
        self.gains = [bytearray(256) for _ in range(size)]
        self.inner: list[tuple[Way, ...]] = []
        self._known: dict[tuple[Way, ...], int] = {}
        # What lies beyond ASCII is alike in most states.
        self._beyond: dict[Row, tuple[array[int], bytes]] = {}

    def read(self, state: int, row: Row) -> None:
        """The bytes that a state of the machine reads."""
        targets, gains = self.rows[state], self.gains[state]
        for low, high, target, counts in row:
            if low < 0x80:
                end = min(high, 0x7F) + 1
                targets[low:end] = array("h", [target]) * (end - low)
                if counts:
                    gains[low:end] = b"\1" * (end - low)
        beyond = tuple((max(a, 0x80), b, t, counts) for a, b, t, counts in row if b >= 0x80)
        if beyond:
            known = self._beyond.get(beyond)
            if known is None:
                ways: list[Way] = []
                for low, high, target, counts in beyond:
                    sequences = byte_sequences(((low, high),))
                    ways += [(sequence, target, counts) for sequence in sequences]
                self._lead(state, ways)
                self._beyond[beyond] = targets[0x80:], bytes(gains[0x80:])
            else:
                targets[0x80:], gains[0x80:] = known

    def finish(self) -> bool:
        """The bytes of all the places inside characters; False if they are too many."""
        done = 0
        while done < len(self.inner):
            self._lead(len(self.rows) - len(self.inner) + done, self.inner[done])
            done += 1
            if len(self.rows) > MAX_STATES:
                return False
        return True

    def _lead(self, state: int, ways: Sequence[Way]) -> None:
        """Where the next byte of each way leads."""
        targets, gains = self.rows[state], self.gains[state]
        for low, high, which in _spread(tuple([ahead for ahead, _, _ in ways])):
            ahead, target, counts = ways[which[0]]
            if len(ahead) > 1:
                rest = [(ways[i][0][1:], ways[i][1], ways[i][2]) for i in which]
                target, counts = self._inside(tuple(rest)), 0
            targets[low:high] = array("h", [target]) * (high - low)
            if counts:
                gains[low:high] = b"\1" * (high - low)

    def _inside(self, ways: tuple[Way, ...]) -> int:
        known = self._known.get(ways)
        if known is None:
            known = self._known[ways] = len(self.rows)
            self.inner.append(ways)
            self.rows.append(NO_ROW[:])
            self.gains.append(bytearray(256))
        return known


@lru_cache(maxsize=4096)
def _spread(aheads: tuple[ByteRanges, ...]) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
    """Ranges ``low..high`` of next bytes, `high` left out, and the ways that go on with them."""
    firsts = [ahead[0] for ahead in aheads]
    edges = sorted({low for low, _ in firsts} | {high + 1 for _, high in firsts})
    found = []
    for low, after in zip(edges, edges[1:], strict=False):
        which = tuple(i for i, (first, last) in enumerate(firsts) if first <= low <= last)
        if which:
            found.append((low, after, which))
    return tuple(found)


def _shortest(machine: Machine) -> list[int]:
    """The fewest counts from each state to an accepting one."""
    return [searched(machine).shortest(state) for state in range(len(machine.transitions))]


class Place(NamedTuple):
    """A machine's state, in the table that serves it.

    start: the state's number in the table; states: the machine's states by the table's numbers.
    """

    table: LoopTable
    start: int
    states: Sequence[int]


class Tables:
    """The tables of machines and items that a vocabulary has met, at most `most` of them."""

    def __init__(self, most: int = 2048) -> None:
        self._most = most
        self._known: dict[Structure | bytes, LoopTable | None] = {}
        self._bytes = 0

    def place(self, machine: Machine, state: int) -> Place | None:
        """Where a machine's state is found; None if its table would be too large.

        What a state can reach is often a small machine of its own, which many machines hold.
        """
        part = reachable(machine, state, MAX_PART)
        if part is not None:
            number = {s: n for n, s in enumerate(part)}
            rows = tuple(
                tuple((a, b, number[t], counts) for a, b, t, counts in machine.transitions[s])
                for s in part
            )
            accepting = frozenset(number[s] for s in part if s in machine.accepting)
            machine = Machine(rows, accepting)
        table = self._machine(machine)
        if table is None:
            return None
        if part is None:
            return Place(table, state, range(len(machine.transitions)))
        return Place(table, 0, part)

    def _machine(self, machine: Machine) -> LoopTable | None:
        key = (tuple(machine.transitions), machine.accepting)
        if key not in self._known:
            made = machine_table(machine)
            self._add(key, made)
            smaller = None if made is None else coarser(machine)
            if made is not None and smaller is not None:
                table = self._machine(smaller[0])
                made.coarse = None if table is None else (table, smaller[1])
            return made
        return self._known[key]

    def item(self, rows: Sequence[array[int]]) -> LoopTable:
        """The table of a repeated item with these rows."""
        key = b"".join(rows)
        found = self._known.get(key)
        if found is None:
            found = item_table(rows)
            self._add(key, found)
        return found

    def _add(self, key: Structure | bytes, table: LoopTable | None) -> None:
        self._bytes += _bytes(table)
        if len(self._known) >= self._most or self._bytes > MAX_TABLE_BYTES:
            # The oldest go first; who still uses one keeps it.
            for old in list(self._known)[: len(self._known) // 4 + 1]:
                self._bytes -= _bytes(self._known.pop(old))
        self._known[key] = table


def coarser(machine: Machine) -> tuple[Machine, list[int]] | None:
    """The machine where only matters which texts break off: it may end anywhere and counts nothing.

    A search for a word, say, goes on with any character in all its states. None where states do not
    soon turn out to be alike, or few are.

    Returns:
        the smaller machine, and which of its states each state is.
    """
    size = len(machine.transitions)
    if size == 1 and not any(counts for _, _, _, counts in machine.transitions[0]):
        return None
    labels = [0] * size
    most = 1
    for _ in range(_ROUNDS):
        numbers: dict[tuple[tuple[int, int, int, int], ...], int] = {}
        labels = [
            numbers.setdefault(_joined(row, labels), len(numbers)) for row in machine.transitions
        ]
        if len(numbers) == most:
            rows = tuple(numbers)
            # The rows speak of the labels of the round before, which are the same classes.
            return Machine(rows, frozenset(range(len(rows)))), labels
        most = len(numbers)
        if most * 2 > size:
            break
    return None


def _joined(row: Row, labels: list[int]) -> tuple[tuple[int, int, int, int], ...]:
    """A row by labels, adjacent ranges joined."""
    found: list[tuple[int, int, int, int]] = []
    for low, high, target, _ in sorted(row):
        label = labels[target]
        if found and found[-1][1] + 1 == low and found[-1][2] == label:
            low = found.pop()[0]
        found.append((low, high, label, 0))
    return tuple(found)


def _bytes(table: LoopTable | None) -> int:
    """What a table takes: two bytes and one a cell, and four more once it is walked in Python."""
    return 1000 if table is None else table.flat.size * 7 + 1000


def reachable(machine: Machine, state: int, most: int) -> list[int] | None:
    """The states that `state` leads to, itself first, in order; None if they are more than
    `most`."""
    found = [state]
    known = {state}
    for here in found:
        for _, _, target, _ in machine.transitions[here]:
            if target not in known:
                known.add(target)
                found.append(target)
                if len(found) > most:
                    return None
    return found
