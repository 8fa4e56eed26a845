"""Which texts of a dialect are tokens, and which of them arm the constraint."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from .notes import Notes
from .texts import MARKER

_HOLE: Final = re.compile(r"\{(?:name(?::json)?|id|index|args|key|value|type)\}")
_UNUSUAL: Final = re.compile(r"[<>|\[][^\s\"{]|[^\w\s\"{(\[]{3}")
"""What prose does not hold."""
_TAG: Final = re.compile(r"</?[\w:.-]+>")


def literals(text: str) -> list[str]:
    """The literal parts of a template."""
    return [part for part in _HOLE.split(text) if part]


def tokens(
    texts: Iterable[str], args: dict[str, Any], known: Collection[str] | None, notes: Notes
) -> list[str | dict[str, str]]:
    """The spec's `tokens`.

    Args:
        texts: the texts and templates around calls.
        args: the spec's `args`.
        known: the special and added tokens of the model's vocabulary, if that is at hand.
    """
    quotes = _quotes(args)
    around = [*(part for text in texts for part in literals(text)), *quotes]
    inner = [part for text in _inner(args) for part in literals(text)]
    if known is not None:
        found = [t for t in known if len(t) > 1 and any(t in part for part in around + inner)]
        found = _outermost(found, around + inner)
        if found:
            notes.say("/tokens", "special and added tokens of the vocabulary that the texts hold")
        # A string between tokens ends at the token, not at its text.
        return [{"text": t, "match": "require"} if t in quotes else t for t in found]
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


def _quotes(args: dict[str, Any]) -> list[str]:
    """What strings stand between."""
    string = args.get("string") or {}
    forms = (string, *string.get("alternatives", ()))
    return [text for form in forms for text in (form.get("open"), form.get("close")) if text]


def _outermost(found: list[str], parts: list[str]) -> list[str]:
    """Without tokens that stand only inside longer ones; in the order of the texts."""
    spelled = "|".join(re.escape(t) for t in sorted(found, key=lambda t: (-len(t), t)))
    if not spelled:
        return []
    return list(dict.fromkeys(m[0] for part in parts for m in re.finditer(spelled, part)))


def triggers(
    opener: str, call: str, block: dict[str, Any], elsewhere: str, known: Collection[str],
    notes: Notes,
) -> list[dict[str, Any]]:  # fmt: skip
    """The spec's `triggers`.

    Args:
        opener: what opens the section.
        call: the call's template.
        block: the spec's `reasoning`.
        elsewhere: the texts around reasoning and content, and what ends a turn.
        known: the spec's tokens.
    """
    whole = opener + call.replace("{name:json}", '"{name}"')
    text, _, rest = _first_hole(whole)
    mark = MARKER.match(text)
    if mark is not None and mark[0] not in elsewhere:
        notes.say("/triggers", "the marker that calls begin with and nothing else does")
        return [{"token" if mark[0] in known else "text": mark[0]}]
    if MARKER.search(text):
        notes.say("/triggers", "the text that calls begin with, up to what varies")
        return [{"text": text}]
    spoken = re.split(r"[\"{]", text)[0].rstrip()
    if re.search(r"\w{4}", spoken):
        notes.say("/triggers", "the words that calls begin with")
        return [{"text": spoken}]
    found: dict[str, Any] = {"text": text}
    if whole.startswith(text + "{name}") and '"' not in text:
        name, _, _ = _first_hole(rest)
        end = MARKER.search(name)
        name = name[: end.end()] if end is not None else name
        found = {"text": text + "{name}" + name, "per_tool": True}
    if _UNUSUAL.search(text):
        notes.say("/triggers", "what calls begin with, up to what varies")
        return [found]
    if not found["text"].strip():
        notes.miss("/triggers", "no text begins a call before its id or arguments")
        return []
    notes.say("/triggers", "calls have no marker: what they begin with, at the message's start")
    places = ["message_start"]
    if block.get("after", "").strip():
        places.append(f"after: {block['after'].strip()}")
    return [{**found, "at": place} for place in places]


def _first_hole(text: str) -> tuple[str, str, str]:
    """(the text before the first hole, the hole, the rest)."""
    found = re.search(r"\{(?:name|id|index|args)\}", text)
    if found is None:
        return text, "", ""
    return text[: found.start()], found[0], text[found.end() :]
