"""A deterministic automaton that carries captures.

Configurations are ordered tuples of continuations, the preferred reading first. A transition says,
for each reading after it, which reading before it continues and which capture events happened
first; the caller keeps one history per reading. Where two readings meet in one continuation the
preferred one stays: from there on they cannot be told apart.

State 0 is dead, state 1 the start. Threads may share it: what is known is read without a lock, what
is not is worked out under the core's.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple

from ..grammar import Expr, Rules
from .core import CUT, Core, Event
from .leaps import Span, run_of

DEAD: Final = 0


class Move(NamedTuple):
    """A reading after a byte: the index of the one it continues, the events before the byte."""

    source: int
    events: tuple[Event, ...]


class Step(NamedTuple):
    """A transition. ``moves`` None: each reading goes on, nothing happened."""

    target: int
    moves: tuple[Move, ...] | None


REFUSED: Final = Step(DEAD, ())


class CapturingAutomaton:
    """The lazily determinised automaton of one reading grammar.

    Attributes:
        quiet: by configuration, the bytes known to lead on without any event, each reading going
            on, and where they lead.

    Args:
        resume: what is read on from where a reading broke off.
        max_cells: the most continuations; a step that needs more raises LimitExceeded.
    """

    def __init__(
        self, rules: Rules, start: Expr, *, resume: Expr | None = None, max_cells: int = 250_000
    ) -> None:
        self.core = Core(rules, captures=True, max_cells=max_cells)
        self._configs: list[tuple[int, ...]] = [()]
        self._index: dict[tuple[int, ...], int] = {(): DEAD}
        self._next: list[dict[int, Step]] = [{}]
        self.quiet: list[dict[int, int]] = [{}]
        self._cutting: set[tuple[int, int]] = set()
        self._loops: dict[int, re.Pattern[bytes] | None] = {}
        self.start = self._intern((self.core.continuation(start),))
        self.resume = self.start if resume is None else self.enter(resume)

    def _intern(self, threads: tuple[int, ...]) -> int:
        found = self._index.get(threads)
        if found is None:
            found = self._index[threads] = len(self._configs)
            self._configs.append(threads)
            self._next.append({})
            self.quiet.append({})
        return found

    def enter(self, expr: Expr) -> int:
        """The configuration that reads `expr` from here."""
        with self.core.lock:
            return self._intern((self.core.continuation(expr),))

    def size(self) -> int:
        """How many configurations have been reached."""
        return len(self._configs)

    def threads(self, config: int) -> tuple[int, ...]:
        """The readings of a configuration, the preferred one first."""
        return self._configs[config]

    def step(self, config: int, byte: int) -> Step:
        """The transition on one more byte."""
        row = self._next[config]
        found = row.get(byte)
        if found is None:
            with self.core.lock:
                found = row[byte] = self._step(config, byte)
                if found.moves is None and found.target != DEAD:
                    self.quiet[config][byte] = found.target
        return found

    def loop(self, config: int) -> re.Pattern[bytes] | None:
        """The characters that lead quietly back to a configuration, as many as there are; None if
        there are none."""
        if config not in self._loops:
            sequences = self._returning(config, config, 0x00, 0x7F)
            sequences += self._returning(config, config, 0xC2, 0xF4)
            plain = [s[0] for s in sequences if len(s) == 1]
            longer = [s for s in sequences if len(s) > 1]
            self._loops[config] = run_of(plain, longer) if plain or longer else None
        return self._loops[config]

    def _returning(self, config: int, back: int, low: int, high: int) -> list[tuple[Span, ...]]:
        """The sequences of bytes, the first of them in a range, that lead quietly back."""
        arcs = [a for t in self._configs[config] for a in self.core.expand(t).arcs]
        inside = {e for a in arcs for e in (a.low, a.high + 1) if low < e <= high}
        out: list[tuple[Span, ...]] = []
        for start, edge in pairwise(sorted({low, high + 1} | inside)):
            target, moves = self.step(config, start)
            if target == DEAD or moves is not None:
                continue
            span = (start, edge - 1)
            if high < 0x80 or target == back:
                out += [(span,)] * (target == back)
            else:
                out += [(span, *rest) for rest in self._returning(target, back, 0x80, 0xBF)]
        return out

    def _step(self, config: int, byte: int) -> Step:
        moves: dict[int, Move] = {}
        cut: dict[int, Move] = {}
        for index, thread in enumerate(self._configs[config]):
            for arc in self.core.expand(thread).arcs:
                if not arc.low <= byte <= arc.high:
                    continue
                if CUT in arc.events:
                    events = tuple(e for e in arc.events if e != CUT)
                    cut.setdefault(arc.target, Move(index, events))
                else:
                    moves.setdefault(arc.target, Move(index, arc.events))
        # A cut is a decision: what has not been decided in favour of is given up.
        chosen = cut or moves
        if len(cut) > 1:
            self._cutting.add((config, byte))
        if not chosen:
            return REFUSED
        target = self._intern(tuple(chosen))
        plan = tuple(chosen.values())
        same = len(plan) == len(self._configs[config])
        if same and all(m == (i, ()) for i, m in enumerate(plan)):
            return Step(target, None)
        return Step(target, plan)

    def cuts(self, config: int, byte: int) -> bool:
        """Does reading `byte` here commit to a call or a block?"""
        return any(
            CUT in arc.events and arc.low <= byte <= arc.high
            for thread in self._configs[config]
            for arc in self.core.expand(thread).arcs
        )

    def decides(self, config: int, byte: int) -> bool:
        """Does the step on `byte` commit to several readings at once? Those in which something else
        has happened than in the preferred one are then to be given up: see :meth:`only`."""
        return (config, byte) in self._cutting

    def only(self, config: int, kept: tuple[int, ...]) -> int:
        """The configuration with some of its readings, by their indices."""
        threads = self._configs[config]
        with self.core.lock:
            return self._intern(tuple(threads[index] for index in kept))

    def final(self, config: int) -> tuple[int, tuple[Event, ...]] | None:
        """The preferred reading that may end here and its last events; None if none may."""
        for index, thread in enumerate(self._configs[config]):
            events = self.core.expand(thread).final
            if events is not None:
                return index, tuple(e for e in events if e != CUT)
        return None
