"""Whole turns as they stand in a prompt: reasoning, content and calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .ir import Call
from .lower.writer import not_carryable
from .origin import Origin
from .render import CallRenderer
from .spec import DialectSpec
from .trigger import Trigger


def render_turn(
    spec: DialectSpec,
    tools: Sequence[Call],
    trigger: Trigger,
    calls: Sequence[Mapping[str, Any]],
    content: str,
    reasoning: str,
) -> str:
    """The text of a turn, without what ends it.

    Raises:
        RenderError: what the dialect cannot hold, or could not tell from the rest.
    """
    parts = []
    if reasoning:
        parts.append(_reasoning(spec, reasoning))
    if content:
        if calls and spec.content.with_calls not in ("before", "any"):
            raise not_carryable("this dialect has no text before calls", Origin("/content"))
        _refuse(content, (*trigger.texts, *_blocks(spec)), "/content")
        parts.append(spec.content.open + content + spec.content.close)
    if calls:
        # History is written in the dialect's own key order, not in that of the grammar.
        text = CallRenderer(spec, tools, "any").render(calls, prefilled=False)
        parts.append((spec.lead_in if content else "") + text)
    return "".join(parts)


def _reasoning(spec: DialectSpec, text: str) -> str:
    block = spec.reasoning
    if block is None:
        raise not_carryable("this dialect has no block of reasoning", Origin("/reasoning"))
    _refuse(text, (block.close, *block.implicit_close), "/reasoning")
    return block.open + text + block.close + block.after


def _blocks(spec: DialectSpec) -> tuple[str, ...]:
    """What opens or closes something else than content."""
    texts = [spec.content.close, *spec.turn_end.tokens]
    if spec.reasoning is not None:
        texts.append(spec.reasoning.open.rstrip())
    return tuple(t for t in texts if t)


def _refuse(text: str, stops: Sequence[str], pointer: str) -> None:
    found = next((s for s in stops if s in text), None)
    if found is not None:
        message = f"the text holds {found!r}, which means something else"
        raise not_carryable(message, Origin(pointer))
