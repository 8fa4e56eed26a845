"""Tools whose body is raw text: which tools they are, and how their calls are written."""

from __future__ import annotations

from ..ir import Call, EnumValue, Key, ObjectValue, StringValue
from ..spec import DialectSpec, ToolKindSpec, TriggerSpec
from ..template import BODY_HOLES, Hole, Part, parse_template


def kind_of(spec: DialectSpec, call: Call) -> ToolKindSpec | None:
    """The kind of a tool: its name is listed, and its one argument is the text the body fills."""
    kind = next((k for k in spec.tool_kinds.values() if call.name in k.names), None)
    return kind if kind is not None and body_key(kind, call) is not None else None


def body_key(kind: ToolKindSpec, call: Call) -> Key | None:
    """The argument that the body fills; None if the tool does not have exactly that one."""
    value = call.arguments.value
    if not isinstance(value, ObjectValue) or len(value.keys) != 1:
        return None
    key = value.keys[0]
    fits = key.name == kind.parameter and isinstance(key.value, (StringValue, EnumValue))
    return key if fits else None


def kind_parts(kind: ToolKindSpec) -> tuple[Part, ...]:
    """The parts of the kind's call template."""
    return parse_template(kind.call, BODY_HOLES)


def body_stops(spec: DialectSpec, kind: ToolKindSpec) -> tuple[str, ...]:
    """What a raw body cannot hold: its declared stops, the turn's end, tokens matched by id."""
    required = (t.text for t in spec.tokens if t.match == "require")
    return tuple(dict.fromkeys((*kind.raw_until, *spec.turn_end.tokens, *required)))


def names_itself(parts: tuple[Part, ...]) -> bool:
    """Does the template say the tool's name?"""
    return any(isinstance(p, Hole) and p.name == "name" for p in parts)


def begins_kind(trigger: TriggerSpec, kind: ToolKindSpec) -> bool:
    """Is the trigger's text the beginning of a call of the kind?"""
    text = trigger.text or trigger.token
    if text is None:
        return False
    for name in kind.names:
        call = kind.call.replace("{name:json}", f'"{name}"').replace("{name}", name)
        if call.partition("{body}")[0].startswith(text.replace("{name}", name)):
            return True
    return False
