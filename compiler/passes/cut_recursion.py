"""Grammar -> Grammar. Rules inside themselves are copied so often, and no deeper.

For targets that have no stack. Where a copy would lead one level deeper than is allowed, the way
ends: alternatives and optional parts that need it are left out. What is cut is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ..automaton.members import MembersPlan
from ..errors import GrammarError
from ..grammar import (
    EMPTY,
    Capture,
    Choice,
    Distinct,
    Expr,
    Grammar,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Variant,
    children,
)
from ..graphs import components
from ..origin import Origin
from .rewrite import built_rules, mentioned, rewrite

Key = tuple[str, int]
"""A rule, and how deep inside itself."""

NOTHING: Final = RuleRef("")
"""Stands for what cannot be said, while rules are copied."""


@dataclass(frozen=True, slots=True)
class RecursionCut:
    """Rules that lead back to themselves: the first one's name, where they come from, and how
    often the first is inside itself at most."""

    rule: str
    origin: Origin
    depth: int

    def to_json(self) -> dict[str, object]:
        """The same as plain data."""
        return {
            "rule": self.rule, "tool": self.origin.tool, "pointer": self.origin.pointer,
            "depth": self.depth,
        }  # fmt: skip

    def __str__(self) -> str:
        place = self.origin.pointer or "values of any type"
        where = f"tool '{self.origin.tool}': {place}" if self.origin.tool else place
        return f"{where}: nested at most {self.depth} deep"


def recursive_rules(grammar: Grammar) -> list[tuple[list[str], Origin]]:
    """The groups of rules that lead back to themselves, in order of first use, each with the first
    place in a schema that its rules know of."""
    return [(group, _origin(rules, group)) for rules, group in _groups(grammar)]


def cut_recursion(grammar: Grammar, depth: int) -> tuple[Grammar, list[RecursionCut]]:
    """The grammar from ``grammar.start`` without recursion, and what was cut.

    Raises:
        GrammarError: code ``unproductive-rule``: nothing is left within that depth.
    """
    groups = [group for _, group in _groups(grammar)]
    if not groups:
        return grammar, []
    cutter = _Cutter(grammar, groups, depth)
    start = cutter.start()
    cuts = [RecursionCut(g[0], _origin(cutter.bodies, g), depth) for g in groups]
    if start is NOTHING:
        raise GrammarError.at(
            "unproductive-rule",
            f"nothing is finite with rules at most {depth} deep inside themselves",
            cuts[0].origin,
            "allow more depth",
        )
    return replace(grammar, rules=cutter.made, start=start, armed=None), cuts


def _groups(grammar: Grammar) -> Iterator[tuple[Mapping[str, Expr], list[str]]]:
    bodies = built_rules(Grammar(grammar.rules, grammar.start))
    place = {name: at for at, name in enumerate(bodies)}
    graph = {name: [n for n in mentioned(body) if n in bodies] for name, body in bodies.items()}
    groups = [
        sorted(found, key=place.__getitem__)
        for found in components(graph)
        if len(found) > 1 or found[0] in graph[found[0]]
    ]
    for group in sorted(groups, key=lambda group: place[group[0]]):
        yield bodies, group


def _origin(bodies: Mapping[str, Expr], group: list[str]) -> Origin:
    todo: list[Expr] = [bodies[name] for name in reversed(group)]
    while todo:
        node = todo.pop()
        if isinstance(node, (Members, Distinct, Regular)) and node.origin != Origin():
            return node.origin
        todo += children(node)[::-1]
    return Origin()


class _Cutter:
    """Copies of rules by how deep they are, each made after all that it refers to."""

    def __init__(self, grammar: Grammar, groups: list[list[str]], depth: int) -> None:
        self.grammar = grammar
        self.bodies = built_rules(Grammar(grammar.rules, grammar.start))
        self.depth = depth
        self.made = Rules()
        self._group = {name: number for number, group in enumerate(groups) for name in group}
        # A level is counted wherever a group's way leads back to a rule met on the way.
        self._back = {edge for group in groups for edge in self._back_edges(group)}
        self._copies: dict[Key, RuleRef] = {}

    def _back_edges(self, group: list[str]) -> set[tuple[str, str]]:
        """The references along which a walk in order of first use comes back to its way."""
        inside = set(group)
        found: set[tuple[str, str]] = set()
        done: set[str] = set()
        root = group[0]  # The others are reached from it.
        stack = [(root, iter(mentioned(self.bodies[root])))]
        on_way = {root}
        while stack:
            name, rest = stack[-1]
            target = next(rest, None)
            if target is None:
                stack.pop()
                on_way.remove(name)
                done.add(name)
            elif target in on_way:
                found.add((name, target))
            elif target in inside and target not in done:
                on_way.add(target)
                stack.append((target, iter(mentioned(self.bodies[target]))))
        return found

    def start(self) -> Expr:
        """What the grammar starts with; NOTHING if nothing is left."""
        todo = [key for name in mentioned(self.grammar.start) if (key := self._key(None, name))]
        while todo:
            key = todo[-1]
            if key in self._copies:
                todo.pop()
                continue
            inner = [self._key(key, name) for name in mentioned(self.bodies[key[0]])]
            waiting = [k for k in inner if k is not None and k not in self._copies]
            if waiting:
                todo += waiting
                continue
            body = self._cut(self.bodies[key[0]], key)
            said = body is not NOTHING
            self._copies[key] = self.made.define(self._named(key), body) if said else NOTHING
            todo.pop()
        return self._cut(self.grammar.start, None)

    def _key(self, place: Key | None, name: str) -> Key | None:
        """The copy that a reference in a copy leads to; None if it is too deep."""
        if place is None or self._group.get(name, -1) != self._group.get(place[0]):
            return name, 0
        depth = place[1] + ((place[0], name) in self._back)
        return None if depth > self.depth else (name, depth)

    def _named(self, key: Key) -> str:
        name, depth = key
        made = f"{name}-deep-{depth}" if depth else name
        while depth and (made in self.bodies or made in self.made):
            made += "-x"
        return made

    def _cut(self, expr: Expr, place: Key | None) -> Expr:
        def change(node: Expr) -> Expr:
            match node:
                case RuleRef(name):
                    key = self._key(place, name)
                    return NOTHING if key is None else self._copies[key]
                case Sequence(items):
                    return NOTHING if NOTHING in items else node
                case Choice(options):
                    kept = tuple(option for option in options if option is not NOTHING)
                    if len(kept) < 2:
                        return kept[0] if kept else NOTHING
                    return Choice(kept)
                case Repeat(item, low, _) if item is NOTHING:
                    return NOTHING if low else EMPTY
                case Capture(_, item) if item is NOTHING:
                    return NOTHING
                case Members():
                    return _members(node)
                case Distinct():
                    return _distinct(node)
                case _:
                    return node

        return rewrite(expr, change, {})


def _members(node: Members) -> Expr:
    """The members that can be said. Keys that cannot are always absent: conditions that their
    absence meets are met, and conditions and keys are numbered anew."""
    gone = {at for at, key in enumerate(node.keys) if key.body is NOTHING}
    if any(node.keys[at].required for at in gone) or node.separator is NOTHING:
        return NOTHING
    names = node.names or node.open
    kept = [
        at for at in range(len(node.open)) if NOTHING not in (node.open[at], names[at])
    ]  # fmt: skip
    keys = [at for at in range(len(node.keys)) if at not in gone]
    left = [c for c, mask in enumerate(node.conditions) if not any(mask >> at & 1 for at in gone)]

    def met(bits: int) -> int:
        return sum(1 << new for new, old in enumerate(left) if bits >> old & 1)

    def over(variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
        return tuple(Variant(v.body, met(v.meets)) for v in variants if v.body is not NOTHING)

    made = replace(
        node,
        keys=tuple(
            replace(key, meets=met(key.meets), variants=over(key.variants))
            for key in (node.keys[at] for at in keys)
        ),
        open=tuple(node.open[at] for at in kept),
        names=tuple(node.names[at] for at in kept) if node.names else (),
        conditions=tuple(
            sum(1 << new for new, at in enumerate(keys) if node.conditions[c] >> at & 1)
            for c in left
        ),
        open_meets=tuple(met(node.open_meets[at]) for at in kept) if node.open_meets else (),
        open_variants=(
            tuple(over(node.open_variants[at]) for at in kept) if node.open_variants else ()
        ),
    )
    return made if MembersPlan(made).feasible(MembersPlan.start) else NOTHING


def _distinct(node: Distinct) -> Expr:
    """The items up to the first that cannot be said."""
    prefix = node.prefix
    rest = None if node.rest is NOTHING else node.rest
    if NOTHING in prefix:
        prefix, rest = prefix[: prefix.index(NOTHING)], None
    most = node.max_count
    if rest is None:
        most = len(prefix) if most is None else min(most, len(prefix))
    if node.separator is NOTHING or (most is not None and most < node.min_count):
        return NOTHING
    return replace(node, prefix=prefix, rest=rest, max_count=most)
