"""Multiples of a large number as a machine that is made state by state, as it is walked.

A state is one of the spelled numbers within the bounds, and the remainder of the digits read so
far. Thousands of states times thousands of remainders are never listed: whether a multiple can
still follow is arithmetic wherever the next k digits may be any, and the other states lie on the
few paths along the digits of a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, overload

from ..grammar import Machine, Row
from ..regular.dfa import Dfa

_ZERO, _NINE, _POINT, _MINUS = 0x30, 0x39, 0x2E, 0x2D


def multiples(spelled: Dfa, factor: int) -> Machine:
    """The spelled whole numbers (``-0`` and ``5.00`` may be among them) that `factor` divides."""
    rows = _Multiples(spelled, factor)
    return Machine(rows, rows.accepting, rows)


def with_zeros(machine: Machine, digits: int | None) -> Machine:
    """The machine's whole numbers, and them with a point and at most `digits` zeros; ``-0`` too
    where it reads ``0``."""
    rows = [list(row) for row in machine.transitions]
    accepting = set(machine.accepting)
    zero = next((t for low, high, t, _ in rows[0] if low <= _ZERO <= high), None)
    if zero in accepting:
        signed = next((t for low, _, t, _ in rows[0] if low == _MINUS), None)
        if signed is None:
            signed = len(rows)
            rows.append([])
            rows[0].append((_MINUS, _MINUS, signed, 0))
        rows.append([])
        rows[signed].append((_ZERO, _ZERO, len(rows) - 1, 0))
        accepting.add(len(rows) - 1)
    point = len(rows)
    for state in accepting:
        rows[state].append((_POINT, _POINT, point, 0))
    for at in range(point, point + (1 if digits is None else digits)):
        rows.append([(_ZERO, _ZERO, at + 1, 0)])
    last = len(rows)
    rows.append([(_ZERO, _ZERO, last, 0)] if digits is None else [])
    ends = accepting | set(range(point + 1, last + 1))
    return Machine(tuple(tuple(sorted(row)) for row in rows), frozenset(ends))


class _Multiples(Sequence[Row]):
    """The rows of such a machine, and what is known of it: see :class:`~..grammar.Known`.

    State ``q * factor + r``: the spelled numbers' state q and the remainder r.
    """

    def __init__(self, spelled: Dfa, factor: int) -> None:
        self.spelled = spelled
        self.factor = factor
        self.accepting = frozenset(q * factor for q in spelled.accepting)
        self.plain = Machine(
            tuple(tuple((a, b, t, 0) for a, b, t in row) for row in spelled.transitions),
            spelled.accepting,
        )
        self._rows: dict[int, Row] = {}
        self._live: dict[int, bool] = {}
        self._chains: dict[int, tuple[int, ...] | None] = {}
        # From so many digits on, some multiple follows every remainder.
        self._enough = len(str(factor))

    def __len__(self) -> int:
        return len(self.spelled.transitions) * self.factor

    def __iter__(self) -> NoReturn:
        raise AssertionError("these are too many states to be looked at one by one")

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = self._rows.get(index)
        if row is None:
            ways = ((code, t) for code, t in self._steps(index) if self.live(t, 0, None))
            row = self._rows[index] = tuple((code, code, target, 0) for code, target in ways)
        return row

    def _steps(self, state: int) -> list[tuple[int, int]]:
        """Where each character leads, by code point."""
        q, rest = divmod(state, self.factor)
        found = []
        for low, high, target in self.spelled.transitions[q]:
            for code in range(low, high + 1):
                if _ZERO <= code <= _NINE:
                    after = (rest * 10 + code - _ZERO) % self.factor
                elif code == _POINT and rest:
                    continue  # Nothing but zeros follows.
                else:
                    after = rest
                found.append((code, target * self.factor + after))
        return found

    def live(self, state: int, low: int, high: int | None) -> bool:
        """Whether a multiple can follow; nothing is counted, so `low` is 0."""
        found = self._live.get(state)
        if found is None:
            found = self._live[state] = low <= 0 and self._search(state)
        return found

    def longest(self, state: int) -> int | None:
        """The most counts from a state: no character counts."""
        return 0

    def fewest(self, state: int) -> int:
        """The fewest characters from a state to the end of a multiple, which follows somewhere."""
        level, seen = [state], {state}
        best: int | None = None
        depth = 0
        while level and (best is None or depth < best):
            following: list[int] = []
            for here in level:
                q, rest = divmod(here, self.factor)
                chain = self._chain(q)
                digits: int | None = 0 if rest == 0 and q in self.spelled.accepting else None
                if digits is None and chain is not None:
                    digits = self._digits(chain, rest)
                if digits is not None:
                    best = depth + digits if best is None else min(best, depth + digits)
                elif chain is None:
                    following += [t for _, t in self._steps(here) if t not in seen]
                    seen.update(following)
            level = following
            depth += 1
        assert best is not None, "every place that is walked to leads to a multiple"
        return best

    def _search(self, state: int) -> bool:
        todo, seen = [state], {state}
        for here in todo:
            q, rest = divmod(here, self.factor)
            if rest == 0 and q in self.spelled.accepting:
                return True
            chain = self._chain(q)
            if chain is None:
                following = [t for _, t in self._steps(here) if t not in seen]
                seen.update(following)
                todo.extend(following)
            elif self._follows(chain, rest):
                return True
        self._live.update(dict.fromkeys(seen, False))
        return False

    def _follows(self, chain: tuple[int, ...], rest: int) -> bool:
        """Whether any digits, so many that one of the chain's states accepts, make a multiple."""
        return self._digits(chain, rest) is not None

    def _digits(self, chain: tuple[int, ...], rest: int) -> int | None:
        """How many digits do it at least; None if none do."""
        power = 1
        for digits, q in enumerate(chain):
            if q in self.spelled.accepting:
                if digits >= self._enough or -rest * power % self.factor < power:
                    return digits
            power *= 10
        return None

    def _chain(self, q: int) -> tuple[int, ...] | None:
        """The states after any 0, 1, 2... digits, as far as it matters how many; None where it
        matters which digits they are."""
        if q not in self._chains:
            chain, here = [q], q
            # After as many digits more as there are states all have been seen.
            while len(chain) <= self._enough + len(self.spelled.transitions):
                digits = {}
                for low, high, target in self.spelled.transitions[here]:
                    if low <= _NINE and high >= _ZERO:
                        digits.update(dict.fromkeys(range(low, high + 1), target))
                signed = self.spelled.transitions[here][:1]
                if not digits and not (signed and signed[0][0] == _MINUS):
                    break
                if len(digits) < 10 or len(set(digits.values())) > 1:
                    chain = []
                    break
                here = digits[_ZERO]
                chain.append(here)
            self._chains[q] = tuple(chain) or None
        return self._chains[q]
