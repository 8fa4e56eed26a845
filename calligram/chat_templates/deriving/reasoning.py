"""The block of reasoning: how it opens and closes, and what follows it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from ..turn import Turn
from .ending import words
from .notes import Notes
from .probe import KEYS, SAID, THOUGHT, VALUES, Probe, call
from .texts import MARKER, common_prefix, common_suffix

_MOST: Final = 4
_CLOSED: Final = re.compile(r"(<[^<>/\s]+>)\s*(</[^<>\s]+>)\s*\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of reasoning."""

    open: str
    close: str
    after: str = ""

    def spec(self) -> dict[str, Any]:
        """The spec's `reasoning`."""
        found = {"open": self.open, "close": self.close, "after": self.after}
        return {key: value for key, value in found.items() if value}

    def without(self, text: str) -> str:
        """A text without an empty block at its beginning, or the end of one."""
        pattern = rf"\s*(?:{re.escape(self.open.strip())})?\s*{re.escape(self.close.strip())}"
        found = re.match(pattern, text)
        if found is None:
            return text
        rest = text[found.end() :]
        return rest[len(self.after) :] if self.after and rest.startswith(self.after) else rest


def reasoning(probe: Probe, notes: Notes) -> Block | None:
    """The block if the template shows one, or opens one for the model."""
    beside = probe.turn([call(0, {KEYS[0]: VALUES[0]})], reasoning=THOUGHT)
    answer = probe.turn([], SAID, THOUGHT)
    shown = next((t for t in (answer, beside) if t is not None and THOUGHT in t.text), None)
    if shown is None:
        return _from_prompt(probe, notes)
    before, _, rest = shown.text.partition(THOUGHT)
    following = rest.partition(SAID)[0] if SAID in rest else rest
    closers = _closers(following, _shared(following, beside))
    if not closers:
        notes.miss("/reasoning/close", "nothing marks the end of reasoning")
        return None
    opener = before.strip("\n")
    if opener.strip():
        close = next((c for c in closers if _pairs(opener, c)), closers[0])
        notes.say("/reasoning/open", "what the template writes before reasoning")
    else:
        found = _opened(shown, closers, probe)
        if found is None:
            notes.miss("/reasoning/open", "reasoning is closed, but nothing opens it")
            return None
        opener, close = found
        notes.say("/reasoning/open", "the generation prompt ends with it")
    after = _after(close, answer, beside, probe)
    notes.say("/reasoning/close", "what the template writes behind reasoning")
    return Block(opener, close, after)


def _pairs(opener: str, close: str) -> bool:
    """Whether both hold the same words, or end with the same ones between markers."""
    end = MARKER.sub("", common_suffix(opener, close))
    return words(opener) == words(close) or any(c.isalnum() for c in end)


def _shared(following: str, beside: Turn | None) -> str:
    """What stands behind reasoning whether an answer or a call comes next, "" if not known."""
    if beside is None or THOUGHT not in beside.text:
        return ""
    return common_prefix(following, beside.text.partition(THOUGHT)[2])


def _closers(text: str, shared: str) -> list[str]:
    """What may be the closer: the beginning of a text up to one of its first markers."""
    bare = text.lstrip("\n")
    most = len(shared.lstrip("\n"))
    found = [bare[: m.end()] for m in MARKER.finditer(bare)][:_MOST]
    if shared.strip():
        found = [close for close in found if len(close) <= most]
        bare = shared.lstrip("\n")
    return found or [line for line in bare.splitlines()[:1] if line.strip()]


def _opened(turn: Turn, closers: list[str], probe: Probe) -> tuple[str, str] | None:
    """(opener, closer) where the prompt has opened the block."""
    prompt = turn.generation_prompt.rstrip()
    for close in closers:
        bare = prompt.removesuffix(close.rstrip()).rstrip()
        starts = [m.start() for m in MARKER.finditer(bare)][-_MOST:]
        for start in reversed(starts):
            if words(bare[start:]) == words(close):
                return bare[start:], close
    plain = probe.turn([call(0, {KEYS[0]: VALUES[0]})])
    opened = plain.opened if plain is not None else ""
    opened = opened.lstrip("\n").removesuffix(closers[0].strip())
    if opened.strip():
        return opened, closers[0]
    bare = prompt.removesuffix(closers[0].strip()).rstrip()
    markers = list(MARKER.finditer(bare))
    if markers and markers[-1].end() == len(bare):
        return markers[-1][0], closers[0]
    return None


def _after(close: str, answer: Turn | None, beside: Turn | None, probe: Probe) -> str:
    """What stands behind the block both before an answer and before a call."""
    if answer is None or SAID not in answer.text or THOUGHT not in answer.text:
        return ""
    inner, _, behind = answer.text.partition(THOUGHT)[2].partition(SAID)
    rest = inner.lstrip("\n")[len(close) :]
    plain = probe.turn([], SAID)
    opener = plain.text.partition(SAID)[0] if plain is not None else ""
    if opener.strip() and close.strip() not in opener and rest.endswith(opener):
        return rest.removesuffix(opener)
    blank = rest[: len(rest) - len(rest.lstrip())]
    if beside is None or THOUGHT not in beside.text:
        return blank
    other = beside.text.partition(THOUGHT)[2].lstrip("\n")
    shared = common_prefix(rest, other[len(close) :]) if other.startswith(close) else ""
    # What is closed again at once is the opener of an answer, empty beside calls.
    closed = common_prefix(behind, other[len(close) + len(shared) :])
    # White space before an answer is the block's, more of it before a call is the call's.
    return blank if closed.strip() or len(shared) <= len(blank) else shared


def _from_prompt(probe: Probe, notes: Notes) -> Block | None:
    """A block that history never shows and the generation prompt opens, or has closed."""
    turn = probe.turn([call(0, {KEYS[0]: VALUES[0]})])
    if turn is None:
        return None
    closed = _CLOSED.search(turn.generation_prompt)
    if closed is not None and words(closed[1]) == words(closed[2]):
        notes.say("/reasoning", "the generation prompt has an empty block")
        return Block(closed[1], closed[2])
    opened = turn.opened.strip()
    close = f"</{opened[1:]}"
    if MARKER.fullmatch(opened) and opened[1:2].isalpha() and close in probe.template.source:
        notes.say("/reasoning", "the generation prompt opens it; history does not show it")
        return Block(opened, close)
    return None
