"""Whole turns as they stand in a prompt: reasoning, content and calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import RenderError
from .ir import Call
from .lower.tree_writer import difference
from .lower.writer import check_text, not_carryable
from .origin import Origin, Problem
from .read_back import Reading, Turn
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
    read: Reading,
) -> str:
    """The text of a turn, without what ends it.

    Args:
        read: reads a turn back.

    Raises:
        RenderError: what the dialect cannot hold, or could not tell from the rest.
    """
    check_text(content, Origin("/content"))
    check_text(reasoning, Origin("/reasoning"))
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
        alone = CallRenderer(spec, tools, "any").render(calls, prefilled=False)
        parts.append((spec.lead_in if content else "") + alone)
    text = "".join(parts)
    if content or reasoning:
        # What the calls read as on their own is what they have to read as in the turn.
        wanted = read(alone).calls if calls else ()
        led = content + spec.lead_in if content and calls else content
        _compare(read(text), wanted, (content, led), reasoning)
    return text


def _compare(
    found: Turn, calls: Sequence[Mapping[str, Any]], content: tuple[str, ...], reasoning: str
) -> None:
    """Refuse a turn that is read as something else: each part that is, by its pointer."""
    wrong: list[tuple[str, str, str]] = []
    # Templates write reasoning with or without white space around it; none of it is read.
    if found.reasoning.strip() != reasoning.strip():
        wrong.append(("reasoning", _quoted(reasoning), _quoted(found.reasoning)))
    if found.content not in content:
        wrong.append(("content", _quoted(content[0]), _quoted(found.content)))
    mine, theirs = ([(c["name"], c["arguments"]) for c in each] for each in (calls, found.calls))
    if difference(mine, theirs) is not None:
        wrong.append(("calls", _names(calls), _names(found.calls)))
    if wrong:
        raise RenderError(
            Problem(
                "not-carryable",
                f"the {part}, {given}, would be read as {read}",
                Origin(f"/{part}"),
                "content, reasoning and calls stand side by side, and their texts run together",
            )
            for part, given, read in wrong
        )


def _quoted(text: str) -> str:
    if not text:
        return "none"
    shown = repr(text)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _names(calls: Sequence[Mapping[str, Any]]) -> str:
    """Calls by their names; enough to see which is missing."""
    names = ", ".join(f"'{c['name']}'" for c in calls[:3])
    more = f" and {len(calls) - 3} more" if len(calls) > 3 else ""
    return f"{names}{more}" if calls else "none"


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
