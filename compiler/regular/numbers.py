"""Languages of spelled JSON numbers (RFC 8259 section 6) within exact bounds.

Canonical spelling: no leading zeros, no plus sign. Digits are compared with the bounds as they
come, so every bound of any size is exact; no floating point anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from ..errors import LimitExceeded
from ..origin import Origin
from . import charset
from .dfa import Dfa
from .multiples import Remainders
from .table import Table, TooLarge, explore
from .words import word_table

MAX_SPELLED = 10_000
"""Most digits of a bound, and most digits that a cap on digits may ask for."""

MAX_MULTIPLES = 100_000
"""Most states of the automaton of multiples within bounds: about the factor, less its powers of 2
and 5, times the digits."""

MAX_LISTED = 2_000
"""Most multiples that are listed one by one rather than described by remainders."""

_DIGITS = "0123456789"
_SYMBOLS = _DIGITS + "-.eE+"
_SETS = [charset.of(c) for c in _SYMBOLS]

# How what has been read of a number compares with a bound, as far as it can be told.
_LESS, _EQUAL, _MORE = -1, 0, 1


@dataclass(frozen=True, slots=True)
class _Bound:
    """A bound of a magnitude: digits before and after the point, and whether it is left out."""

    whole: str
    fraction: str
    exclusive: bool

    @classmethod
    def of(cls, value: Decimal, exclusive: bool) -> _Bound:
        """The bound `value`, which is not negative."""
        text = format(value, "f")
        whole, _, fraction = text.partition(".")
        return cls(whole.lstrip("0") or "0", fraction.rstrip("0"), exclusive)


@dataclass(frozen=True, slots=True)
class _Range:
    """Magnitudes from `low` to `high`, None where there is no bound."""

    low: _Bound | None
    high: _Bound | None




def integers(
    minimum: int | None,
    maximum: int | None,
    *,
    digits: int | None,
    multiple_of: int | None = None,
    float_spelling: bool = False,
    origin: Origin | None = None,
) -> Dfa:
    """The spellings of the whole numbers from `minimum` to `maximum` (None: no bound).

    Args:
        digits: most digits where a side has no bound (None: unlimited). A bound with more digits
            raises the cap to its own.
        multiple_of: only multiples of it (at least 1).
        float_spelling: 1.0 and 1.00 (at most `digits` zeros) are spellings of 1, and -0 of 0.

    Raises:
        LimitExceeded: code ``number-too-large``; too many states, a bound of too many digits.
    """
    if multiple_of and minimum is not None and maximum is not None and not float_spelling:
        few = range(-(-minimum // multiple_of) * multiple_of, maximum + 1, multiple_of)
        if (maximum - minimum) // multiple_of <= MAX_LISTED:
            return Dfa.of(word_table(map(str, few)))
    zeros = digits if float_spelling else 0
    spelling = _Spelling(digits, zeros, 0, zero_fraction=True, minus_zero=float_spelling)
    low = None if minimum is None else Decimal(minimum)
    high = None if maximum is None else Decimal(maximum)
    factor = None if multiple_of in (None, 1) else Decimal(multiple_of or 1)
    return _guarded(lambda: _number(low, high, False, False, spelling, factor), origin)


def decimals(
    minimum: Decimal | None,
    maximum: Decimal | None,
    *,
    exclusive_minimum: bool,
    exclusive_maximum: bool,
    digits: int | None,
    exponent: int | None,
    multiple_of: Decimal | None = None,
    origin: Origin | None = None,
) -> Dfa:
    """The spellings of the decimal numbers within the bounds: 5, 5.0 and 5.00 alike.

    Exponents are spelled where nothing but the sign is bounded (no bounds, or bounds of zero, and
    no `multiple_of`), with at most `exponent` digits (None: unlimited); otherwise not.

    Args:
        digits: most digits of the whole part where a side has no bound, and of the fraction (None:
            unlimited). A bound with more digits raises the cap to its own.

    Raises:
        LimitExceeded: code ``number-too-large``; too many states, a bound of too many digits.
    """
    signs_only = not any((minimum, maximum)) and multiple_of is None
    allowed = exponent if signs_only else 0
    spelling = _Spelling(digits, digits, allowed, zero_fraction=False, minus_zero=True)
    return _guarded(
        lambda: _number(
            minimum, maximum, exclusive_minimum, exclusive_maximum, spelling, multiple_of
        ),
        origin,
    )


def spells_exponents(
    minimum: Decimal | None, maximum: Decimal | None, multiple_of: Decimal | None
) -> bool:
    """Whether :func:`decimals` spells exponents under these bounds (else report it narrowed)."""
    return not any((minimum, maximum)) and multiple_of is None


@dataclass(frozen=True, slots=True)
class _Spelling:
    """How numbers may be written: most digits of each part (None: unlimited, 0: no such part)."""

    whole: int | None
    fraction: int | None
    exponent: int | None
    zero_fraction: bool
    minus_zero: bool


def _guarded(make: Callable[[], Table], origin: Origin | None) -> Dfa:
    try:
        return Dfa.of(make())
    except TooLarge as error:
        raise LimitExceeded.at(
            "number-too-large",
            f"the numbers within these bounds need {error.what}",
            origin,
        ) from None


@lru_cache(maxsize=512)
def _number(
    minimum: Decimal | None,
    maximum: Decimal | None,
    exclusive_minimum: bool,
    exclusive_maximum: bool,
    spelling: _Spelling,
    multiple_of: Decimal | None,
) -> Table:
    for bound in (minimum, maximum):
        if bound is not None and _spelled_length(bound) > MAX_SPELLED:
            raise TooLarge(f"more than {MAX_SPELLED} digits")
    if any((n or 0) > MAX_SPELLED for n in (spelling.whole, spelling.fraction, spelling.exponent)):
        raise TooLarge(f"more than {MAX_SPELLED} digits")
    positive = _magnitudes(minimum, exclusive_minimum, maximum, exclusive_maximum)
    negative = _magnitudes(
        None if maximum is None else -maximum,
        exclusive_maximum,
        None if minimum is None else -minimum,
        exclusive_minimum,
    )
    machine = _Machine(positive, negative, spelling)
    spelled = explore(_START, _SETS, machine.step, machine.accepts)
    if multiple_of is None or not spelled.accepting:
        return spelled
    return _multiples(spelled, Remainders(multiple_of))


def _multiples(spelled: Table, remainders: Remainders) -> Table:
    """The spelled numbers that are multiples; only what both allow is ever visited."""
    classes = [spelled.alphabet.class_of(ord(symbol)) for symbol in _SYMBOLS]

    def step(
        state: tuple[int, tuple[int, int]], i: int
    ) -> tuple[int, tuple[int, int]] | None:
        target = spelled.rows[state[0]][classes[i]]
        remainder = None if target < 0 else remainders.step(state[1], _SYMBOLS[i])
        return None if remainder is None else (target, remainder)

    return explore(
        (0, remainders.start),
        _SETS,
        step,
        lambda q: q[0] in spelled.accepting and remainders.accepts(q[1]),
        limit=MAX_MULTIPLES,
    )


def _spelled_length(value: Decimal) -> int:
    """Digits that the value takes without an exponent."""
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), "bounds are finite"
    return len(value.as_tuple().digits) + abs(exponent)


def _magnitudes(
    low: Decimal | None, without_low: bool, high: Decimal | None, without_high: bool
) -> _Range | None:
    """The magnitudes of the non-negative numbers within the bounds; None if there are none."""
    if high is not None and (high < 0 or (high == 0 and without_high)):
        return None
    lower = None
    if low is not None and (low > 0 or (low == 0 and without_low)):
        lower = _Bound.of(low, without_low)
    return _Range(lower, None if high is None else _Bound.of(high, without_high))


@dataclass(frozen=True, slots=True)
class _State:
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


_START = _State("start")


class _Machine:
    """The step function of number spellings; see :class:`_State`."""

    def __init__(
        self, positive: _Range | None, negative: _Range | None, spelling: _Spelling
    ) -> None:
        self.ranges = {False: positive, True: negative}
        self.spelling = spelling
        self.whole = {minus: self._whole_cap(r) for minus, r in self.ranges.items()}
        self.fraction = {minus: self._fraction_cap(r) for minus, r in self.ranges.items()}

    def _whole_cap(self, magnitudes: _Range | None) -> tuple[int | None, int]:
        """Most digits of the whole part, and the count after which no bound looks any further."""
        bounds = _bounds(magnitudes)
        longest = max((len(b.whole) for b in bounds), default=0)
        cap = self.spelling.whole
        return (None if cap is None else max(cap, longest)), longest + 1

    def _fraction_cap(self, magnitudes: _Range | None) -> tuple[int | None, int]:
        bounds = _bounds(magnitudes)
        longest = max((len(b.fraction) for b in bounds), default=0)
        cap = self.spelling.fraction
        if cap is not None and not self.spelling.zero_fraction and longest >= cap:
            cap = longest + 1  # Between 0.05 and 0.051 there is room at the fourth digit only.
        return cap, longest

    def step(self, state: _State, i: int) -> _State | None:
        symbol = _SYMBOLS[i]
        if symbol in _DIGITS:
            return self._digit(state, symbol)
        minus = state.minus
        match symbol, state.part:
            case "-", "start":
                return _State("sign", True) if self.ranges[True] is not None else None
            case ".", "whole" | "zero":
                low, high = self._compared(state)
                if self.fraction[minus][0] == 0 or self._lost(minus, low, high):
                    return None
                return _State("point", minus, 0, low, high, state.nonzero)
            case "e" | "E", "whole" | "zero" | "fraction":
                if self.spelling.exponent == 0:
                    return None
                return _State("e", minus, nonzero=state.nonzero)
            case "+" | "-", "e":
                return _State("esign", minus, nonzero=state.nonzero)
        return None

    def _digit(self, state: _State, digit: str) -> _State | None:
        match state.part:
            case "start" | "sign":
                if self.ranges[state.minus] is None:
                    return None
                part = "zero" if digit == "0" else "whole"
                return self._whole(_State(part, state.minus), digit)
            case "whole":
                return self._whole(state, digit)
            case "point" | "fraction":
                return self._fraction(state, digit)
            case "e" | "esign" | "exponent":
                cap = self.spelling.exponent
                count = 0 if cap is None else state.count + 1
                if cap is not None and count > cap:
                    return None
                return _State("exponent", state.minus, count, nonzero=state.nonzero)
        return None

    def _whole(self, state: _State, digit: str) -> _State | None:
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
        return _State(state.part, state.minus, count, low, high, nonzero)

    def _fraction(self, state: _State, digit: str) -> _State | None:
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
        return _State("fraction", state.minus, count, low, high, nonzero)

    def _compared(self, state: _State) -> tuple[int, int]:
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

    def accepts(self, state: _State) -> bool:
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


def _bounds(magnitudes: _Range | None) -> list[_Bound]:
    if magnitudes is None:
        return []
    return [b for b in (magnitudes.low, magnitudes.high) if b is not None]


def _compare_digit(so_far: int, bound: _Bound | None, position: int, digit: str) -> int:
    """The comparison of the digits read with the bound's first digits, one digit further."""
    if bound is None or so_far != _EQUAL or position >= len(bound.whole):
        return so_far
    return (digit > bound.whole[position]) - (digit < bound.whole[position])


def _compare_length(so_far: int, bound: _Bound | None, count: int) -> int:
    """The comparison of whole parts once this one is known to have `count` digits."""
    if bound is None:
        return _EQUAL
    if count != len(bound.whole):
        return _MORE if count > len(bound.whole) else _LESS
    return so_far


def _compare_fraction(so_far: int, bound: _Bound | None, position: int, digit: str) -> int:
    if bound is None or so_far != _EQUAL:
        return so_far
    against = bound.fraction[position] if position < len(bound.fraction) else "0"
    return (digit > against) - (digit < against)


def _above(bound: _Bound | None, comparison: int, count: int) -> bool:
    """Whether a number that ends here, `count` digits after the point, is not below `bound`."""
    if bound is None or comparison == _MORE:
        return True
    complete = comparison == _EQUAL and count >= len(bound.fraction)
    return complete and not bound.exclusive


def _below(bound: _Bound | None, comparison: int, count: int) -> bool:
    """Whether a number that ends here, `count` digits after the point, is not above `bound`."""
    if bound is None or comparison == _LESS:
        return True
    if comparison == _MORE:
        return False
    return count < len(bound.fraction) or not bound.exclusive
