"""Union of forms, without what others obviously cover."""

from __future__ import annotations

from decimal import Decimal
from typing import TypeVar

from .forms import (
    ANY,
    Alternative,
    Arrays,
    Booleans,
    Form,
    KeyClass,
    Member,
    Nulls,
    Numbers,
    Objects,
    Strings,
    Values,
    trivial,
)
from .goals import Goals
from .json_values import is_multiple, json_key
from .lookup import lookup

# Comparing two alternatives takes a fraction of the time that putting them together takes.
_COVERS_PER_STEP = 10
# An alternative of a union is held against so many others of its type. What more there is stays,
# covered or not.
MAX_COMPARED = 64

Covered = TypeVar("Covered", bound=Alternative)


def join(forms: list[Form], goals: Goals, ordered: bool = False) -> Form:
    """What any of the forms lets through, without repeats.

    `ordered`: keep alternatives that others cover, because what they evaluate counts.
    """
    if not ordered and any(form is ANY for form in forms):
        return ANY
    alternatives = [x for form in forms for x in form.alternatives]
    if not alternatives:
        return Form((), tuple(r for form in forms for r in form.why)[:3])
    goals.step(alternatives[0].origin)
    kept: list[Alternative] = []
    near: dict[type, list[Alternative]] = {}
    compared = 0
    for x in alternatives:
        if isinstance(x, Values):
            _add_values(x, kept)
            continue
        others = near.setdefault(type(x), [])
        compared += len(others)
        if compared >= _COVERS_PER_STEP:
            goals.step(x.origin, compared // _COVERS_PER_STEP)
            compared %= _COVERS_PER_STEP
        if any(covers(y, x) for y in others):
            continue
        covered = {id(y) for y in others if covers(x, y)}
        if covered:
            kept = [y for y in kept if id(y) not in covered]
            others[:] = [y for y in others if id(y) not in covered]
        kept.append(x)
        if len(others) < MAX_COMPARED:
            others.append(x)
    return Form(tuple(kept))


def _add_values(x: Values, kept: list[Alternative]) -> None:
    last = kept[-1] if kept else None
    if isinstance(last, Values) and not (last.checks or x.checks or last.residues or x.residues):
        seen = {json_key(v) for v in last.values}
        fresh = tuple(v for v in x.values if json_key(v) not in seen)
        kept[-1] = Values(last.values + fresh, (), last.origin)
    else:
        kept.append(x)


def prune(alternatives: list[Covered], goals: Goals) -> list[Covered]:
    """The alternatives that no other one covers."""
    kept: list[Covered] = []
    goals.step(alternatives[0].origin, len(alternatives) ** 2 // _COVERS_PER_STEP)
    for x in alternatives:
        if not any(covers(y, x) for y in kept):
            kept = [y for y in kept if not covers(x, y)]
            kept.append(x)
    return kept


def covers(x: Alternative, y: Alternative) -> bool:
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
                and all(any(is_multiple(a, b) for b in y.avoid) for a in x.avoid)
                and _bound_covers(x.low, x.low_open, y.low, y.low_open, 1)
                and _bound_covers(x.high, x.high_open, y.high, y.high_open, -1)
            )
        case Strings(), Strings():
            return (
                (x.language is None or x.language is y.language)
                and x.shortest <= y.shortest
                and (x.longest is None or (y.longest is not None and y.longest <= x.longest))
            )
        case Arrays(), Arrays():
            return trivial(x) and not _evaluates(y)
        case Objects(), Objects():
            return _object_covers(x, y)
        case _:
            return False


def _evaluates(y: Arrays) -> bool:
    if any(i.evaluated for i in y.prefix) or any(c.evaluates for c in y.contains):
        return True
    return y.rest is not None and y.rest.evaluated


def _object_covers(x: Objects, y: Objects) -> bool:
    """Member by member; also where what is evaluated, or left unsaid, decides later."""
    if x.declares != y.declares or any(b not in y.beyond for b in x.beyond):
        return False
    if x.fewest > y.fewest or (x.most is not None and (y.most is None or y.most > x.most)):
        return False
    # What `x` demands by name first: that is where alternatives differ, so most pairs end here.
    for name, m in x.members.items():
        other = y.members.get(name)
        if other is None:
            if m.required:
                return False
            other = lookup(y, name)
        if not _member_covers(m, other):
            return False
    for name, m in y.members.items():
        if name not in x.members and not _member_covers(lookup(x, name), m):
            return False
    return all(any(_class_covers(c, d) for c in x.classes) for d in y.classes)


def _member_covers(x: Member, y: Member) -> bool:
    if x.required and not y.required:
        return False
    if y.goal is None:
        return True
    return (
        x.goal is not None
        and set(x.goal) <= set(y.goal)
        and (x.evaluated or not y.evaluated)
        and (x.declared or not y.declared)
        and (y.implicit or not x.implicit)
    )


def _class_covers(c: KeyClass, d: KeyClass) -> bool:
    return (
        (c.names is None or c.names == d.names)
        and set(c.goal) <= set(d.goal)
        and (c.evaluated or not d.evaluated)
        and (d.implicit or not c.implicit)
    )


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
