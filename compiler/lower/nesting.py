"""What lies inside a value, without recursion: schemas nest deeper than the interpreter's stack.

References are not followed, so a value is a finite graph; parts may be shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..ir import ArrayValue, Key, ObjectValue, OpenKeys, UnionValue, Value

STEP = 24
"""Levels that are walked recursively; each takes several frames of the interpreter's stack."""


def parts(value: Value) -> tuple[Value, ...]:
    """The values directly inside."""
    match value:
        case UnionValue(options):
            return options
        case ArrayValue(prefix, items, steps=steps):
            last = () if items is None else (items,)
            return (*prefix, *last, *(step.value for state in steps for step in state))
        case ObjectValue(keys, opened):
            kinds: tuple[Key | OpenKeys, ...] = (*keys, *opened)
            return tuple(v for k in kinds for v in (k.value, *(way.value for way in k.variants)))
        case _:
            return ()


def _parts_alike(value: Value) -> tuple[Value, ...]:
    """The values directly inside that are written as the value is."""
    return () if isinstance(value, ArrayValue) and value.unique else parts(value)


def innermost_first(
    value: Value, inside: Callable[[Value], Sequence[Value]] = parts
) -> Iterator[Value]:
    """The value and all that is inside it, each once, behind its own parts.

    `inside`: the parts of a value that are looked at.
    """
    seen: set[int] = set()
    todo: list[tuple[Value, bool]] = [(value, False)]
    while todo:
        part, entered = todo.pop()
        if entered:
            yield part
        elif id(part) not in seen:
            seen.add(id(part))
            todo.append((part, True))
            todo += ((inner, False) for inner in reversed(inside(part)))


def landings(value: Value, *, distinct: bool) -> Iterator[ArrayValue | ObjectValue]:
    """Containers inside, the inner ones first, at most `STEP` levels from one to the next.

    What is built for these in turn, and kept, is never built more than `STEP` levels deep at once.
    `distinct`: arrays of distinct items are entered too.
    """
    levels: dict[int, int] = {}
    inside = parts if distinct else _parts_alike
    for part in innermost_first(value, inside):
        level = max((levels[id(inner)] for inner in inside(part)), default=0)
        if isinstance(part, (ArrayValue, ObjectValue)):
            level += 1
            if level >= STEP and part is not value:
                yield part
                level = 0
        levels[id(part)] = level
