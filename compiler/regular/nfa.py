"""Regular expression tree -> nondeterministic automaton with assertions on its empty moves.

Thompson's construction, built from the end backwards: a node is built in front of the state that
comes after it, so nothing has to be patched. An assertion is an empty move under a condition.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .alphabet import Alphabet, partition
from .charset import ALL, CharSet
from .regex_ast import Alt, Cat, Look, Node, Rep, Set, has_look, nullable, size
from .table import TooLarge

MAX_POSITIONS = 50_000
"""Most characters a pattern may have once its repeats are written out."""

MAX_CLOSURE = 2_000_000
"""Most states looked at while following empty moves, over a whole pattern."""

DONE = 0
"""Accepting: whatever follows is accepted as well."""

END = 1
"""Accepting where the text ends (or, in a lookbehind, where it stands)."""

NO_ASSERTIONS: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Assertion:
    """A look-around: `entry` is its body's first state; a lookbehind also has its number."""

    entry: int
    negative: bool
    behind: int | None


@dataclass(slots=True)
class Nfa:
    """States by number. A state either reads a set of code points or moves without reading.

    Attributes:
        sets: index into `charsets` of what the state reads, -1 if it moves without reading.
        targets: where reading leads.
        moves: (state, assertion or -1) pairs of a state that does not read.
        behinds: the accepting state of each lookbehind, inner ones before outer ones, and the
            state it is entered through at the start of the text.
    """

    sets: list[int] = field(default_factory=lambda: [-1, -1])
    targets: list[int] = field(default_factory=lambda: [-1, -1])
    moves: list[list[tuple[int, int]]] = field(default_factory=lambda: [[], []])
    charsets: dict[CharSet, int] = field(default_factory=dict)
    assertions: list[Assertion] = field(default_factory=list)
    behinds: list[tuple[int, int]] = field(default_factory=list)
    _looks: dict[Look, int] = field(default_factory=dict)
    _closures: dict[int, tuple[tuple[int, frozenset[int]], ...]] = field(default_factory=dict)
    _work: int = 0

    def reader(self, chars: CharSet, target: int) -> int:
        """A new state that reads `chars` and goes to `target`."""
        if len(self.sets) > MAX_POSITIONS:
            raise TooLarge(f"more than {MAX_POSITIONS} positions")
        self.sets.append(self.charsets.setdefault(chars, len(self.charsets)))
        self.targets.append(target)
        self.moves.append([])
        return len(self.sets) - 1

    def mover(self, *targets: int) -> int:
        """A new state that moves to any of the targets."""
        self.sets.append(-1)
        self.targets.append(-1)
        self.moves.append([(t, -1) for t in targets])
        return len(self.sets) - 1

    def anywhere(self, entry: int) -> int:
        """A new state that reads any text and then goes to `entry`."""
        loop = self.mover(entry)
        self.moves[loop].append((self.reader(ALL, loop), -1))
        return loop

    def build(self, node: Node, after: int) -> int:
        """The state from which `node` and then `after` are matched."""
        match node:
            case Set(chars):
                return self.reader(chars, after)
            case Cat(items):
                for item in reversed(items):
                    after = self.build(item, after)
                return after
            case Alt(options):
                return self.mover(*(self.build(option, after) for option in options))
            case Rep():
                return self._repeat(node, after)
            case Look():
                state = self.mover()
                self.moves[state].append((after, self._assertion(node)))
                return state

    def _repeat(self, node: Rep, after: int) -> int:
        least = 0 if nullable(node.item) and not has_look(node.item) else node.min
        if node.max is None:
            loop = self.mover(after)
            self.moves[loop].append((self.build(node.item, loop), -1))
            state = loop
        else:
            state = after
            for _ in range(node.max - least):
                state = self.mover(self.build(node.item, state), after)
        for _ in range(least):
            state = self.build(node.item, state)
        return state

    def _assertion(self, look: Look) -> int:
        """The number of an assertion; equal ones, as in the copies of a repeat, share one."""
        known = self._looks.get(look)
        if known is not None:
            return known
        behind = None
        if look.ahead:
            entry = self.build(look.item, DONE)
        else:
            accept = self.mover()
            entry = self.anywhere(self.build(look.item, accept))
            behind = len(self.behinds)
            self.behinds.append((accept, entry))
        self.assertions.append(Assertion(entry, look.negative, behind))
        self._looks[look] = len(self.assertions) - 1
        return self._looks[look]

    def closure(self, state: int) -> tuple[tuple[int, frozenset[int]], ...]:
        """The reading and accepting states that empty moves lead to, with the assertions passed."""
        known = self._closures.get(state)
        if known is not None:
            return known
        found: dict[tuple[int, frozenset[int]], None] = {}
        seen = {(state, NO_ASSERTIONS)}
        stack = [(state, NO_ASSERTIONS)]
        while stack:
            at = stack.pop()
            if not self.moves[at[0]]:
                found[at] = None
            for target, assertion in self.moves[at[0]]:
                passed = at[1] if assertion < 0 else at[1] | {assertion}
                if (target, passed) not in seen:
                    seen.add((target, passed))
                    stack.append((target, passed))
        self._work += len(seen)
        if self._work > MAX_CLOSURE:
            raise TooLarge("too many empty moves")
        self._closures[state] = tuple(found)
        return self._closures[state]

    def alphabet(self) -> tuple[Alphabet, list[tuple[int, ...]]]:
        """Classes of code points that no state tells apart, and the classes each state reads."""
        alphabet, members = partition(list(self.charsets))
        return alphabet, [members[i] if i >= 0 else () for i in self.sets]


def check_size(node: Node) -> None:
    """Refuse a tree that would need more than MAX_POSITIONS states, before building any."""
    positions = size(node)
    if positions > MAX_POSITIONS:
        raise TooLarge(f"{positions} positions, more than {MAX_POSITIONS}")
