"""Reading a token from continuations: as many bytes at a time as the grammar allows.

The result is the same set of continuations that the core's byte arcs lead to, one byte after the
other.
"""

from __future__ import annotations

from ...compiler.automaton.core import Core
from ...compiler.automaton.front_parts import Loop
from ...compiler.automaton.fronts import Fronts
from .walk import Walker


def advance(
    core: Core, fronts: Fronts, walker: Walker, cells: tuple[int, ...], data: bytes
) -> tuple[int, ...]:
    """The continuations after `data`, sorted; none if it cannot be read."""
    end = len(data)
    out: set[int] = set()
    stack = [(cell, 0) for cell in cells]
    seen: set[tuple[int, int]] = set()
    known_front, front_of, choice_of = fronts.known.get, fronts.front, walker.words.of
    while stack:
        pair = stack.pop()
        if pair in seen:
            continue
        seen.add(pair)
        cell, at = pair
        if at == end:
            out.add(cell)
            continue
        front = known_front(cell)
        if front is None and (choice := choice_of(cell)) is not None:
            # One of many: only what begins with this byte becomes a continuation.
            front = walker.words.starting(*choice, data[at]), (), (), False, 0
        literals, loops, arcs, _, _ = front or front_of(cell)
        for rest, text, done, tail in literals:
            if rest[0] != data[at]:
                continue
            if data.startswith(rest, at):
                stack.append((tail, at + len(rest)))
            elif rest.startswith(data[at:]):
                out.add(core.literal_cell(text, done + end - at, tail))
        for loop in loops:
            around(core, fronts, walker, cell, loop, data, at, stack)
        byte = data[at]
        for low, high, target in arcs:
            if low <= byte <= high:
                stack.append((core.read(target, byte), at + 1))
    return tuple(sorted(out))


def around(
    core: Core,
    fronts: Fronts,
    walker: Walker,
    cell: int,
    loop: Loop,
    data: bytes,
    at: int,
    stack: list[tuple[int, int]],
) -> None:
    """Go around a loop as far as the bytes do, and push where that leads."""
    place = walker.place(loop)
    if place is None:
        _one_byte(core, cell, data, at, stack)
        return
    table, state, states = place
    steps, may_leave, short, places = table.steps, table.free_list, table.short_list, table.places
    most = loop.left
    excluded: tuple[bytes, ...] = ()
    if loop.but is not None:
        index, node = loop.but
        excluded = core.exclusion(index).rests(node)
    need = loop.need
    count = 0
    # The last place between two items: from there on single bytes go on, if the text stops inside.
    last = (at, state, 0)
    for position in range(at, len(data)):
        merged = steps[(state << 8) | data[position]]
        if (
            (merged < 0 or loop.also >> data[position] & 1)
            and position > at
            and may_leave[state]
            and count >= need
            and not (excluded and data[at:position] in excluded)
        ):
            stack.append((loop.tail, position))
        if merged < 0:
            return
        state = merged >> 1
        count += merged & 1
        if most is not None and count + short[state] > most:
            return
        if state < places:
            last = (position + 1, state, count)
    position, state, count = last
    if position == at:
        _one_byte(core, cell, data, at, stack)
        return
    after = fronts.after(loop, states[state], count, data[at:position])
    if position == len(data):
        stack.append((after, position))
    else:
        _one_byte(core, after, data, position, stack)


def _one_byte(core: Core, cell: int, data: bytes, at: int, stack: list[tuple[int, int]]) -> None:
    """One byte, along the core's arcs."""
    byte = data[at]
    for arc in core.expand(cell).arcs:
        if arc.low <= byte <= arc.high:
            stack.append((core.read(arc.target, byte), at + 1))
