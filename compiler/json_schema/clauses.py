"""Clauses of objects, which say of what shape one must not be: whether they hold anyway."""

from __future__ import annotations

from dataclasses import replace

from ..regular.language import Language
from .forms import Beyond, Goal, KeyClass, Objects, Reason, both
from .goals import Goals
from .lookup import lookup


def settle(x: Objects, goals: Goals) -> Objects | Reason:
    """`x` without clauses that hold anyway, or why one of them cannot hold."""
    kept: list[Beyond] = []
    for b in x.beyond:
        goals.step(x.origin)
        if holds(x, b.shape, goals):
            continue
        if not _can_hold(x, b.shape):
            return Reason(f"all objects are what `{b.keyword}` excludes", b.origin)
        kept.append(b)
    return x if len(kept) == len(x.beyond) else replace(x, beyond=tuple(kept))


def holds(x: Objects, shape: Objects, goals: Goals) -> bool:
    """Whether no object of `x` can be of that shape, as far as is plain to see."""
    if x.most is not None and x.most < shape.fewest:
        return True
    if any(m.required and lookup(x, name).goal is None for name, m in shape.members.items()):
        return True
    required = [(name, m) for name, m in x.members.items() if m.required]
    if shape.most is not None and max(x.fewest, len(required)) > shape.most:
        return True
    for name, m in required:
        assert m.goal is not None
        allowed = lookup(shape, name).goal
        if allowed is None or apart(m.goal, allowed, goals):
            return True
    return False


def apart(a: Goal, b: Goal, goals: Goals) -> bool:
    """Whether no value satisfies both goals, `a` being satisfiable."""
    return bool(b) and not set(b) <= set(a) and goals.dead(both(a, b))


def _can_hold(x: Objects, shape: Objects) -> bool:
    """Whether some object of `x` may not be of that shape."""
    if shape.fewest or shape.residues or shape.beyond:
        return True
    if shape.most is not None and (x.most is None or x.most > shape.most):
        return True
    for name in dict.fromkeys((*x.members, *shape.members)):
        m, allowed = lookup(x, name), lookup(shape, name)
        if allowed.required and not m.required:
            return True
        if m.goal is not None and not satisfies(m.goal, allowed.goal):
            return True
    return any(_leaves(c, x, shape) for c in x.classes)


def satisfies(goal: Goal, allowed: Goal | None) -> bool:
    return allowed is not None and set(allowed) <= set(goal)


def _leaves(c: KeyClass, x: Objects, shape: Objects) -> bool:
    """Whether undeclared keys of a class may leave the shape."""
    left = c.names
    for d in shape.classes:
        if not satisfies(c.goal, d.goal):
            continue
        if d.names is None:
            return False
        left = ~d.names if left is None else left - d.names
    named = Language.words(dict.fromkeys((*x.members, *shape.members)))
    return left is None or not (left - named).is_empty
