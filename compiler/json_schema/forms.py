"""The normal form of a schema: a union of typed alternatives, with lazy children.

A :class:`Form` says what values a conjunction of schemas lets through, one JSON type at a time;
its children are not forms but *goals*: the schemas that a member or an item must satisfy
together. Goals make conjunction cheap (concatenate) and recursion finite (there are only so many
sets of places in a document).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ..ir import Condition, Json
from ..origin import Origin
from ..regular.language import Language

if TYPE_CHECKING:
    from .places import Place


class Atom(NamedTuple):
    """A place of the schema, or its negation; equal for the same place and sign."""

    place: Place
    negated: bool = False

    @property
    def opposite(self) -> Atom:
        """What lets through what this one does not."""
        return Atom(self.place, not self.negated)


# All of these schemas at once; () lets everything through.
Goal: TypeAlias = tuple[Atom, ...]


def both(a: Goal, b: Goal) -> Goal:
    """The conjunction of two goals, each atom once, left to right."""
    if not b or a == b:
        return a
    return tuple(dict.fromkeys(a + b)) if a else b


@dataclass(frozen=True, slots=True, eq=False)
class AnyGoal:
    """What a place holds that no document has: one of the goals must be satisfied."""

    goals: tuple[Goal, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """What a place holds that no document has: the value must be this one."""

    value: Json


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an alternative lets nothing through."""

    text: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Cause:
    """The keyword that asks for a complement."""

    keyword: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Residue:
    """A condition that the IR cannot say; refused (or relaxed) if it is still there at the end.

    `holds` decides it for a value at hand, so that enums are filtered exactly.
    """

    keyword: str
    what: str
    origin: Origin
    holds: Callable[[Json], bool]


Residues: TypeAlias = tuple[Residue, ...]
NumberKind: TypeAlias = Literal["any", "integer"]
NOWHERE = Origin()


@dataclass(frozen=True, slots=True, eq=False)
class Nulls:
    """null."""

    origin: Origin = NOWHERE
    residues: Residues = ()


@dataclass(frozen=True, slots=True, eq=False)
class Booleans:
    """true and false."""

    origin: Origin = NOWHERE
    residues: Residues = ()


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Numbers between two bounds, multiples of `multiple` and of none of `avoid`."""

    kind: NumberKind = "any"
    low: Decimal | None = None
    high: Decimal | None = None
    low_open: bool = False
    high_open: bool = False
    multiple: Decimal | None = None
    avoid: tuple[Decimal, ...] = ()
    origin: Origin = NOWHERE
    residues: Residues = ()


@dataclass(frozen=True, slots=True, eq=False)
class Strings:
    """Strings by length (code points) and language. `parts` counts what `language` is made of."""

    shortest: int = 0
    longest: int | None = None
    language: Language | None = None
    parts: int = 0
    origin: Origin = NOWHERE
    residues: Residues = ()


@dataclass(frozen=True, slots=True, eq=False)
class Contains:
    """`minimum` to `maximum` items satisfy the goal, the first `start` items left out.

    ``evaluates``: the keyword itself asks, so unevaluatedItems passes by what it matches; not so
    where a negation does.
    """

    goal: Goal
    minimum: int
    maximum: int | None
    origin: Origin
    evaluates: bool = False
    start: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """What stands at a position of an array. `evaluated`: unevaluatedItems passes it by."""

    goal: Goal = ()
    evaluated: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """An item that satisfies the goal, and the state of the :class:`Track` after it."""

    goal: Goal
    target: int


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Items by states: the `steps` out of each, state 0 first, and where an array may end.

    A step leads to a later state or back to its own.
    """

    steps: tuple[tuple[Step, ...], ...]
    ends: frozenset[int]


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """Arrays: `prefix` by position, then `rest` (None: nothing more).

    With a `track`, which comes of contains at the very end only, that says all there is to say.
    """

    prefix: tuple[Item, ...] = ()
    rest: Item | None = Item()
    shortest: int = 0
    longest: int | None = None
    unique: Origin | None = None
    contains: tuple[Contains, ...] = ()
    origin: Origin = NOWHERE
    residues: Residues = ()
    track: Track | None = None

    def at(self, index: int) -> Item | None:
        """What stands at `index`, None if nothing may."""
        return self.prefix[index] if index < len(self.prefix) else self.rest


@dataclass(frozen=True, slots=True, eq=False)
class MeetingGoal:
    """What narrower values of a key satisfy, and the conditions that they meet, as bits."""

    goal: Goal
    meets: int


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A key that is spoken of by name.

    Attributes:
        goal: what its value must satisfy; None: the key is forbidden.
        declared: ``properties`` names it.
        implicit: it is let through only because nothing was said about further keys.
        evaluated: ``unevaluatedProperties`` passes it by.
        meets: the object's conditions that it meets, as bits; they come at the very end only.
        variants: what it meets by narrower values.
    """

    goal: Goal | None
    required: bool = False
    declared: bool = False
    implicit: bool = False
    evaluated: bool = False
    origin: Origin = NOWHERE
    meets: int = 0
    variants: tuple[MeetingGoal, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class KeyClass:
    """Keys of `names` (None: all) that no member names, and what their values must satisfy."""

    names: Language | None = None
    goal: Goal = ()
    implicit: bool = False
    evaluated: bool = False
    origin: Origin = NOWHERE
    meets: int = 0
    variants: tuple[MeetingGoal, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Beyond:
    """The object is none that `shape` lets through."""

    shape: Objects
    keyword: str
    origin: Origin


@dataclass(frozen=True, slots=True, eq=False)
class Objects:
    """Objects: members by name, then disjoint classes of other keys.

    ``declares``: some ``properties`` spoke, so the object counts as described. What is left of
    `beyond` at the very end are `conditions`.
    """

    members: Mapping[str, Member] = field(default_factory=dict)
    classes: tuple[KeyClass, ...] = (KeyClass(implicit=True),)
    fewest: int = 0
    most: int | None = None
    declares: bool = False
    beyond: tuple[Beyond, ...] = ()
    origin: Origin = NOWHERE
    residues: Residues = ()
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Finitely many values. `checks`: alternatives that the arrays and objects among them must
    still pass (one of each tuple); scalars are decided at once."""

    values: tuple[Json, ...]
    checks: tuple[tuple[Alternative, ...], ...] = ()
    origin: Origin = NOWHERE
    residues: Residues = ()


Typed: TypeAlias = Nulls | Booleans | Numbers | Strings | Arrays | Objects
Alternative: TypeAlias = Typed | Values


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A union of alternatives; ``why`` tells what emptied it, if it is empty."""

    alternatives: tuple[Alternative, ...]
    why: tuple[Reason, ...] = ()


TRIVIAL: tuple[Typed, ...] = (Nulls(), Booleans(), Numbers(), Strings(), Arrays(), Objects())
ANY = Form(TRIVIAL)

TYPE_OF: Mapping[type, str] = {
    Nulls: "null",
    Booleans: "boolean",
    Numbers: "number",
    Strings: "string",
    Arrays: "array",
    Objects: "object",
}


def trivial(alternative: Alternative) -> bool:
    """Whether it lets every value of its type through."""
    match alternative:
        case Nulls() | Booleans():
            return not alternative.residues
        case Numbers():
            return alternative.kind == "any" and _unbounded(alternative)
        case Strings():
            return (
                alternative.language is None
                and alternative.shortest == 0
                and alternative.longest is None
                and not alternative.residues
            )
        case Arrays():
            return (
                all(not i.goal for i in alternative.prefix)
                and alternative.rest is not None
                and not alternative.rest.goal
                and alternative.shortest == 0
                and alternative.longest is None
                and alternative.unique is None
                and not alternative.contains
                and not alternative.residues
            )
        case Objects():
            return (
                all(m.goal == () and not m.required for m in alternative.members.values())
                and any(c.names is None and not c.goal for c in alternative.classes)
                and alternative.fewest == 0
                and alternative.most is None
                and not (alternative.beyond or alternative.conditions)
                and not alternative.residues
            )
        case Values():
            return False


def _unbounded(n: Numbers) -> bool:
    free = n.low is None and n.high is None and n.multiple is None
    return free and not n.avoid and not n.residues
