"""A turn that a template wrote, explained by a spec: piece by piece, or where that fails."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final
from typing import Literal as OneOf

from ..compiler.spec import DialectSpec
from .chat_template import ChatTemplate
from .conversations import SAID, THOUGHT, Conversation, tool_calls, tools
from .messages import Call, Forms
from .pieces import Either, Literal, Match, Miss, Piece, Plan, Space, match
from .turn import Turn, assistant_turn
from .ways import Way, ways
from .written_by import field_at

END: Final = "<Qend>"
"""Stands for the template's `eos_token` where that is not known."""
BEFORE: Final = "white space stands before the turn"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a template makes of a conversation.

    Attributes:
        conversation: without what the template does not show.
        turn: its text.
        hidden: what the template does not show, of "content" and "reasoning".
    """

    conversation: Conversation
    turn: Turn
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a spec explains a turn.

    Attributes:
        status: "same": as the spec writes it; "known": as the spec says that history may have it;
            "different"; "refused": the spec cannot write this turn at all.
        text: the text compared: the turn, behind what of the prompt belongs to it.
        offset: characters of `text` that are from the prompt.
        found: the pieces that matched, or how far the best try came.
        known: what is known to differ.
        shape: the pointer of the shape that the calls are written in, "" for the spec's own.
    """

    shown: Shown
    status: OneOf["same", "known", "different", "refused"]
    text: str = ""
    offset: int = 0
    found: Match | Miss | None = None
    known: str = ""
    shape: str = ""


def with_end(template: ChatTemplate) -> ChatTemplate:
    """The template with a mark for an unknown `eos_token`, so that it is seen where it stands."""
    if template.special.get("eos_token"):
        return template
    return replace(template, special={**template.special, "eos_token": END})


def show(template: ChatTemplate, forms: Forms, conversation: Conversation) -> Shown:
    """What the template makes of a conversation.

    Raises:
        ChatTemplateError: it does not render, or shows none of the calls.
    """
    turn = assistant_turn(
        template,
        conversation.calls,
        conversation.content,
        conversation.reasoning,
        tools(),
        forms,
    )
    hidden = []
    if conversation.content is not None and SAID not in turn.text:
        hidden.append("content")
        conversation = replace(conversation, content=None)
    if conversation.reasoning is not None and THOUGHT not in turn.text:
        hidden.append("reasoning")
        conversation = replace(conversation, reasoning=None)
    return Shown(conversation, turn, tuple(hidden))


class Explainer:
    """Explains turns by one spec.

    Args:
        loose: white space around reasoning and before the calls may be other than the spec has it,
            as it is between models of one dialect.
    """

    def __init__(self, spec: DialectSpec, *, loose: bool = False) -> None:
        self.spec = spec
        self.loose = loose
        self._made: list[Way] = []
        self._more = ways(spec, tool_calls())

    def _ways(self) -> Iterator[Way]:
        """The ways of the spec, made when first needed."""
        for index in itertools.count():
            if index == len(self._made):
                following = next(self._more, None)
                if following is None:
                    return
                self._made.append(following)
            yield self._made[index]

    def explain(self, shown: Shown) -> Explanation:
        """The first way of the spec that gives the whole text, or the one that comes farthest."""
        spec = self.spec
        calls = shown.conversation.calls
        text, offset = _with_prompt(spec, shown.turn)
        best: Explanation | None = None
        unable = False
        for way in self._ways() if calls else itertools.islice(self._ways(), 1):
            written = way.render(calls) if calls else ""
            if written is None:
                unable = unable or bool(way.known)
                continue
            if spec.prefill and (way.spec.section.open + way.spec.call).startswith(spec.prefill):
                written = spec.prefill + written
            found = match(text, _plan(way.spec, shown.conversation, written, self.loose))
            if isinstance(found, Match):
                status: OneOf["same", "known"] = "known" if way.known else "same"
                return Explanation(shown, status, text, offset, found, way.known, way.shape)
            if best is None:
                if calls:
                    found.expected = [self._named(e, way, calls, written) for e in found.expected]
                best = Explanation(shown, "different", text, offset, found)
        if best is None:
            return Explanation(shown, "refused", text, offset)
        if unable:
            # The mistake in history is known, and this value is one that it breaks on.
            return replace(best, status="known", found=None, known="as no way can read it back")
        return best

    def _named(self, expected: Literal, way: Way, calls: Sequence[Call], written: str) -> Literal:
        """What was expected of the calls, with the field that wrote it."""
        if expected.field != "/call" or self.loose:
            return expected
        # The part of the calls that the prompt has is no part of the render.
        begun = self.spec.prefill if written.startswith(self.spec.prefill) else ""
        own = way.render(calls)
        begun = "" if own == written else begun
        at = len(written) - len(expected.text) - len(begun)
        field = field_at(way, calls, written[len(begun) :], at) if at >= 0 else "/prefill"
        return replace(expected, field=field or expected.field)


def _with_prompt(spec: DialectSpec, turn: Turn) -> tuple[str, int]:
    """The turn behind that end of the prompt which belongs to it, and how long that is."""
    kept = turn.generation_prompt.removesuffix(turn.opened)
    begun = ""
    if spec.prefill and kept.endswith(spec.prefill):
        begun = spec.prefill
    elif spec.reasoning is not None:
        begun = _begun_block(kept, spec.reasoning.open.rstrip(), spec.reasoning.close.rstrip())
    return begun + turn.text, len(begun)


def _begun_block(prompt: str, opener: str, closer: str) -> str:
    """A block of reasoning at the end of the prompt, opened or already closed again."""
    bare = prompt.rstrip()
    if bare.endswith(opener):
        return prompt[len(bare) - len(opener) :]
    if bare.endswith(closer):
        inner = bare.removesuffix(closer).rstrip()
        start = len(inner) - len(opener) if inner.endswith(opener) else len(bare) - len(closer)
        return prompt[start:]
    return ""


def _plan(spec: DialectSpec, conversation: Conversation, calls: str, loose: bool) -> Plan:
    """How the spec writes a turn: every literal where it must stand, and what may vary."""
    return (
        Space(BEFORE),
        *_reasoning(spec, conversation.reasoning, loose),
        Either(tuple(_answers(spec, conversation, calls, loose))),
        *([Space()] if loose else []),
        *_turn_end(spec),
    )


def _reasoning(spec: DialectSpec, text: str | None, loose: bool) -> Iterator[Piece]:
    block = spec.reasoning
    if block is None:
        if text is not None:
            yield Literal("/reasoning", text)
        return
    opener, close = (
        Literal("/reasoning/open", block.open),
        Literal("/reasoning/close", block.close),
    )
    vague = loose and not block.after.strip()
    after: Piece = Space() if vague else Literal("/reasoning/after", block.after)
    if text is None:
        yield Either(((), (opener, Space(), close, after), (close, after)))
    else:
        yield from (opener, Space(), Literal("", text), Space(), close, after)


def _answers(
    spec: DialectSpec, conversation: Conversation, calls: str, loose: bool
) -> Iterator[Plan]:
    content = spec.content
    said = conversation.content
    opener, close = Literal("/content/open", content.open), Literal("/content/close", content.close)
    if not conversation.calls:
        yield (opener, Literal("", said or ""), close)
        if content.close:
            yield (opener, Literal("", said or ""))
        return
    vague = loose and not spec.lead_in.strip()
    lead_in: Piece = Space() if vague else Literal("/lead_in", spec.lead_in)
    led = Either(((lead_in,), ()))
    written = Literal("/call", calls)
    if said is None:
        yield (led, written)
        if content.open:
            yield (opener, close, led, written)
        return
    between = Space("white space between content and calls counts as content")
    joint: Piece = between
    if spec.lead_in:
        joint = Either(((lead_in,), (between, lead_in), ()))
    if content.with_calls in ("before", "any"):
        yield (opener, Literal("", said), close, joint, written)
    if content.with_calls in ("after", "any"):
        yield (led, written, Space(), opener, Literal("", said), close)
    if content.with_calls == "exclusive":
        yield (led, written)


def _turn_end(spec: DialectSpec) -> Plan:
    tokens = enumerate(spec.turn_end.tokens)
    ends: list[Plan] = [(Literal(f"/turn_end/tokens/{n}", t), Space()) for n, t in tokens]
    unknown = Either(((Literal("", END),), ()))
    return (unknown, Either((*ends, ())), Space(), unknown, Space())
