"""Arrays whose items are told by states -> an expression, the separators between the items."""

from __future__ import annotations

from collections.abc import Callable

from ..grammar import EMPTY, Expr, Repeat, choice, sequence
from ..ir import ArrayValue, Value
from .shared import Shared


def items_by_steps(
    value: ArrayValue, lower: Callable[[Value], Expr | None], comma: Expr, shared: Shared
) -> Expr | None:
    """The items of an array of steps; None if it has no text.

    Where default bounds hold, no state is kept for more items than they allow.
    """
    most = shared.bounds.items if shared.bounds else None
    hint = value.origin.pointer.rsplit("/", 1)[-1] or "items"
    lowered: dict[int, Expr | None] = {}

    def item(inner: Value) -> Expr | None:
        if id(inner) not in lowered:
            lowered[id(inner)] = lower(inner)
        return lowered[id(inner)]

    # What may follow in each state, an item standing before it; steps lead to later states.
    later: list[Expr | None] = [None] * len(value.steps)
    for state in range(len(value.steps) - 1, -1, -1):
        around: list[Expr] = []
        onwards: list[Expr] = []
        first: list[Expr] = []
        for step in value.steps[state]:
            text = item(step.value)
            if text is None:
                continue
            if step.target == state:
                around.append(text)
            elif (rest := later[step.target]) is not None:
                onwards.append(sequence(comma, text, rest))
                first.append(sequence(text, rest))
        if state in value.ends:
            onwards.append(EMPTY)
            first.append(EMPTY)
        if not onwards:
            continue
        leave = choice(*onwards)
        if not state:
            return _from_start(around, leave, first, comma, most)
        if around:
            leave = sequence(Repeat(sequence(comma, choice(*around)), 0, most), leave)
        later[state] = leave
        if leave != EMPTY:
            later[state] = shared.rules.define(shared.names.fresh(hint, "after"), leave)
    return None


def _from_start(
    around: list[Expr], leave: Expr, first: list[Expr], comma: Expr, most: int | None
) -> Expr:
    """What may stand in the first state: items that stay in it, then one that leaves it."""
    if not around:
        return choice(*first)
    again = Repeat(sequence(comma, choice(*around)), 0, None if most is None else most - 1)
    return choice(sequence(choice(*around), again, leave), *first)
