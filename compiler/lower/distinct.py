"""Arrays of distinct items, and what else remembers texts, as expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..automaton.core import Core
from ..findings import RELAX_HINT
from ..grammar import Distinct, Expr, Member, Members, sequence
from ..ir import AnyValue, ArrayValue, Key, ObjectValue, OpenKeys
from ..origin import Problem
from ..regular.language import Language
from .extent import extent
from .one_spelling import NoOneSpelling

if TYPE_CHECKING:
    from .values import ValueLowering


def distinct_items(
    lowering: ValueLowering, value: ArrayValue, depth: int, comma: Expr
) -> Expr | None:
    """The items of an array, no two equal; None if there is no such array."""
    if not lowering.layout.one_spelling:
        try:
            lowering, value = lowering.with_one_spelling(value)
        except NoOneSpelling as reason:
            lowering.shared.problems.append(
                Problem(
                    "unsupported-keyword",
                    f"`uniqueItems` over {reason}",
                    value.origin.child("uniqueItems"),
                    RELAX_HINT,
                )
            )
            return None
    found = extent(lowering, value, depth)
    if found is None:
        return None
    prefix, rest, high = found
    low = value.min_items
    made = Distinct(tuple(prefix), rest, comma, low, high, value.origin)
    if low > 1:
        lowering.shared.owed.append(made)
    return made


def has_items(node: Distinct, core: Core) -> bool:
    """Are there as many different items as there must be?"""
    expansion = core.expand(core.continuation(node))
    return bool(expansion.arcs) or expansion.final is not None


def too_few_items(node: Distinct) -> Problem:
    """The problem with an array that needs more different items than there are."""
    message = f"minItems {node.min_count} is above the number of distinct items"
    return Problem("unsatisfiable", f"{message}: no value can match", node.origin)


def owes_open_keys(value: ObjectValue) -> bool:
    """Can it matter that undeclared keys differ: must there be two, or one of a certain value?"""
    if any(kind.variants for kind in value.open_keys):
        return True
    return value.min_keys - sum(key.required for key in value.keys) >= 2


def few_keys_only(value: ObjectValue) -> Problem:
    """The problem with undeclared keys that cannot be told apart."""
    what, origin = "`minProperties`", value.origin.child("minProperties")
    when = "where it takes two undeclared keys"
    if any(kind.variants for kind in value.open_keys):
        what, origin = f"`{value.conditions[0].keyword}`", value.conditions[0].origin
        when = "where it asks what undeclared keys hold"
    return Problem(
        "unsupported-keyword",
        f"{what} is not supported {when} in this notation",
        origin,
        RELAX_HINT,
    )


def untyped_members(lowering: ValueLowering, inner: Expr, comma: Expr) -> Members:
    """The members of any object, each value `inner`, the keys in one order."""
    named = lowering.layout.named_keys
    colon = lowering.punctuation(lowering.layout.colon)
    keys = []
    for name in named:
        text = lowering.keys.key(Key(name, AnyValue(), False))
        if text is not None:
            keys.append(Member(name, sequence(text, colon, inner), False))
    names = Language.any()
    if named:
        names = names - Language.words(named)
    other = lowering.keys.open_key(OpenKeys(names, AnyValue()))
    assert other is not None
    bounds = lowering.shared.bounds
    return Members(
        tuple(keys), comma, (sequence(colon, inner),), bounds.keys if bounds else None,
        names=(other,), memory="ascending",
    )  # fmt: skip
