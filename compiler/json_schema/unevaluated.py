"""unevaluatedProperties and unevaluatedItems (JSON Schema Core 2020-12, section 11)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .clauses import settle
from .forms import (
    ANY,
    Alternative,
    Arrays,
    Form,
    Goal,
    Item,
    KeyClass,
    Member,
    Objects,
    Reason,
    Values,
    both,
)
from .meet import meet
from .meet_containers import arrays, objects
from .places import Place

if TYPE_CHECKING:
    from .reading import Reader


def close_unevaluated(reader: Reader, place: Place, keyword: str, form: Form) -> Form:
    """`form` with the keyword applied to whatever its alternatives have not evaluated."""
    given: Any = place.schema[keyword]
    goal = None if given is False else reader.child_goal(place, given, keyword)
    made: list[Alternative] = []
    why: list[Reason] = []
    for x in form.alternatives:
        result: Alternative | Reason = x
        if isinstance(x, Values):
            result = _close_values(reader, place, keyword, x)
        if isinstance(x, Objects) and keyword == "unevaluatedProperties":
            result = _close_object(reader, x, goal, place)
        elif isinstance(x, Arrays) and keyword == "unevaluatedItems":
            result = _close_array(reader, x, _items_goal(reader, place, x, goal))
        if isinstance(result, Reason):
            why.append(result)
        else:
            made.append(result)
    return Form(tuple(made), tuple(why or form.why) if not made else ())


def _items_goal(reader: Reader, place: Place, x: Arrays, goal: Goal | None) -> Goal | None:
    """What the unevaluated items of `x` must satisfy: `goal` (None: nothing can), or `contains`,
    which evaluates the items that it matches (Core 2020-12, section 10.3.1.3)."""
    evaluating = [c.goal for c in x.contains if c.evaluates]
    items = x.prefix if x.rest is None else (*x.prefix, x.rest)
    if not evaluating or goal == () or all(i.evaluated for i in items):
        return goal
    ways = tuple(dict.fromkeys((*evaluating, *(() if goal is None else (goal,)))))
    return ways[0] if len(ways) == 1 else reader.any_goal(ways, place)


def _close_values(reader: Reader, place: Place, keyword: str, x: Values) -> Values:
    """What listed arrays or objects have evaluated is told by the checks that they still face."""
    kind = dict if keyword == "unevaluatedProperties" else list
    if not any(isinstance(v, kind) for v in x.values):
        return x
    whole = ANY
    for check in x.checks:
        whole = meet(whole, Form(check), reader)
    closed = close_unevaluated(reader, place, keyword, whole)
    return replace(x, checks=(closed.alternatives,))


def _close_object(reader: Reader, x: Objects, goal: Goal | None, place: Place) -> Objects | Reason:
    members: dict[str, Member] = {}
    for name, m in x.members.items():
        if m.evaluated or m.goal is None:
            members[name] = m
            continue
        inner = None if goal is None else both(m.goal, goal)
        if inner is None and m.required:
            return Reason(
                f"required key '{name}' is not allowed", place.at("unevaluatedProperties")
            )
        members[name] = replace(m, goal=inner, evaluated=True, implicit=False)
    classes: list[KeyClass] = []
    for c in x.classes:
        if c.evaluated:
            classes.append(c)
        elif goal is not None:
            closed = replace(c, goal=both(c.goal, goal), evaluated=True, implicit=False)
            classes.append(closed)
    made = objects(
        members, tuple(classes), x.fewest, x.most, x.declares, x.origin, x.residues, x.beyond
    )  # fmt: skip
    return settle(made, reader) if isinstance(made, Objects) and x.beyond else made


def _close_array(reader: Reader, x: Arrays, goal: Goal | None) -> Arrays | Reason:
    prefix: list[Item] = []
    rest: Item | None = x.rest
    for item in x.prefix:
        if item.evaluated:
            prefix.append(item)
        elif goal is None:
            rest = None
            break
        else:
            prefix.append(Item(both(item.goal, goal), True))
    if rest is not None and not rest.evaluated:
        rest = None if goal is None else Item(both(rest.goal, goal), True)
    return arrays(
        tuple(prefix), rest, x.shortest, x.longest, x.unique, x.contains, x.origin, x.residues,
        reader,
    )  # fmt: skip
