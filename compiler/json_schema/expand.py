"""contains, where it comes down to counts, positions or rows; uniqueItems over few arrays.

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
    Row,
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
# More items than this are not counted one by one in an array of any length.
MAX_ROWS = 8


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
        elif y.unique is None or _all_differ(reader, y):
            yield replace(y, unique=None)
        elif y.rows:
            reader.unsupported("uniqueItems", y.unique, "beside contains")
            yield replace(y, unique=None)
        else:
            yield _few_arrays(reader, y) or _remembered(reader, y)


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
    if x.rows:
        return None
    form = reader.form(c.goal) if c.goal else None
    if form is None or (len(form.alternatives) == 6 and all(map(trivial, form.alternatives))):
        longest = c.maximum if x.longest is None else x.longest
        if c.maximum is not None and longest is not None:
            longest = min(longest, c.maximum)
        return [replace(x, shortest=max(x.shortest, c.minimum), longest=longest)]
    if not form.alternatives:
        return [] if c.minimum > 0 else [x]
    if c.maximum is not None:
        return _in_rows(x, c)
    if c.minimum <= _certain(x, c.goal):
        return [x]
    limit = len(x.prefix) if x.rest is None else x.longest
    if x.longest is not None and limit is not None:
        limit = min(limit, x.longest)
    if limit is None or limit > MAX_POSITIONS or comb(limit, c.minimum) > MAX_POSITIONS:
        return _in_rows(x, c)
    return [_at_positions(x, c.goal, chosen) for chosen in combinations(range(limit), c.minimum)]


def _in_rows(x: Arrays, c: Contains) -> list[Arrays] | None:
    """`x` as rows of items that do not satisfy `c` with single ones between that do.

    None where lengths would have to be counted beside, or several conditions at once.
    """
    if len(c.goal) != 1 or x.rest is None or x.longest is not None or x.rows:
        return None
    no: Goal = (c.goal[0].opposite,)
    rest = x.rest.goal
    with_, without = both(rest, c.goal), both(rest, no)
    if c.maximum is None and c.minimum == 1:
        return _first_in_rows(x, c.goal, no)
    most = c.minimum if c.maximum is None else c.maximum
    if x.prefix or x.shortest > c.minimum or most > MAX_ROWS:
        return None
    made: list[Arrays] = []
    pair = (Row(without), Row(with_, 1, 1))
    for count in range(c.minimum, most + 1):
        last = Row(rest if c.maximum is None else without)
        if count == 0:
            made.append(replace(x, rest=Item(without)))
        else:
            made.append(replace(x, rest=None, shortest=count, rows=(*pair * count, last)))
    return made


def _first_in_rows(x: Arrays, goal: Goal, no: Goal) -> list[Arrays] | None:
    """`x` by the first item that satisfies the goal: one by one as far as lengths matter."""
    assert x.rest is not None
    rest = x.rest.goal
    fixed = max(len(x.prefix), x.shortest - 1)
    if fixed > MAX_POSITIONS:
        return None
    made: list[Arrays] = []
    before: list[Item] = []
    for i in range(fixed):
        item = x.at(i)
        assert item is not None
        here = (*before, Item(both(item.goal, goal)), *x.prefix[i + 1 :])
        made.append(replace(x, prefix=here, shortest=max(x.shortest, i + 1)))
        before.append(Item(both(item.goal, no)))
    rows = (Row(both(rest, no)), Row(both(rest, goal), 1, 1), Row(rest))
    made.append(replace(x, prefix=tuple(before), rest=None, shortest=fixed + 1, rows=rows))
    return made


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
    limit = len(x.prefix) if x.rest is None else x.longest
    if x.longest is not None and limit is not None:
        limit = min(limit, x.longest)
    if limit is None or limit > MAX_POSITIONS or x.rows:
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
    kept: list[Json] = [array for array in listed if len(array) >= x.shortest]
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
