"""Parts of a spec that contradict one another: what the prompt says, what ends a turn, and shapes
that are there twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .lint_shape import Shape
from .lower.shape import shapes as lowered
from .origin import Problem
from .spec_loader import LoadedSpec
from .template import parse_call, parse_param


def check_turn(loaded: LoadedSpec, shapes: Sequence[Shape]) -> Iterator[Problem]:
    """What no part of the spec says alone."""
    yield from _check_prefill(loaded)
    yield from _check_turn_end(loaded, shapes)
    yield from _check_accept(loaded)


def _check_prefill(loaded: LoadedSpec) -> Iterator[Problem]:
    """What the prompt has said of a turn has to be how one begins."""
    spec = loaded.spec
    if not spec.prefill:
        return
    blocks = [spec.reasoning.open] if spec.reasoning is not None else []
    blocks += [form.open for form in (spec.content, *spec.content.alternatives)]
    inside = any(b and (b.startswith(spec.prefill) or spec.prefill.startswith(b)) for b in blocks)
    if not inside and not any(s.begins_with(spec.prefill) for s in lowered(spec) if s.constrain):
        message = f"no turn begins with the prefill {spec.prefill!r}"
        hint = "it has to be the beginning of a call, of reasoning or of what opens content"
        yield Problem("prefill-mismatch", message, loaded.origin("/prefill"), hint)


def _check_turn_end(loaded: LoadedSpec, shapes: Sequence[Shape]) -> Iterator[Problem]:
    """A host stops at the turn's end, so it ends a call that has it inside."""
    end = loaded.spec.turn_end
    for index, token in enumerate(end.tokens):
        if token in end.not_stop:
            continue
        for shape in shapes:
            field = next((f for f, text in _inside(shape) if token in text), None)
            if field is not None and shape.enforced:
                message = f"{token!r} ends the turn, but it stands in `{field}` as well"
                hint = "list it in turn_end.not_stop, or say what else ends the turn"
                at = loaded.origin(f"/turn_end/tokens/{index}")
                yield Problem("turn-end-inside", message, at, hint)
                break


def _inside(shape: Shape) -> Iterator[tuple[str, str]]:
    """The literals of calls and of what stands around them, by field."""
    spec = shape.spec
    yield "section.open", spec.section.open
    yield from (("call", part) for part in parse_call(spec.call) if isinstance(part, str))
    param = parse_param(spec.args.param or "")
    yield from (("args.param", part) for part in param if isinstance(part, str))
    yield "args.open", spec.args.open
    yield "args.close", spec.args.close
    yield "calls.separator", spec.calls.separator
    yield "section.close", spec.section.close


def _check_accept(loaded: LoadedSpec) -> Iterator[Problem]:
    """A shape that is as one before it says nothing."""
    seen: list[object] = []
    for index, shape in enumerate(lowered(loaded.spec)):
        parts = [getattr(shape, name) for name in shape.__slots__ if name != "constrain"]
        if parts in seen:
            as_what = "the dialect itself" if parts == seen[0] else f"item {seen.index(parts) - 1}"
            message = f"this shape is the same as {as_what}"
            hint = "say what differs, or leave it out"
            at = loaded.origin(f"/accept/{index - 1}")
            yield Problem("accept-repeats", message, at, hint, "warning")
        seen.append(parts)
