"""Lint of the triggers: each must be valid, and the beginning of a call that is enforced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .lint_shape import Shape
from .lower.kinds import begins_kind
from .origin import Origin, Problem, closest_first, did_you_mean
from .regex_check import regex_problem
from .spec import TriggerSpec
from .spec_loader import LoadedSpec

_POSITIONS = ("anywhere", "message_start")


def check_triggers(loaded: LoadedSpec, shapes: Sequence[Shape]) -> Iterator[Problem]:
    """Each trigger alone, then whether every enforced shape has one."""
    triggers = loaded.spec.triggers
    if not triggers:
        message = "nothing arms the constraint when the model may answer in prose"
        hint = "add `triggers`, for example the text that every call begins with"
        yield Problem("trigger-missing", message, loaded.origin("/triggers"), hint)
        return
    for index, trigger in enumerate(triggers):
        yield from _check_one(loaded, trigger, f"/triggers/{index}", shapes)
    if any(t.pattern is not None for t in triggers):
        return
    message = "no trigger begins this shape, so prose can hold its calls unconstrained"
    for shape in shapes:
        if shape.enforced and not any(_begins(shape, t) for t in triggers):
            yield Problem("shape-without-trigger", message, shape.at("/call"), severity="warning")
    for name, kind in loaded.spec.tool_kinds.items():
        if not any(begins_kind(t, kind) for t in triggers):
            at = loaded.origin(Origin("/tool_kinds").child(name, "call").pointer)
            yield Problem("shape-without-trigger", message, at, severity="warning")


def _check_one(
    loaded: LoadedSpec, trigger: TriggerSpec, pointer: str, shapes: Sequence[Shape]
) -> Iterator[Problem]:
    at = loaded.origin(pointer)
    given = [k for k in ("text", "token", "pattern") if getattr(trigger, k) is not None]
    if len(given) != 1:
        said = " and ".join(f"`{k}`" for k in given) or "none"
        message = f"a trigger has exactly one of `text`, `token`, `pattern`; this one has {said}"
        yield Problem("trigger-kind", message, at)
        return
    yield from _check_position(trigger, loaded.origin(pointer + "/at"))
    if trigger.pattern is not None:
        where = loaded.origin(pointer + "/pattern")
        if reason := regex_problem(trigger.pattern):
            hint = "write what must not follow as `not: [text]`" if "look" in reason else None
            yield Problem("invalid-pattern", f"not usable as a pattern: {reason}", where, hint)
        return
    yield from _check_text(loaded, trigger, pointer, shapes)


def _check_position(trigger: TriggerSpec, at: Origin) -> Iterator[Problem]:
    if trigger.at in _POSITIONS or trigger.at.removeprefix("after: ") not in ("", trigger.at):
        return
    hint = "positions: `anywhere`, `message_start`, or `after: ` and a text"
    message = f"no such position: {trigger.at!r}"
    yield Problem("trigger-at", message, at, closest_first(trigger.at, _POSITIONS, hint))


def _check_text(
    loaded: LoadedSpec, trigger: TriggerSpec, pointer: str, shapes: Sequence[Shape]
) -> Iterator[Problem]:
    key = "text" if trigger.text is not None else "token"
    text = trigger.text or trigger.token or ""
    at = loaded.origin(f"{pointer}/{key}")
    if trigger.per_tool != ("{name}" in text):
        message = "`per_tool: true` goes with {name} in the text, one needs the other"
        yield Problem("trigger-per-tool", message, at)
        return
    if key == "token" and text not in [t.text for t in loaded.spec.tokens]:
        near = did_you_mean(text, [t.text for t in loaded.spec.tokens])
        message = f"{text!r} is not among the dialect's `tokens`"
        yield Problem("trigger-token", message, at, near)
    if text.isspace():
        yield Problem("trigger-common", "white space alone would arm at every turn", at)
    elif not (
        any(_begins(shape, trigger) for shape in shapes if shape.enforced)
        or any(begins_kind(trigger, kind) for kind in loaded.spec.tool_kinds.values())
    ):
        read = any(_begins(shape, trigger) for shape in shapes)
        message = f"no enforced call begins with {text!r}"
        hint = f"a call begins with {_beginning(shapes[0])!r}"
        if read:
            hint = "a shape that is only read begins so: say `constrain: true` there"
        yield Problem("trigger-mismatch", message, at, hint)


def _begins(shape: Shape, trigger: TriggerSpec) -> bool:
    text = trigger.text or trigger.token
    if text is None:
        return False
    opener = shape.opener()
    if not trigger.per_tool:
        opener = opener.partition("{name}")[0]
    return opener.startswith(text) or (shape.spec.lead_in + opener).startswith(text)


def _beginning(shape: Shape) -> str:
    return shape.opener().partition("{args}")[0]
