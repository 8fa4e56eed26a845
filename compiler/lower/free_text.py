"""Free text: what content may say without beginning a call.

Content is any text in which no trigger occurs at a position where it arms, and which does not
begin as a reasoning block does. All of it is regular, so it is one automaton.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..origin import Origin
from ..regular.language import Language
from ..spec import DialectSpec, TriggerSpec
from .openers import GAP, spaced, without_openers

_SPECIAL = {c: "\\" + c for c in "\\^$.*+?()[]{}|/"} | {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escape_pattern(text: str) -> str:
    """A text as a regular expression for itself, spelled as all engines read it alike."""
    return "".join(_SPECIAL.get(c, c) for c in text)


def trigger_texts(trigger: TriggerSpec, names: Sequence[str]) -> tuple[str, ...]:
    """The texts that a text or token trigger stands for, one a tool where it says so."""
    text = trigger.text if trigger.text is not None else trigger.token
    assert text is not None
    if trigger.per_tool:
        return tuple(text.replace("{name}", name) for name in names)
    return (text,)


def content_stops(spec: DialectSpec, names: Sequence[str]) -> tuple[str, ...]:
    """The texts that arm anywhere."""
    return tuple(
        text
        for t in spec.triggers
        if t.pattern is None and t.at == "anywhere" and not t.not_ and not _at_boundary(spec, t)
        for text in trigger_texts(t, names)
    )


def _at_boundary(spec: DialectSpec, trigger: TriggerSpec) -> bool:
    """Does the trigger begin with a tool's name, so that it arms only where a word begins?"""
    return trigger.per_tool and (trigger.text or "").startswith("{name}")


def after_text(trigger: TriggerSpec) -> str:
    """The text behind which a trigger "after: TEXT" counts."""
    return trigger.at.removeprefix("after:").removeprefix(" ")


def trigger_pattern(spec: DialectSpec, trigger: TriggerSpec, names: Sequence[str]) -> str:
    """The trigger as a regular expression searched in the text so far, position included."""
    if trigger.pattern is not None:
        body = trigger.pattern
        body = f"(?:{body})" if "|" in body else body
    else:
        texts = trigger_texts(trigger, names)
        body = "|".join(escape_pattern(t) for t in texts)
        body = f"(?:{body})" if len(texts) > 1 else body
    if trigger.not_:
        body += "(?!" + "|".join(escape_pattern(t) for t in trigger.not_) + ")"
    if trigger.at == "message_start":
        return "^" + body
    if trigger.at.startswith("after:"):
        return escape_pattern(after_text(trigger)) + body
    return r"\b" + body if _at_boundary(spec, trigger) else body


def content_language(
    spec: DialectSpec, names: Sequence[str], *, followed: bool, closer: str
) -> Language:
    """All the texts that hold no trigger where it would arm.

    Args:
        names: the tools' names, for triggers that are one a tool.
        followed: a call follows; the text must not be read as part of the call's own opener.
        closer: what ends wrapped content, "" for content that nothing ends.
    """
    stops = content_stops(spec, names)
    if not closer and followed and len(stops) == 1:
        closer = stops[0]
    language = without_openers(Language.avoiding(stops, closer), spec, stops)
    for trigger in spec.triggers:
        plain = trigger.pattern is None and not trigger.not_
        if plain and trigger.at == "anywhere" and not _at_boundary(spec, trigger):
            continue
        pattern = trigger_pattern(spec, trigger, names)
        language = language - Language.pattern(pattern, origin=Origin("/triggers"))
    marked = all(form.open for form in (spec.content, *spec.content.alternatives))
    if spec.reasoning is not None and not marked:
        # Reading takes the block's opener with any white space in and before it.
        opener = Language.pattern("^" + GAP + spaced(spec.reasoning.open.strip()), origin=Origin())
        language = language - opener
    return language
