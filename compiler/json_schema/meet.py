"""Conjunction of forms: cross product over alternatives of the same type."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import gcd
from typing import Protocol, TypeVar

from ..errors import LimitExceeded
from ..ir import Json
from ..origin import Origin
from .forms import (
    ANY,
    NOWHERE,
    TYPE_OF,
    Alternative,
    Arrays,
    Booleans,
    Contains,
    Form,
    Goal,
    Item,
    KeyClass,
    Member,
    Nulls,
    Numbers,
    Objects,
    Reason,
    Residues,
    Strings,
    Typed,
    Values,
    both,
    trivial,
)
from .json_values import is_container, json_key, json_type, show

MAX_ALTERNATIVES = 512
T = TypeVar("T", Numbers, Strings, Arrays, Objects)


class Goals(Protocol):
    """What the algebra asks of the reader, who knows what goals stand for."""

    def dead(self, goal: Goal) -> bool:
        """Whether the goal provably lets no value through."""

    def admits(self, alternative: Alternative, value: Json) -> bool:
        """Whether the alternative lets the value through; may look into goals."""

    def step(self, origin: Origin) -> None:
        """Count one unit of work; raises LimitExceeded when the budget is spent."""


def meet(a: Form, b: Form, goals: Goals) -> Form:
    """What both forms let through."""
    if a is ANY or a is b:
        return b
    if b is ANY:
        return a
    kept: list[Alternative] = []
    why: list[Reason] = []
    for x in a.alternatives:
        if isinstance(x, Values):
            _keep(filter_values(x, b.alternatives, goals), kept, why)
            continue
        for y in b.alternatives:
            goals.step(y.origin)
            if isinstance(y, Values):
                _keep(filter_values(y, (x,), goals), kept, why)
            elif type(x) is type(y):
                _keep(meet_typed(x, y, goals), kept, why)
    if len(kept) > MAX_ALTERNATIVES:
        raise LimitExceeded.at(
            "too-many-alternatives",
            f"a conjunction of unions has more than {MAX_ALTERNATIVES} alternatives",
            kept[-1].origin,
        )
    if not kept and not why:
        why = list(a.why or b.why or _type_clash(a, b))
    return Form(tuple(kept), tuple(why[:3]) if not kept else ())


def _keep(result: Alternative | Reason, kept: list[Alternative], why: list[Reason]) -> None:
    if isinstance(result, Reason):
        why.append(result)
    else:
        kept.append(result)


def _type_clash(a: Form, b: Form) -> list[Reason]:
    names = [", ".join(_types(form)) or "nothing" for form in (a, b)]
    origin = next((x.origin for x in (*b.alternatives, *a.alternatives)), NOWHERE)
    return [Reason(f"type {names[0]} and type {names[1]} exclude each other", origin)]


def _types(form: Form) -> list[str]:
    found: dict[str, None] = {}
    for x in form.alternatives:
        if isinstance(x, Values):
            found.update(dict.fromkeys(json_type(v) for v in x.values))
        elif isinstance(x, Numbers) and x.kind == "integer":
            found["integer"] = None
        else:
            found[TYPE_OF[type(x)]] = None
    return list(found)


def filter_values(
    x: Values, allowed: tuple[Alternative, ...], goals: Goals
) -> Values | Reason:
    """The values of `x` that some alternative lets through.

    Arrays and objects are decided later where that means looking into goals: the check is noted.
    """
    kept: list[Json] = []
    listed = [{json_key(v) for v in y.values} for y in allowed if isinstance(y, Values)]
    typed = [y for y in allowed if not isinstance(y, Values)]
    pending = False
    for value in x.values:
        kind = json_type(value)
        mine = [y for y in typed if TYPE_OF[type(y)] == kind]
        if is_container(value):
            if mine or any(json_key(value) in keys for keys in listed):
                kept.append(value)
                pending = True
        elif any(json_key(value) in keys for keys in listed) or any(
            goals.admits(y, value) for y in mine
        ):
            kept.append(value)
    residues = x.residues
    if not kept:
        return Reason(_why_no_value(x, typed, allowed), x.origin)
    checks = (*x.checks, allowed) if pending else x.checks
    return Values(tuple(kept), checks, x.origin, residues)


def _why_no_value(x: Values, typed: list[Typed], allowed: tuple[Alternative, ...]) -> str:
    subject = f"the value {show(x.values[0])}" if len(x.values) == 1 else None
    kinds = {json_type(v) for v in x.values}
    mine = [y for y in typed if TYPE_OF[type(y)] in kinds]
    if mine:
        what = " or ".join(dict.fromkeys(describe(y) for y in mine))
        return f"{subject} does not satisfy {what}" if subject else (
            f"no listed value satisfies {what}"
        )
    if typed:
        what = " or ".join(dict.fromkeys(_types(Form(tuple(typed)))))
        return f"{subject} is not of type {what}" if subject else (
            f"no listed value is of type {what}"
        )
    others = [show(v) for y in allowed if isinstance(y, Values) for v in y.values]
    return f"{subject or 'no listed value'} is none of {', '.join(others[:5])}" if subject else (
        f"no listed value is one of {', '.join(others[:5])}"
    )


def describe(x: Alternative) -> str:
    """The constraints of an alternative, in schema words."""
    words: list[str] = []
    match x:
        case Numbers():
            if x.kind == "integer" and x.multiple is None:
                words.append("type integer")
            if x.low is not None:
                words.append(f"{'exclusiveMinimum' if x.low_open else 'minimum'} {x.low:f}")
            if x.high is not None:
                words.append(f"{'exclusiveMaximum' if x.high_open else 'maximum'} {x.high:f}")
            if x.multiple is not None:
                words.append(f"multipleOf {x.multiple:f}")
        case Strings():
            if x.shortest:
                words.append(f"minLength {x.shortest}")
            if x.longest is not None:
                words.append(f"maxLength {x.longest}")
            if x.language is not None:
                words.append(x.language.what)
        case Arrays():
            if x.shortest:
                words.append(f"minItems {x.shortest}")
            if x.longest is not None:
                words.append(f"maxItems {x.longest}")
        case _:
            pass
    words.extend(r.what for r in x.residues)
    if not words:
        return "the schema beside it" if isinstance(x, Values) else f"type {TYPE_OF[type(x)]}"
    return " and ".join(words)


def meet_typed(x: Typed, y: Typed, goals: Goals) -> Typed | Reason:
    """The conjunction of two alternatives of one type."""
    residues = x.residues + tuple(r for r in y.residues if r not in x.residues)
    origin = y.origin if x.origin is NOWHERE else x.origin
    if isinstance(x, Nulls):
        return Nulls(origin, residues)
    if isinstance(x, Booleans):
        return Booleans(origin, residues)
    if isinstance(x, Numbers) and isinstance(y, Numbers):
        return _meet_numbers(x, y, origin, residues)
    if isinstance(x, Strings) and isinstance(y, Strings):
        return _meet_strings(x, y, origin, residues)
    if isinstance(x, Arrays) and isinstance(y, Arrays):
        return _meet_arrays(x, y, origin, residues, goals)
    assert isinstance(x, Objects) and isinstance(y, Objects)
    return _meet_objects(x, y, origin, residues, goals)


def _meet_numbers(x: Numbers, y: Numbers, origin: Origin, residues: Residues) -> Typed | Reason:
    low, low_open = x.low, x.low_open
    if y.low is not None and (low is None or y.low > low or (y.low == low and y.low_open)):
        low, low_open = y.low, y.low_open
    high, high_open = x.high, x.high_open
    if y.high is not None and (high is None or y.high < high or (y.high == high and y.high_open)):
        high, high_open = y.high, y.high_open
    multiple = common_multiple(x.multiple, y.multiple)
    kind = x.kind if y.kind == "any" else y.kind
    if "any" not in (x.kind, y.kind) and x.kind != y.kind:
        return Reason("type integer and not type integer exclude each other", origin)
    return numbers(kind, low, high, low_open, high_open, multiple, origin, residues)


def numbers(
    kind: str,
    low: Decimal | None,
    high: Decimal | None,
    low_open: bool,
    high_open: bool,
    multiple: Decimal | None,
    origin: Origin,
    residues: Residues = (),
) -> Numbers | Reason:
    """The alternative with its bounds, or why no number satisfies them."""
    if multiple is not None and multiple == multiple.to_integral_value():
        if kind == "fraction":
            return Reason(f"multipleOf {multiple:f} and not type integer exclude each other", origin)
        kind = "integer"
    if kind == "integer" and multiple is not None:
        multiple = common_multiple(multiple, Decimal(1))
    made = Numbers(
        kind,  # type: ignore[arg-type]
        low, high, low_open, high_open, multiple, origin, residues,
    )
    if low is None or high is None:
        return made
    below, above = describe_bounds(made)
    if low > high or (low == high and (low_open or high_open)):
        verb = "is above" if low > high else "excludes"
        return Reason(f"{below} {verb} {above}", origin)
    step = multiple if multiple is not None else Decimal(1) if kind == "integer" else None
    if step is not None and not _has_multiple(made, step):
        name = "whole number" if multiple is None else f"multiple of {multiple:f}"
        return Reason(f"no {name} lies between {below} and {above}", origin)
    return made


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
    return first <= last


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


def _meet_strings(x: Strings, y: Strings, origin: Origin, residues: Residues) -> Typed | Reason:
    shortest = max(x.shortest, y.shortest)
    longest = _least(x.longest, y.longest)
    if x.language is None or y.language is None or x.language is y.language:
        language = x.language or y.language
        parts = max(x.parts, y.parts)
    else:
        language, parts = x.language & y.language, x.parts + y.parts
    return strings(shortest, longest, language, parts, origin, residues)


def strings(
    shortest: int,
    longest: int | None,
    language: object,
    parts: int,
    origin: Origin,
    residues: Residues = (),
) -> Strings | Reason:
    """The alternative with its bounds, or why they exclude each other."""
    if longest is not None and shortest > longest:
        return Reason(f"minLength {shortest} is above maxLength {longest}", origin)
    return Strings(shortest, longest, language, parts, origin, residues)  # type: ignore[arg-type]


def _least(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)


def _meet_arrays(
    x: Arrays, y: Arrays, origin: Origin, residues: Residues, goals: Goals
) -> Typed | Reason:
    prefix: list[Item] = []
    for i in range(max(len(x.prefix), len(y.prefix))):
        item = _meet_items(x.at(i), y.at(i))
        if item is None:
            break
        prefix.append(item)
    complete = len(prefix) == max(len(x.prefix), len(y.prefix))
    rest = _meet_items(x.rest, y.rest) if complete else None
    contains = x.contains + tuple(c for c in y.contains if c not in x.contains)
    return arrays(
        tuple(prefix), rest, max(x.shortest, y.shortest), _least(x.longest, y.longest),
        x.unique or y.unique, contains, origin, residues, goals,
    )  # fmt: skip


def _meet_items(a: Item | None, b: Item | None) -> Item | None:
    if a is None or b is None:
        return None
    return Item(both(a.goal, b.goal), a.evaluated or b.evaluated)


def arrays(
    prefix: tuple[Item, ...],
    rest: Item | None,
    shortest: int,
    longest: int | None,
    unique: Origin | None,
    contains: tuple[Contains, ...],
    origin: Origin,
    residues: Residues,
    goals: Goals,
) -> Arrays | Reason:
    """The alternative with its bounds, or why no array satisfies them."""
    if rest is None and (longest is None or longest > len(prefix)):
        if shortest > len(prefix):
            return Reason(
                f"minItems {shortest} is more than the {len(prefix)} items that may stand there",
                origin,
            )
    if longest is not None and shortest > longest:
        return Reason(f"minItems {shortest} is above maxItems {longest}", origin)
    for i in range(min(shortest, len(prefix))):
        if len(prefix[i].goal) > 1 and goals.dead(prefix[i].goal):
            return Reason(f"item {i} is required and can have no value", origin)
    return Arrays(prefix, rest, shortest, longest, unique, contains, origin, residues)


def lookup(x: Objects, name: str) -> Member:
    """What the alternative says of the key `name`."""
    member = x.members.get(name)
    if member is not None:
        return member
    for c in x.classes:
        if c.names is None or c.names.accepts(name):
            return Member(c.goal, False, False, c.implicit, c.evaluated, c.origin)
    return Member(None, origin=x.origin)


def _meet_objects(
    x: Objects, y: Objects, origin: Origin, residues: Residues, goals: Goals
) -> Typed | Reason:
    names = [k for k, m in x.members.items() if m.declared]
    names += [k for k, m in y.members.items() if m.declared]
    members: dict[str, Member] = {}
    for name in dict.fromkeys((*names, *x.members, *y.members)):
        a, b = lookup(x, name), lookup(y, name)
        forbidden = a.goal is None or b.goal is None
        goal = None if forbidden else both(a.goal or (), b.goal or ())
        member = Member(
            goal,
            a.required or b.required,
            a.declared or b.declared,
            a.implicit and b.implicit,
            a.evaluated or b.evaluated,
            b.origin if a.origin is NOWHERE else a.origin,
        )
        reason = _member_clash(name, member, a, b, origin, goals)
        if reason is not None:
            return reason
        members[name] = member
    return objects(
        members, _meet_classes(x, y, goals), max(x.fewest, y.fewest), _least(x.most, y.most),
        x.declares or y.declares, origin, residues,
    )  # fmt: skip


def _member_clash(
    name: str, member: Member, a: Member, b: Member, origin: Origin, goals: Goals
) -> Reason | None:
    """Why a required member can have no value, as far as that shows at once."""
    if not member.required:
        return None
    if member.goal is None:
        where = b if a.goal is not None else a
        return Reason(
            f"required key '{name}' is not allowed",
            where.origin if where.origin is not NOWHERE else origin,
        )
    if a.goal and b.goal and goals.dead(member.goal):
        return Reason(f"required key '{name}' can have no value", member.origin)
    return None


def _meet_classes(x: Objects, y: Objects, goals: Goals) -> tuple[KeyClass, ...]:
    made: list[KeyClass] = []
    for c in x.classes:
        for d in y.classes:
            goals.step(x.origin)
            if c.names is None or d.names is None or c.names is d.names:
                names = c.names or d.names
            else:
                names = c.names & d.names
                if names.is_empty:
                    continue
            origin = d.origin if c.origin is NOWHERE else c.origin
            made.append(
                KeyClass(
                    names, both(c.goal, d.goal), c.implicit and d.implicit,
                    c.evaluated or d.evaluated, origin,
                )  # fmt: skip
            )
    return tuple(made)


def objects(
    members: dict[str, Member],
    classes: tuple[KeyClass, ...],
    fewest: int,
    most: int | None,
    declares: bool,
    origin: Origin,
    residues: Residues = (),
) -> Objects | Reason:
    """The alternative with its counts, or why no object satisfies them."""
    required = sum(m.required for m in members.values())
    if most is not None and max(required, fewest) > most:
        what = f"minProperties {fewest}" if fewest > required else f"{required} required keys"
        return Reason(f"{what} is above maxProperties {most}", origin)
    allowed = sum(m.goal is not None for m in members.values())
    if not classes and fewest > allowed:
        return Reason(f"minProperties {fewest} is above the {allowed} keys that are allowed", origin)
    return Objects(members, classes, fewest, most, declares, origin, residues)


def join(forms: list[Form], ordered: bool = False) -> Form:
    """What any of the forms lets through, without repeats.

    `ordered`: keep alternatives that others cover, because what they evaluate counts.
    """
    if not ordered and any(form is ANY for form in forms):
        return ANY
    alternatives = [x for form in forms for x in form.alternatives]
    if not alternatives:
        return Form((), tuple(r for form in forms for r in form.why)[:3])
    kept: list[Alternative] = []
    for x in alternatives:
        if isinstance(x, Values):
            _add_values(x, kept)
        elif not any(covers(y, x, ordered) for y in kept):
            kept = [y for y in kept if not covers(x, y, ordered)]
            kept.append(x)
    return Form(tuple(kept))


def _add_values(x: Values, kept: list[Alternative]) -> None:
    last = kept[-1] if kept else None
    if isinstance(last, Values) and not (last.checks or x.checks or last.residues or x.residues):
        seen = {json_key(v) for v in last.values}
        fresh = tuple(v for v in x.values if json_key(v) not in seen)
        kept[-1] = Values(last.values + fresh, (), last.origin)
    else:
        kept.append(x)


def covers(x: Alternative, y: Alternative, exact_evaluation: bool = False) -> bool:
    """Whether `x` obviously lets through all that `y` does (False where it takes thought)."""
    if x is y:
        return True
    if x.residues:
        return False
    match x, y:
        case (Nulls(), Nulls()) | (Booleans(), Booleans()):
            return True
        case Numbers(), Numbers():
            return (
                x.multiple is None
                and x.kind in ("any", y.kind)
                and _bound_covers(x.low, x.low_open, y.low, y.low_open, 1)
                and _bound_covers(x.high, x.high_open, y.high, y.high_open, -1)
            )
        case Strings(), Strings():
            return (
                (x.language is None or x.language is y.language)
                and x.shortest <= y.shortest
                and (x.longest is None or (y.longest is not None and y.longest <= x.longest))
            )
        case (Arrays(), Arrays()) | (Objects(), Objects()):
            return not exact_evaluation and _trivial(x)
        case _:
            return False


def _trivial(x: Arrays | Objects) -> bool:
    return trivial(x)


def _bound_covers(
    x: Decimal | None, x_open: bool, y: Decimal | None, y_open: bool, sign: int
) -> bool:
    if x is None:
        return True
    if y is None:
        return False
    if x == y:
        return y_open or not x_open
    return (y - x) * sign > 0
