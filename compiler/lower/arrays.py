"""Arrays -> expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import Expr, Repeat, Sequence, optional, sequence
from ..ir import ArrayValue
from .distinct import distinct_items
from .extent import extent
from .steps import items_by_steps

if TYPE_CHECKING:
    from .values import ValueLowering


def array(lowering: ValueLowering, value: ArrayValue, depth: int) -> Expr | None:
    """An array: the prefix one by one, then repeated items."""
    comma = lowering.punctuation(lowering.layout.comma)
    low = value.min_items
    if value.unique:
        inside = distinct_items(lowering, value, depth, comma)
        return None if inside is None else lowering.bracketed("[", inside, "]")
    if value.steps:
        inside = items_by_steps(value, lambda v: lowering.item(v, depth), comma, lowering.shared)
        return None if inside is None else lowering.bracketed("[", inside, "]")
    found = extent(lowering, value, depth)
    if found is None:
        return None
    prefix, items, high = found
    count = len(prefix)
    tail: Expr = Sequence(())
    if items is not None and (high is None or high > count):
        more = None if high is None else high - count
        owed = max(low - count, 0)
        if count:
            tail = Repeat(sequence(comma, items), owed, more)
        else:
            rest = Repeat(
                sequence(comma, items), max(owed - 1, 0), None if more is None else more - 1
            )
            tail = sequence(items, rest)
            if low == 0:
                tail = optional(tail)
    for at in range(count - 1, -1, -1):
        tail = sequence(*((comma,) if at else ()), prefix[at], tail)
        if at >= low:
            tail = optional(tail)
        if at % 16 == 15:  # Long tuples nest in rules, not in the interpreter's stack.
            name = lowering.shared.names.fresh(lowering.hint, "tuple")
            tail = lowering.shared.rules.define(name, tail)
    return lowering.bracketed("[", tail, "]")
