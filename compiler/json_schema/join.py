"""Union of forms, without what others obviously cover."""

from __future__ import annotations

from decimal import Decimal

from .forms import (
    ANY,
    Alternative,
    Arrays,
    Booleans,
    Form,
    Nulls,
    Numbers,
    Objects,
    Strings,
    Values,
    trivial,
)
from .json_values import json_key


def join(forms: list[Form], ordered: bool = False) -> Form:
    """What any of the forms lets through, without repeats.

    `ordered`: keep alternatives that others cover, because what they evaluate counts.
    """
    if not ordered and any(form is ANY for form in forms):
        return ANY
    alternatives = [x for form in forms for x in form.alternatives]
    if not alternatives:
        return Form((), tuple(r for form in forms for r in form.why)[:3])
    kept: list[Alternative] = []
    for x in alternatives:
        if isinstance(x, Values):
            _add_values(x, kept)
        elif not any(covers(y, x, ordered) for y in kept):
            kept = [y for y in kept if not covers(x, y, ordered)]
            kept.append(x)
    return Form(tuple(kept))


def _add_values(x: Values, kept: list[Alternative]) -> None:
    last = kept[-1] if kept else None
    if isinstance(last, Values) and not (last.checks or x.checks or last.residues or x.residues):
        seen = {json_key(v) for v in last.values}
        fresh = tuple(v for v in x.values if json_key(v) not in seen)
        kept[-1] = Values(last.values + fresh, (), last.origin)
    else:
        kept.append(x)


def covers(x: Alternative, y: Alternative, exact_evaluation: bool = False) -> bool:
    """Whether `x` obviously lets through all that `y` does (False where it takes thought)."""
    if x is y:
        return True
    if x.residues:
        return False
    match x, y:
        case (Nulls(), Nulls()) | (Booleans(), Booleans()):
            return True
        case Numbers(), Numbers():
            return (
                x.multiple is None
                and x.kind in ("any", y.kind)
                and _bound_covers(x.low, x.low_open, y.low, y.low_open, 1)
                and _bound_covers(x.high, x.high_open, y.high, y.high_open, -1)
            )
        case Strings(), Strings():
            return (
                (x.language is None or x.language is y.language)
                and x.shortest <= y.shortest
                and (x.longest is None or (y.longest is not None and y.longest <= x.longest))
            )
        case (Arrays(), Arrays()) | (Objects(), Objects()):
            return not exact_evaluation and trivial(x)
        case _:
            return False


def _bound_covers(
    x: Decimal | None, x_open: bool, y: Decimal | None, y_open: bool, sign: int
) -> bool:
    if x is None:
        return True
    if y is None:
        return False
    if x == y:
        return y_open or not x_open
    return (y - x) * sign > 0
