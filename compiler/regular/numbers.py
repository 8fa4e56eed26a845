"""Languages of spelled JSON numbers (RFC 8259 section 6) within exact bounds.

Canonical spelling: no leading zeros, no plus sign. Digits are compared with the bounds as they
come, so every bound of any size is exact; no floating point anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

from ..errors import LimitExceeded
from ..origin import Origin
from . import charset
from .dfa import Dfa
from .multiples import Remainders
from .number_machine import START, SYMBOLS, Bound, Machine, Range, Spelling
from .table import Table, TooLarge, explore
from .words import word_table

MAX_SPELLED = 4_000
"""Most digits of a bound or a factor, and most digits that a cap on digits may ask for."""

MAX_MULTIPLES = 100_000
"""Most states of the automaton of multiples within bounds: about the factor, less its powers of 2
and 5, times the digits."""

MAX_LISTED = 2_000
"""Most multiples that are listed one by one rather than described by remainders."""

_SETS = [charset.of(c) for c in SYMBOLS]


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
    zeros = digits if float_spelling else 0
    spelling = Spelling(digits, zeros, 0, zero_fraction=True, minus_zero=float_spelling)
    low = None if minimum is None else Decimal(minimum)
    high = None if maximum is None else Decimal(maximum)
    factor = None if multiple_of in (None, 1) else Decimal(multiple_of or 1)
    return _guarded(lambda: _integers(low, high, spelling, factor), origin)


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
    spelling = Spelling(digits, digits, allowed, zero_fraction=False, minus_zero=True)
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


def _integers(
    minimum: Decimal | None, maximum: Decimal | None, spelling: Spelling, factor: Decimal | None
) -> Table:
    _check_lengths(minimum, maximum, factor)
    if factor and minimum is not None and maximum is not None and not spelling.minus_zero:
        low, high, step = int(minimum), int(maximum), int(factor)
        if (high - low) // step <= MAX_LISTED:
            return word_table(map(str, range(-(-low // step) * step, high + 1, step)))
    return _number(minimum, maximum, False, False, spelling, factor)


def _check_lengths(*values: Decimal | None) -> None:
    for value in values:
        if value is not None and _spelled_length(value) > MAX_SPELLED:
            raise TooLarge(f"more than {MAX_SPELLED} digits")


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
    spelling: Spelling,
    multiple_of: Decimal | None,
) -> Table:
    _check_lengths(minimum, maximum, multiple_of)
    if any((n or 0) > MAX_SPELLED for n in (spelling.whole, spelling.fraction, spelling.exponent)):
        raise TooLarge(f"more than {MAX_SPELLED} digits")
    positive = _magnitudes(minimum, exclusive_minimum, maximum, exclusive_maximum)
    negative = _magnitudes(
        None if maximum is None else maximum.copy_negate(),
        exclusive_maximum,
        None if minimum is None else minimum.copy_negate(),
        exclusive_minimum,
    )
    machine = Machine(positive, negative, spelling)
    spelled = explore(START, _SETS, machine.step, machine.accepts)
    if multiple_of is None or not spelled.accepting:
        return spelled
    return _multiples(spelled, Remainders(multiple_of))


def _multiples(spelled: Table, remainders: Remainders) -> Table:
    """The spelled numbers that are multiples; only what both allow is ever visited."""
    classes = [spelled.alphabet.class_of(ord(symbol)) for symbol in SYMBOLS]

    def step(state: tuple[int, tuple[int, int]], i: int) -> tuple[int, tuple[int, int]] | None:
        target = spelled.rows[state[0]][classes[i]]
        remainder = None if target < 0 else remainders.step(state[1], SYMBOLS[i])
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
) -> Range | None:
    """The magnitudes of the non-negative numbers within the bounds; None if there are none."""
    if high is not None and (high < 0 or (high == 0 and without_high)):
        return None
    lower = None
    if low is not None and (low > 0 or (low == 0 and without_low)):
        lower = Bound.of(low, without_low)
    return Range(lower, None if high is None else Bound.of(high, without_high))
