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
from collections.abc import Callable
from itertools import pairwise
from typing import Final, NamedTuple

from ..grammar import Expr, Rules
from ..limits import MAX_NESTING
from .core import CUT, Core, Event
from .leaps import Span, run_of
from .words import expected_words

DEAD: Final = 0

MAX_DEPTH: Final = 8 * MAX_NESTING
"""Parts inside one another. A level of values takes two to four of them in every notation, so this
is beyond every value that is read, and what lies far beyond costs no more than that."""


class Move(NamedTuple):
    """A reading after a byte: the index of the one it continues, the events before the byte."""

    source: int
    events: tuple[Event, ...]


class Step(NamedTuple):
    """A transition. ``moves`` None: each reading goes on, nothing happened.

    ``decides``: it commits to several readings at once. Those in which something else has happened
    than in the preferred one are then to be given up: see :meth:`CapturingAutomaton.only`.
    """

    target: int
    moves: tuple[Move, ...] | None
    decides: bool = False


REFUSED: Final = Step(DEAD, ())
_GOES_ON: Final = Move(0, ())
_HELD: Final = 32
"""Characters that are looked at once more while something may have begun."""

_ESCAPING: Final = '"\\&'
"""What quotes and escapes begin with, in JSON and in notations of tags."""


class CapturingAutomaton:
    """The lazily determinised automaton of one reading grammar.

    Attributes:
        quiet: by configuration, the bytes known to lead on without any event, each reading going
            on, and where they lead.
        known_plain: what :meth:`plain` has given.
        known_prose: what :meth:`prose` has given.

    Args:
        resume: what is read on from where a reading broke off.
        max_cells, max_depth: the most continuations, and the most inside one another; a step that
            needs more raises LimitExceeded.
    """

    def __init__(
        self,
        rules: Rules,
        start: Expr,
        *,
        resume: Expr | None = None,
        max_cells: int = 250_000,
        max_depth: int = MAX_DEPTH,
    ) -> None:
        self.core = Core(rules, captures=True, max_cells=max_cells, max_depth=max_depth)
        self._configs: list[tuple[int, ...]] = [()]
        self._index: dict[tuple[int, ...], int] = {(): DEAD}
        self._next: list[dict[int, Step]] = [{}]
        self.quiet: list[dict[int, int]] = [{}]
        self._loops: dict[int, re.Pattern[bytes] | None] = {}
        self.known_plain: dict[int, Callable[[str], object] | None] = {}
        self.known_prose: dict[int, Callable[[str], re.Match[str] | None] | None] = {}
        self._words: dict[int, tuple[str, ...]] = {}
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

    def expected(self, config: int) -> tuple[str, ...]:
        """What may stand here, in words."""
        found = self._words.get(config)
        if found is None:
            found = self._words[config] = expected_words(self.core, self._configs[config])
        return found

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

    def plain(self, config: int) -> Callable[[str], object] | None:
        """Is a piece of text one of ASCII characters alone that lead quietly back to a
        configuration, and mean themselves wherever they stand: neither controls, nor what quotes or
        escapes begin with? None if there are no such characters."""
        if config not in self.known_plain:
            spans = [s[0] for s in self._returning(config, config, 0x20, 0x7E)]
            found = {chr(code) for low, high in spans for code in range(low, high + 1)}
            kept = "".join(sorted(found - set(_ESCAPING)))
            run = re.compile(f"[{re.escape(kept)}]+") if kept else None
            self.known_plain[config] = run.fullmatch if run is not None else None
        return self.known_plain[config]

    def prose(self, config: int) -> Callable[[str], re.Match[str] | None] | None:
        """Is a piece of text one of ASCII characters alone that lead back to a configuration of one
        reading, though some of them might have begun something (a line break, what a marker begins
        with)? The match has two groups: what has led back, and what may yet begin something. None
        if there are no such characters.
        """
        if config not in self.known_prose:
            found = self._prose(config) if len(self._configs[config]) == 1 else None
            self.known_prose[config] = None if found is None else found.fullmatch
        return self.known_prose[config]

    def _prose(self, config: int) -> re.Pattern[str] | None:
        quiet: list[int] = []
        begun: dict[tuple[int, int], list[int]] = {}
        for byte in range(0x80):
            target, moves, decides = self.step(config, byte)
            if moves is None:
                quiet += [byte] * (target == config)
            elif not decides and len(moves) > 1 and moves.count(_GOES_ON) == 1:
                begun.setdefault((target, moves.index(_GOES_ON)), []).append(byte)
        ways = [f"{_any_of(quiet)}+"] if quiet else []
        ends: list[str] = []
        for (target, index), first in begun.items():
            stays, back, again = self._begun(config, target, index)
            start = _any_of(first) + (f"{_any_of(stays)}{{,{_HELD}}}+" if stays else "")
            ends.append(start)
            ways += [start + _any_of(back)] if back else []
            ways += [f"{start}(?={_any_of(again)})"] if again else []
        return re.compile(f"((?:{'|'.join(ways)})*+)({'|'.join(ends)})?") if ends else None

    def _begun(
        self, config: int, target: int, index: int
    ) -> tuple[list[int], list[int], list[int]]:
        """Where something may have begun, and the reading `index` is that in which nothing has: the
        bytes after which it may still have, those after which only that reading is left, and those
        that end what may have begun and may begin something themselves."""
        stays: list[int] = []
        back: list[int] = []
        again: list[int] = []
        going_on = Move(index, ())
        for byte in range(0x80):
            after, moves, decides = self.step(target, byte)
            if decides or after == DEAD:
                continue
            if moves is None:
                stays += [byte] * (after == target)
            elif after == config and moves == (going_on,):
                back.append(byte)
            elif all(move.source == index for move in moves):
                # As from `config`.
                anew = self.step(config, byte)
                same = anew.moves == tuple(Move(0, move.events) for move in moves)
                again += [byte] * (same and anew.target == after and not anew.decides)
        return stays, back, again

    def _returning(self, config: int, back: int, low: int, high: int) -> list[tuple[Span, ...]]:
        """The sequences of bytes, the first of them in a range, that lead quietly back."""
        arcs = [a for t in self._configs[config] for a in self.core.expand(t).arcs]
        inside = {e for a in arcs for e in (a.low, a.high + 1) if low < e <= high}
        out: list[tuple[Span, ...]] = []
        for start, edge in pairwise(sorted({low, high + 1} | inside)):
            target, moves, _ = self.step(config, start)
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
        if not chosen:
            return REFUSED
        target = self._intern(tuple(chosen))
        plan = tuple(chosen.values())
        same = len(plan) == len(self._configs[config])
        if same and all(m == (i, ()) for i, m in enumerate(plan)):
            return Step(target, None)
        return Step(target, plan, len(cut) > 1)

    def cuts(self, config: int, byte: int) -> bool:
        """Does reading `byte` here commit to a call or a block?"""
        return any(
            CUT in arc.events and arc.low <= byte <= arc.high
            for thread in self._configs[config]
            for arc in self.core.expand(thread).arcs
        )

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


def _any_of(codes: list[int]) -> str:
    """A pattern for one of some characters."""
    return f"[{re.escape(''.join(map(chr, codes)))}]"
