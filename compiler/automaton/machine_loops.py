"""What a machine's states begin with, and whether a place in one can be treated as a loop."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from ..grammar import Machine, Row
from .liveness import searched
from .utf8 import byte_sequences

ByteSet: TypeAlias = int
"""Bit b is byte b."""


@lru_cache(maxsize=1024)
def wide(machine: Machine) -> bool:
    """Can some state of the machine read many characters, digits at least, as far as all its states
    are known?"""
    if machine.known is not None:
        return False
    return any(sum(high - low + 1 for low, high, _, _ in row) >= 10 for row in machine.transitions)


@lru_cache(maxsize=1024)
def state_firsts(machine: Machine) -> tuple[ByteSet, ...]:
    """The first bytes of what each state of the machine reads."""
    return tuple(_row_firsts(row) for row in machine.transitions)


def _row_firsts(row: Row) -> ByteSet:
    found = 0
    for low, high, _, _ in row:
        if high < 0x80:
            found |= (1 << high + 1) - (1 << low)
        else:
            for sequence in byte_sequences(((low, high),)):
                first = sequence[0]
                found |= (1 << first[1] + 1) - (1 << first[0])
    return found


@lru_cache(maxsize=1024)
def leaving_firsts(machine: Machine) -> ByteSet:
    """The first bytes of all that the machine reads from where it may end."""
    firsts = state_firsts(machine)
    found = 0
    for state in machine.accepting:
        found |= firsts[state]
    return found


def is_uniform(machine: Machine, need: int, left: int | None) -> bool:
    """Does a window of counts ask for no more than a distance to the end and a number of counts?

    It does where no counts are wanted: then a place is alive if the shortest way to the end has
    room. Where some are, words must be able to grow from every state: without end, or count by
    count up to the most.
    """
    if need <= 0:
        return True
    alive = searched(machine)
    return (left is None and alive.is_endless) or alive.is_dense
