"""A measure: how many bytes the shortest and the longest text of a grammar take in UTF-8.

One pass over the graph, rules after those that they use; exact, in Python's unbounded integers.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from ..grammar import (
    Capture,
    Chars,
    Choice,
    Cut,
    Distinct,
    Expr,
    Grammar,
    Literal,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Token,
)
from ..graphs import components
from ..origin import Origin
from .graph import Graph, build_graph
from .machine_extent import longest_bytes, shortest_bytes, utf8_length
from .nullable import productive


@dataclass(frozen=True, slots=True)
class Extent:
    """Bytes of the shortest and longest text; `longest` None: without bound, `because` of what."""

    shortest: int
    longest: int | None
    because: str | None = None
    origin: Origin = Origin()


def longest_text(grammar: Grammar, *, armed: bool = False) -> Extent:
    """The extent of ``grammar.start`` (of ``armed`` where asked for and present).

    A grammar without any finite text has the extent 0..0; `check_productive` reports it.
    """
    start = grammar.armed if armed and grammar.armed is not None else grammar.start
    return extent(grammar.rules, start)


def extent(rules: Rules, start: Expr) -> Extent:
    """The extent of one expression."""
    graph = build_graph(rules, (start,))
    ends = productive(graph)
    if not ends[0]:
        return Extent(0, 0)
    return _Measure(graph, ends).all()[0]


class _Measure:
    def __init__(self, graph: Graph, ends: bytearray) -> None:
        self.graph = graph
        self.ends = ends
        self.found: dict[int, Extent] = {}
        self.machines: dict[tuple[int, int, int | None], Extent] = {}

    def all(self) -> dict[int, Extent]:
        usable = {
            index: [kid for kid in self.kids(index) if self.ends[kid]]
            for index in range(len(self.graph.nodes))
            if self.ends[index]
        }
        for component in components(usable):
            if len(component) == 1 and component[0] not in usable[component[0]]:
                self.found[component[0]] = self.one(component[0])
            else:
                self.recursive(component, usable)
        return self.found

    def kids(self, index: int) -> tuple[int, ...]:
        node = self.graph.nodes[index]
        return () if isinstance(node, Repeat) and node.max == 0 else self.graph.kids[index]

    def recursive(self, component: list[int], usable: dict[int, list[int]]) -> None:
        """Nodes that lead back to themselves: no bound; the shortest text by repeated relaxing."""
        names = [n.name for i in component if isinstance(n := self.graph.nodes[i], RuleRef)]
        because = f"rule `{min(names)}` is recursive"
        worst = 1 << 100
        for index in component:
            self.found[index] = Extent(worst, None, because)
        changed = True
        while changed:
            changed = False
            for index in component:
                shortest = self.one(index).shortest
                if shortest < self.found[index].shortest:
                    self.found[index] = Extent(shortest, None, because)
                    changed = True

    def one(self, index: int) -> Extent:
        node = self.graph.nodes[index]
        known = [self.found.get(kid) for kid in self.graph.kids[index]]
        kids = [k for k in known if k is not None]
        match node:
            case Literal(text) | Token(text):
                size = len(text.encode("utf-8", "surrogatepass"))
                return Extent(size, size)
            case Cut():
                return Extent(0, 0)
            case Chars(ranges):
                return Extent(utf8_length(ranges[0][0]), utf8_length(ranges[-1][1]))
            case Regular():
                return self.regular(node)
            case Sequence():
                return _together(kids)
            case Choice():
                return _either(kids)
            case Repeat(min=low, max=high):
                return _repeated(kids[0] if kids else Extent(0, 0), low, high)
            case Members():
                return _members(node, known)
            case Distinct():
                return _distinct(node, known)
            case Capture() | RuleRef():
                return kids[0]

    def regular(self, node: Regular) -> Extent:
        key = (id(node.machine), node.min, node.max)
        if key not in self.machines:
            # What is known of a machine of too many states holds more texts than it.
            known = node.machine.known
            machine = node.machine if known is None else known.plain
            shortest = shortest_bytes(machine, node.min, node.max)
            longest = longest_bytes(machine, node.min, node.max)
            because = None if longest is not None else f"{node.what} has no bound"
            self.machines[key] = Extent(shortest or 0, longest, because, node.origin)
        return self.machines[key]


def _unbounded(kids: list[Extent], shortest: int) -> Extent | None:
    """An extent without bound for the reason of the first of `kids` that has none."""
    for kid in kids:
        if kid.longest is None:
            return Extent(shortest, None, kid.because, kid.origin)
    return None


def _together(kids: list[Extent]) -> Extent:
    shortest = sum(kid.shortest for kid in kids)
    return _unbounded(kids, shortest) or Extent(shortest, sum(kid.longest or 0 for kid in kids))


def _either(kids: list[Extent]) -> Extent:
    shortest = min(kid.shortest for kid in kids)
    return _unbounded(kids, shortest) or Extent(shortest, max(kid.longest or 0 for kid in kids))


def _repeated(item: Extent, low: int, high: int | None) -> Extent:
    shortest = item.shortest * low
    if item.longest == 0 or high == 0:
        return Extent(shortest, 0)
    if item.longest is None:
        return Extent(shortest, None, item.because, item.origin)
    if high is None:
        return Extent(shortest, None, "a repetition has no bound", item.origin)
    return Extent(shortest, item.longest * high)


def _members(node: Members, kids: list[Extent | None]) -> Extent:
    """The required members, then as many of the others as make it shorter or longer.

    What they must meet is not counted in: the shortest text may be longer than said here, the
    longest shorter.
    """
    size = len(node.keys)
    bodies, separator = kids[:size], kids[size] or Extent(0, 0)
    required = [b for key, b in zip(node.keys, bodies, strict=True) if key.required and b]
    optional = [b for key, b in zip(node.keys, bodies, strict=True) if not key.required and b]
    opened = _opened(node, kids[size + 1 :])
    each = _either(opened) if opened else None

    needed = max(0, node.min_count - len(required))
    room = None if each is None else node.max_open
    shortest = sum(b.shortest for b in required)
    shortest += _least(sorted(b.shortest for b in optional), each, room, needed)
    shortest += separator.shortest * max(0, len(required) + needed - 1)

    left = None if node.max_count is None else node.max_count - len(required)
    if left is not None:
        optional.sort(key=lambda b: float("inf") if b.longest is None else b.longest, reverse=True)
    if each is not None and room is None and left is None:
        if each.longest != 0 or separator.longest != 0:
            why = each.because or "an object may have any number of members"
            return Extent(shortest, None, why, node.origin)
        each = None
    return _longest_members(node, shortest, required, optional, each, room, left, separator)


def _opened(node: Members, kids: list[Extent | None]) -> list[Extent]:
    """The open members, each with the name that stands before it."""
    bodies = kids[: len(node.open)]
    names = kids[len(node.open) : len(node.open) + len(node.names)]
    if not names:
        return [b for b in bodies if b is not None]
    pairs = zip(names, bodies, strict=True)
    return [_together([n, b]) for n, b in pairs if n is not None and b is not None]


def _distinct(node: Distinct, kids: list[Extent | None]) -> Extent:
    """As many items as may be. That they differ is not counted in: the shortest text may be longer
    than said here, the longest shorter."""
    separator, items = kids[0] or Extent(0, 0), kids[1:]
    prefix = items[: len(node.prefix)]
    usable = [i for i in prefix if i is not None]
    if None in prefix:
        usable = usable[: prefix.index(None)]
    rest = items[-1] if node.rest is not None and len(usable) == len(prefix) else None
    most = node.max_count
    if rest is None:
        most = len(usable) if most is None else min(most, len(usable))
    needed = [*usable[: node.min_count]]
    repeated = max(0, node.min_count - len(usable))
    shortest = sum(i.shortest for i in needed) + separator.shortest * max(0, node.min_count - 1)
    if rest is not None:
        shortest += rest.shortest * repeated
    taken = [*usable[:most], *([separator] if most != 1 else [])]
    if rest is not None and most != len(usable):
        taken.append(rest)
        if most is None:
            found = _unbounded(taken, shortest)
            return found or Extent(
                shortest, None, "an array may have any number of items", node.origin
            )
    found = _unbounded(taken, shortest)
    if found is not None:
        return found
    assert most is not None
    longest = sum(i.longest or 0 for i in usable[:most]) + (separator.longest or 0) * max(
        0, most - 1
    )
    if rest is not None:
        longest += (rest.longest or 0) * max(0, most - len(usable))
    return Extent(shortest, longest)


def _least(small: list[int], each: Extent | None, room: int | None, needed: int) -> int:
    """Bytes of the `needed` shortest members: each of `small` once, `each` up to `room` times."""
    if each is None:
        return sum(small[:needed])
    shorter = bisect_left(small, each.shortest)
    first = small[: min(shorter, needed)]
    owed = needed - len(first)
    times = owed if room is None else min(room, owed)
    return sum(first) + each.shortest * times + sum(small[shorter:][: owed - times])


def _longest_members(
    node: Members,
    shortest: int,
    required: list[Extent],
    optional: list[Extent],
    each: Extent | None,
    room: int | None,
    left: int | None,
    separator: Extent,
) -> Extent:
    """`left` members besides the required ones, the longest first."""
    total, count = sum(b.longest or 0 for b in required), len(required)
    taken = list(required)
    groups = [(b, 1) for b in optional]
    if each is not None:
        spare = left if room is None else room if left is None else min(room, left)
        assert spare is not None
        longer = [b for b in optional if b.longest is None or b.longest > (each.longest or 0)]
        at = len(longer) if each.longest is not None and left is not None else 0
        groups.insert(at, (each, spare))
    for extent_, times in groups:
        times = times if left is None else min(times, left)
        if times:
            taken.append(extent_)
            total += (extent_.longest or 0) * times
            count += times
            left = None if left is None else left - times
    if count > 1:
        taken.append(separator)
        total += (separator.longest or 0) * (count - 1)
    return _unbounded(taken, shortest) or Extent(shortest, total)
