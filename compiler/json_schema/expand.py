"""uniqueItems and contains, where they come down to finitely many arrays or positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from ..ir import Json
from .admits import admits
from .array_keywords import contains_clash
from .forms import (
    Alternative,
    Arrays,
    Booleans,
    Contains,
    Goal,
    Item,
    Nulls,
    Numbers,
    Reason,
    Values,
    both,
    trivial,
)
from .json_values import is_container, json_key

if TYPE_CHECKING:
    from .reading import Reader

# More arrays than this are not listed one by one, nor positions combined.
MAX_LISTED = 400
MAX_POSITIONS = 64


def expand_array(reader: Reader, x: Arrays) -> Iterator[Alternative | Reason]:
    """`x` as alternatives without contains and uniqueItems; what cannot be said is refused."""
    for c in x.contains:
        reason = contains_clash(c)
        if reason is not None:
            yield reason
            return
    results = _without_contains(reader, x)
    for y in results:
        if y.longest is not None and y.shortest > y.longest:
            yield Reason(f"minContains {y.shortest} is above maxItems {y.longest}", y.origin)
        elif y.unique is None or (y.longest is not None and y.longest <= 1):
            yield replace(y, unique=None)
        else:
            yield _without_repeats(reader, y)


def _without_contains(reader: Reader, x: Arrays) -> list[Arrays]:
    current = [replace(x, contains=())]
    for c in x.contains:
        made: list[Arrays] | None = []
        for y in current:
            options = _place_contained(reader, y, c)
            if options is None:
                made = None
                break
            assert made is not None
            made.extend(options)
            if len(made) > MAX_POSITIONS:
                made = None
                break
        if made is None:
            reader.unsupported("contains", c.origin, "over so many positions")
            continue
        current = made
    return current


def _place_contained(reader: Reader, x: Arrays, c: Contains) -> list[Arrays] | None:
    """`x` with `c` said by counts or by position; None if neither will do."""
    if c.minimum == 0 and c.maximum is None:
        return [x]
    form = reader.form(c.goal) if c.goal else None
    if form is None or (len(form.alternatives) == 6 and all(map(trivial, form.alternatives))):
        longest = c.maximum if x.longest is None else x.longest
        if c.maximum is not None and longest is not None:
            longest = min(longest, c.maximum)
        return [replace(x, shortest=max(x.shortest, c.minimum), longest=longest)]
    if not form.alternatives:
        return [] if c.minimum > 0 else [x]
    if c.maximum is not None:
        return None
    if c.minimum <= sum(_certain(reader, x, i, c.goal) for i in range(x.shortest)):
        return [x]
    limit = len(x.prefix) if x.rest is None else x.longest
    if x.longest is not None and limit is not None:
        limit = min(limit, x.longest)
    if limit is None or limit > MAX_POSITIONS or comb(limit, c.minimum) > MAX_POSITIONS:
        return None
    return [_at_positions(x, c.goal, chosen) for chosen in combinations(range(limit), c.minimum)]


def _certain(reader: Reader, x: Arrays, index: int, goal: Goal) -> bool:
    """Whether the item at `index` obviously satisfies the goal."""
    if index > len(x.prefix):
        index = len(x.prefix)
    item = x.at(index)
    return item is not None and set(goal) <= set(item.goal)


def _at_positions(x: Arrays, goal: Goal, chosen: tuple[int, ...]) -> Arrays:
    prefix: list[Item] = []
    for i in range(max(len(x.prefix), chosen[-1] + 1)):
        item = x.at(i)
        assert item is not None
        prefix.append(Item(both(item.goal, goal)) if i in chosen else item)
    return replace(x, prefix=tuple(prefix), shortest=max(x.shortest, chosen[-1] + 1))


def _without_repeats(reader: Reader, x: Arrays) -> Alternative | Reason:
    """The arrays of distinct items, one by one."""
    assert x.unique is not None
    choices: list[list[Json]] = []
    every = len(x.prefix) + 1
    for i in range(every):
        item = x.at(i)
        if item is None:
            break
        values = _finite(reader, item.goal)
        if values is None:
            reader.unsupported("uniqueItems", x.unique, "over so many values")
            return replace(x, unique=None)
        choices.append(values)
    listed: list[list[Json]] = [[]]
    layer: list[list[Json]] = [[]]
    for length in range(1, MAX_LISTED):
        if x.longest is not None and length > x.longest:
            break
        at = length - 1 if length <= len(x.prefix) else len(x.prefix)
        if at >= len(choices):
            break
        layer = [
            [*array, value]
            for array in layer
            for value in choices[at]
            if json_key(value) not in {json_key(v) for v in array}
        ]
        if not layer:
            break
        listed.extend(layer)
        if len(listed) > MAX_LISTED:
            reader.unsupported("uniqueItems", x.unique, "over so many values")
            return replace(x, unique=None)
    kept: list[Json] = [array for array in listed if len(array) >= x.shortest]
    if not kept:
        return Reason(f"minItems {x.shortest} is above the number of distinct items", x.origin)
    return Values(tuple(kept), (), x.origin)


def _finite(reader: Reader, goal: Goal) -> list[Json] | None:
    """The values of a goal if they are few and plain."""
    found: list[Json] = []
    if not goal:
        return None
    for x in reader.form(goal).alternatives:
        match x:
            case Values():
                if any(is_container(v) and not admits(reader, x, v) for v in x.values):
                    return None
                found.extend(x.values)
            case Nulls():
                found.append(None)
            case Booleans():
                found.extend((True, False))
            case Numbers(kind="integer", low=Decimal() as low, high=Decimal() as high):
                if high - low > MAX_POSITIONS:
                    return None
                first, last = int(low.to_integral_value()), int(high.to_integral_value())
                found.extend(n for n in range(first - 1, last + 2) if admits(reader, x, n))
            case _:
                return None
        if len(found) > MAX_POSITIONS:
            return None
    return found
