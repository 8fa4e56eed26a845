"""What a place begins with, in pieces: literals, loops, and bytes for the rest."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ..grammar import Expr, Machine
from .machine_loops import ByteSet

LiteralFront: TypeAlias = tuple[bytes, bytes, int, int]
"""A text that comes next: what is left of it, the literal, how much of that lies behind already,
and the continuation behind it.

As a front, a plain tuple: there are many of them, and the garbage collector does not look again at
plain tuples of numbers and bytes.
"""


class Loop(NamedTuple):
    """A place inside a loop.

    body: what is repeated, an expression; or the machine that is walked.
    number: that of the expression in the core.
    state: the machine's state; of an expression the place inside an item, 0 between two.
    need, left: items (a machine's counts) still wanted, and allowed (None: any number).
    tail: the continuation behind the loop.
    around: the bytes that go on in the loop here.
    also: bytes that go on in the loop from where it may be left, and may also begin what is behind.
    item: inside an item that is remembered but whose text is unknown: the continuation of this
        place, and the loop of the item itself. None elsewhere.
    but: in a text that may yet become an excluded one: the number of its expression, and the node
        in the trie of the excluded texts. `number` is that of the text without excluded ones.
    closed: an excluded text ends here.
    """

    body: Expr | Machine
    number: int
    state: int
    need: int
    left: int | None
    tail: int
    around: ByteSet
    also: ByteSet = 0
    item: tuple[int, Loop] | None = None
    but: tuple[int, int] | None = None
    closed: bool = False


Front: TypeAlias = tuple[
    tuple[LiteralFront, ...], tuple[Loop, ...], tuple[tuple[int, int, int], ...], bool, ByteSet
]
"""All that a continuation may begin with: literals, loops and byte arcs, what may follow a loop
that can be left at once among them; whether it may end; and the first bytes of ordinary text."""


def free(loop: Loop) -> bool:
    """May the loop be left here?"""
    if loop.need > 0 or loop.closed:
        return False
    if isinstance(loop.body, Machine):
        return loop.state in loop.body.accepting
    return not loop.state


def place_of(loop: Loop) -> tuple[object, ...]:
    """What tells loops apart, without comparing their bodies."""
    item = None if loop.item is None else loop.item[0]
    return (loop.number, loop.state, loop.need, loop.left, loop.tail, item, loop.but)


def union(fronts: list[Front]) -> Front:
    """Several fronts as one."""
    literals: dict[LiteralFront, None] = {}
    loops: dict[tuple[object, ...], Loop] = {}
    arcs: dict[tuple[int, int, int], None] = {}
    final = False
    firsts = 0
    for own, around, plain, ends, first in fronts:
        if own:
            literals.update(dict.fromkeys(own))
        for loop in around:
            loops[place_of(loop)] = loop
        if plain:
            arcs.update(dict.fromkeys(plain))
        final = final or ends
        firsts |= first
    return tuple(literals), tuple(loops.values()), tuple(arcs), final, firsts
