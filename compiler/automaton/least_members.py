"""The fewest bytes of what is left of an object's members."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..grammar import Expr, Members
from .machine_distance import FAR
from .members import State

Cost = Callable[[Expr], int]
Met = dict[tuple[int, int], int]
"""Bytes by conditions met and number of members."""


def least_members(node: Members, state: State, cost: Cost, *, begun: bool) -> int:
    """The fewest bytes from a state of the members to the end of the object.

    That open members must differ in their names is not counted in.

    Args:
        cost: the fewest bytes of an expression.
        begun: a separator stands before, so that a member must come.
    """
    keys, opens, total, met = state
    missing = ((1 << len(node.conditions)) - 1) & ~met
    need = max(node.min_count - total, 1 if begun else 0, 0)
    most = None if node.max_count is None else node.max_count - total
    most_open = 0 if not node.open else None
    if node.open and node.max_open is not None:
        most_open = node.max_open - opens
    separator = cost(node.separator)
    # The first member has no separator before it that is still to come.
    spared = separator if begun or not total else 0
    if missing:
        least = _with_conditions(node, keys, missing, need, most, most_open, cost, separator)
    else:
        least = _plain(node, keys, need, most, most_open, cost, separator)
    return min((n - (spared if number else 0) for number, n in least), default=FAR)


def _to_come(node: Members, keys: int) -> Iterator[int]:
    if node.order == "schema":
        return iter(range(keys, len(node.keys)))
    return (i for i in range(len(node.keys)) if not keys >> i & 1)


def _opened(node: Members, cost: Cost) -> list[int]:
    """Bytes of each kind of open member, its name included."""
    names = [cost(name) for name in node.names] or [0] * len(node.open)
    return [name + cost(body) for name, body in zip(names, node.open, strict=True)]


def _plain(
    node: Members,
    keys: int,
    need: int,
    most: int | None,
    most_open: int | None,
    cost: Cost,
    separator: int,
) -> list[tuple[int, int]]:
    """Members and bytes where no condition is left: what is required, then the shortest."""
    required = [cost(node.keys[i].body) for i in _to_come(node, keys) if node.keys[i].required]
    owed = need - len(required)
    number = max(need, len(required))
    if most is not None and number > most:
        return []
    total = sum(required) + separator * number
    if owed > 0:
        others = sorted(
            cost(node.keys[i].body) for i in _to_come(node, keys) if not node.keys[i].required
        )
        each = min(_opened(node, cost), default=FAR)
        taken = [n for n in others if n <= each][:owed]
        more = owed - len(taken)
        times = more if most_open is None else min(more, most_open)
        rest = others[len(taken) : len(taken) + more - times]
        if len(rest) < more - times:
            return []
        total += sum(taken) + (each * times if times else 0) + sum(rest)
    return [(number, total)]


def _with_conditions(
    node: Members,
    keys: int,
    missing: int,
    need: int,
    most: int | None,
    most_open: int | None,
    cost: Cost,
    separator: int,
) -> list[tuple[int, int]]:
    """The same where conditions must be met: key by key, by what is met and how many there are."""
    enough = max(need, 1)

    def more(number: int) -> int | None:
        number += 1
        if most is not None:
            return number if number <= most else None
        return min(number, enough)

    reach: Met = {(0, 0): 0}
    for i in _to_come(node, keys):
        key = node.keys[i]
        ways = [(key.meets, cost(key.body))]
        ways += [(key.meets | v.meets, cost(v.body)) for v in key.variants]
        absent = sum(1 << c for c, bits in enumerate(node.conditions) if bits >> i & 1)
        after: Met = {}
        for (met, number), length in reach.items():
            if not key.required:
                _keep(after, met | absent & missing, number, length)
            following = more(number)
            if following is not None:
                for bits, own in ways:
                    _keep(after, met | bits & missing, following, length + own + separator)
        reach = after
    ways = _open_ways(node, cost)
    # Each open member meets something, or is one of those needed.
    rounds = need + missing.bit_count()
    level = reach
    for _ in range(rounds if most_open is None else min(rounds, most_open)):
        after = {}
        for (met, number), length in level.items():
            following = more(number)
            if following is not None:
                for bits, own in ways:
                    _keep(after, met | bits & missing, following, length + own + separator)
        level = {k: n for k, n in after.items() if n < reach.get(k, FAR)}
        for (met, number), length in level.items():
            _keep(reach, met, number, length)
        if not level:
            break
    return [(number, n) for (met, number), n in reach.items() if met == missing and number >= need]


def _open_ways(node: Members, cost: Cost) -> list[tuple[int, int]]:
    """What open members meet, and their bytes."""
    ways = []
    for which, own in enumerate(_opened(node, cost)):
        always = node.open_meets[which] if node.open_meets else 0
        ways.append((always, own))
        name = cost(node.names[which]) if node.names else 0
        for variant in node.open_variants[which] if node.open_variants else ():
            ways.append((always | variant.meets, name + cost(variant.body)))
    return ways


def _keep(found: Met, met: int, number: int, length: int) -> None:
    if length < found.get((met, number), FAR):
        found[met, number] = length
