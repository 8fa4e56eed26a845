"""Regular languages with their loops bounded, as rules: what default bounds make of them.

An exact bound on the length needs one rule for each state and count; a default bound need not be
exact, it must only hold. So each loop of the automaton is bounded by itself: from each strongly
connected component one state, the hub, is chosen; a *unit* is a path from the hub back to it, and
units are repeated up to the bound. Paths that would circle inside a unit without passing the hub
may do so `RESTARTS` times. The language is a finite subset of the machine's, a few rules a state.
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import LimitExceeded
from ..grammar import EMPTY, Chars, Expr, Machine, Ranges, Repeat, RuleRef, Rules, choice, sequence
from ..graphs import components
from ..origin import Origin
from .names import Names

RESTARTS = 4
"""How often a unit may fall back without finishing, as in ``</</</``."""

MAX_STATES = 3000
"""States beyond which loops are not taken apart: their rules would take seconds to build."""

Edges = list[tuple[Ranges, int]]

Left = tuple[int, int]
"""A state, and how many restarts are left in it."""


def bounded_loops(
    machine: Machine, most: int, rules: Rules, names: Names, hint: str, origin: Origin
) -> Expr:
    """The machine's texts in which no loop is taken more than `most` times in a row.

    Raises:
        LimitExceeded: a machine of more than `MAX_STATES` states.
    """
    if len(machine.transitions) > MAX_STATES:
        raise LimitExceeded.at(
            "pattern-too-large",
            f"an automaton of {len(machine.transitions)} states, more than {MAX_STATES}",
            origin,
            "give the string a maxLength, or use a simpler pattern",
        )
    return _Loops(machine, most, rules, names, hint).enter(0)


def has_runs(machine: Machine) -> bool:
    """Does the machine have a stretch of equal steps, which a repeat says in one word?"""
    loops = _Loops(machine, 1, Rules(), Names(), "")
    states = range(len(machine.transitions))
    return any(loops.run(s) is not None or loops.even_run(s) is not None for s in states)


class _Loops:
    def __init__(self, machine: Machine, most: int, rules: Rules, names: Names, hint: str) -> None:
        self.most = most
        self.rules = rules
        self.names = names
        self.hint = hint
        self.accepting = machine.accepting
        self.edges: list[Edges] = [_edges(row) for row in machine.transitions]
        found = components({s: [t for _, t in row] for s, row in enumerate(self.edges)})
        self.members = {number: sorted(states) for number, states in enumerate(found)}
        self.component = {s: number for number, states in self.members.items() for s in states}
        self.hubs: dict[int, tuple[int, dict[int, int]]] = {}
        self._built: dict[tuple[str, int, int], RuleRef] = {}
        # What was found out of states with so many restarts left.
        self._inside: dict[Left, list[tuple[Ranges, int, int]]] = {}
        self._returning: dict[Left, bool] = {}
        self._leaving: dict[Left, bool] = {}

    # Structure --------------------------------------------------------------------------------

    def loop(self, state: int) -> Expr:
        """The state's edge to itself, repeated."""
        own = next((ranges for ranges, t in self.edges[state] if t == state), None)
        return EMPTY if own is None else Repeat(Chars(own), 0, self.most)

    def inside(self, state: int) -> bool:
        """Is the state part of a loop of several states?"""
        return len(self.members[self.component[state]]) > 1

    def hub(self, state: int) -> tuple[int, dict[int, int]]:
        """The hub of the state's component, and the order in which the others lie behind it."""
        number = self.component[state]
        found = self.hubs.get(number)
        if found is None:
            members = self.members[number]
            incoming = dict.fromkeys(members, 0)
            for source in members:
                for _, target in self.edges[source]:
                    if target in incoming and target != source:
                        incoming[target] += 1
            hub = max(members, key=lambda s: (incoming[s], -s))
            found = self.hubs[number] = (hub, self._order(hub))
        return found

    def _order(self, hub: int) -> dict[int, int]:
        """Depth-first finishing order from the hub: an edge to a later state is no step back."""
        number = self.component[hub]
        done: list[int] = []
        seen = {hub}
        stack = [(hub, iter(self.edges[hub]))]
        while stack:
            state, rest = stack[-1]
            for _, target in rest:
                if target not in seen and self.component[target] == number:
                    seen.add(target)
                    stack.append((target, iter(self.edges[target])))
                    break
            else:
                stack.pop()
                done.append(state)
        return {state: index for index, state in enumerate(reversed(done))}

    # Rules ------------------------------------------------------------------------------------

    def _rule(self, kind: str, state: int, left: int, build: Callable[[], Expr]) -> RuleRef:
        key = (kind, state, left)
        found = self._built.get(key)
        if found is None:
            name = self.names.fresh(f"{self.hint}-{kind}{state}")
            found = self._built[key] = self.rules.define(name, build)
        return found

    def enter(self, state: int) -> Expr:
        """All that may follow from a state to the end of the text."""
        if not self.inside(state):
            if not self.edges[state]:
                return EMPTY
            return self._rule("s", state, 0, lambda: self._plain(state))
        hub, _ = self.hub(state)
        if state == hub:
            return self._rule("h", hub, 0, lambda: self._units(hub))
        return self._rule("w", state, RESTARTS, lambda: self._way(state, RESTARTS))

    def _ending(self, state: int) -> list[Expr]:
        return [EMPTY] if state in self.accepting else []

    def run(self, state: int) -> tuple[Ranges, int, int, int] | None:
        """A stretch of the same class: the class, how many at least and at most, the state behind
        the last. Up to there the text may end after each from the least on, or nowhere."""
        steps = 0
        least = -1
        here, ranges = state, None
        while len(self.edges[here]) == 1 and not self.inside(here):
            own, target = self.edges[here][0]
            if target == here or (ranges is not None and own != ranges):
                break
            if here in self.accepting and least < 0:
                least = steps
            elif here not in self.accepting and least >= 0:
                break
            ranges, here, steps = own, target, steps + 1
        if ranges is None or steps < 3 or (least >= 0 and not self._is_last(here)):
            return None
        return ranges, steps if least < 0 else least, steps, here

    def even_run(self, state: int) -> tuple[Ranges, int, Edges] | None:
        """A stretch of the same class in which the same ways out are open at every step: the
        class, how many steps at most, the ways out."""
        accepting = state in self.accepting
        for ranges, target in self.edges[state]:
            others = [e for e in self.edges[state] if e != (ranges, target)]
            steps, here = 1, target
            while not self.inside(here) and (here in self.accepting) == accepting:
                if self.edges[here] == others:
                    return (ranges, steps, others) if steps >= 3 else None
                onward = [t for r, t in self.edges[here] if r == ranges]
                rest = [e for e in self.edges[here] if e[0] != ranges]
                if len(onward) != 1 or onward[0] == here or rest != others:
                    break
                steps, here = steps + 1, onward[0]
        return None

    def _is_last(self, state: int) -> bool:
        return not self.edges[state] and state in self.accepting

    def _plain(self, state: int) -> Expr:
        """A state on no loop but its own."""
        run = self.run(state)
        if run is not None:
            ranges, least, most, last = run
            return sequence(Repeat(Chars(ranges), least, most), self.enter(last))
        even = self.even_run(state)
        if even is not None:
            ranges, most, others = even
            ways = [sequence(Chars(r), self.enter(target)) for r, target in others]
            return sequence(Repeat(Chars(ranges), 0, most), choice(*ways, *self._ending(state)))
        options = [
            sequence(Chars(ranges), self.enter(target))
            for ranges, target in self.edges[state]
            if target != state
        ]
        return sequence(self.loop(state), choice(*options, *self._ending(state)))

    def _units(self, hub: int) -> Expr:
        """Units, then a way out."""
        unit = self._rule("u", hub, RESTARTS, lambda: self._unit(hub, RESTARTS))
        return sequence(
            Repeat(unit, 0, self.most),
            self._rule("t", hub, RESTARTS, lambda: self._tail(hub, RESTARTS)),
        )

    def _inner(self, state: int, left: int) -> list[tuple[Ranges, int, int]]:
        """Edges to the component's other states but the hub, with the restarts left behind each."""
        found = self._inside.get((state, left))
        if found is not None:
            return found
        hub, order = self.hub(state)
        out = self._inside[state, left] = []
        for ranges, target in self.edges[state]:
            if target in (hub, state) or self.component[target] != self.component[state]:
                continue
            after = left if order[target] > order[state] else left - 1
            if after >= 0:
                out.append((ranges, target, after))
        return out

    def _unit(self, state: int, left: int) -> Expr:
        """From `state` back to the hub."""
        hub, _ = self.hub(state)
        back = [Chars(ranges) for ranges, target in self.edges[state] if target == hub]
        options: list[Expr] = list(back)
        for ranges, target, after in self._inner(state, left):
            if self._returns(target, after):
                ref = self._rule("u", target, after, lambda t=target, a=after: self._unit(t, a))  # type: ignore[misc]
                options.append(sequence(Chars(ranges), ref))
        own = EMPTY if state == hub else self.loop(state)
        return sequence(own, choice(*options))

    def _tail(self, state: int, left: int) -> Expr:
        """From `state` to the end of the text without passing the hub again."""
        hub, _ = self.hub(state)
        options: list[Expr] = []
        for ranges, target in self.edges[state]:
            if self.component[target] != self.component[state]:
                options.append(sequence(Chars(ranges), self.enter(target)))
        for ranges, target, after in self._inner(state, left):
            if self._leaves(target, after):
                ref = self._rule("t", target, after, lambda t=target, a=after: self._tail(t, a))  # type: ignore[misc]
                options.append(sequence(Chars(ranges), ref))
        own = EMPTY if state == hub else self.loop(state)
        return sequence(own, choice(*options, *self._ending(state)))

    def _way(self, state: int, left: int) -> Expr:
        """From a state that is not the hub: to the hub and on, or to the end."""
        hub, _ = self.hub(state)
        options: list[Expr] = []
        for ranges, target in self.edges[state]:
            if target == hub or self.component[target] != self.component[state]:
                options.append(sequence(Chars(ranges), self.enter(target)))
        for ranges, target, after in self._inner(state, left):
            if self._leaves(target, after) or self._returns(target, after):
                ref = self._rule("w", target, after, lambda t=target, a=after: self._way(t, a))  # type: ignore[misc]
                options.append(sequence(Chars(ranges), ref))
        return sequence(self.loop(state), choice(*options, *self._ending(state)))

    def _returns(self, state: int, left: int) -> bool:
        """Can the hub be reached?"""
        known = self._returning
        return self._can(state, left, known, lambda s, hub: any(t == hub for _, t in self.edges[s]))

    def _leaves(self, state: int, left: int) -> bool:
        """Can the text end, or the component be left, without passing the hub?"""
        number = self.component[state]
        return self._can(
            state,
            left,
            self._leaving,
            lambda s, _: (
                s in self.accepting or any(self.component[t] != number for _, t in self.edges[s])
            ),
        )

    def _can(
        self, state: int, left: int, known: dict[Left, bool], goal: Callable[[int, int], bool]
    ) -> bool:
        hub, _ = self.hub(state)
        seen = {(state, left)}
        todo = [(state, left)]
        while todo:
            here, rest = todo.pop()
            told = known.get((here, rest))
            if told or (told is None and goal(here, hub)):
                known[here, rest] = known[state, left] = True
                return True
            if told is None:
                for _, target, after in self._inner(here, rest):
                    if (target, after) not in seen:
                        seen.add((target, after))
                        todo.append((target, after))
        known.update(dict.fromkeys(seen, False))
        return False


def _edges(row: tuple[tuple[int, int, int, int], ...]) -> Edges:
    """The transitions of a state, one a target, ranges merged."""
    found: dict[int, list[tuple[int, int]]] = {}
    for low, high, target, _ in row:
        ranges = found.setdefault(target, [])
        if ranges and ranges[-1][1] + 1 == low:
            ranges[-1] = (ranges[-1][0], high)
        else:
            ranges.append((low, high))
    return [(tuple(ranges), target) for target, ranges in found.items()]
