"""Objects that must not be of some shape: what is left of negated objects.

`not` an object = a key is wrong, missing or one too many. Where that is not put as a union at once,
it is a :class:`~.forms.Beyond`: a clause, beside others. In the end each clause is a condition that
some member meets, or some key by its absence, so that many clauses at once do not multiply.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from ..conditions import MAX_CONDITIONS
from ..ir import Condition
from ..limits import MAX_REMEMBERED
from ..regular.language import Language
from .clauses import apart, holds, satisfies
from .forms import (
    Atom,
    Beyond,
    Goal,
    KeyClass,
    MeetingGoal,
    Member,
    Objects,
    Residue,
    both,
)
from .lookup import lookup, open_names
from .meet_containers import meet_objects
from .meet_scalars import least

if TYPE_CHECKING:
    from .reading import Reader

# As many open keys are tried by name.
MAX_NAMED = 8
# More alternatives than this are not made of clauses that no member can meet.
MAX_FORKS = 64
# So many different demands on the value of one key are told apart.
MAX_DEMANDS = 6
# So many keys no object can have that remembers its keys.
MANY_NAMES = MAX_REMEMBERED + 1
# Into so many classes open keys are divided.
MAX_REGIONS = 64


class TooMany(Exception):
    """A clause that the IR cannot say beside the others."""

    def __init__(self, clause: Beyond) -> None:
        super().__init__()
        self.clause = clause


def expand_beyond(x: Objects, reader: Reader) -> list[Objects]:
    """`x` as a union whose clauses are conditions of the members.

    Raises:
        TooMany: a clause that cannot be said.
    """
    forks: list[tuple[Objects, list[Beyond]]] = [(replace(x, beyond=()), [])]
    for b in x.beyond:
        after: list[tuple[Objects, list[Beyond]]] = []
        for y, said in forks:
            after.append((y, [*said, b]))
            after.extend((z, said) for z in _of_whole(y, b, reader))
        if len(after) > MAX_FORKS:
            raise TooMany(b)
        forks = after
    made: list[Objects] = []
    for y, said in forks:
        z = _Conditions(y, said, reader).said()
        if z is not None:
            made.append(z)
    return made


def _of_whole(x: Objects, b: Beyond, reader: Reader) -> list[Objects]:
    """The objects of `x` that are not of the shape for what no single member tells."""
    shape = b.shape
    made: list[Objects] = []
    required = sum(m.required for m in x.members.values())
    if shape.fewest > required:
        made.append(replace(x, most=least(x.most, shape.fewest - 1)))
    if shape.most is not None and (x.most is None or x.most > shape.most):
        made.append(replace(x, fewest=max(x.fewest, shape.most + 1)))
    for inner in shape.beyond:
        met = meet_objects(x, inner.shape, x.origin, x.residues, reader)
        if isinstance(met, Objects):
            made.append(met)
    for residue in shape.residues:
        opposite = _opposite(residue)
        made.append(replace(x, residues=(*x.residues, opposite)))
    return made


def _opposite(residue: Residue) -> Residue:
    return replace(
        residue, what=f"not {residue.what}", holds=lambda value: not residue.holds(value)
    )


# A declared key, and what its value must satisfy to meet a clause; None: it must be absent.
_Way: TypeAlias = tuple[str, Goal | None]


@dataclass(slots=True)
class _Region:
    """Undeclared keys of which every shape says the same: its goal, None where it has no such."""

    of: KeyClass
    names: Language | None
    allowed: list[Goal | None]


class _Conditions:
    """Clauses as conditions of one object."""

    def __init__(self, x: Objects, clauses: list[Beyond], reader: Reader) -> None:
        self.reader = reader
        self.x = x
        self.clauses = clauses
        self._alike: dict[str, Atom] = {}

    def said(self) -> Objects | None:
        """The object with its conditions; None if one cannot be met."""
        while True:
            self.clauses = [b for b in self.clauses if not holds(self.x, b.shape, self.reader)]
            if not self.clauses:
                return self.x
            self._name_keys()
            regions = self._regions()
            found = [self._ways(i) for i in range(len(self.clauses))]
            opened = [self._may_be_open(i, regions) for i in range(len(self.clauses))]
            if any(not ways and not o for ways, o in zip(found, opened, strict=True)):
                return None
            # What leaves no choice is no condition.
            forced = (i for i, w in enumerate(found) if len(w) == 1 and not opened[i])
            which = next(forced, None)
            if which is None:
                break
            self.x = self._with(*next(iter(found[which])))
            del self.clauses[which]
        self._drop_implied(found, opened)
        if len(self.clauses) > MAX_CONDITIONS:
            raise TooMany(self.clauses[MAX_CONDITIONS])
        return self._finished()

    def _name_keys(self) -> None:
        """Speak by name of the keys of the shapes, and of the few ones of a finite class."""
        names = dict.fromkeys(n for b in self.clauses for n in b.shape.members)
        for c in (*self.x.classes, *(d for b in self.clauses for d in b.shape.classes)):
            if c.names is not None and c.names.dfa.is_finite:
                words = c.names.dfa.words(MAX_NAMED + 1)
                if len(words) <= MAX_NAMED:
                    names.update(dict.fromkeys(words))
        x = self.x
        found = {name: lookup(x, name) for name in names if name not in x.members}
        if found:
            self.x = replace(x, members={**x.members, **found})

    def _ways(self, which: int) -> dict[_Way, None]:
        """How declared keys meet a clause: (name, what its value satisfies; None: absence)."""
        shape = self.clauses[which].shape
        ways: dict[_Way, None] = {}
        for name, m in self.x.members.items():
            allowed = lookup(shape, name)
            if m.goal is None:
                continue
            if allowed.required and not m.required:
                ways[name, None] = None
            if allowed.goal is None:
                ways[name, ()] = None
                continue
            for atom in allowed.goal:
                demand = self._demand(atom)
                if atom not in m.goal and not self.reader.dead(both(m.goal, demand)):
                    ways[name, demand] = None
        return ways

    def _demand(self, atom: Atom) -> Goal:
        """What a value must satisfy not to satisfy `atom`: one goal for schemas that read alike."""
        text = repr(atom.place.schema)
        if "$" not in text:
            draft = atom.place.resource.draft
            atom = self._alike.setdefault(f"{draft} {atom.negated} {text}", atom)
        return (atom.opposite,)

    def _with(self, name: str, goal: Goal | None) -> Objects:
        m = self.x.members[name]
        if goal is None:
            m = replace(m, goal=None)
        else:
            m = replace(m, goal=both(m.goal or (), goal), required=True)
        return replace(self.x, members={**self.x.members, name: m})

    def _drop_implied(self, found: list[dict[_Way, None]], opened: list[bool]) -> None:
        """Leave out clauses that hold wherever another does."""
        kept: list[int] = []
        for i, ways in enumerate(found):
            by = (
                j
                for j, others in enumerate(found)
                if not opened[j] and others.keys() <= ways.keys()
                if j < i or others.keys() != ways.keys() or opened[i]
            )
            if next(by, None) is None:
                kept.append(i)
        self.clauses = [self.clauses[i] for i in kept]

    # -- open keys

    def _regions(self) -> list[_Region]:
        made: list[_Region] = []
        for c in self.x.classes:
            names = open_names(c.names, self.x.members)
            parts = [_Region(c, names, [])]
            for b in self.clauses:
                parts = [q for part in parts for q in _divided(part, b.shape)]
                if len(made) + len(parts) > MAX_REGIONS:
                    raise TooMany(b)
            made.extend(p for p in parts if p.names is None or not p.names.is_empty)
        return made

    def _may_be_open(self, which: int, regions: list[_Region]) -> bool:
        return any(not satisfies(r.of.goal, r.allowed[which]) for r in regions)

    def _finished(self) -> Objects:
        x = self.x
        members: dict[str, Member] = {}
        for name, m in x.members.items():
            if m.goal is None:
                members[name] = m
                continue
            allowed = [lookup(b.shape, name).goal for b in self.clauses]
            meets, variants = self._meetings(m.goal, allowed)
            members[name] = replace(m, meets=meets, variants=variants)
        conditions = tuple(
            Condition(
                tuple(
                    name for name, m in b.shape.members.items()
                    if m.required and not x.members[name].required
                ),
                b.keyword, b.origin,
            )
            for b in self.clauses
        )  # fmt: skip
        classes = self._classes(self._regions())
        if any(c.variants for c in classes):
            self._remember(classes)
        return replace(x, members=members, classes=classes, conditions=conditions)

    def _classes(self, regions: list[_Region]) -> tuple[KeyClass, ...]:
        made: list[KeyClass] = []
        for region in regions:
            meets, variants = self._meetings(region.of.goal, region.allowed)
            made.append(replace(region.of, names=region.names, meets=meets, variants=variants))
        return tuple(made)

    def _meetings(
        self, goal: Goal, allowed: list[Goal | None]
    ) -> tuple[int, tuple[MeetingGoal, ...]]:
        """What a member meets that is there, and what it meets by narrower values."""
        meets = 0
        demands: dict[Goal, int] = {}
        for i, other in enumerate(allowed):
            if other is None or apart(goal, other, self.reader):
                meets |= 1 << i
                continue
            for atom in other:
                if atom not in goal:
                    demand = self._demand(atom)
                    demands[demand] = demands.get(demand, 0) | 1 << i
        demands = {d: bits for d, bits in demands.items() if bits & ~meets}
        alive = [d for d in demands if not self.reader.dead(both(goal, d))]
        if len(alive) > MAX_DEMANDS:
            raise TooMany(self.clauses[demands[alive[MAX_DEMANDS]].bit_length() - 1])
        found: list[tuple[Goal, int]] = []
        for size in range(1, len(alive) + 1):
            for chosen in combinations(alive, size):
                bits = meets
                narrower: Goal = goal
                for demand in chosen:
                    bits |= demands[demand]
                    narrower = both(narrower, demand)
                fewer = any(set(g) <= set(narrower) and bits & ~b == 0 for g, b in found)
                if not fewer and (size == 1 or not self.reader.dead(narrower)):
                    found.append((narrower, bits))
        return meets, tuple(MeetingGoal(g, bits) for g, bits in found)

    def _remember(self, classes: tuple[KeyClass, ...]) -> None:
        """Where it matters what open keys hold, no key may be written twice: note it."""
        for i, b in enumerate(self.clauses):
            by_value = any(v.meets & ~c.meets & 1 << i for c in classes for v in c.variants)
            scarce = any(_are_few(c.names) for c in classes if c.meets or c.variants)
            if not by_value:
                continue
            if scarce or self.reader.options.on_unsupported == "relax":
                # Not every target can remember keys, nor are few keys enough to choose from.
                raise TooMany(b)
            self.reader.found(
                "narrowed", b.keyword,
                "undeclared keys have one spelling, and none is written twice", b.origin,
            )  # fmt: skip


def _are_few(names: Language | None) -> bool:
    """Whether an object could use up the names."""
    if names is None or not names.dfa.is_finite:
        return False
    return len(names.dfa.words(MANY_NAMES)) < MANY_NAMES


def _divided(region: _Region, shape: Objects) -> list[_Region]:
    """A region by the classes of a shape."""
    made: list[_Region] = []
    left, empty = region.names, False
    for d in shape.classes:
        if d.names is None:
            made.append(_Region(region.of, left, [*region.allowed, d.goal]))
            empty = True
            break
        inner = d.names if left is None else left & d.names
        if not inner.is_empty:
            made.append(_Region(region.of, inner, [*region.allowed, d.goal]))
        left = ~d.names if left is None else left - d.names
        if left.is_empty:
            empty = True
            break
    if not empty:
        made.append(_Region(region.of, left, [*region.allowed, None]))
    return made
