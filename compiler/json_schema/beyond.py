"""Objects that must have some key beyond a shape: what is left of a negated object.

`not` a closed object = a declared key is wrong, or some key is not one of its own. The second part
is a :class:`~.forms.Beyond`; beside another closed object only finitely many keys can be meant, and
it becomes a union.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from ..regular.language import Language
from .forms import Atom, Beyond, KeyClass, Member, Objects, Reason
from .lookup import lookup

# A key that may be the one, and the atom that its value must satisfy for that (None: any value).
Candidate: TypeAlias = tuple[str, "Atom | None"]


def settle(x: Objects) -> Objects | Reason:
    """`x` without conditions that hold anyway, or why one of them cannot hold."""
    kept: list[Beyond] = []
    for b in x.beyond:
        named = candidates(x, b.shape)
        if any(atom is None and x.members[name].required for name, atom in named):
            continue
        if not named and not _open_candidates(x, b.shape):
            return Reason(f"no key beyond those that `{b.keyword}` excludes is allowed", b.origin)
        kept.append(b)
    return x if len(kept) == len(x.beyond) else replace(x, beyond=tuple(kept))


def expand_beyond(x: Objects) -> list[Objects] | Beyond:
    """`x` as a union without such conditions, or the condition that open keys leave undecided."""
    current = [x]
    for b in x.beyond:
        made: list[Objects] = []
        for y in current:
            if _open_candidates(y, b.shape):
                return b
            made.extend(_one_of(y, candidates(y, b.shape)))
        current = made
    return [replace(y, beyond=()) for y in current]


def _one_of(x: Objects, named: list[Candidate]) -> list[Objects]:
    """`x` with one candidate fulfilled, each alternative without the ones before it."""
    made: list[Objects] = []
    members = dict(x.members)
    for name, atom in named:
        m = members[name]
        if m.goal is None:
            continue
        goal = m.goal if atom is None else (*m.goal, atom)
        chosen = replace(m, goal=goal, required=True)
        made.append(replace(x, members={**members, name: chosen}))
        if atom is None:
            if m.required:
                break
            members[name] = replace(m, goal=None)
    return made


def candidates(x: Objects, shape: Objects) -> list[Candidate]:
    """The members of `x` that may be beyond `shape`."""
    made: list[Candidate] = []
    for name, m in x.members.items():
        if m.goal is None:
            continue
        allowed: Member = lookup(shape, name)
        if allowed.goal is None:
            made.append((name, None))
        else:
            made.extend((name, atom.opposite) for atom in allowed.goal if atom not in m.goal)
    return made


def _open_candidates(x: Objects, shape: Objects) -> bool:
    """Whether undeclared keys of `x` may be beyond `shape`."""
    return any(_reaches(c, x, shape) for c in x.classes)


def _reaches(c: KeyClass, x: Objects, shape: Objects) -> bool:
    left = c.names
    for d in shape.classes:
        if not set(d.goal) <= set(c.goal):
            continue
        if d.names is None:
            return False
        left = ~d.names if left is None else left - d.names
    if left is None:
        return True
    named = Language.words(dict.fromkeys((*x.members, *shape.members)))
    return not (left - named).is_empty
