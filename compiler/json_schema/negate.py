"""Complement of forms, as far as the normal form can say it; the rest becomes a residue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal

from ..ir import Json
from ..origin import Origin
from ..owners import back_to
from ..regular.language import Language
from .clauses import settle
from .forms import (
    ANY,
    TRIVIAL,
    TYPE_OF,
    Alternative,
    Arrays,
    Beyond,
    Booleans,
    Cause,
    Contains,
    Form,
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


def negate(form: Form, cause: Cause, goals: Goals, clauses: bool = False) -> Form:
    """What `form` does not let through. `clauses`: objects as one alternative, with a clause for
    each that they must not be, rather than as a union."""
    if not form.alternatives:
        return ANY
    goals.step(cause.origin)
    kept: list[Alternative] = []
    for whole in TRIVIAL:
        kept.extend(
            _complement_in(replace(whole, origin=cause.origin), form, cause, goals, clauses)
        )
    if not kept:
        return Form((), (Reason("its negation lets everything through", cause.origin),))
    return Form(tuple(kept))


def _complement_in(
    whole: Typed, form: Form, cause: Cause, goals: Goals, clauses: bool
) -> list[Alternative]:
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
    clauses = clauses and not any(x.checks for x in values)
    if clauses and isinstance(whole, Objects):
        return _clauses(whole, mine, values, cause, goals)
    current: list[Typed] = [whole]
    for x in (*values, *mine):
        pieces = _pieces(whole, x, cause, goals)
        if len(current) * len(pieces) > MAX_PRODUCT:
            break
        goals.step(cause.origin, len(current) * len(pieces))
        current = _cross(current, pieces, goals)
        if len(current) > 1:
            current = prune(current, goals)
        if len(current) > MAX_PIECES:
            break
    else:
        return list(current)
    if isinstance(whole, Objects) and not any(x.checks for x in values):
        return _clauses(whole, mine, values, cause, goals)
    return [_as_residue(whole, form, cause, goals)]


def _clauses(
    whole: Objects, mine: Sequence[Alternative], values: list[Values], cause: Cause, goals: Goals
) -> list[Alternative]:
    """The objects of none of the shapes, and none of the values."""
    shapes = [_bare(x) for x in mine if isinstance(x, Objects)]
    shapes += [_shape(v, cause, goals) for x in values for v in x.values if isinstance(v, dict)]
    beyond = tuple(Beyond(shape, cause.keyword, cause.origin) for shape in shapes)
    settled = settle(replace(whole, beyond=beyond), goals)
    return [settled] if isinstance(settled, Objects) else []


def _cross(xs: list[Typed], ys: list[Typed], goals: Goals) -> list[Typed]:
    met = (meet_typed(x, y, goals) for x in xs for y in ys)
    return [m for m in met if not isinstance(m, Reason)]


def _as_residue(whole: Typed, form: Form, cause: Cause, goals: Goals) -> Typed:
    return replace(whole, residues=_none_of(form.alternatives, cause, goals))


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


def _none_of(
    alternatives: tuple[Alternative, ...], cause: Cause, goals: Goals
) -> tuple[Residue, ...]:
    reader = back_to(goals)  # Who keeps the forms that it has read.

    def holds(value: Json) -> bool:
        return not any(reader.admits(x, value) for x in alternatives)

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
    found = None if x.checks else _not_containers(whole, values, cause, goals)
    if found is not None:
        return found
    return [replace(whole, residues=_none_of((x,), cause, goals))]


def _not_containers(
    whole: Typed, values: list[Json], cause: Cause, goals: Goals
) -> list[Typed] | None:
    """The arrays, or objects, that equal none of the values; None where that is not said."""
    current: list[Typed] = [whole]
    for value in values:
        match value:
            case dict():
                alone: Alternative = _shape(value, cause, goals)
            case list():
                alone = _items(value, cause, goals)
            case _:
                return None
        current = _cross(current, _pieces(whole, alone, cause, goals), goals)
        if len(current) > MAX_PIECES:
            return None
    return current


def _bare(x: Objects) -> Objects:
    """An object's shape: under a negation it declares and evaluates nothing."""
    members = {
        name: Member(m.goal, m.required, implicit=True, origin=m.origin)
        for name, m in x.members.items()
    }
    classes = tuple(replace(c, implicit=True, evaluated=False) for c in x.classes)
    return replace(x, members=members, classes=classes, declares=False)


def _shape(value: dict[str, Json], cause: Cause, goals: Goals) -> Objects:
    """The objects that are equal to `value`."""
    members = {
        name: Member(goals.constant(inner, cause.origin), True, implicit=True)
        for name, inner in value.items()
    }
    return Objects(members, (), origin=cause.origin)


def _items(value: list[Json], cause: Cause, goals: Goals) -> Arrays:
    """The arrays that are equal to `value`."""
    items = tuple(Item(goals.constant(inner, cause.origin)) for inner in value)
    return Arrays(items, None, len(items), len(items), origin=cause.origin)


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
            later = Contains((atom.opposite,), 1, None, origin, start=len(x.prefix))
            made.append(Arrays(contains=(later,), origin=origin))
    for c in x.contains:
        made.extend(_not_contains(c, origin))
    if x.unique is not None:
        unique = Arrays(unique=x.unique)
        made.append(Arrays(origin=origin, residues=_none_of((unique,), cause, goals)))
    return made


def _not_contains(c: Contains, origin: Origin) -> list[Typed]:
    made: list[Typed] = []
    if c.minimum == 1 and len(c.goal) == 1:
        before = (Item(),) * c.start
        made.append(Arrays(before, Item((c.goal[0].opposite,)), origin=origin))
    elif c.minimum > 0:
        made.append(
            Arrays(
                contains=(replace(c, minimum=0, maximum=c.minimum - 1, evaluates=False),),
                origin=origin,
            )
        )
    if c.maximum is not None:
        more = replace(c, minimum=c.maximum + 1, maximum=None, evaluates=False)
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
        shape = _bare(Objects({name: Member(()) for name in x.members}, x.classes))
        beyond = Beyond(shape, cause.keyword, origin)
        made.append(Objects(beyond=(beyond,), origin=origin))
    for b in x.beyond:
        made.append(replace(b.shape, origin=origin))
    return made
