"""Integers and numbers -> expressions: free ones as a shared rule, bounded ones as an automaton."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR

from ..errors import LimitExceeded
from ..grammar import Chars, Choice, Expr, Literal, Machine, Regular, Repeat, Sequence, optional
from ..ir import IntegerValue, NumberValue
from ..origin import Origin
from ..regular import numbers
from ..regular.dfa import Dfa
from ..regular.language import Language
from ..regular.multiples import without_two_and_five
from .loops import bounded_loops, has_runs
from .multiples import multiples, with_zeros
from .one_spelling import canonical_numbers
from .shared import Shared
from .spelling import DIGIT, NONZERO, uncounted

_FEW_STATES = 24
"""Machines up to this size stay whole, and messages can name the range."""
_MOST_STATES = 20_000
LISTED_STATES = 8_000
"""States of an automaton of multiples that are listed; with more it is made as it is walked."""
_MANY_STATES = 1000
"""Machines beyond this size stay whole too: rules of their own would take seconds."""


def number(
    value: IntegerValue | NumberValue,
    shared: Shared,
    *,
    floats: bool,
    one_spelling: bool = False,
) -> Expr | None:
    """An integer or number: free ones as a shared rule, bounded ones as an automaton.

    `one_spelling`: each number is written in one way, see :func:`~.one_spelling.canonical_numbers`.
    """
    one_spelling = one_spelling and isinstance(value, NumberValue)
    bounds = shared.bounds
    digits = bounds.digits if bounds else None
    exponent = bounds.exponent if bounds else None
    bare = replace(value, origin=Origin())
    if bare == IntegerValue():
        return shared.named(("integer", floats), "integer", lambda: _integer(digits, floats))
    if bare == NumberValue() and not one_spelling:
        return shared.named("number", "number", lambda: _number(digits, exponent))

    def build() -> Machine:
        if _is_large(value):
            return _large_multiples(value, digits, floats)
        try:
            dfa = _automaton(value, digits, 0 if one_spelling else exponent, floats)
        except LimitExceeded:
            if _whole(value) is None:
                raise
            return _large_multiples(value, digits, floats)
        if one_spelling:
            dfa = (Language.of(dfa) & canonical_numbers()).dfa
        return uncounted(dfa)

    bare_key = ("range", bare, floats, one_spelling)
    hint = value.origin.pointer.rsplit("/", 1)[-1] or "range"

    def build_once() -> Machine:
        machine = shared.machine(("number", bare, floats, one_spelling), build)
        if machine.known is None and len(machine.transitions) > _MOST_STATES:
            message = f"an automaton of {len(machine.transitions)} states for {_range_words(value)}"
            hint = (
                f"at most {_MOST_STATES} are taken apart; use narrower bounds or a rounder factor"
            )
            raise LimitExceeded.at("number-too-large", message, value.origin, hint)
        return machine

    def lowered(machine: Machine) -> Expr:
        if bounds is not None and machine.known is None:
            size = len(machine.transitions)
            if size <= _MANY_STATES and (size > _FEW_STATES or has_runs(machine)):
                return bounded_loops(machine, 1, shared.rules, shared.names, hint, value.origin)
        return Regular(machine, 0, None, _range_words(value), value.origin)

    divided = value.multiple_of is not None or value.not_multiple_of
    if (divided or one_spelling) and not _has_texts(build_once()):
        return None
    # Without a divisor the reader has made sure that there is a number between the bounds.
    return shared.named(bare_key, hint, lambda: lowered(build_once()))


def _automaton(
    value: IntegerValue | NumberValue, digits: int | None, exponent: int | None, floats: bool
) -> Dfa:
    if isinstance(value, IntegerValue):
        return numbers.integers(
            value.minimum,
            value.maximum,
            digits=digits,
            multiple_of=value.multiple_of,
            origin=value.origin,
            not_multiple_of=value.not_multiple_of,
            float_spelling=floats,
            most_states=numbers.MAX_MULTIPLES if _whole(value) is None else LISTED_STATES,
        )
    return numbers.decimals(
        value.minimum,
        value.maximum,
        exclusive_minimum=value.exclusive_minimum,
        exclusive_maximum=value.exclusive_maximum,
        digits=digits,
        exponent=exponent,
        multiple_of=value.multiple_of,
        origin=value.origin,
        not_multiple_of=value.not_multiple_of,
    )


def _whole(value: IntegerValue | NumberValue) -> IntegerValue | None:
    """The same numbers as whole ones of which one factor is asked; None if they are not."""
    if value.multiple_of is None or value.not_multiple_of:
        return None
    if isinstance(value, IntegerValue):
        return value
    factor = value.multiple_of
    if factor != factor.to_integral_value():
        return None
    low, high = value.minimum, value.maximum
    first = None if low is None else int(low.to_integral_value(ROUND_CEILING))
    last = None if high is None else int(high.to_integral_value(ROUND_FLOOR))
    if first is not None and value.exclusive_minimum and first == low:
        first += 1
    if last is not None and value.exclusive_maximum and last == high:
        last -= 1
    return IntegerValue(first, last, int(factor), (), value.origin)


def _is_large(value: IntegerValue | NumberValue) -> bool:
    """Whether the multiples take too many states to be listed, whatever the bounds."""
    whole = _whole(value)
    if whole is None or whole.multiple_of is None:
        return False
    return without_two_and_five(whole.multiple_of) > LISTED_STATES


def _large_multiples(
    value: IntegerValue | NumberValue, digits: int | None, floats: bool
) -> Machine:
    """The multiples one by one if they are few, else as a machine made as it is walked."""
    whole = _whole(value)
    assert whole is not None and whole.multiple_of is not None
    fractions = floats or isinstance(value, NumberValue)
    if numbers.are_few(whole.minimum, whole.maximum, whole.multiple_of):
        listed = numbers.integers(
            whole.minimum, whole.maximum, digits=digits, multiple_of=whole.multiple_of
        )
        return with_zeros(uncounted(listed), digits) if fractions else uncounted(listed)
    spelled = numbers.integers(
        whole.minimum,
        whole.maximum,
        digits=digits,
        float_spelling=fractions,
        origin=value.origin,
    )
    return multiples(spelled, whole.multiple_of)


def _has_texts(machine: Machine) -> bool:
    known = machine.known
    return bool(machine.accepting) if known is None else known.live(0, 0, None)


def _integer(digits: int | None, floats: bool) -> Expr:
    more = None if digits is None else digits - 1
    whole = Sequence((NONZERO, Repeat(DIGIT, 0, more)))
    if not floats:
        return Choice((Literal("0"), Sequence((optional(Literal("-")), whole))))
    return Sequence(
        (
            optional(Literal("-")),
            Choice((Literal("0"), whole)),
            optional(zero_fraction(digits)),
        )
    )


def zero_fraction(digits: int | None) -> Expr:
    """A fraction of zeros, at most `digits` of them."""
    return Sequence((Literal("."), Repeat(Chars(((0x30, 0x30),)), 1, digits)))


def _number(digits: int | None, exponent: int | None) -> Expr:
    more = None if digits is None else digits - 1
    whole = Choice((Literal("0"), Sequence((NONZERO, Repeat(DIGIT, 0, more)))))
    fraction = Sequence((Literal("."), Repeat(DIGIT, 1, digits)))
    sign = Chars(((0x2B, 0x2B), (0x2D, 0x2D)))
    power = Sequence(
        (
            Chars(((0x45, 0x45), (0x65, 0x65))),
            optional(sign),
            Repeat(DIGIT, 1, exponent),
        )
    )
    return Sequence((optional(Literal("-")), whole, optional(fraction), optional(power)))


def _range_words(value: IntegerValue | NumberValue) -> str:
    """A numeric range in words, for messages."""
    words = "an integer" if isinstance(value, IntegerValue) else "a number"
    if value.minimum is not None:
        above = isinstance(value, NumberValue) and value.exclusive_minimum
        words += f" {'above' if above else 'of at least'} {value.minimum}"
    if value.maximum is not None:
        below = isinstance(value, NumberValue) and value.exclusive_maximum
        joined = " and" if value.minimum is not None else ""
        words += f"{joined} {'below' if below else 'at most'} {value.maximum}"
    if value.multiple_of is not None:
        words += f", a multiple of {value.multiple_of}"
    if value.not_multiple_of:
        words += f", no multiple of {' or '.join(map(str, value.not_multiple_of))}"
    return words
