"""A deterministic recogniser: configurations are interned sets of continuations.

State 0 is dead, state 1 the start. Byte transitions are computed when first asked for and kept, so
a text walked once costs a dictionary look-up per byte the next time. Threads may share it: what is
known is read without a lock, what is not is worked out under the core's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..errors import LimitExceeded
from ..grammar import Expr, Rules, Token
from .cells import END
from .core import Core
from .leaps import Leaps

DEAD: Final = 0


class Recogniser:
    """The lazily determinised automaton of one grammar start.

    Args:
        rules: the grammar's rules.
        start: the expression to match.
        specials, markers: special tokens by text, and those in literals; see :class:`~.core.Core`.
        remember: see :class:`~.core.Core`.
        max_threads: the most continuations of one configuration (ambiguous counting makes many).
    """

    def __init__(
        self,
        rules: Rules,
        start: Expr,
        *,
        specials: Mapping[str, int] | None = None,
        markers: tuple[Token, ...] = (),
        max_threads: int = 20_000,
        remember: bool = True,
    ) -> None:
        self.core = Core(rules, specials=specials, markers=markers, remember=remember)
        self.max_threads = max_threads
        self._configs: list[tuple[int, ...]] = [()]
        self._index: dict[tuple[int, ...], int] = {(): DEAD}
        self._next: list[dict[int, int]] = [{}]
        self._final: list[bool] = [False]
        self._memo_next: dict[int, list[tuple[int, int]]] = {}
        self._arcs: list[list[tuple[int, int, int]] | None] = [None]
        self._leaps = Leaps(self.core)
        self.start = self._intern((self.core.continuation(start),))

    def _intern(self, threads: tuple[int, ...]) -> int:
        found = self._index.get(threads)
        if found is None:
            if len(threads) > self.max_threads:
                raise LimitExceeded.at(
                    "automaton-too-ambiguous",
                    f"more than {self.max_threads} readings of the text at once",
                )
            # Before it is known by its number: reaching a limit leaves nothing behind.
            final = any(self.core.expand(t).final is not None for t in threads)
            found = self._index[threads] = len(self._configs)
            self._configs.append(threads)
            self._next.append({})
            self._arcs.append(None)
            self._final.append(final)
        return found

    def configuration(self, threads: tuple[int, ...]) -> int:
        """The configuration of these continuations (sorted, distinct)."""
        with self.core.lock:
            return self._intern(threads)

    def threads(self, config: int) -> tuple[int, ...]:
        """The continuations of a configuration."""
        return self._configs[config]

    def accepting(self, config: int) -> bool:
        """May the text end here?"""
        return self._final[config]

    def at_end(self, config: int) -> bool:
        """Is there nothing left that could follow?"""
        return all(t == END or not self.core.expand(t).arcs for t in self._configs[config])

    def arcs(self, config: int) -> list[tuple[int, int, int]]:
        """``(low, high, continuation)`` of all threads, in order of preference."""
        found = self._arcs[config]
        if found is None:
            found = self._arcs[config] = [
                (a.low, a.high, a.target)
                for t in self._configs[config]
                for a in self.core.expand(t).arcs
            ]
        return found

    def step(self, config: int, byte: int) -> int:
        """The configuration after one more byte; DEAD if the byte is refused."""
        row = self._next[config]
        nxt = row.get(byte)
        if nxt is None:
            with self.core.lock:
                read = self.core.read
                arcs = self.arcs(config)
                targets = {read(t, byte) for low, high, t in arcs if low <= byte <= high}
                nxt = row[byte] = self._intern(tuple(sorted(targets)))
        return nxt

    def walk(self, data: bytes, config: int | None = None) -> tuple[int, int]:
        """Read `data` as far as it goes -> (configuration before the refused byte, bytes read)."""
        here = self.start if config is None else config
        rows = self._next
        position, end = 0, len(data)
        while position < end:
            nxt = rows[here].get(data[position])
            if nxt is None:
                with self.core.lock:
                    leap = self._leaps.leap(self._configs[here], data, position)
                    if leap is not None:
                        here, position = self._intern(leap[0]), leap[1]
                        continue
                nxt = self.step(here, data[position])
            if nxt == DEAD:
                return here, position
            here = nxt
            position += 1
        return here, end

    def accepts(self, data: bytes) -> bool:
        """Is `data` a whole text of the grammar?"""
        config, read = self.walk(data)
        return read == len(data) and self._final[config]

    def next_bytes(self, config: int) -> list[tuple[int, int]]:
        """The bytes that may follow, as sorted, merged ranges."""
        memo = self._memo_next.get(config)
        if memo is not None:
            return memo
        spans = sorted({(low, high) for low, high, _ in self.arcs(config)})
        merged: list[tuple[int, int]] = []
        for low, high in spans:
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        self._memo_next[config] = merged
        return merged
