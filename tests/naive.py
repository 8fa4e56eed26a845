"""The meaning of the grammar IR, as plainly as it can be said: sets of end positions.

Slow, recursive, and independent of every pass and target: the judge for small grammars.
"""

from __future__ import annotations

from typing import assert_never

from calligram.compiler.grammar import (
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
    Variant,
)

Ends = frozenset[int]
# Position, keys used, open members used, names to remember, conditions met.
_State = tuple[int, tuple[int, ...], int, frozenset[str], int]


def accepts(grammar: Grammar, text: str, *, armed: bool = False) -> bool:
    """Whether `text` is in the language of the start (of `armed` where asked for and present)."""
    start = grammar.armed if armed and grammar.armed is not None else grammar.start
    return len(text) in Matcher(grammar.rules, text).ends(start, 0)


class Matcher:
    """Matches one text. Left recursion and empty loops are not for it."""

    def __init__(self, rules: Rules, text: str) -> None:
        self.rules = rules
        self.text = text
        self.memo: dict[tuple[int, int], Ends] = {}

    def ends(self, expr: Expr, at: int) -> Ends:
        key = (id(expr), at)
        if key not in self.memo:
            self.memo[key] = self._ends(expr, at)
        return self.memo[key]

    def _ends(self, expr: Expr, at: int) -> Ends:
        match expr:
            case Literal(text) | Token(text):
                return frozenset({at + len(text)} if self.text.startswith(text, at) else ())
            case Chars(ranges):
                inside = at < len(self.text) and any(
                    low <= ord(self.text[at]) <= high for low, high in ranges
                )
                return frozenset({at + 1} if inside else ())
            case Cut():
                return frozenset({at})
            case Sequence(items):
                found = frozenset({at})
                for item in items:
                    found = self.after(found, item)
                return found
            case Choice(options):
                return frozenset().union(*(self.ends(option, at) for option in options))
            case Repeat(item, low, high):
                return self._repeat(item, low, high, at)
            case RuleRef(name):
                return self.ends(self.rules[name], at)
            case Capture(item=item):
                return self.ends(item, at)
            case Regular():
                return self._regular(expr, at)
            case Members():
                return self._members(expr, at)
            case Distinct():
                return self._distinct(expr, at)
        assert_never(expr)

    def after(self, starts: Ends, expr: Expr) -> Ends:
        return frozenset().union(*(self.ends(expr, at) for at in starts))

    def _repeat(self, item: Expr, low: int, high: int | None, at: int) -> Ends:
        current = frozenset({at})
        found = current if low == 0 else frozenset()
        # Beyond as many turns as there are characters left nothing new can come.
        turns = low + len(self.text) - at + 1
        for turn in range(1, (turns if high is None else min(high, turns)) + 1):
            current = self.after(current, item)
            if turn >= low:
                found |= current
        return found

    def _regular(self, node: Regular, at: int) -> Ends:
        found = set()
        state = 0
        count = 0
        while True:
            bounded = count >= node.min and (node.max is None or count <= node.max)
            if state in node.machine.accepting and bounded:
                found.add(at)
            if at == len(self.text):
                return frozenset(found)
            code = ord(self.text[at])
            for low, high, target, counts in node.machine.transitions[state]:
                if low <= code <= high:
                    state, count, at = target, count + counts, at + 1
                    break
            else:
                return frozenset(found)

    def _members(self, node: Members, at: int) -> Ends:
        """All ways to go on, as (position, keys used, open members used, names, conditions met)."""
        found = set()
        queue: list[_State] = [(at, (), 0, frozenset(), 0)]
        seen = set(queue)
        for position, used, opened, names, met in queue:
            total = len(used) + opened
            complete = all(not k.required or i in used for i, k in enumerate(node.keys))
            if (
                complete
                and _all_met(node, used, met)
                and total >= node.min_count
                and total <= _bound(node.max_count)
            ):
                found.add(position)
            before = self.ends(node.separator, position) if total else frozenset({position})
            following = [
                (end, tuple(sorted((*used, i))), opened, names, met | key.meets | more)
                for i, key in enumerate(node.keys)
                if i not in used and self._in_order(node, used, opened, i)
                for body, more in _ways(key.body, key.variants)
                for end in self.after(before, body)
            ]
            if opened < _bound(node.max_open) and (node.order == "any" or complete):
                for which, whole in enumerate(node.open):
                    variants = node.open_variants[which] if node.open_variants else ()
                    always = node.open_meets[which] if node.open_meets else 0
                    for start in before:
                        following += [
                            (end, used, opened + 1, after, met | always | more)
                            for begun, after in self._named(node, which, start, names)
                            for body, more in _ways(whole, variants)
                            for end in self.ends(body, begun)
                        ]
            for state in following:
                if state not in seen and total < len(self.text) + len(node.keys) + 2:
                    seen.add(state)
                    queue.append(state)
        return frozenset(found)

    def _named(
        self, node: Members, which: int, at: int, names: frozenset[str]
    ) -> list[tuple[int, frozenset[str]]]:
        """Where the name of an open member may end, with the names to remember behind it."""
        if not node.names:
            return [(at, names)]
        found = []
        for end in self.ends(node.names[which], at):
            name = self.text[at:end]
            if node.memory == "distinct" and name not in names:
                found.append((end, names | {name}))
            elif node.memory == "ascending" and all(n.encode() < name.encode() for n in names):
                found.append((end, frozenset({name})))
        return found

    def _distinct(self, node: Distinct, at: int) -> Ends:
        """All ways to go on, as (position, items so far)."""
        found = set()
        queue: list[tuple[int, tuple[str, ...]]] = [(at, ())]
        seen = set(queue)
        for position, items in queue:
            count = len(items)
            if count >= node.min_count:
                found.add(position)
            item = node.prefix[count] if count < len(node.prefix) else node.rest
            if item is None or count >= _bound(node.max_count):
                continue
            before = self.ends(node.separator, position) if count else frozenset({position})
            for start in before:
                for end in self.ends(item, start):
                    state = (end, (*items, self.text[start:end]))
                    if self.text[start:end] not in items and state not in seen:
                        seen.add(state)
                        queue.append(state)
        return frozenset(found)

    def _in_order(self, node: Members, used: tuple[int, ...], opened: int, key: int) -> bool:
        if node.order == "any":
            return True
        last = max(used, default=-1)
        return (
            not opened
            and key > last
            and not any(node.keys[i].required for i in range(last + 1, key))
        )


def _ways(body: Expr, variants: tuple[Variant, ...]) -> list[tuple[Expr, int]]:
    return [(body, 0), *((variant.body, variant.meets) for variant in variants)]


def _all_met(node: Members, used: tuple[int, ...], met: int) -> bool:
    """Is each condition met, by a member or by a key that is not there?"""
    absent = sum(1 << i for i in range(len(node.keys)) if i not in used)
    return all(met >> c & 1 or keys & absent for c, keys in enumerate(node.conditions))


def _bound(number: int | None) -> float:
    return float("inf") if number is None else number
