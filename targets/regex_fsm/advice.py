"""What makes a table smaller that is too large: the bounds that are in effect where it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from ...compiler.bounds_findings import default_bounds, places
from ...compiler.compiled import CompiledGrammar
from ...compiler.errors import TargetError
from ...compiler.ir import Call
from ...compiler.origin import Origin
from .automaton import HINT

ORDER: Final = ("recursion", "depth", "keys", "items", "string")
"""Default bounds by how much depends on them: what nests multiplies all that is inside."""

_MASKS: Final = "masks (calligram.targets.mask) need no table"


@contextmanager
def advised(grammar: CompiledGrammar) -> Iterator[None]:
    """Refusals for size say what helps at their place."""
    try:
        yield
    except TargetError as error:
        raise TargetError(
            replace(p, hint=f"{advice(grammar, p.origin)}; {_MASKS}") if p.hint == HINT else p
            for p in error.problems
        ) from None


def advice(grammar: CompiledGrammar, place: Origin) -> str:
    """What to do about too many states inside a place."""
    bounds = grammar.bounds
    if bounds is None:
        return "give the schema smaller bounds there, or lower `max_depth` if values nest"
    names = _in_effect(grammar, place)
    shown = [f"`{name}` ({getattr(bounds, name):,})" for name in ORDER if name in names]
    if not shown:
        return "give the schema smaller bounds there"
    which = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    plural = "s" if len(shown) > 1 else ""
    return (
        f"lower the default bound{plural} {which}, give the schema bounds there, or compile with "
        "bounds=None"
    )


def _in_effect(grammar: CompiledGrammar, place: Origin) -> set[str]:
    """The default bounds that hold at a place or below, or around it where that nests."""
    found: set[str] = set()
    calls = grammar.calls
    if grammar.value is not None:
        calls = (Call("", grammar.value, True),)
    for call in calls:
        for value, origin in places(call):
            if _is_inside(origin, place):
                found |= default_bounds(value)
        for definition in call.arguments.definitions.values():
            own = definition.origin
            if _is_inside(place, own) or _is_inside(own, place):
                found.add("recursion")
    return found


def _is_inside(origin: Origin, place: Origin) -> bool:
    """Is a place another one, or part of it?"""
    if place == Origin():
        return True
    below = origin.pointer == place.pointer or origin.pointer.startswith(f"{place.pointer}/")
    return origin.tool == place.tool and below
