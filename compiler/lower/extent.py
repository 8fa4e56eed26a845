"""How far an array reaches: what its items are, and how many there may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..grammar import Expr
from ..ir import ArrayValue

if TYPE_CHECKING:
    from .values import ValueLowering


def extent(
    lowering: ValueLowering, value: ArrayValue, depth: int
) -> tuple[list[Expr], Expr | None, int | None] | None:
    """The prefix, the items that may follow it, and the most members of all; None where they
    are fewer than there must be."""
    bounds = lowering.shared.bounds
    high = value.max_items
    items = None if value.items is None else lowering.item(value.items, depth)
    prefix: list[Expr] = []
    for member in value.prefix:
        expr = lowering.item(member, depth)
        if expr is None:
            items = None
            break
        prefix.append(expr)
    if high is None and bounds is not None:
        high = max(bounds.items, value.min_items, len(prefix))
    if items is None:
        high = len(prefix) if high is None else min(high, len(prefix))
    if high is not None and high < value.min_items:
        return None
    return (prefix if high is None else prefix[:high]), items, high
