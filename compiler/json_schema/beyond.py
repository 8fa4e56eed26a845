"""Objects that must have some key beyond a shape: what is left of a negated object.

`not` a closed object = a declared key is wrong, or some key is not one of its own. The second part
is a :class:`~.forms.Beyond`; beside another closed object only finitely many keys can be meant, and
it becomes a union.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TypeAlias

from ..regular.language import Language
from .forms import Atom, Beyond, KeyClass, Member, Objects, Reason
from .lookup import lookup

# As many open keys are tried by name; as many optional keys may be counted around.
MAX_NAMED = 8
MAX_COUNTED = 4

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
            y = _with_named(y, b.shape)
            made.extend(_one_of(y, candidates(y, b.shape)))
            if _open_candidates(y, b.shape):
                counted = _by_count(y, b.shape)
                if counted is None:
                    return b
                made.extend(counted)
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


def _with_named(x: Objects, shape: Objects) -> Objects:
    """`x` with the keys of the shape, and the few open ones that may be beyond it, as members."""
    names = dict.fromkeys(shape.members)
    for c in x.classes:
        left = _beyond_in(c, x, shape)
        if left is not None and left.dfa.is_finite:
            words = left.dfa.words(MAX_NAMED + 1)
            if len(words) <= MAX_NAMED:
                names.update(dict.fromkeys(words))
    found = {name: lookup(x, name) for name in names if name not in x.members}
    return replace(x, members={**x.members, **found}) if found else x


def _by_count(x: Objects, shape: Objects) -> list[Objects] | None:
    """`x` where an open key is the one beyond: more keys than there are ones of the shape.

    Said for each set of the shape's keys; None where they are too many, or the open keys of `x`
    are not all beyond.
    """
    if shape.classes or any(m.goal for m in shape.members.values()):
        return None
    inside = [n for n, m in x.members.items() if m.goal is not None and n in shape.members]
    outside = [n for n in x.members if n not in shape.members]
    optional = [n for n in inside if not x.members[n].required]
    if len(optional) > MAX_COUNTED:
        return None
    made: list[Objects] = []
    for choice in product((True, False), repeat=len(optional)):
        members = dict(x.members)
        for name in outside:
            members[name] = replace(members[name], goal=None)
        for name, present in zip(optional, choice, strict=True):
            m = members[name]
            members[name] = replace(m, required=present, goal=m.goal if present else None)
        present_keys = sum(m.required for m in members.values())
        made.append(replace(x, members=members, fewest=max(x.fewest, present_keys + 1)))
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
    return any(_beyond_in(c, x, shape) is not None for c in x.classes)


def _beyond_in(c: KeyClass, x: Objects, shape: Objects) -> Language | None:
    """The undeclared keys of a class that may be beyond the shape, None if there are none."""
    left = c.names
    for d in shape.classes:
        if not set(d.goal) <= set(c.goal):
            continue
        if d.names is None:
            return None
        left = ~d.names if left is None else left - d.names
    named = Language.words(dict.fromkeys((*x.members, *shape.members)))
    if left is None:
        return ~named
    left = left - named
    return None if left.is_empty else left
