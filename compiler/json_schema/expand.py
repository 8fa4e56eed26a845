"""contains, where it comes down to lengths, and beside uniqueItems; uniqueItems over few arrays.

Distinct items of more arrays than that are left to the grammar, which remembers them.
"""

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
from .meet_scalars import least
from .track import track

if TYPE_CHECKING:
    from .reading import Reader

# More arrays than this are not listed one by one, nor positions combined.
MAX_LISTED = 400
MAX_POSITIONS = 64


def expand_array(reader: Reader, x: Arrays) -> Iterator[Alternative | Reason]:
    """`x` as alternatives without contains and uniqueItems; what cannot be said is refused."""
    y = _without_plain(reader, x)
    if isinstance(y, Reason):
        yield y
    elif y.unique is None or _all_differ(reader, y):
        yield _tracked(reader, replace(y, unique=None))
    elif not y.contains:
        yield _few_arrays(reader, y) or _remembered(reader, y)
    else:
        yield from _distinct_and_contained(reader, y)


def _without_plain(reader: Reader, x: Arrays) -> Arrays | Reason:
    """`x` without the conditions that come down to lengths, or hold anyway."""
    kept: list[Contains] = []
    for c in x.contains:
        reason = contains_clash(c)
        if reason is not None:
            return reason
        if c.minimum == 0 and c.maximum is None:
            continue
        form = reader.form(c.goal) if c.goal else None
        if form is None or (len(form.alternatives) == 6 and all(map(trivial, form.alternatives))):
            longest = least(x.longest, None if c.maximum is None else c.maximum + c.start)
            shortest = c.minimum + c.start if c.minimum else 0
            x = replace(x, shortest=max(x.shortest, shortest), longest=longest)
        elif not form.alternatives:
            if c.minimum > 0:
                return Reason("no item can be what `contains` asks for", c.origin)
        elif c.maximum is not None or c.start or c.minimum > _certain(x, c.goal):
            kept.append(c)
    if x.longest is not None and x.shortest > x.longest:
        return Reason(f"minContains {x.shortest} is above maxItems {x.longest}", x.origin)
    return replace(x, contains=tuple(kept))


def _tracked(reader: Reader, x: Arrays) -> Arrays:
    """`x` with its conditions told item by item."""
    if not x.contains:
        return x
    told = track(reader, x)
    if told is None:
        # Together they are too many states: say which one is that already without the others.
        alone = (c for c in x.contains if track(reader, replace(x, contains=(c,))) is None)
        at = next(alone, x.contains[-1])
        reader.unsupported("contains", at.origin, "over so many positions")
        return replace(x, contains=())
    return Arrays((), None, origin=x.origin, track=told)


def _distinct_and_contained(reader: Reader, x: Arrays) -> Iterator[Alternative | Reason]:
    """`x`, of which both the differences and the conditions matter."""
    assert x.unique is not None
    listed = _few_arrays(reader, x)
    if listed is not None:
        yield listed
        return
    limit = _most(x)
    if limit is None or limit > MAX_POSITIONS:
        # Not everywhere can what is remembered be counted too.
        reader.unsupported("uniqueItems", x.unique, "beside contains")
        yield _tracked(reader, replace(x, unique=None))
        return
    current = [replace(x, contains=())]
    for c in x.contains:
        ways = comb(limit - c.start, c.minimum) if limit >= c.start else 0
        if c.maximum is not None or len(current) * ways > MAX_POSITIONS:
            reader.unsupported("contains", c.origin, "beside uniqueItems")
            continue
        places = list(combinations(range(c.start, limit), c.minimum))
        current = [_at_positions(y, c.goal, chosen) for y in current for chosen in places]
    for y in current:
        yield _few_arrays(reader, y) or _remembered(reader, y)


def _most(x: Arrays) -> int | None:
    """How many items there can be, None if any number."""
    return least(len(x.prefix) if x.rest is None else None, x.longest)


def _certain(x: Arrays, goal: Goal) -> int:
    """How many of the items that must be there obviously satisfy the goal."""
    fixed = min(len(x.prefix), x.shortest)
    sure = sum(set(goal) <= set(item.goal) for item in x.prefix[:fixed])
    if x.rest is not None and set(goal) <= set(x.rest.goal):
        sure += x.shortest - fixed
    return sure


def _at_positions(x: Arrays, goal: Goal, chosen: tuple[int, ...]) -> Arrays:
    prefix: list[Item] = []
    for i in range(max(len(x.prefix), chosen[-1] + 1)):
        item = x.at(i)
        assert item is not None
        prefix.append(Item(both(item.goal, goal)) if i in chosen else item)
    return replace(x, prefix=tuple(prefix), shortest=max(x.shortest, chosen[-1] + 1))


def _all_differ(reader: Reader, x: Arrays) -> bool:
    """Whether no two items can be equal: there are not two, or they have nothing in common."""
    limit = _most(x)
    if limit is None or limit > MAX_POSITIONS:
        return False
    items = [item for i in range(limit) if (item := x.at(i)) is not None]
    return all(
        a.goal and b.goal and reader.disjoint(reader.form(a.goal), reader.form(b.goal))
        for a, b in combinations(items, 2)
    )


def _few_arrays(reader: Reader, x: Arrays) -> Alternative | Reason | None:
    """The arrays of distinct items, one by one; None if they are many."""
    choices: list[list[Json]] = []
    for i in range(len(x.prefix) + 1):
        item = x.at(i)
        if item is None:
            break
        values = _finite(reader, item.goal)
        if values is None:
            return None
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
            return None
    rules = replace(x, unique=None)
    kept: list[Json] = [array for array in listed if admits(reader, rules, array)]
    if not kept:
        return too_few(x)
    return Values(tuple(kept), (), x.origin)


def _remembered(reader: Reader, x: Arrays) -> Alternative | Reason:
    """`x` as it is: the grammar will remember its items."""
    assert x.unique is not None
    if reader.options.on_unsupported == "relax":
        # Not every target can remember: what may be dropped is dropped for all of them.
        reader.unsupported("uniqueItems", x.unique, "over so many values")
        return replace(x, unique=None)
    if _scarce(reader, x):
        return too_few(x)
    reader.found(
        "narrowed", "uniqueItems",
        "items have one spelling: exact layout, shortest escapes, numbers without an exponent, "
        "keys in one order", x.unique,
    )  # fmt: skip
    return x


def too_few(x: Arrays) -> Reason:
    """Why an array of distinct items has no value."""
    return Reason(f"minItems {x.shortest} is above the number of distinct items", x.origin)


def _scarce(reader: Reader, x: Arrays) -> bool:
    """Whether the items behind the prefix are plainly too few for ``minItems``."""
    if x.rest is None or x.shortest <= len(x.prefix) or not x.rest.goal:
        return False
    total = 0
    form = reader.form_if_read(x.rest.goal)
    for y in form.alternatives if form is not None else ():
        size = _size(y)
        if size is None:
            return False
        total += size
    return form is not None and total < x.shortest - len(x.prefix)


def _size(x: Alternative) -> int | None:
    """No fewer than the values of an alternative; None if they are endless or hard to count."""
    match x:
        case Nulls():
            return 1
        case Booleans():
            return 2
        case Values():
            return len(x.values)
        case Numbers(kind="integer", low=Decimal() as low, high=Decimal() as high):
            return max(0, int((high - low).to_integral_value()) + 1)
        case _:
            return None


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
