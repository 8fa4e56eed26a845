"""How much recursion a value needs at least.

The height of a value is the least number of nested entries into recursive definitions that any
finite text of it takes; None if it has no finite text. Computed by fixpoint over the definitions.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..ir import (
    ArrayValue,
    NeverValue,
    ObjectValue,
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
        case ArrayValue():
            owed = list(value.prefix[: value.min_items])
            if value.min_items > len(value.prefix) and value.items is not None:
                owed.append(value.items)
            return (*owed, *(run.value for run in value.runs if run.least))
        case ObjectValue(keys, opened, min_keys=low):
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
        case ArrayValue():
            if value.min_items > len(value.prefix) and not value.runs and value.items is None:
                return None
            return _most([kept[id(v)][1] for v in _owed(value)])
        case ObjectValue():
            return _of_object(value, kept)
        case _:
            return 0


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


def _most(parts: list[int | None]) -> int | None:
    found = [p for p in parts if p is not None]
    return None if len(found) < len(parts) else max(found, default=0)
