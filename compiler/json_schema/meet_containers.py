"""Conjunction of arrays and of objects: their children's goals are put together."""

from __future__ import annotations

from ..origin import Origin
from .clauses import settle
from .forms import (
    NOWHERE,
    Arrays,
    Beyond,
    Contains,
    Item,
    KeyClass,
    Member,
    Objects,
    Reason,
    Residues,
    both,
)
from .goals import Goals
from .lookup import lookup
from .meet_scalars import least


def meet_arrays(
    x: Arrays, y: Arrays, origin: Origin, residues: Residues, goals: Goals
) -> Arrays | Reason:
    """Arrays that both let through, position by position."""
    prefix: list[Item] = []
    for i in range(max(len(x.prefix), len(y.prefix))):
        item = _meet_items(x.at(i), y.at(i))
        if item is None:
            break
        prefix.append(item)
    complete = len(prefix) == max(len(x.prefix), len(y.prefix))
    rest = _meet_items(x.rest, y.rest) if complete else None
    contains = x.contains + tuple(c for c in y.contains if c not in x.contains)
    return arrays(
        tuple(prefix), rest, max(x.shortest, y.shortest), least(x.longest, y.longest),
        x.unique or y.unique, contains, origin, residues, goals,
    )  # fmt: skip


def _meet_items(a: Item | None, b: Item | None) -> Item | None:
    if a is None or b is None:
        return None
    return Item(both(a.goal, b.goal), a.evaluated or b.evaluated)


def arrays(
    prefix: tuple[Item, ...],
    rest: Item | None,
    shortest: int,
    longest: int | None,
    unique: Origin | None,
    contains: tuple[Contains, ...],
    origin: Origin,
    residues: Residues,
    goals: Goals,
) -> Arrays | Reason:
    """The alternative with its bounds, or why no array satisfies them."""
    if rest is None and (longest is None or longest > len(prefix)):
        if shortest > len(prefix):
            return Reason(
                f"minItems {shortest} is more than the {len(prefix)} items that may stand there",
                origin,
            )
    if longest is not None and shortest > longest:
        return Reason(f"{shortest} items are needed, and at most {longest} may be there", origin)
    for i in range(min(shortest, len(prefix))):
        if len(prefix[i].goal) > 1 and goals.dead(prefix[i].goal):
            return Reason(f"item {i} is required and can have no value", origin)
    return Arrays(prefix, rest, shortest, longest, unique, contains, origin, residues)


def meet_objects(
    x: Objects, y: Objects, origin: Origin, residues: Residues, goals: Goals
) -> Objects | Reason:
    """Objects that both let through, key by key."""
    names = [k for k, m in x.members.items() if m.declared]
    names += [k for k, m in y.members.items() if m.declared]
    members: dict[str, Member] = {}
    for name in dict.fromkeys((*names, *x.members, *y.members)):
        a, b = lookup(x, name), lookup(y, name)
        forbidden = a.goal is None or b.goal is None
        goal = None if forbidden else both(a.goal or (), b.goal or ())
        if a.goal and b.goal and goal and goals.dead(goal):
            if a.required or b.required:
                origin = a.origin if b.origin is NOWHERE else b.origin
                return Reason(f"required key '{name}' can have no value", origin)
            goal = None
        member = Member(
            goal,
            a.required or b.required,
            a.declared or b.declared,
            a.implicit and b.implicit,
            a.evaluated or b.evaluated,
            _where(a, b).origin,
        )
        if member.required and goal is None:
            where = b if a.goal is not None else a
            place = where.origin if where.origin is not NOWHERE else origin
            return Reason(f"required key '{name}' is not allowed", place)
        members[name] = member
    beyond = x.beyond + tuple(c for c in y.beyond if c not in x.beyond)
    made = objects(
        members, _meet_classes(x, y, goals), max(x.fewest, y.fewest), least(x.most, y.most),
        x.declares or y.declares, origin, residues, beyond,
    )  # fmt: skip
    return settle(made, goals) if isinstance(made, Objects) and beyond else made


def _where(a: Member, b: Member) -> Member:
    """The one whose place is that of both together: the first that declares the key."""
    if a.origin is NOWHERE or b.origin is NOWHERE:
        return b if a.origin is NOWHERE else a
    return b if b.declared and not a.declared else a


def _meet_classes(x: Objects, y: Objects, goals: Goals) -> tuple[KeyClass, ...]:
    made: list[KeyClass] = []
    for c in x.classes:
        for d in y.classes:
            goals.step(x.origin)
            if c.names is None or d.names is None or c.names is d.names:
                names = c.names or d.names
            else:
                names = c.names & d.names
                if names.is_empty:
                    continue
            origin = d.origin if c.origin is NOWHERE else c.origin
            made.append(
                KeyClass(
                    names,
                    both(c.goal, d.goal),
                    c.implicit and d.implicit,
                    c.evaluated or d.evaluated,
                    origin,
                )  # fmt: skip
            )
    return tuple(made)


def objects(
    members: dict[str, Member],
    classes: tuple[KeyClass, ...],
    fewest: int,
    most: int | None,
    declares: bool,
    origin: Origin,
    residues: Residues = (),
    beyond: tuple[Beyond, ...] = (),
) -> Objects | Reason:
    """The alternative with its counts, or why no object satisfies them."""
    required = sum(m.required for m in members.values())
    if most is not None and max(required, fewest) > most:
        what = f"minProperties {fewest}" if fewest > required else f"{required} required keys"
        return Reason(f"{what} is above maxProperties {most}", origin)
    allowed = sum(m.goal is not None for m in members.values())
    if not classes and fewest > allowed:
        text = f"minProperties {fewest} is above the {allowed} keys that are allowed"
        return Reason(text, origin)
    return Objects(members, classes, fewest, most, declares, beyond, origin, residues)
