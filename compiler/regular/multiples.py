"""Spelled decimal numbers that are multiples of a given one, by a remainder automaton.

States are not remainders but what distinguishes them: two remainders are one state if the same
digits complete both. So a power of ten needs a state a zero, not a state a remainder.
"""

from __future__ import annotations

from decimal import Decimal

PLAIN_FACTOR = 180
"""Factors up to this one, their powers of 2 and 5 aside, take few states whatever the bounds."""


def without_two_and_five(factor: int) -> int:
    """What of a factor tells remainders apart however many digits follow."""
    for prime in (2, 5):
        while factor % prime == 0:
            factor //= prime
    return factor


class Remainders:
    """The numbers, spelled without an exponent, whose value is a multiple of `factor` (above 0).

    `factor` is `modulus` at `scale` digits after the point. States are (0, a remainder of the whole
    part read so far) and, after the point, (digits read there plus 1; what the digits left up to
    the scale have to be worth, modulo the modulus). Leading zeros and signs are not looked at.
    """

    def __init__(self, factor: Decimal) -> None:
        assert factor > 0
        whole, _, fraction = format(factor, "f").partition(".")
        fraction = fraction.rstrip("0")
        self.modulus = int(whole + fraction)
        self.scale = len(fraction)
        self._steps: dict[tuple[tuple[int, int], str], tuple[int, int] | None] = {}
        self._known: dict[tuple[int | None, ...], int] = {}
        self._powers = [10**self.scale]
        while self._powers[-1] < self.modulus:
            self._powers.append(self._powers[-1] * 10)
        self.start = (0, self._representative(0))

    def _representative(self, remainder: int) -> int:
        """The remainder that stands for all that the same digits complete.

        At least the digits up to the scale are to come, spelled or not. Completing by k digits
        works for those of value -remainder * 10^k modulo the modulus, if that is less than 10^k;
        from the k on at which every residue is, one k tells them all.
        """
        key = tuple(
            needed if (needed := -remainder * power % self.modulus) < power else None
            for power in self._powers
        )
        return self._known.setdefault(key, remainder)

    def step(self, state: tuple[int, int], symbol: str) -> tuple[int, int] | None:
        """Where a digit, `.` or `-` leads; None if no multiple goes on like that."""
        key = (state, symbol)
        if key not in self._steps:
            self._steps[key] = self._step(state, symbol)
        return self._steps[key]

    def _step(self, state: tuple[int, int], symbol: str) -> tuple[int, int] | None:
        phase, rest = state
        if symbol == "-":
            return state
        if symbol == ".":
            return None if phase else self._fraction(1, -rest * 10**self.scale)
        if symbol not in "0123456789":
            return None
        if phase == 0:
            return 0, self._representative((rest * 10 + int(symbol)) % self.modulus)
        if phase > self.scale:
            return state if symbol == "0" else None
        return self._fraction(phase + 1, rest - int(symbol) * 10 ** (self.scale - phase))

    def _fraction(self, phase: int, needed: int) -> tuple[int, int] | None:
        """The state after the point; None where the digits left cannot be worth that much."""
        needed %= self.modulus
        return (phase, needed) if needed < 10 ** (self.scale - phase + 1) else None

    def accepts(self, state: tuple[int, int]) -> bool:
        """Whether the number read so far is a multiple."""
        phase, rest = state
        return rest == 0 if phase else rest * 10**self.scale % self.modulus == 0
