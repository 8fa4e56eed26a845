"""Which texts of a dialect are tokens, and which of them arm the constraint."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from .notes import Notes
from .texts import MARKER

_HOLE: Final = re.compile(r"\{(?:name(?::json)?|id|index|args|key|value|type)\}")
_TAG: Final = re.compile(r"</?[\w:.-]+>")


def literals(text: str) -> list[str]:
    """The literal parts of a template."""
    return [part for part in _HOLE.split(text) if part]


def tokens(
    texts: Iterable[str], args: dict[str, Any], known: Collection[str] | None, notes: Notes
) -> list[str]:
    """The spec's `tokens`.

    Args:
        texts: the texts and templates around calls.
        args: the spec's `args`.
        known: the special and added tokens of the model's vocabulary, if that is at hand.
    """
    around = [part for text in texts for part in literals(text)]
    inner = [part for text in _inner(args) for part in literals(text)]
    if known is not None:
        found = [t for t in known if len(t) > 1 and any(t in part for part in around + inner)]
        found = _outermost(found, around + inner)
        if found:
            notes.say("/tokens", "special and added tokens of the vocabulary that the texts hold")
        return found
    marks = [m[0] for part in around for m in MARKER.finditer(part)]
    # Tags around single arguments are rarely tokens.
    marks += [m[0] for part in inner for m in MARKER.finditer(part) if not _TAG.fullmatch(m[0])]
    if marks:
        notes.say(
            "/tokens", "what looks like tokens; without a vocabulary it is not known whether it is"
        )
    return list(dict.fromkeys(marks))


def _inner(args: dict[str, Any]) -> Iterator[str]:
    for key in ("open", "close", "separator", "param", "item"):
        if isinstance(args.get(key), str):
            yield args[key]
    string = args.get("string") or {}
    for form in (string, *string.get("alternatives", ())):
        yield from (form.get("open", ""), form.get("close", ""))


def _outermost(found: list[str], parts: list[str]) -> list[str]:
    """Without tokens that stand only inside longer ones; in the order of the texts."""
    spelled = "|".join(re.escape(t) for t in sorted(found, key=lambda t: (-len(t), t)))
    if not spelled:
        return []
    return list(dict.fromkeys(m[0] for part in parts for m in re.finditer(spelled, part)))


def triggers(
    opener: str, call: str, elsewhere: str, known: Collection[str], notes: Notes
) -> list[dict[str, Any]]:
    """The spec's `triggers`.

    Args:
        opener: what opens the section.
        call: the call's template.
        elsewhere: the texts around reasoning and content, and what ends a turn.
        known: the spec's tokens.
    """
    whole = opener + call.replace("{name:json}", '"{name}"')
    text = re.split(r"\{(?:name|id|index|args)\}", whole)[0]
    mark = MARKER.match(text.lstrip())
    if mark is not None and not text[: len(text) - len(text.lstrip())] and mark[0] not in elsewhere:
        notes.say("/triggers", "the marker that calls begin with and nothing else does")
        return [{"token" if mark[0] in known else "text": mark[0]}]
    if text.strip() and MARKER.search(text):
        notes.say("/triggers", "the text that calls begin with, up to what varies")
        return [{"text": text}]
    if re.search(r"\w{4}", text) and '"' not in text:
        notes.say("/triggers", "the words that calls begin with")
        return [{"text": text}]
    if text.strip():
        notes.say("/triggers", "calls have no marker: what they begin with, at the message's start")
        return [{"text": text, "at": "message_start"}]
    head = re.split(r"\{(?:id|index|args)\}", whole)[0]
    if "{name}" not in head:
        notes.miss("/triggers", "no text begins a call that is told before its id or arguments")
        return []
    start, _, rest = head.partition("{name}")
    notes.say("/triggers", "a call begins with nothing but the tool's name")
    text = start + "{name}" + rest.partition("{name}")[0]
    return [{"text": text, "at": "message_start", "per_tool": True}]
