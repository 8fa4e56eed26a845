"""What stands before the calls: content, white space, what opens the section."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from .ending import Ending, ending
from .envelope import Envelope
from .notes import Notes
from .probe import KEYS, NAMES, SAID, VALUES, Probe, call
from .reasoning import Block
from .texts import common_suffix

_WITH_CALLS: Final = "/content/with_calls"


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around calls, as the spec has it."""

    prefill: str
    lead_in: str
    section: dict[str, str]
    content: dict[str, str]
    turn_end: tuple[str, ...]


def around(probe: Probe, found: Envelope, block: Block | None, notes: Notes) -> Around:
    """All of it; moves into the call what turns out to be the call's."""
    prefill = _prefill(probe, found, notes)
    opener, said = _content(probe, block)
    first = re.split(r"\{(?:name|index|id|args)", found.call)[0]
    before = block.without(found.before) if block is not None else found.before
    end = ending(found.behind, said, before + first, opener, notes)
    content: dict[str, Any] = {"open": prefill + opener} if opener else {}
    if end.content.strip():
        content["close"] = end.content
    if content:
        notes.say("/content", "what stands around plain text in a turn without calls")
    empty = opener + end.content
    if opener.strip() and end.content and before.startswith(empty):
        before = before.removeprefix(empty)
        notes.say("/content", "an empty text stands before calls in history")
    joint = _joint(probe, content, end, first, notes)
    before, lead_in = _lead_in(before, joint, content, notes)
    _close_alone(found, end)
    close = "" if found.most == 1 else end.calls
    section = {key: text for key, text in (("open", before), ("close", close)) if text}
    if section:
        notes.say("/section", "what stands once around one, two and three calls")
    return Around(prefill, lead_in, section, content, end.tokens)


def _close_alone(found: Envelope, end: Ending) -> None:
    """Where a turn holds one call, what closes it is the call's own."""
    if found.most == 1:
        found.call += end.calls


def _prefill(probe: Probe, found: Envelope, notes: Notes) -> str:
    """What stands between calls and ends the prompt too is the beginning of a call."""
    turn = probe.turn([call(0, {KEYS[0]: VALUES[0]})])
    text = found.separator
    if turn is None or not text.strip() or found.before:
        return ""
    if not turn.generation_prompt.removesuffix(turn.opened).endswith(text):
        return ""
    found.call, found.separator = text + found.call, ""
    notes.say("/prefill", "the generation prompt ends with what begins every further call")
    return text


def _content(probe: Probe, block: Block | None) -> tuple[str, str | None]:
    """(what opens plain text, what stands behind it) in a turn without calls."""
    turn = probe.turn([], SAID)
    if turn is None or SAID not in turn.text:
        return "", None
    before, _, behind = turn.text.rpartition(SAID)
    if block is not None:
        before = block.without(before)
    return (before if before.strip() else ""), behind


def _joint(
    probe: Probe, content: dict[str, Any], end: Ending, first: str, notes: Notes
) -> str | None:
    """What stands between content and the calls of the same turn, None if content is not there."""
    turn = probe.turn([call(0, {KEYS[0]: VALUES[0]})], SAID)
    text = turn.text if turn is not None else ""
    at, name = text.find(SAID), text.find(NAMES[0])
    if at < 0:
        _not_beside(content, "content is not shown beside calls", _WITH_CALLS, notes)
        return None
    if name < at:
        between = text[text.rfind(KEYS[0]) : at]
        if any(token in between for token in end.tokens):
            why = "content behind calls stands in a turn of its own"
            _not_beside(content, why, _WITH_CALLS, notes)
        else:
            content["with_calls"] = "after"
            notes.say(_WITH_CALLS, "content stands behind the calls")
        return None
    between = text[at + len(SAID) : name].removeprefix(content.get("close", ""))
    cut = between.rfind(first) if first else len(between)
    if cut < 0:
        # An id or number may come before the name.
        head = re.match(r"\D*", first)
        cut = between.rfind(head[0]) if head is not None and head[0] else -1
    if cut < 0:
        why = "calls behind content are written in another way"
        _not_beside(content, why, "/lead_in", notes)
        return None
    between = between[:cut]
    if any(token.strip() in between for token in end.tokens):
        why = "calls behind content stand in a turn of their own"
        _not_beside(content, why, "/lead_in", notes)
        return None
    return between


def _not_beside(content: dict[str, Any], why: str, field: str, notes: Notes) -> None:
    """Content that is not seen before calls of its turn: what is taken for true is said."""
    if content.get("open"):
        content["with_calls"] = "exclusive"
        notes.miss(_WITH_CALLS, f"{why}; a turn is taken to hold one or the other")
    else:
        notes.miss(field, f"{why}; content is taken to stand before them")


def _lead_in(
    before: str, joint: str | None, content: dict[str, Any], notes: Notes
) -> tuple[str, str]:
    """(what opens the section, what stands before it)."""
    bare = before.lstrip() if joint is not None else before.lstrip("\n")
    blank = before[: len(before) - len(bare)]
    if joint is None:
        if blank:
            notes.say("/lead_in", "line breaks stand before the calls")
        return bare, blank
    shared = common_suffix(joint, bare)
    if shared != bare:
        notes.miss("/lead_in", "calls behind content open in another way")
        return bare, blank
    lead = joint[: len(joint) - len(bare)] or blank
    if lead:
        notes.say("/lead_in", "it stands between content and the calls")
    return bare, lead
