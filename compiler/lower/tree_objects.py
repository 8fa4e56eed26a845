"""Objects as a tree can write them: without keys that no automaton can close, and without nulls.

Object -> object. Where that leaves out values, the report says so (see ``tree_findings``); what
would change the meaning of another keyword is a problem at that keyword.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ..findings import RELAX_HINT
from ..ir import Key, ObjectValue, OpenKeys, Value
from ..membership import contains
from ..origin import Origin, Problem
from .heights import all_can_be_met

MAX_LISTED: Final = 64
"""Undeclared keys of one class that are written one by one."""


def listed_keys(kind: OpenKeys) -> list[str] | None:
    """All the keys of a class, if they are few; else None."""
    whole, _ = kind.names.split_words()
    if whole.is_any or not kind.names.dfa.is_finite:
        return None
    words = kind.names.dfa.words(MAX_LISTED + 1)
    return words if len(words) <= MAX_LISTED else None


def declared_only(value: ObjectValue, problems: list[Problem]) -> ObjectValue:
    """The object with the keys of small classes declared, and without those of all others.

    For notations in which an element says its key at both ends: two unknown texts that are equal
    are beyond every automaton. Appends to `problems` where nothing would be left.
    """
    if not value.open_keys:
        return value
    keys = list(value.keys)
    for kind in value.open_keys:
        for name in listed_keys(kind) or ():
            keys.append(Key(name, kind.value, False, kind.origin, kind.meets, kind.variants))
    made = replace(value, keys=tuple(keys), open_keys=())
    if len(keys) < value.min_keys:
        problems.append(_beyond("minProperties", value.origin.child("minProperties")))
        return replace(made, min_keys=0)
    if value.conditions and not all_can_be_met(made, lambda _: True):
        asked = value.conditions[0]
        problems.append(_beyond(asked.keyword, asked.origin))
    return made


def _beyond(keyword: str, origin: Origin) -> Problem:
    message = f"`{keyword}` asks for keys that are not declared, which this notation cannot write"
    return Problem("unsupported-keyword", message, origin, RELAX_HINT)


def nulls_left_out(
    value: ObjectValue, definitions: Mapping[str, Value], problems: list[Problem]
) -> ObjectValue:
    """The object with members that are null left out.

    A required key that may be null may be missing, and reads as null then; it meets what null
    meets. Other keys are never null: missing, they are read as missing. Appends to `problems` where
    numbers of keys matter that are not all written.
    """
    touched = [k for k in value.keys if k.required and contains(k.value, definitions, None)]
    if not touched:
        return value
    owed = sum(key.required for key in value.keys)
    most = None if value.open_keys else len(value.keys)
    low, high = value.min_keys, value.max_keys
    for keyword, matters in (
        ("minProperties", low > owed),
        ("maxProperties", high is not None and (most is None or high < most)),
    ):
        if matters:
            message = f"`{keyword}` is not supported beside a required key that may be null"
            hint = "this notation leaves null out; " + RELAX_HINT
            at = value.origin.child(keyword)
            problems.append(Problem("unsupported-keyword", message, at, hint))
    names = {key.name for key in touched}
    keys = tuple(replace(k, required=False) if k.name in names else k for k in value.keys)
    conditions = []
    for bit, condition in enumerate(value.conditions):
        absent = [name for name in condition.absent if name not in names]
        absent += [k.name for k in touched if _null_meets(k, definitions) >> bit & 1]
        conditions.append(replace(condition, absent=tuple(absent)))
    return replace(value, keys=keys, conditions=tuple(conditions), min_keys=0, max_keys=None)


def _null_meets(key: Key, definitions: Mapping[str, Value]) -> int:
    """The conditions that the key meets by being null, as bits."""
    bits = key.meets
    for variant in key.variants:
        if contains(variant.value, definitions, None):
            bits |= variant.meets
    return bits
