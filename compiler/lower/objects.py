"""The members of objects -> expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..automaton.members import MembersPlan
from ..conditions import kept_bits
from ..grammar import Expr, Member, Members, Variant
from ..ir import Key, Meeting, ObjectValue, OpenKeys
from .distinct import few_keys_only, owes_open_keys

if TYPE_CHECKING:
    from .values import ValueLowering


Spell = Callable[[Key | OpenKeys, int], Expr | None]
SpellNamed = Callable[[OpenKeys, int], tuple[Expr, Expr] | None]


def object_members(
    lowering: ValueLowering,
    value: ObjectValue,
    depth: int,
    separator: Expr,
    member: Spell,
    named: SpellNamed | None = None,
) -> Members | None:
    """The members of an object, without what stands around them.

    `member(key or open keys, depth)` spells one, or gives None if it cannot be said; `named`
    spells the key and the rest of an undeclared one, for where keys must be remembered.
    """
    shared, one = lowering.shared, lowering.layout.one_spelling
    keys = _declared(value, depth, member)
    if keys is None:
        return None
    value, keys = _without_met(value, keys)
    names: tuple[Expr, ...] = ()
    if value.open_keys and (one or owes_open_keys(value)):
        if named is None:
            shared.problems.append(few_keys_only(value))
            return None
        spelled = [(o, p) for o in value.open_keys if (p := named(o, depth)) is not None]
        kinds = [(o, rest) for o, (_, rest) in spelled]
        names = tuple(name for _, (name, _) in spelled)
    else:
        kinds = [(o, b) for o in value.open_keys if (b := member(o, depth)) is not None]
    max_open = None
    if kinds and shared.bounds is not None and value.max_keys is None:
        max_open = max(shared.bounds.keys, value.min_keys, len(value.conditions))
    room = len(keys) + (0 if not kinds else value.min_keys)
    if room < value.min_keys:
        return None
    made = Members(
        tuple(keys),
        separator,
        tuple(body for _, body in kinds),
        max_open,
        "any" if shared.order == "any" and not one else "schema",
        value.min_keys,
        value.max_keys,
        value.origin,
        names,
        "ascending" if one else "distinct",
    )
    return _with_conditions(made, value, kinds, depth, named) if value.conditions else made


def _declared(value: ObjectValue, depth: int, member: Spell) -> list[Member] | None:
    """The declared keys that can be said; None if one cannot that must be."""
    keys = []
    for key in value.keys:
        body = member(key, depth)
        if body is not None:
            ways = ((v, member(replace(key, value=v.value), depth)) for v in key.variants)
            variants = tuple(Variant(way, v.meets) for v, way in ways if way is not None)
            keys.append(Member(key.name, body, key.required, key.meets, variants))
        elif key.required:
            return None
    return keys


def _without_met(value: ObjectValue, keys: list[Member]) -> tuple[ObjectValue, list[Member]]:
    """The object without conditions that a key meets that is never there."""
    names = {key.name for key in keys}
    kept = [i for i, c in enumerate(value.conditions) if names.issuperset(c.absent)]
    if len(kept) == len(value.conditions):
        return value, keys

    def left(kind: OpenKeys) -> OpenKeys:
        ways = ((v.value, kept_bits(v.meets, kept)) for v in kind.variants)
        variants = tuple(Meeting(way, bits) for way, bits in ways if bits)
        return replace(kind, meets=kept_bits(kind.meets, kept), variants=variants)

    conditions = tuple(value.conditions[i] for i in kept)
    opened = tuple(map(left, value.open_keys))
    made = []
    for key in keys:
        ways = ((v.body, kept_bits(v.meets, kept)) for v in key.variants)
        variants = tuple(Variant(body, bits) for body, bits in ways if bits)
        made.append(replace(key, meets=kept_bits(key.meets, kept), variants=variants))
    return replace(value, conditions=conditions, open_keys=opened), made


def _with_conditions(
    members: Members,
    value: ObjectValue,
    kinds: list[tuple[OpenKeys, Expr]],
    depth: int,
    named: SpellNamed | None,
) -> Members | None:
    """The members with what they must meet; None if they cannot."""
    numbers = {key.name: i for i, key in enumerate(members.keys)}
    variants = []
    for kind, _ in kinds:
        ways = []
        for v in kind.variants:
            assert named is not None, "what undeclared keys hold matters"
            pair = named(replace(kind, value=v.value), depth)
            if pair is not None:
                ways.append(Variant(pair[1], v.meets))
        variants.append(tuple(ways))
    made = replace(
        members,
        conditions=tuple(sum(1 << numbers[n] for n in c.absent) for c in value.conditions),
        open_meets=tuple(kind.meets for kind, _ in kinds),
        open_variants=tuple(variants),
    )
    plan = MembersPlan(made)
    return made if plan.feasible(plan.start) else None


def may_be_empty(members: Members) -> bool:
    """Can an object of these members have none?"""
    owed = any(key.required for key in members.keys) or not all(members.conditions)
    return members.min_count == 0 and not owed
