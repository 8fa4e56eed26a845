"""Complement of forms, as far as the normal form can say it; the rest becomes a residue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from ..ir import Json
from ..origin import Origin
from ..regular.language import Language
from .forms import (
    ANY,
    TRIVIAL,
    TYPE_OF,
    Alternative,
    Arrays,
    Atom,
    Beyond,
    Booleans,
    Cause,
    Contains,
    Form,
    Goal,
    Item,
    Member,
    Nulls,
    NumberKind,
    Numbers,
    Objects,
    Reason,
    Residue,
    Strings,
    Typed,
    Values,
)
from .goals import Goals
from .join import prune
from .json_values import json_type
from .meet import meet_typed

# More pieces than this and the complement stays a residue.
MAX_PIECES = 64
MAX_PRODUCT = 512


def negate(form: Form, cause: Cause, goals: Goals) -> Form:
    """What `form` does not let through."""
    if not form.alternatives:
        return ANY
    goals.step(cause.origin)
    kept: list[Alternative] = []
    for whole in TRIVIAL:
        kept.extend(_complement_in(replace(whole, origin=cause.origin), form, cause, goals))
    if not kept:
        return Form((), (Reason("its negation lets everything through", cause.origin),))
    return Form(tuple(kept))


def _complement_in(whole: Typed, form: Form, cause: Cause, goals: Goals) -> list[Alternative]:
    """The part of one type that the form does not let through."""
    kind = TYPE_OF[type(whole)]
    mine = [x for x in form.alternatives if type(x) is type(whole)]
    values = [
        x
        for x in form.alternatives
        if isinstance(x, Values) and any(json_type(v) == kind for v in x.values)
    ]
    if isinstance(whole, (Nulls, Booleans)):
        return _complement_finite(whole, [*mine, *values], cause, goals)
    current: list[Typed] = [whole]
    for x in (*values, *mine):
        pieces = _pieces(whole, x, cause, goals)
        if len(current) * len(pieces) > MAX_PRODUCT:
            return [_as_residue(whole, form, cause, goals)]
        goals.step(cause.origin, len(current) * len(pieces))
        current = _cross(current, pieces, goals)
        if len(current) > 1:
            current = prune(current, goals)
        if len(current) > MAX_PIECES:
            return [_as_residue(whole, form, cause, goals)]
    return list(current)


def _cross(xs: list[Typed], ys: list[Typed], goals: Goals) -> list[Typed]:
    met = (meet_typed(x, y, goals) for x in xs for y in ys)
    return [m for m in met if not isinstance(m, Reason)]


def _as_residue(whole: Typed, form: Form, cause: Cause, goals: Goals) -> Typed:
    alternatives = form.alternatives

    def holds(value: Json) -> bool:
        return not any(goals.admits(x, value) for x in alternatives)

    return replace(whole, residues=_residue(cause, holds))


def _complement_finite(
    whole: Nulls | Booleans, held: list[Alternative], cause: Cause, goals: Goals
) -> list[Alternative]:
    candidates: list[Json] = [None] if isinstance(whole, Nulls) else [True, False]
    left = [v for v in candidates if not any(goals.admits(x, v) for x in held)]
    if len(left) == len(candidates):
        return [whole]
    return [Values(tuple(left), (), cause.origin)] if left else []


def _pieces(whole: Typed, x: Alternative, cause: Cause, goals: Goals) -> list[Typed]:
    """The complement of one alternative within its type, as a union."""
    made: list[Typed]
    match x:
        case Values():
            made = _not_values(whole, x, cause, goals)
        case Numbers():
            made = _not_numbers(x, cause)
        case Strings():
            made = _not_strings(x, cause)
        case Arrays():
            made = _not_arrays(x, cause, goals)
        case Objects():
            made = _not_objects(x, cause)
        case _:
            made = []
    if not isinstance(x, Values):
        # not (A and r) = not A, or A and not r
        for residue in x.residues:
            opposite = Residue(
                residue.keyword, f"not {residue.what}", residue.origin, _opposite(residue.holds)
            )
            made.append(replace(x, residues=(opposite,)))
    return made


def _opposite(holds: Callable[[Json], bool]) -> Callable[[Json], bool]:
    return lambda value: not holds(value)


def _residue(cause: Cause, holds: Callable[[Json], bool]) -> tuple[Residue, ...]:
    return (Residue(cause.keyword, f"`{cause.keyword}`", cause.origin, holds),)


def _not_values(whole: Typed, x: Values, cause: Cause, goals: Goals) -> list[Typed]:
    kind = TYPE_OF[type(whole)]
    values = [v for v in x.values if json_type(v) == kind]
    if isinstance(whole, Strings):
        words = [v for v in values if isinstance(v, str)]
        return [replace(whole, language=~Language.words(words), parts=1)]
    if isinstance(whole, Numbers) and len(values) <= MAX_PIECES // 2:
        points = sorted(Decimal(v) for v in values if isinstance(v, (int, Decimal)))
        edges = [None, *points, None]
        return [
            Numbers(
                low=a, high=b, low_open=a is not None, high_open=b is not None, origin=cause.origin
            )
            for a, b in zip(edges, edges[1:], strict=False)
        ]
    return [replace(whole, residues=_residue(cause, lambda v: not goals.admits(x, v)))]


def _not_numbers(x: Numbers, cause: Cause) -> list[Typed]:
    made: list[Typed] = []
    origin = cause.origin
    if x.kind == "integer" and x.multiple is None:
        made.append(Numbers(avoid=(Decimal(1),), origin=origin))
    if x.low is not None:
        made.append(Numbers(high=x.low, high_open=not x.low_open, origin=origin))
    if x.high is not None:
        made.append(Numbers(low=x.high, low_open=not x.high_open, origin=origin))
    if x.multiple is not None:
        made.append(Numbers(avoid=(x.multiple,), origin=origin))
    for factor in x.avoid:
        whole = factor == factor.to_integral_value()
        kind: NumberKind = "integer" if whole else "any"
        step = None if factor == 1 else factor
        made.append(Numbers(kind, multiple=step, origin=origin))
    return made


def _not_strings(x: Strings, cause: Cause) -> list[Typed]:
    made: list[Typed] = []
    if x.language is not None:
        made.append(Strings(language=~x.language, parts=1, origin=cause.origin))
    if x.shortest > 0:
        made.append(Strings(longest=x.shortest - 1, origin=cause.origin))
    if x.longest is not None:
        made.append(Strings(shortest=x.longest + 1, origin=cause.origin))
    return made


def _not_arrays(x: Arrays, cause: Cause, goals: Goals) -> list[Typed]:
    origin = cause.origin
    made: list[Typed] = []
    if x.shortest > 0:
        made.append(Arrays(longest=x.shortest - 1, origin=origin))
    limits = [n for n in (x.longest, len(x.prefix) if x.rest is None else None) if n is not None]
    if limits:
        made.append(Arrays(shortest=min(limits) + 1, origin=origin))
    for i, item in enumerate(x.prefix):
        for atom in item.goal:
            prefix = (*(Item() for _ in range(i)), Item((atom.opposite,)))
            made.append(Arrays(prefix, shortest=i + 1, origin=origin))
    if x.rest is not None:
        for atom in x.rest.goal:
            made.append(_some_later_item(len(x.prefix), atom.opposite, cause, goals))
    for c in x.contains:
        made.extend(_not_contains(c, origin))
    if x.unique is not None:
        unique = Arrays(unique=x.unique)
        made.append(
            Arrays(origin=origin, residues=_residue(cause, lambda v: not goals.admits(unique, v)))
        )
    return made


def _some_later_item(start: int, atom: Atom, cause: Cause, goals: Goals) -> Typed:
    goal: Goal = (atom,)
    if start == 0:
        return Arrays(contains=(Contains(goal, 1, None, cause.origin),), origin=cause.origin)
    later = Arrays(contains=(Contains(goal, 1, None, cause.origin),))

    def holds(value: Json) -> bool:
        return isinstance(value, list) and goals.admits(later, value[start:])

    return Arrays(origin=cause.origin, residues=_residue(cause, holds))


def _not_contains(c: Contains, origin: Origin) -> list[Typed]:
    made: list[Typed] = []
    if c.minimum == 1 and len(c.goal) == 1:
        made.append(Arrays(rest=Item((c.goal[0].opposite,)), origin=origin))
    elif c.minimum > 0:
        made.append(Arrays(contains=(Contains(c.goal, 0, c.minimum - 1, origin),), origin=origin))
    if c.maximum is not None:
        more = Contains(c.goal, c.maximum + 1, None, origin)
        made.append(Arrays(contains=(more,), origin=origin))
    return made


def _not_objects(x: Objects, cause: Cause) -> list[Typed]:
    origin = cause.origin
    made: list[Typed] = []

    def one(name: str, member: Member) -> Objects:
        return Objects({name: replace(member, origin=origin)}, origin=origin)

    for name, m in x.members.items():
        if m.required:
            made.append(one(name, Member(None, implicit=True)))
        if m.goal is None:
            made.append(one(name, Member((), True, implicit=True)))
        else:
            made.extend(one(name, Member((a.opposite,), True, implicit=True)) for a in m.goal)
    if x.fewest > 0:
        made.append(Objects(most=x.fewest - 1, origin=origin))
    if x.most is not None:
        made.append(Objects(fewest=x.most + 1, origin=origin))
    if not any(c.names is None and not c.goal for c in x.classes):
        shape = Objects({name: Member(()) for name in x.members}, x.classes)
        beyond = Beyond(shape, cause.keyword, origin)
        made.append(Objects(beyond=(beyond,), origin=origin))
    for b in x.beyond:
        made.append(replace(b.shape, origin=origin))
    return made
