"""Random texts of a grammar, and texts that are nearly in it.

The sampler walks the grammar IR itself, so what it draws is in the language by the meaning of the
IR and not by that of any target. It draws short texts by choice and the bounds of counts often.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from random import Random, SystemRandom
from typing import TypeVar, assert_never

from calligram.compiler.automaton.liveness import liveness
from calligram.compiler.automaton.members import MembersPlan
from calligram.compiler.grammar import (
    EMPTY,
    Capture,
    Chars,
    Choice,
    Cut,
    Distinct,
    Expr,
    Literal,
    Machine,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Token,
)

T = TypeVar("T")
FUZZ = float(os.environ.get("CALLIGRAM_FUZZ", "1"))
"""Multiplies the counts of random tests."""
SEED = os.environ.get("CALLIGRAM_SEED") or (
    str(SystemRandom().randrange(10**6)) if "CALLIGRAM_FUZZ" in os.environ else "0"
)
"""The same texts each time, unless the suite is told to search or which ones to draw."""

INFINITE = float("inf")
WIDE = 60
"""The widest count of single characters that is drawn in full now and then."""


def fuzzed(count: int) -> int:
    """The count times CALLIGRAM_FUZZ."""
    return max(1, int(count * FUZZ))


def dice(*names: object) -> Random:
    """The source of choices for one purpose, whatever else was drawn before."""
    return Random(f"{SEED}/{names}")


def spread(items: Iterable[T], *names: object, most: int = 12) -> list[T]:
    """At most so many of the items, others for each purpose; all when the suite is told to search.

    For tests that cross the shipped dialects with something else: each pair would take too long.
    """
    found = list(items)
    if "CALLIGRAM_FUZZ" in os.environ or len(found) <= most:
        return found
    chosen = set(dice("spread", *names).sample(range(len(found)), most))
    return [item for at, item in enumerate(found) if at in chosen]


class Stuck(Exception):
    """Distinct texts are owed, and drawing at random did not find them."""


class Sampler:
    """Draws texts of the rules' expressions.

    Args:
        rules: the grammar's rules.
        random: the source of all choices.
        size: roughly the most characters of free choice in one text; what is owed comes on top.
    """

    def __init__(self, rules: Rules, random: Random, size: int = 120) -> None:
        self.rules = rules
        self.random = random
        self.size = size
        self._fuel = 0
        self._out: list[str] = []
        self._heights: dict[str, float] = {}
        self._plans: dict[int, MembersPlan] = {}
        self._kept: list[Expr] = []
        self._ways: dict[tuple[Machine, int], dict[tuple[int, int], tuple[int, int, int, int]]] = {}

    def text(self, start: Expr) -> str:
        """One text of `start`."""
        for _ in range(20):
            self._fuel = self.random.choice((self.size // 8, self.size // 2, self.size))
            self._out = []
            try:
                self._walk(start)
                return "".join(self._out)
            except Stuck:
                pass
        raise Stuck

    def texts(self, start: Expr, count: int) -> list[str]:
        """Distinct texts, as many as were found in three times `count` draws, up to `count`."""
        found: dict[str, None] = {}
        for _ in range(3 * count):
            found[self.text(start)] = None
            if len(found) >= count:
                break
        return list(found)

    def _say(self, text: str) -> None:
        self._out.append(text)
        self._fuel -= len(text)

    def _walk(self, expr: Expr) -> None:
        match expr:
            case Literal(text) | Token(text):
                self._out.append(text)
                self._fuel -= len(text) // 4
            case Chars(ranges):
                self._say(self._character(*self.random.choice(ranges)))
            case Cut():
                pass
            case Sequence(items):
                for item in items:
                    self._walk(item)
            case Choice(options):
                self._walk(self._option(options))
            case Repeat(item, low, high):
                for _ in range(self._times(item, low, high)):
                    self._walk(item)
            case RuleRef(name):
                self._walk(self.rules[name])
            case Capture(item=item):
                self._walk(item)
            case Regular():
                self._regular(expr)
            case Members():
                self._members(expr)
            case Distinct():
                self._distinct(expr)
            case _:
                assert_never(expr)

    def _character(self, low: int, high: int) -> str:
        """A character of the range: its ends, something plain, or anything."""
        kind = self.random.random()
        if kind < 0.15:
            code = self.random.choice((low, high))
        elif kind < 0.75 and low <= 0x7A and high >= 0x61:
            code = self.random.randint(max(low, 0x61), min(high, 0x7A))
        else:
            code = self.random.randint(low, min(high, low + self.random.choice((0x7E, 0x10FFFF))))
        return chr(low if 0xD800 <= code <= 0xDFFF else code)

    # Choices, driven to the lowest once the fuel is gone ---------------------------------------

    def _option(self, options: tuple[Expr, ...]) -> Expr:
        if self._fuel > 0:
            return self.random.choice(options)
        return min(options, key=self._height)

    def _times(self, item: Expr, low: int, high: int | None) -> int:
        if self._fuel <= 0:
            return low
        draw = self.random.random()
        if draw < 0.2:
            return low
        single = isinstance(item, (Chars, Literal)) or self._height(item) < 2
        if high is not None and draw < 0.4 and high - low <= (WIDE if single else 4):
            return high
        times = low
        while (high is None or times < high) and self.random.random() < (0.85 if single else 0.5):
            times += 1
        return times

    def _height(self, expr: Expr) -> float:
        """How many levels of rules the lowest text needs: a measure that always leads to an end."""
        match expr:
            case RuleRef(name):
                if name not in self._heights:
                    self._settle(name)
                return self._heights[name]
            case _:
                return self._lowest(expr)

    def _lowest(self, expr: Expr) -> float:
        match expr:
            case Sequence(items):
                return max(map(self._lowest, items), default=0)
            case Choice(options):
                return min(map(self._lowest, options))
            case Repeat(item, low, _):
                return self._lowest(item) if low else 0
            case RuleRef(name):
                return self._heights.get(name, INFINITE)
            case Capture(item=item):
                return self._lowest(item)
            case Distinct(prefix, rest, separator):
                owed = [self._lowest(i) for i in prefix[: expr.min_count]]
                if expr.min_count > len(prefix) and rest is not None:
                    owed.append(self._lowest(rest))
                joint = [self._lowest(separator)] if expr.min_count > 1 else []
                return max([*owed, *joint], default=0)
            case Members(keys, separator, opened):
                owed = [self._lowest(k.body) for k in keys if k.required]
                optional = [self._lowest(k.body) for k in keys if not k.required]
                optional += [self._lowest(o) for o in opened]
                free = max(0, expr.min_count - len(owed))
                taken = sorted(optional)[: min(free, len(optional))]
                joint = [self._lowest(separator)] if expr.min_count > 1 or len(owed) > 1 else []
                return max([*owed, *taken, *joint], default=0)
            case _:
                return 0

    def _settle(self, name: str) -> None:
        """The heights of all the rules that a rule reaches, to their fixed point."""
        reached = dict(self.rules.reachable(RuleRef(name)))
        for rule in reached:
            self._heights.setdefault(rule, INFINITE)
        changed = True
        while changed:
            changed = False
            for rule, body in reached.items():
                height = 1 + self._lowest(body)
                if height < self._heights[rule]:
                    self._heights[rule] = height
                    changed = True

    # Machines and members ------------------------------------------------------------------------

    def _regular(self, node: Regular) -> None:
        machine, alive = node.machine, liveness(node.machine).live
        need, left = node.min, node.max
        assert alive(0, need, left), f"no text: {node.what}"
        state = 0
        # A walk to the end of a narrow window, a long or a short one.
        whole = left is not None and left <= WIDE and self.random.random() < 0.3
        stop = 0.0 if whole else self.random.choice((0.5, 0.15, 0.05))
        while True:
            done = state in machine.accepting and need <= 0
            if done and (self._fuel <= 0 or self.random.random() < stop):
                return
            ways = [
                (low, high, target, counts)
                for low, high, target, counts in machine.transitions[state]
                if (left is None or left >= counts)
                and alive(target, max(need - counts, 0), None if left is None else left - counts)
            ]
            if not ways:
                assert done
                return
            if self._fuel > 0:
                low, high, target, counts = self.random.choice(ways)
            else:
                low, high, target, counts = self._quickest(node, state, need)
            self._say(self._character(low, high))
            state, need = target, max(need - counts, 0)
            left = None if left is None else left - counts

    def _quickest(self, node: Regular, state: int, need: int) -> tuple[int, int, int, int]:
        """The next transition on a shortest way to the end, with `need` more counts at least.

        A shortest way may count more than an upper bound allows; machines of values count what
        they write, so that the fewest characters are also the fewest counts.
        """
        machine = node.machine
        ways = self._ways.get((machine, node.min))
        if ways is None:
            ways = self._ways[machine, node.min] = _shortest_ways(machine, node.min)
        return ways[state, need]

    def _members(self, node: Members) -> None:
        plan = self._plans.get(id(node))
        if plan is None:
            plan = self._plans[id(node)] = MembersPlan(node)
            self._kept.append(node)
        state = plan.start
        names: set[str] = set()
        tries = 0
        stop = self.random.choice((0.0, 0.2, 0.6))
        while True:
            done = plan.may_end(state)
            if done and (self._fuel <= 0 or self.random.random() < stop):
                return
            tries += 1
            if tries > 1000:
                raise Stuck
            ways = plan.candidates(state)
            if not ways:
                assert done
                return
            if self._fuel > 0:
                body, following = self.random.choice(ways)
            else:
                body, following = min(ways, key=lambda way: self._height(way[0]))
            which = _open_kind(node, body)
            before = len(self._out)
            if plan.needs_separator(state):
                self._walk(node.separator)
            if node.names and which is not None:
                name = self._new(node.names[which], names, node.memory == "ascending")
                if name is None:
                    del self._out[before:]
                    if done:
                        return
                    tries += 40
                    continue
                names.add(name)
            self._walk(body)
            self._fuel -= 3
            state = following

    def _distinct(self, node: Distinct) -> None:
        texts: set[str] = set()
        most = self._times(
            node.prefix[0] if node.prefix else node.rest or EMPTY, node.min_count, node.max_count
        )
        for count in range(most):
            item = node.prefix[count] if count < len(node.prefix) else node.rest
            assert item is not None
            before = len(self._out)
            if count:
                self._walk(node.separator)
            text = self._new(item, texts, False)
            if text is None:
                del self._out[before:]
                if count >= node.min_count:
                    return
                raise Stuck
            texts.add(text)

    def _new(self, item: Expr, texts: set[str], ascending: bool) -> str | None:
        """Say a text of `item` that is none of `texts` (or comes behind them), if one is found."""
        before = len(self._out)
        for attempt in range(40):
            if attempt:
                self._fuel = max(self._fuel, attempt)
            self._walk(item)
            text = "".join(self._out[before:])
            if text not in texts and not (
                ascending and any(t.encode() > text.encode() for t in texts)
            ):
                return text
            del self._out[before:]
        return None


def _open_kind(node: Members, body: Expr) -> int | None:
    """Which of the open members a body is of, by itself or by a variant."""
    for i, whole in enumerate(node.open):
        kinds = node.open_variants[i] if node.open_variants else ()
        if whole is body or any(variant.body is body for variant in kinds):
            return i
    return None


def _shortest_ways(machine: Machine, most: int) -> dict[tuple[int, int], tuple[int, int, int, int]]:
    """For each state and number of counts owed the transition that leads to the end soonest."""
    into: dict[int, list[tuple[int, tuple[int, int, int, int]]]] = {}
    for source, row in enumerate(machine.transitions):
        for way in row:
            into.setdefault(way[2], []).append((source, way))
    found: dict[tuple[int, int], tuple[int, int, int, int]] = {}
    queue = deque((state, 0) for state in sorted(machine.accepting))
    seen = set(queue)
    while queue:
        state, need = queue.popleft()
        for source, way in into.get(state, ()):
            owed = {need + way[3]} | ({0} if need == 0 else set())
            for before in sorted(owed):
                if before <= most and (source, before) not in found:
                    found[source, before] = way
                    if (source, before) not in seen:
                        seen.add((source, before))
                        queue.append((source, before))
    return found


# Mutations --------------------------------------------------------------------------------------

_STRAYS = "{}[]()\"'\\,:=<>/| \n\t\x00\x1f0a9-+.eE\u00e9\u2603\U0001f600"
_PIECES = (
    '""', "null", "true", "None", "[]", "{}", "0", "-1", "1.5", "01", '\\u0041', "\\ud83d",
    ', "x": 1', "  ", "\n\n", "</", "<think>",
)  # fmt: skip


def _slice(text: str, random: Random) -> tuple[int, int]:
    start = random.randrange(len(text) + 1)
    return start, min(len(text), start + random.choice((1, 1, 2, 3, 8, 20)))


def _delete(text: str, random: Random, other: str) -> str:
    start, end = _slice(text, random)
    return text[:start] + text[end:]


def _insert(text: str, random: Random, other: str) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(_STRAYS) + text[at:]


def _insert_piece(text: str, random: Random, other: str) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(_PIECES) + text[at:]


def _duplicate(text: str, random: Random, other: str) -> str:
    start, end = _slice(text, random)
    return text[:end] + text[start:]


def _replace(text: str, random: Random, other: str) -> str:
    start, end = _slice(text, random)
    return text[:start] + random.choice(_STRAYS) + text[max(end, start + 1) :]


def _swap(text: str, random: Random, other: str) -> str:
    """Two slices, often members, change places."""
    cuts = [i for i, c in enumerate(text) if c in ',<"=:'] or [0, len(text)]
    a, b, c, d = sorted(random.choice(cuts) for _ in range(4))
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _truncate(text: str, random: Random, other: str) -> str:
    return text[: random.randrange(len(text) + 1)]


def _splice(text: str, random: Random, other: str) -> str:
    return text[: random.randrange(len(text) + 1)] + other[random.randrange(len(other) + 1) :]


def _change_case(text: str, random: Random, other: str) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + text[at : at + 1].swapcase() + text[at + 1 :]


MUTATORS: tuple[Callable[[str, Random, str], str], ...] = (
    _delete,
    _insert,
    _insert_piece,
    _duplicate,
    _replace,
    _swap,
    _truncate,
    _splice,
    _change_case,
)


def mutate(text: str, random: Random, other: str = "") -> str:
    """The text with one or two changes; `other` is a text to splice with."""
    for _ in range(random.choice((1, 1, 1, 2))):
        text = random.choice(MUTATORS)(text, random, other or text)
    return text


def mutations(texts: list[str], random: Random, count: int) -> list[str]:
    """Distinct changed texts, none of `texts` among them, up to `count`."""
    found: dict[str, None] = {}
    for _ in range(3 * count):
        changed = mutate(random.choice(texts), random, random.choice(texts))
        if changed not in texts:
            found[changed] = None
        if len(found) >= count:
            break
    return list(found)
