"""Runs of items -> an expression, the separators between them."""

from __future__ import annotations

from collections.abc import Callable

from ..grammar import Expr, Repeat, Sequence, choice, sequence
from ..ir import ArrayValue, Run, Value


def items_in_runs(
    value: ArrayValue, lower: Callable[[Value], Expr | None], comma: Expr, most: int | None
) -> Expr | None:
    """The items of an array of runs, the prefix being runs of one item each.

    None if an item that is needed has no text. `most`: items of a run that has no bound.
    """
    runs = [Run(member, 1, 1) for member in value.prefix] + list(value.runs)
    # What follows where an item stands before it, and where none does yet.
    later: Expr = Sequence(())
    first: Expr = Sequence(())
    for run in reversed(runs):
        item = lower(run.value)
        if item is None:
            if run.least:
                return None
            continue
        high = most if run.most is None else run.most
        more = None if high is None else high - 1
        following = sequence(comma, item)
        begun = sequence(item, Repeat(following, max(run.least - 1, 0), more), later)
        first = begun if run.least else choice(begun, first)
        later = sequence(Repeat(following, run.least, high), later)
    return first
