"""Calls -> the text of the assistant's turn that a chat template makes of them."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ..compiler.identity import ByIdentity
from ..compiler.origin import Origin
from .chat_template import ChatTemplate
from .chat_template_error import ChatTemplateError
from .messages import (
    USER,
    Call,
    Forms,
    Tool,
    candidates,
    neighbours,
    reasoning_candidates,
)

_NAME: Final = "qname"
_KEY: Final = "qkey"
_VALUE: Final = "qvalue"
_THOUGHT: Final = "Qthought"
TURN_MARKS: Final = (_NAME, _KEY, _VALUE, _THOUGHT)
"""The words by which a turn's parts are told; no template should have one of its own."""
_MARKER: Final = re.compile(r"<[^<>\s]+>")
_UNCLOSED: Final = re.compile(r"[<\[][^<>\[\]]*\Z")
_PROBE_TOOL: Final[Tool] = {
    "type": "function",
    "function": {
        "name": _NAME,
        "description": "A tool.",
        "parameters": {
            "type": "object",
            "properties": {_KEY: {"type": "string", "description": "A text."}},
            "required": [_KEY],
        },
    },
}
_PROBE: Final[Call] = {"name": _NAME, "arguments": {_KEY: _VALUE}}


@dataclass(frozen=True, slots=True)
class Turn:
    """An assistant's turn as the template writes it into history.

    Attributes:
        text: what stands behind the generation prompt, the turn's end included.
        generation_prompt: what the template appends to the user's message to make the model
            answer, whatever ends the user's message included.
        opened: the end of the generation prompt that history does not have, such as the opening
            of a block of reasoning: `text` begins where it would begin.
    """

    text: str
    generation_prompt: str
    opened: str = ""


def assistant_turn(
    template: ChatTemplate,
    calls: Sequence[Call],
    content: str | None = None,
    reasoning: str | None = None,
    tools: Sequence[Tool] | None = None,
    forms: Forms | None = None,
) -> Turn:
    """The text of a turn with these calls.

    Args:
        calls: ``{"name", "arguments"}`` each, "id" too where it matters.
        content: plain text beside the calls.
        reasoning: the text of the reasoning block. Left out if the template does not show any.
        tools: OpenAI's definitions, for the part of the conversation before the turn.
        forms: what :func:`call_forms` and :func:`reasoning_forms` found; found out if not given.

    Raises:
        ChatTemplateError: `template-no-calls`: no form of the messages makes it show calls; or it
            does not render, as :meth:`ChatTemplate.render` says.
    """
    if forms is None:
        forms = reasoning_forms(template) if reasoning is not None else call_forms(template)
    prompt, always = _prompts(ByIdentity(template), forms)
    tail = _behind_user(_rendered(template, forms, tools, calls, content, reasoning), template)
    if always:
        tail = tail.removesuffix(always)
    shared = os.path.commonprefix([prompt, tail])
    if shared == prompt:
        return Turn(tail[len(prompt) :], prompt)
    # Markers that begin alike are not shared in part.
    shared = _UNCLOSED.sub("", shared)
    text, rest = tail[len(shared) :], prompt[len(shared) :]
    # History may leave out what stands in the middle of the prompt.
    end = next((rest[m.start() :] for m in _MARKER.finditer(rest) if _continues(rest, m, text)), "")
    return Turn(text[len(end) :], prompt, "" if end else rest)


def what_follows(
    template: ChatTemplate, calls: Sequence[Call], tools: Sequence[Tool] | None, forms: Forms
) -> str:
    """What the template writes behind a turn when a tool's result, or the user, comes next.

    Some templates end a turn only so. "" if it cannot be told.

    Raises:
        ChatTemplateError: the template does not render the longer conversation.
    """
    content = None if calls else USER
    turn = forms.assistant(calls, content, None)
    following = [
        {"role": "tool", "tool_call_id": sent["id"], "name": call["name"], "content": USER}
        for call, sent in zip(calls, turn.get("tool_calls", ()), strict=True)
    ]
    messages = [forms.user(), turn]
    context = forms.context(tools or [_PROBE_TOOL])
    alone = template.render(messages, **context)
    whole = template.render([*messages, *(following or [forms.user()])], **context)
    return whole[len(alone) :] if whole.startswith(alone) else ""


def _continues(rest: str, marker: re.Match[str], text: str) -> bool:
    return text.startswith(rest[marker.start() :])


@lru_cache(maxsize=256)
def _call_forms(template: ByIdentity[ChatTemplate]) -> Forms | ChatTemplateError:
    first: ChatTemplateError | None = None
    silent = False
    for forms in candidates():
        try:
            text = _shows(template.value, forms)
        except ChatTemplateError as error:
            first = first or error
            if _is_hopeless(error):
                return error
            continue
        if text:
            return _best(template.value, neighbours(forms))
        silent = True
    if first is not None and not silent:
        return first
    return ChatTemplateError.at(
        "template-no-calls",
        "the template does not show the assistant's calls",
        Origin(file=template.value.place),
    )


def call_forms(template: ChatTemplate) -> Forms:
    """How the template wants to be told of calls.

    Raises:
        ChatTemplateError: no form makes it show them (`template-no-calls`), or what it fails with.
    """
    found = _call_forms(ByIdentity(template))
    if isinstance(found, ChatTemplateError):
        raise found
    return found


@lru_cache(maxsize=256)
def _reasoning_forms(template: ByIdentity[ChatTemplate]) -> Forms:
    forms = call_forms(template.value)
    for candidate in reasoning_candidates(forms):
        try:
            text = _rendered(template.value, candidate, [_PROBE_TOOL], [_PROBE], None, _THOUGHT)
        except ChatTemplateError:
            continue
        tail = _behind_user(text, template.value)
        # A list that the template cannot read is printed, with its keys.
        printed = any(f"{quote}thinking{quote}" in tail for quote in "\"'")
        if _THOUGHT in tail and _NAME in tail and not printed:
            return candidate
    return forms


def reasoning_forms(template: ChatTemplate) -> Forms:
    """As :func:`call_forms`, and how it wants reasoning; its ``reasoning`` is None if it shows none
    beside calls.

    Raises:
        ChatTemplateError: as :func:`call_forms`.
    """
    return _reasoning_forms(ByIdentity(template))


def _shows(template: ChatTemplate, forms: Forms) -> str:
    """The turn of the probe if it has the call in it, else ""."""
    tail = _behind_user(_rendered(template, forms, [_PROBE_TOOL], [_PROBE], None, None), template)
    return tail if all(mark in tail for mark in (_NAME, _KEY, _VALUE)) else ""


def _best(template: ChatTemplate, choices: Iterable[Forms]) -> Forms:
    """The forms that the template makes least of: what it cannot read it prints in the raw."""

    def cost(forms: Forms) -> tuple[int, int]:
        try:
            text = _shows(template, forms)
        except ChatTemplateError:
            text = ""
        if not text:
            return 9, 0
        # An object printed as Python does, or JSON text as a JSON string.
        raw = f"{{'{_KEY}'" in text or f'\\"{_KEY}' in text
        return 2 * raw + (forms.arguments == "text"), len(text)

    return min(choices, key=cost)


def _rendered(
    template: ChatTemplate,
    forms: Forms,
    tools: Sequence[Tool] | None,
    calls: Sequence[Call],
    content: str | None,
    reasoning: str | None,
) -> str:
    messages = [forms.user(), forms.assistant(calls, content, reasoning)]
    try:
        return template.render(messages, **forms.context(tools or [_PROBE_TOOL]))
    except ChatTemplateError as error:
        # Some templates cannot print some schemas; the turn does not depend on them.
        if forms.tools != "given" or not tools or _is_hopeless(error):
            raise
        context = replace(forms, tools="plain").context(tools)
        return template.render(messages, **context)


def _is_hopeless(error: ChatTemplateError) -> bool:
    """Whether any other form of the messages would take as long, or fail likewise."""
    return any(p.code in ("template-syntax", "template-limit") for p in error.problems)


def _behind_user(text: str, template: ChatTemplate) -> str:
    at = text.rfind(USER)
    if at < 0:
        raise ChatTemplateError.at(
            "template-no-calls",
            "the template does not show the user's message, behind which the turn would stand",
            Origin(file=template.place),
        )
    return text[at + len(USER) :]


@lru_cache(maxsize=512)
def _prompts(template: ByIdentity[ChatTemplate], forms: Forms) -> tuple[str, str]:
    """The generation prompt; and what the template writes behind every conversation unasked."""
    chat = template.value
    context = forms.context([_PROBE_TOOL])
    asked = chat.render([forms.user()], add_generation_prompt=True, **context)
    unasked = _behind_user(chat.render([forms.user()], **context), chat)
    turn = _behind_user(_rendered(chat, forms, None, [_PROBE], None, None), chat)
    always = os.path.commonprefix([unasked[::-1], turn[::-1]])[::-1]
    # One marker is the end of any turn, two may be; more is a beginning.
    often = len(_MARKER.findall(always)) > 2
    return _behind_user(asked, chat), always if often else ""
