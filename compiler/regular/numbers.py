"""Languages of spelled JSON numbers (RFC 8259 section 6) within exact bounds.

Canonical spelling: no leading zeros, no plus sign. Digits are compared with the bounds as they
come, so every bound of any size is exact; no floating point anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import TypeAlias

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
    not_multiple_of: Sequence[int] = (),
    float_spelling: bool = False,
    most_states: int = MAX_MULTIPLES,
    origin: Origin | None = None,
) -> Dfa:
    """The spellings of the whole numbers from `minimum` to `maximum` (None: no bound).

    Args:
        digits: most digits where a side has no bound (None: unlimited). A bound with more digits
            raises the cap to its own.
        multiple_of: only multiples of it (at least 1).
        not_multiple_of: no multiples of these (at least 2).
        float_spelling: 1.0 and 1.00 (at most `digits` zeros) are spellings of 1, and -0 of 0.
        most_states: of the automaton of multiples, before it is made as small as can be.

    Raises:
        LimitExceeded: code ``number-too-large``; too many states, a bound of too many digits.
    """
    zeros = digits if float_spelling else 0
    spelling = Spelling(digits, zeros, 0, zero_fraction=True, minus_zero=float_spelling)
    low = None if minimum is None else Decimal(minimum)
    high = None if maximum is None else Decimal(maximum)
    factor = None if multiple_of in (None, 1) else Decimal(multiple_of or 1)
    avoid = tuple(map(Decimal, not_multiple_of))
    return _guarded(lambda: _integers(low, high, spelling, factor, avoid, most_states), origin)


def decimals(
    minimum: Decimal | None,
    maximum: Decimal | None,
    *,
    exclusive_minimum: bool,
    exclusive_maximum: bool,
    digits: int | None,
    exponent: int | None,
    multiple_of: Decimal | None = None,
    not_multiple_of: Sequence[Decimal] = (),
    origin: Origin | None = None,
) -> Dfa:
    """The spellings of the decimal numbers within the bounds: 5, 5.0 and 5.00 alike.

    Exponents are spelled where nothing but the sign is bounded (no bounds, or bounds of zero, and
    no factors), with at most `exponent` digits (None: unlimited); otherwise not.

    Args:
        digits: most digits of the whole part where a side has no bound, and of the fraction (None:
            unlimited). A bound with more digits raises the cap to its own.
        multiple_of: only multiples of it.
        not_multiple_of: no multiples of these; (1,): only numbers that are not whole.

    Raises:
        LimitExceeded: code ``number-too-large``; too many states, a bound of too many digits.
    """
    allowed = exponent if spells_exponents(minimum, maximum, multiple_of, not_multiple_of) else 0
    spelling = Spelling(digits, digits, allowed, zero_fraction=False, minus_zero=True)
    return _guarded(
        lambda: _number(
            minimum,
            maximum,
            exclusive_minimum,
            exclusive_maximum,
            spelling,
            multiple_of,
            tuple(not_multiple_of),
        ),
        origin,
    )


def spells_exponents(
    minimum: Decimal | None,
    maximum: Decimal | None,
    multiple_of: Decimal | None,
    not_multiple_of: Sequence[Decimal] = (),
) -> bool:
    """Whether :func:`decimals` spells exponents under these bounds (else report it narrowed)."""
    return not any((minimum, maximum)) and multiple_of is None and not not_multiple_of


def _integers(
    minimum: Decimal | None,
    maximum: Decimal | None,
    spelling: Spelling,
    factor: Decimal | None,
    avoid: tuple[Decimal, ...],
    most_states: int,
) -> Table:
    _check_lengths(minimum, maximum, factor, *avoid)
    if factor and minimum is not None and maximum is not None and not spelling.minus_zero:
        low, high, step = int(minimum), int(maximum), int(factor)
        if are_few(low, high, step):
            listed = range(-(-low // step) * step, high + 1, step)
            return word_table(str(n) for n in listed if all(n % int(f) for f in avoid))
    return _number(minimum, maximum, False, False, spelling, factor, avoid, most_states)


def are_few(minimum: int | None, maximum: int | None, factor: int) -> bool:
    """Whether the multiples between the bounds are few enough to be listed."""
    if minimum is None or maximum is None:
        return False
    return (maximum - minimum) // factor <= MAX_LISTED


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
    avoid: tuple[Decimal, ...],
    most_states: int = MAX_MULTIPLES,
) -> Table:
    _check_lengths(minimum, maximum, multiple_of, *avoid)
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
    if multiple_of is not None and spelled.accepting:
        spelled = _multiples(spelled, Remainders(multiple_of), most_states, wanted=True)
    for factor in avoid:
        if spelled.accepting:
            spelled = _multiples(spelled, Remainders(factor), most_states, wanted=False)
    return spelled


_State: TypeAlias = "tuple[int, tuple[int, int] | None]"


def _multiples(spelled: Table, remainders: Remainders, most_states: int, *, wanted: bool) -> Table:
    """The spelled numbers that are multiples, or are not; only what is allowed is ever visited.

    A number of which no multiple goes on has no remainder.
    """
    classes = [spelled.alphabet.class_of(ord(symbol)) for symbol in SYMBOLS]

    def step(state: _State, i: int) -> _State | None:
        target = spelled.rows[state[0]][classes[i]]
        if target < 0:
            return None
        remainder = None if state[1] is None else remainders.step(state[1], SYMBOLS[i])
        return None if wanted and remainder is None else (target, remainder)

    def accepts(state: _State) -> bool:
        multiple = state[1] is not None and remainders.accepts(state[1])
        return state[0] in spelled.accepting and multiple == wanted

    start: _State = (0, remainders.start)
    return explore(start, _SETS, step, accepts, limit=most_states)


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
