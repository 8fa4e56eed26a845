"""Spelled decimal numbers that are multiples of a given one, by a remainder automaton.

States are not remainders but what distinguishes them: two remainders are one state if the same
digits complete both. So a power of ten needs a state a zero, not a state a remainder.
"""

from __future__ import annotations

from decimal import Decimal


class Remainders:
    """The numbers, spelled without an exponent, whose value is a multiple of `factor` (above 0).

    States are (digits after the point plus 1, or 0 before the point; remainder): the number read so
    far, its point moved `scale` digits to the right, has that remainder modulo `modulus`. Leading
    zeros and signs are not looked at.
    """

    def __init__(self, factor: Decimal) -> None:
        assert factor > 0
        whole, _, fraction = format(factor, "f").partition(".")
        fraction = fraction.rstrip("0")
        self.modulus = int(whole + fraction)
        self.scale = len(fraction)
        self._steps: dict[tuple[tuple[int, int], str], tuple[int, int] | None] = {}
        self._known: dict[tuple[int | None, ...], int] = {}
        self.powers = [1]
        while self.powers[-1] < self.modulus:
            self.powers.append(self.powers[-1] * 10)
        self.start = (0, self._representative(0))

    def _representative(self, remainder: int) -> int:
        """The remainder that stands for all that the same digits complete.

        Completing by k digits works for those of value -remainder * 10^k modulo the modulus, if
        that is less than 10^k; from the k on at which every residue is, one k tells them all.
        """
        key = tuple(
            needed if (needed := -remainder * power % self.modulus) < power else None
            for power in self.powers
        )
        return self._known.setdefault(key, remainder)

    def step(self, state: tuple[int, int], symbol: str) -> tuple[int, int] | None:
        """Where a digit, `.` or `-` leads; None if no multiple goes on like that."""
        key = (state, symbol)
        if key not in self._steps:
            self._steps[key] = self._step(state, symbol)
        return self._steps[key]

    def _step(self, state: tuple[int, int], symbol: str) -> tuple[int, int] | None:
        phase, remainder = state
        if symbol == "-":
            return state
        if symbol == ".":
            return (1, remainder) if phase == 0 else None
        if symbol not in "0123456789":
            return None
        if phase > self.scale:
            return state if symbol == "0" and remainder == 0 else None
        remainder = (remainder * 10 + int(symbol)) % self.modulus
        if phase == 0:
            return 0, self._representative(remainder)
        return phase + 1, remainder

    def accepts(self, state: tuple[int, int]) -> bool:
        """Whether the number read so far is a multiple."""
        phase, remainder = state
        missing = self.scale - (phase - 1 if phase else 0)
        padded: int = remainder * 10 ** max(0, missing)
        return padded % self.modulus == 0
