"""How a tool's name stands in a call, or that it cannot."""

from __future__ import annotations

from ..ir import Call
from ..spec import DialectSpec
from ..template import Hole
from .shape import Shape
from .spelling import WHITESPACE, escaped, raw_fits
from .writer import not_carryable


def tool_name(spec: DialectSpec, call: Call, hole: Hole, shape: Shape) -> str:
    """The text of a tool's name in a hole of its call.

    Raises:
        RenderError: code ``not-carryable``: the name would be ended early, or the call would begin
            as text does.
    """
    if hole.form == "json":
        return '"' + escaped(call.name, shape.name_escape(), '"') + '"'
    reasoning = spec.reasoning
    opens = [f.open for f in (spec.content, *spec.content.alternatives)] + [
        reasoning.open if reasoning else ""
    ]
    head = shape.head(call.name)
    clash = next((text for text in opens if text and head.startswith(text)), None)
    if clash is not None:
        raise not_carryable(
            f"a call of {call.name!r} would begin as text does in dialect '{spec.id}': {clash!r}",
            call.origin,
            "rename the tool",
        )
    endings = shape.after_name()
    avoid = tuple(t.text for t in spec.tokens if t.match == "require")
    fits = all(raw_fits(call.name, e, avoid) for e in endings)
    fits = fits and not any(stop in call.name for stop in shape.name_stops(spec))
    if not fits or call.name != call.name.strip(WHITESPACE) or not call.name.isprintable():
        raise not_carryable(
            f"the name {call.name!r} cannot be written in dialect '{spec.id}': it would "
            f"be ended early by {endings[0]!r}"
            if not fits
            else f"the name {call.name!r} cannot be written in dialect '{spec.id}'",
            call.origin,
            "rename the tool, or use a dialect that quotes names",
        )
    return call.name
