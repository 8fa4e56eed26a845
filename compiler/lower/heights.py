"""How much recursion a value needs at least.

The height of a value is the least number of nested entries into recursive definitions that any
finite text of it takes; None if it has no finite text. Computed by fixpoint over the definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..conditions import Slot, can_meet
from ..ir import (
    ArrayValue,
    Key,
    NeverValue,
    ObjectValue,
    OpenKeys,
    ReferenceValue,
    UnionValue,
    Value,
)
from .nesting import innermost_first

Heights = Mapping[str, int | None]
# Heights by the identity of values, which are kept alive beside them.
Kept = dict[int, tuple[Value, int | None]]


def heights(definitions: Mapping[str, Value]) -> Heights:
    """The height of each definition's body."""
    known: dict[str, int | None] = {name: None for name in definitions}
    changed = True
    while changed:
        changed = False
        for name, body in definitions.items():
            height = needed(body, known)
            if height is not None and (known[name] is None or height < known[name]):  # type: ignore[operator]
                known[name] = height
                changed = True
    return known


def needed(value: Value, known: Heights, kept: Kept | None = None) -> int | None:
    """The height of `value`, the definitions' heights given; `kept` from one call to the next."""
    kept = {} if kept is None else kept
    if id(value) not in kept:
        for part in innermost_first(value, lambda v: () if id(v) in kept else _owed(v)):
            if id(part) not in kept:
                kept[id(part)] = (part, _height(part, known, kept))
    return kept[id(value)][1]


def _owed(value: Value) -> tuple[Value, ...]:
    """The parts that decide about the height."""
    match value:
        case UnionValue(options):
            return options
        case ArrayValue(steps=steps) if steps:
            return tuple(step.value for state in steps for step in state)
        case ArrayValue():
            owed = list(value.prefix[: value.min_items])
            if value.min_items > len(value.prefix) and value.items is not None:
                owed.append(value.items)
            return tuple(owed)
        case ObjectValue(keys, opened, min_keys=low):
            if value.conditions:
                kinds: tuple[Key | OpenKeys, ...] = (*keys, *opened)
                return tuple(v for kind in kinds for v in (kind.value, *_values(kind)))
            required = [key.value for key in keys if key.required]
            if low <= len(required):
                return tuple(required)
            return (*(key.value for key in keys), *(kind.value for kind in opened))
        case _:
            return ()


def _height(value: Value, known: Heights, kept: Kept) -> int | None:
    """The height of a value whose parts' heights are kept."""
    match value:
        case NeverValue():
            return None
        case ReferenceValue(name):
            inner = known.get(name)
            return None if inner is None else inner + 1
        case UnionValue(options):
            found = [h for o in options if (h := kept[id(o)][1]) is not None]
            return min(found, default=None)
        case ArrayValue(steps=steps) if steps:
            return _of_steps(value, kept)
        case ArrayValue():
            if value.min_items > len(value.prefix) and value.items is None:
                return None
            return _most([kept[id(v)][1] for v in _owed(value)])
        case ObjectValue(conditions=conditions) if conditions:
            return _of_conditions(value, kept)
        case ObjectValue():
            return _of_object(value, kept)
        case _:
            return 0


def _of_steps(value: ArrayValue, kept: Kept) -> int | None:
    """The lowest way from the first state to an end; steps lead on, or back to their state."""
    found: list[int | None] = [None] * len(value.steps)
    for state in range(len(value.steps) - 1, -1, -1):
        ways = [0] if state in value.ends else []
        for step in value.steps[state]:
            if step.target != state:
                height = _most([kept[id(step.value)][1], found[step.target]])
                ways += [] if height is None else [height]
        found[state] = min(ways, default=None)
    return found[0]


def _of_object(value: ObjectValue, kept: Kept) -> int | None:
    """The height of the required keys and of the lowest others that `min_keys` asks for."""
    owed = [kept[id(k.value)][1] for k in value.keys if k.required]
    more = value.min_keys - len(owed)
    if more > 0:
        others = [kept[id(k.value)][1] for k in value.keys if not k.required]
        lowest = sorted(h for h in others if h is not None)[:more]
        # An open key is as many keys as it takes, all of one height.
        opened = [kept[id(k.value)][1] for k in value.open_keys]
        ceiling = min((h for h in opened if h is not None), default=None)
        if ceiling is not None:
            lowest = [h for h in lowest if h <= ceiling]
            lowest += [ceiling] if len(lowest) < more else []
        elif len(lowest) < more:
            return None
        owed += lowest
    return _most(owed)


def _of_conditions(value: ObjectValue, kept: Kept) -> int | None:
    """The least height whose values meet the conditions, as many as there must be."""
    kinds: list[Key | OpenKeys] = [*value.keys, *value.open_keys]
    parts = [v for kind in kinds for v in (kind.value, *_values(kind))]
    heights = [kept[id(part)][1] for part in parts]
    low = {id(part): height for part, height in zip(parts, heights, strict=True)}
    for height in sorted({0, *(h for h in heights if h is not None)}):
        fits = {i for i, h in low.items() if h is not None and h <= height}
        if all_can_be_met(value, lambda part: id(part) in fits):  # noqa: B023
            return height
    return None


def _values(kind: Key | OpenKeys) -> tuple[Value, ...]:
    return tuple(variant.value for variant in kind.variants)


def all_can_be_met(value: ObjectValue, can_be: Callable[[Value], bool]) -> bool:
    """Whether members of which `can_be` says yes meet the object's conditions."""
    wanted = (1 << len(value.conditions)) - 1
    slots = []
    for key in value.keys:
        absent = sum(1 << i for i, c in enumerate(value.conditions) if key.name in c.absent)
        present = _meets(key, can_be)
        if key.required and not present:
            return False
        slots.append(Slot(None if key.required else absent, present))
    names = {key.name for key in value.keys}
    gone = sum(1 << i for i, c in enumerate(value.conditions) if not names.issuperset(c.absent))
    opened = [bits for kind in value.open_keys for bits in _meets(kind, can_be)]
    return can_meet(slots, opened, wanted & ~gone, value.min_keys, value.max_keys)


def _meets(kind: Key | OpenKeys, can_be: Callable[[Value], bool]) -> tuple[int, ...]:
    ways = ((kind.value, 0), *((v.value, v.meets) for v in kind.variants))
    return tuple(kind.meets | bits for part, bits in ways if can_be(part))


def _most(parts: list[int | None]) -> int | None:
    found = [p for p in parts if p is not None]
    return None if len(found) < len(parts) else max(found, default=0)
