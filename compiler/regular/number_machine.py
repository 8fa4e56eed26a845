"""The step function of number spellings: digits compared with bounds as they are read.

A number is a sign and a magnitude; negative numbers have the bounds of their magnitudes. How the
whole part compares with a bound's is known only at its end, when its length is.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

_DIGITS = "0123456789"
SYMBOLS = _DIGITS + "-.eE+"
"""The characters of numbers, in the order of the step function's indices."""

# How what has been read of a number compares with a bound, as far as it can be told.
_LESS, _EQUAL, _MORE = -1, 0, 1


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound of a magnitude: digits before and after the point, and whether it is left out."""

    whole: str
    fraction: str
    exclusive: bool

    @classmethod
    def of(cls, value: Decimal, exclusive: bool) -> Bound:
        """The bound `value`, which is not negative."""
        text = format(value.copy_abs(), "f")  # A bound may be -0.
        whole, _, fraction = text.partition(".")
        return cls(whole.lstrip("0") or "0", fraction.rstrip("0"), exclusive)


@dataclass(frozen=True, slots=True)
class Range:
    """Magnitudes from `low` to `high`, None where there is no bound."""

    low: Bound | None
    high: Bound | None


@dataclass(frozen=True, slots=True)
class Spelling:
    """How numbers may be written: most digits of each part (None: unlimited, 0: no such part)."""

    whole: int | None
    fraction: int | None
    exponent: int | None
    zero_fraction: bool
    minus_zero: bool


@dataclass(frozen=True, slots=True)
class State:
    """Where in a number one is.

    ``part``: "start", "sign" (after `-`), "whole", "zero" (a whole part of 0), "point", "fraction",
    "e", "esign", "exponent". ``count`` digits of the part have been read, counted no further than
    matters; ``low`` and ``high`` compare what was read with the bounds; ``nonzero``: some digit
    was not 0.
    """

    part: str
    minus: bool = False
    count: int = 0
    low: int = _EQUAL
    high: int = _EQUAL
    nonzero: bool = False


START = State("start")


class Machine:
    """The step function of number spellings; see :class:`State`."""

    def __init__(self, positive: Range | None, negative: Range | None, spelling: Spelling) -> None:
        self.ranges = {False: positive, True: negative}
        self.spelling = spelling
        self.whole = {minus: self._whole_cap(r) for minus, r in self.ranges.items()}
        self.fraction = {minus: self._fraction_cap(r) for minus, r in self.ranges.items()}

    def _whole_cap(self, magnitudes: Range | None) -> tuple[int | None, int]:
        """Most digits of the whole part, and the count after which no bound looks any further."""
        bounds = _bounds(magnitudes)
        longest = max((len(b.whole) for b in bounds), default=0)
        cap = self.spelling.whole
        return (None if cap is None else max(cap, longest)), longest + 1

    def _fraction_cap(self, magnitudes: Range | None) -> tuple[int | None, int]:
        bounds = _bounds(magnitudes)
        longest = max((len(b.fraction) for b in bounds), default=0)
        cap = self.spelling.fraction
        if cap is not None and not self.spelling.zero_fraction and longest >= cap:
            cap = longest + 1  # Between 0.05 and 0.051 there is room at the fourth digit only.
        return cap, longest

    def step(self, state: State, i: int) -> State | None:
        symbol = SYMBOLS[i]
        if symbol in _DIGITS:
            return self._digit(state, symbol)
        minus = state.minus
        match symbol, state.part:
            case "-", "start":
                return State("sign", True) if self.ranges[True] is not None else None
            case ".", "whole" | "zero":
                low, high = self._compared(state)
                if self.fraction[minus][0] == 0 or self._lost(minus, low, high):
                    return None
                return State("point", minus, 0, low, high, state.nonzero)
            case "e" | "E", "whole" | "zero" | "fraction":
                if self.spelling.exponent == 0:
                    return None
                return State("e", minus, nonzero=state.nonzero)
            case "+" | "-", "e":
                return State("esign", minus, nonzero=state.nonzero)
        return None

    def _digit(self, state: State, digit: str) -> State | None:
        match state.part:
            case "start" | "sign":
                if self.ranges[state.minus] is None:
                    return None
                part = "zero" if digit == "0" else "whole"
                return self._whole(State(part, state.minus), digit)
            case "whole":
                return self._whole(state, digit)
            case "point" | "fraction":
                return self._fraction(state, digit)
            case "e" | "esign" | "exponent":
                cap = self.spelling.exponent
                count = 0 if cap is None else state.count + 1
                if cap is not None and count > cap:
                    return None
                return State("exponent", state.minus, count, nonzero=state.nonzero)
        return None

    def _whole(self, state: State, digit: str) -> State | None:
        cap, matters = self.whole[state.minus]
        count = state.count + 1
        if cap is not None and count > cap:
            return None
        if cap is None:
            count = min(count, matters)
        magnitudes = self.ranges[state.minus]
        assert magnitudes is not None
        low = _compare_digit(state.low, magnitudes.low, state.count, digit)
        high = _compare_digit(state.high, magnitudes.high, state.count, digit)
        nonzero = state.nonzero or digit != "0"
        return State(state.part, state.minus, count, low, high, nonzero)

    def _fraction(self, state: State, digit: str) -> State | None:
        if self.spelling.zero_fraction and digit != "0":
            return None
        cap, matters = self.fraction[state.minus]
        count = state.count + 1
        if cap is not None and count > cap:
            return None
        if cap is None:
            count = min(count, matters + 1)
        magnitudes = self.ranges[state.minus]
        assert magnitudes is not None
        low = _compare_fraction(state.low, magnitudes.low, state.count, digit)
        high = _compare_fraction(state.high, magnitudes.high, state.count, digit)
        if self._lost(state.minus, low, high):
            return None
        nonzero = state.nonzero or digit != "0"
        return State("fraction", state.minus, count, low, high, nonzero)

    def _compared(self, state: State) -> tuple[int, int]:
        """How the whole part that ends here compares with the whole parts of the bounds."""
        magnitudes = self.ranges[state.minus]
        assert magnitudes is not None
        return (
            _compare_length(state.low, magnitudes.low, state.count),
            _compare_length(state.high, magnitudes.high, state.count),
        )

    def _lost(self, minus: bool, low: int, high: int) -> bool:
        """Whether no further digit of a fraction can bring the number within its bounds."""
        magnitudes = self.ranges[minus]
        assert magnitudes is not None
        below = magnitudes.low is not None and low == _LESS
        above = magnitudes.high is not None and high == _MORE
        return below or above

    def accepts(self, state: State) -> bool:
        if state.part not in ("whole", "zero", "fraction", "exponent"):
            return False
        if state.minus and not state.nonzero and not self.spelling.minus_zero:
            return False
        magnitudes = self.ranges[state.minus]
        assert magnitudes is not None
        if self.spelling.exponent != 0:
            # Bounds are 0 here, so the digits alone tell on which side the number is.
            if magnitudes.low is not None and not state.nonzero:
                return False
            return magnitudes.high is None or not state.nonzero
        low, high = state.low, state.high
        if state.part != "fraction":
            low, high = self._compared(state)
        count = state.count if state.part == "fraction" else 0
        return _above(magnitudes.low, low, count) and _below(magnitudes.high, high, count)


def _bounds(magnitudes: Range | None) -> list[Bound]:
    if magnitudes is None:
        return []
    return [b for b in (magnitudes.low, magnitudes.high) if b is not None]


def _compare_digit(so_far: int, bound: Bound | None, position: int, digit: str) -> int:
    """The comparison of the digits read with the bound's first digits, one digit further."""
    if bound is None or so_far != _EQUAL or position >= len(bound.whole):
        return so_far
    return (digit > bound.whole[position]) - (digit < bound.whole[position])


def _compare_length(so_far: int, bound: Bound | None, count: int) -> int:
    """The comparison of whole parts once this one is known to have `count` digits."""
    if bound is None:
        return _EQUAL
    if count != len(bound.whole):
        return _MORE if count > len(bound.whole) else _LESS
    return so_far


def _compare_fraction(so_far: int, bound: Bound | None, position: int, digit: str) -> int:
    if bound is None or so_far != _EQUAL:
        return so_far
    against = bound.fraction[position] if position < len(bound.fraction) else "0"
    return (digit > against) - (digit < against)


def _above(bound: Bound | None, comparison: int, count: int) -> bool:
    """Whether a number that ends here, `count` digits after the point, is not below `bound`."""
    if bound is None or comparison == _MORE:
        return True
    complete = comparison == _EQUAL and count >= len(bound.fraction)
    return complete and not bound.exclusive


def _below(bound: Bound | None, comparison: int, count: int) -> bool:
    """Whether a number that ends here, `count` digits after the point, is not above `bound`."""
    if bound is None or comparison == _LESS:
        return True
    if comparison == _MORE:
        return False
    return count < len(bound.fraction) or not bound.exclusive
