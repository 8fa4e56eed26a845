"""Conjunction of numbers and of strings."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import gcd

from ..origin import Origin
from ..regular.language import Language
from .forms import NumberKind, Numbers, Reason, Residues, Strings
from .json_values import is_multiple

# So many multiples in a row are looked at for one that is not a multiple of something else too.
MAX_TRIED = 10_000


def meet_numbers(x: Numbers, y: Numbers, origin: Origin, residues: Residues) -> Numbers | Reason:
    """Numbers that both let through."""
    low, low_open = x.low, x.low_open
    if y.low is not None and (low is None or y.low > low or (y.low == low and y.low_open)):
        low, low_open = y.low, y.low_open
    high, high_open = x.high, x.high_open
    if y.high is not None and (high is None or y.high < high or (y.high == high and y.high_open)):
        high, high_open = y.high, y.high_open
    multiple = common_multiple(x.multiple, y.multiple)
    kind = x.kind if y.kind == "any" else y.kind
    avoid = x.avoid + y.avoid
    return numbers(kind, low, high, low_open, high_open, multiple, origin, residues, avoid)


def numbers(
    kind: NumberKind,
    low: Decimal | None,
    high: Decimal | None,
    low_open: bool,
    high_open: bool,
    multiple: Decimal | None,
    origin: Origin,
    residues: Residues = (),
    avoid: tuple[Decimal, ...] = (),
) -> Numbers | Reason:
    """The alternative with its bounds, or why no number satisfies them."""
    if multiple is not None and multiple == multiple.to_integral_value():
        kind = "integer"
    if kind == "integer" and multiple is not None:
        multiple = common_multiple(multiple, Decimal(1))
    step = multiple if multiple is not None else Decimal(1) if kind == "integer" else None
    if avoid:
        kept = _avoided(avoid, step)
        if isinstance(kept, Decimal):
            what = "type integer" if multiple is None else f"multipleOf {multiple:f}"
            without = "type integer" if kept == 1 else f"multipleOf {kept:f}"
            return Reason(f"{what} and not {without} exclude each other", origin)
        avoid = kept
    made = Numbers(kind, low, high, low_open, high_open, multiple, avoid, origin, residues)
    if low is None or high is None:
        return made
    below, above = describe_bounds(made)
    if low > high or (low == high and (low_open or high_open)):
        verb = "is above" if low > high else "excludes"
        return Reason(f"{below} {verb} {above}", origin)
    if step is not None and not _has_multiple(made, step):
        name = "whole number" if multiple is None else f"multiple of {multiple:f}"
        if avoid:
            name += f" that is a multiple of none of {', '.join(f'{factor:f}' for factor in avoid)}"
        return Reason(f"no {name} lies between {below} and {above}", origin)
    if low == high and any(is_multiple(low, factor) for factor in avoid):
        return Reason(f"{below} is a multiple of {avoid[0]:f}", origin)
    return made


def _avoided(avoid: tuple[Decimal, ...], step: Decimal | None) -> tuple[Decimal, ...] | Decimal:
    """The factors that say something beside `step` and each other; or one that says too much.

    Beside a step the factors are common multiples with it, so that whole ones stay whole.
    """
    factors: list[Decimal] = []
    for factor in sorted(avoid):
        if step is not None and is_multiple(step, factor):
            return factor
        beside = common_multiple(factor, step)
        assert beside is not None
        if not any(is_multiple(beside, other) for other in factors):
            factors.append(beside)
    return tuple(sorted(factors))


def describe_bounds(n: Numbers) -> tuple[str, str]:
    """Both bounds in schema words."""
    assert n.low is not None and n.high is not None
    return (
        f"{'exclusiveMinimum' if n.low_open else 'minimum'} {n.low:f}",
        f"{'exclusiveMaximum' if n.high_open else 'maximum'} {n.high:f}",
    )


def _has_multiple(n: Numbers, step: Decimal) -> bool:
    assert n.low is not None and n.high is not None
    unit = Fraction(step)
    low, high = Fraction(n.low) / unit, Fraction(n.high) / unit
    first = -(-low.numerator // low.denominator)
    if n.low_open and first == low:
        first += 1
    last = high.numerator // high.denominator
    if n.high_open and last == high:
        last -= 1
    if not n.avoid:
        return first <= last
    tried = range(first, min(last, first + MAX_TRIED) + 1)
    factors = [Fraction(factor) / unit for factor in n.avoid]
    found = any(all((k / factor).denominator != 1 for factor in factors) for k in tried)
    return found or last > first + MAX_TRIED


def common_multiple(a: Decimal | None, b: Decimal | None) -> Decimal | None:
    """The least common multiple of two positive decimals (None: no condition)."""
    if a is None or b is None:
        return b if a is None else a
    x, y = Fraction(a), Fraction(b)
    scale = x.denominator * y.denominator // gcd(x.denominator, y.denominator)
    p, q = int(x * scale), int(y * scale)
    least = Fraction(p * q // gcd(p, q), scale)
    return exact_decimal(least)


def exact_decimal(value: Fraction) -> Decimal:
    """A fraction whose denominator divides a power of ten, without rounding."""
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    assert rest == 1, value
    places = max(twos, fives)
    whole = value.numerator * 10**places // value.denominator
    sign, digits = (1, str(-whole)) if whole < 0 else (0, str(whole))
    return Decimal((sign, tuple(int(d) for d in digits), -places))


def meet_strings(x: Strings, y: Strings, origin: Origin, residues: Residues) -> Strings | Reason:
    """Strings that both let through."""
    shortest = max(x.shortest, y.shortest)
    longest = least(x.longest, y.longest)
    if x.language is None or y.language is None or x.language is y.language:
        language = x.language or y.language
        parts = max(x.parts, y.parts)
    else:
        language, parts = x.language & y.language, x.parts + y.parts
    return strings(shortest, longest, language, parts, origin, residues)


def strings(
    shortest: int,
    longest: int | None,
    language: Language | None,
    parts: int,
    origin: Origin,
    residues: Residues = (),
) -> Strings | Reason:
    """The alternative with its bounds, or why they exclude each other."""
    if longest is not None and shortest > longest:
        return Reason(f"minLength {shortest} is above maxLength {longest}", origin)
    return Strings(shortest, longest, language, parts, origin, residues)


def least(a: int | None, b: int | None) -> int | None:
    """The smaller of two upper bounds, None being none."""
    return b if a is None else a if b is None else min(a, b)
