"""Reading a token from continuations: as many bytes at a time as the grammar allows.

The result is the same set of continuations that the core's byte arcs lead to, one byte after the
other.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from ...compiler.automaton.cells import (
    BUT,
    BYTES,
    EXPR,
    MEMBER,
    MEMBERS,
    REGULAR,
    REPEAT,
    SEQ,
    Head,
)
from ...compiler.automaton.core import Core
from ...compiler.automaton.distinct import INSIDE
from ...compiler.automaton.front_parts import Front, Loop, free
from ...compiler.automaton.fronts import Fronts
from ...compiler.grammar import Choice, Literal, Sequence
from ...compiler.vocabulary.loop_table import Place
from .walk import Walker

_LOOPS: Final = frozenset({REPEAT, REGULAR, BUT, INSIDE})
"""Kinds of heads that may be loops."""


Here: TypeAlias = tuple[int, int]
"""A continuation, and how many bytes are read."""


def advance(
    core: Core, fronts: Fronts, walker: Walker, cells: tuple[int, ...], data: bytes
) -> tuple[int, ...]:
    """The continuations after `data`, sorted; none if it cannot be read."""
    end = len(data)
    out: set[int] = set()
    stack = [(cell, 0) for cell in cells]
    seen: set[Here] = set()
    known, parts, exprs = fronts.known, core.parts, core.exprs
    while stack:
        pair: Here | None = stack.pop()
        if pair in seen:
            continue
        # Where there is one way on it is taken at once.
        while pair is not None:
            cell, at = pair
            if at == end:
                out.add(core.settled(cell))
                break
            seen.add(pair)
            pair = None
            front = known.get(cell)
            if front is not None:
                _front(core, fronts, walker, cell, front, data, at, stack, out)
                break
            head, tail = parts(cell)
            kind = head[0]
            if kind == BYTES:
                _, text, done = head
                pair = _literal(core, text, done, tail, data, at, out)
            elif kind == REPEAT and (place := walker.repeated(head[1])) is not None:
                pair = _repeat(core, fronts, place, cell, head, tail, data, at, stack)
            elif kind in _LOOPS or (fronts.items and fronts.is_inside(tail)):
                loop = fronts.loop(cell)
                if loop is not None:
                    around(core, fronts, walker, cell, loop, data, at, stack)
                    pair = (loop.tail, at) if free(loop) else None
                elif kind == REPEAT:
                    stack += [(part, at) for part in core.repeated(head, tail)]
                else:
                    _one_byte(core, cell, data, at, stack)
            elif kind == SEQ:
                pair = _sequence(core, head[1], head[2], tail, data, at, out)
            elif kind in (MEMBERS, MEMBER):
                _members(core, walker, head, tail, data, at, stack, out)
            else:
                expr = exprs[head[1]] if kind == EXPR else None
                if type(expr) is Literal and expr.text and not core.is_marked(expr.text):
                    pair = _literal(core, expr.text.encode("utf-8"), 0, tail, data, at, out)
                elif type(expr) is Sequence and expr.items:
                    pair = _sequence(core, head[1], 0, tail, data, at, out)
                elif type(expr) is Choice:
                    stack += [(core.continuation(option, tail), at) for option in expr.options]
                else:
                    _front(core, fronts, walker, cell, fronts.front(cell), data, at, stack, out)
            if pair in seen:
                break
    return tuple(sorted(out)) if len(out) > 1 else tuple(out)


def _literal(
    core: Core, text: bytes, done: int, tail: int, data: bytes, at: int, out: set[int]
) -> Here | None:
    """Go on in a literal: what comes behind it, if that is reached."""
    read, left = len(text) - done, len(data) - at
    if left >= read:
        return (tail, at + read) if data.startswith(text[done:] if done else text, at) else None
    if text.startswith(data[at:] if at else data, done):
        out.add(core.literal_cell(text, done + left, tail))
    return None


def _sequence(
    core: Core, index: int, number: int, tail: int, data: bytes, at: int, out: set[int]
) -> Here | None:
    """Go on in a sequence from one of its items, over literals at once."""
    items, end = core.items(index), len(data)
    while number < len(items):
        item = items[number]
        if type(item) is not Literal or not item.text or core.is_marked(item.text) or at == end:
            return core.sequence(index, number, tail), at
        text = item.text.encode("utf-8")
        number += 1
        if not data.startswith(text, at):
            if text.startswith(data[at:]):
                after = core.cell((SEQ, index, number), tail) if number < len(items) else tail
                out.add(core.literal_cell(text, end - at, after))
            return None
        at += len(text)
    return tail, at


def _members(
    core: Core,
    walker: Walker,
    head: Head,
    tail: int,
    data: bytes,
    at: int,
    stack: list[Here],
    out: set[int],
) -> None:
    """Go on at a place among an object's members."""
    kind, index, place = head
    keys = walker.keys(head)
    if keys is None or (kind == MEMBERS and core.members_plan(index).may_end(place)):
        stack += [(part, at) for part in core.members(head, tail)]
        return
    byte = data[at]
    for text, number, state in keys:
        if text[0] == byte:
            after = core.cell((SEQ, number, 1), core.cell((MEMBERS, index, state), tail))
            pair = _literal(core, text, 0, after, data, at, out)
            if pair is not None:
                stack.append(pair)


def _repeat(
    core: Core,
    fronts: Fronts,
    place: Place,
    cell: int,
    head: Head,
    tail: int,
    data: bytes,
    at: int,
    stack: list[Here],
) -> Here | None:
    """Go around a repeated item, from between two: where that leads, others are pushed."""
    _, index, need, most = head
    table = place.table
    steps, may_leave, short, places = table.steps, table.free_list, table.short_list, table.places
    behind = fronts.firsts(tail)
    state = count = 0
    # The last place between two items: from there on single bytes go on, if the text stops inside.
    last, items = at, 0
    leave: Here | None = None
    for position in range(at, len(data)):
        byte = data[position]
        if behind >> byte & 1 and count >= need and may_leave[state]:
            if leave is not None:
                stack.append(leave)
            leave = tail, position
        merged = steps[(state << 8) | byte]
        if merged < 0:
            return leave
        state = merged >> 1
        count += merged & 1
        if most is not None and count + short[state] > most:
            return leave
        if state < places:
            last, items = position + 1, count
    if items and (need or most is not None):
        need = max(need - items, 0)
        cell = core.repeat_cell(index, need, None if most is None else most - items, tail)
    if leave is not None:
        stack.append(leave)
    if last == len(data):
        return cell, last
    _one_byte(core, cell, data, last, stack)
    return None


def _front(
    core: Core,
    fronts: Fronts,
    walker: Walker,
    cell: int,
    front: Front,
    data: bytes,
    at: int,
    stack: list[tuple[int, int]],
    out: set[int],
) -> None:
    """Go on by what a continuation is known to begin with."""
    end, byte = len(data), data[at]
    literals, loops, arcs, _, _ = front
    for rest, text, done, tail in literals:
        if rest[0] != byte:
            continue
        if data.startswith(rest, at):
            stack.append((tail, at + len(rest)))
        elif rest.startswith(data[at:]):
            out.add(core.literal_cell(text, done + end - at, tail))
    for loop in loops:
        around(core, fronts, walker, cell, loop, data, at, stack)
    for low, high, target in arcs:
        if low <= byte <= high:
            stack.append((core.read(target, byte), at + 1))


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
