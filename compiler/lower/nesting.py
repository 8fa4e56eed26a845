"""What lies inside a value, without recursion: schemas nest deeper than the interpreter's stack.

References are not followed, so a value is a finite graph; parts may be shared.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import ArrayValue, ObjectValue, UnionValue, Value

STEP = 24
"""Levels that are walked recursively; each takes several frames of the interpreter's stack."""


def parts(value: Value) -> tuple[Value, ...]:
    """The values directly inside."""
    match value:
        case UnionValue(options):
            return options
        case ArrayValue(prefix, items, runs=runs):
            last = () if items is None else (items,)
            return (*prefix, *last, *(run.value for run in runs))
        case ObjectValue(keys, opened):
            return (*(key.value for key in keys), *(kind.value for kind in opened))
        case _:
            return ()


def innermost_first(value: Value, *, distinct: bool = True) -> Iterator[Value]:
    """The value and all that is inside it, each once, behind its own parts.

    `distinct`: what is inside arrays of distinct items too.
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
            if distinct or not (isinstance(part, ArrayValue) and part.unique):
                todo += ((inner, False) for inner in reversed(parts(part)))


def landings(value: Value, *, distinct: bool) -> Iterator[ArrayValue | ObjectValue]:
    """Containers inside, the inner ones first, at most `STEP` levels from one to the next.

    What is built for these in turn, and kept, is never built more than `STEP` levels deep at once.
    `distinct` as in :func:`innermost_first`.
    """
    levels: dict[int, int] = {}
    for part in innermost_first(value, distinct=distinct):
        level = max((levels.get(id(inner), 0) for inner in parts(part)), default=0)
        if isinstance(part, (ArrayValue, ObjectValue)):
            level += 1
            if level >= STEP and part is not value:
                yield part
                level = 0
        levels[id(part)] = level
