"""Conjunction of forms: cross product over alternatives of the same type."""

from __future__ import annotations

from ..errors import LimitExceeded
from ..ir import Json
from .forms import (
    ANY,
    NOWHERE,
    TYPE_OF,
    Alternative,
    Arrays,
    Booleans,
    Form,
    Nulls,
    Numbers,
    Objects,
    Reason,
    Strings,
    Typed,
    Values,
    trivial,
)
from .goals import Goals
from .join import prune
from .json_values import is_container, json_key, json_type, show
from .meet_containers import meet_arrays, meet_objects
from .meet_scalars import meet_numbers, meet_strings

MAX_ALTERNATIVES = 512
# From here on it pays to look for alternatives that others cover.
_MANY = 4


class TooManyAlternatives(LimitExceeded):
    """A conjunction of unions that multiplies out too far."""


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
    if len(kept) > _MANY:
        kept = prune(kept, goals)
    if len(kept) > MAX_ALTERNATIVES:
        raise TooManyAlternatives.at(
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


def filter_values(x: Values, allowed: tuple[Alternative, ...], goals: Goals) -> Values | Reason:
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
                pending = pending or not any(map(_says_nothing, mine))
        elif any(json_key(value) in keys for keys in listed) or any(
            goals.admits(y, value) for y in mine
        ):
            kept.append(value)
    residues = x.residues
    if not kept:
        return Reason(_why_no_value(x, typed, allowed), x.origin)
    checks = (*x.checks, allowed) if pending else x.checks
    return Values(tuple(kept), checks, x.origin, residues)


def _says_nothing(x: Typed) -> bool:
    """Whether it lets every value of its type through, and evaluates none of it."""
    match x:
        case Arrays():
            return trivial(x) and not x.prefix and x.rest is not None and not x.rest.evaluated
        case Objects():
            return trivial(x) and not x.members and not any(c.evaluated for c in x.classes)
        case _:
            return trivial(x)


def _why_no_value(x: Values, typed: list[Typed], allowed: tuple[Alternative, ...]) -> str:
    subject = f"the value {show(x.values[0])}" if len(x.values) == 1 else None
    kinds = {json_type(v) for v in x.values}
    mine = [y for y in typed if TYPE_OF[type(y)] in kinds]
    if mine:
        what = " or ".join(dict.fromkeys(describe(y) for y in mine))
        return (
            f"{subject} does not satisfy {what}"
            if subject
            else (f"no listed value satisfies {what}")
        )
    if typed:
        what = " or ".join(dict.fromkeys(_types(Form(tuple(typed)))))
        return (
            f"{subject} is not of type {what}"
            if subject
            else (f"no listed value is of type {what}")
        )
    others = [show(v) for y in allowed if isinstance(y, Values) for v in y.values]
    return (
        f"{subject or 'no listed value'} is none of {', '.join(others[:5])}"
        if subject
        else (f"no listed value is one of {', '.join(others[:5])}")
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
            words.extend(
                "not type integer" if factor == 1 else f"not multipleOf {factor:f}"
                for factor in x.avoid
            )
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
        return meet_numbers(x, y, origin, residues)
    if isinstance(x, Strings) and isinstance(y, Strings):
        return meet_strings(x, y, origin, residues)
    if isinstance(x, Arrays) and isinstance(y, Arrays):
        return meet_arrays(x, y, origin, residues, goals)
    assert isinstance(x, Objects) and isinstance(y, Objects)
    return meet_objects(x, y, origin, residues, goals)
