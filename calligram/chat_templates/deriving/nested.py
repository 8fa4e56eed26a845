"""Notations that repeat themselves in nested values: braces with bare keys, and trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from .probe import Probe
from .wording import KEY, Worded, Wording

_KEY: Final = "qinnerkey"
_WORD: Final = "qinnerword"


@dataclass(frozen=True, slots=True)
class Braces:
    """A bare-dict: what stands between its members, and between key and value."""

    separators: tuple[str, str]
    quoted: bool


def braces(probe: Probe, wording: Wording) -> Braces | None:
    """Whether an object is written in braces as all the arguments are."""
    around = wording.around
    if not (around.before + around.opener).endswith("{") or wording.joint is not None:
        return None
    if not (around.closer + around.behind).startswith("}") or wording.rest:
        return None
    worded = wording.of(probe, {_KEY: _WORD})
    opener, closer = wording.quotes
    lead = wording.lead.replace(KEY, _KEY)
    if worded is None or worded.text != "{" + lead + opener + _WORD + closer + "}":
        return None
    before, _, colon = wording.lead.partition(KEY)
    quoted = before == '"' and colon.startswith('"')
    if before and not quoted:
        return None
    return Braces((around.separator, colon.removeprefix('"') if quoted else colon), quoted)


@dataclass(frozen=True, slots=True)
class Tree:
    """Elements within elements.

    Attributes:
        wording: of an element as a nested one shows it, where nothing else is around it.
        item: the template of one item of an array.
    """

    wording: Wording
    item: str


def tree(probe: Probe, wording: Wording) -> Tree | None:
    """Whether an object is written as elements like those that the arguments are."""
    worded = wording.of(probe, {_KEY: _WORD})
    listed = wording.of(probe, [_WORD])
    if worded is None or listed is None or _WORD not in listed.text:
        return None
    head, key, _ = worded.text.partition(_KEY)
    rest = worded.text.rpartition(_WORD)[2].replace(_KEY, KEY)
    outer = wording.around.before + wording.around.opener + wording.lead.partition(KEY)[0]
    if not key or not head or not outer.endswith(head) or not rest:
        return None
    if not wording.rest.startswith(rest):
        return None
    inner = _recut(wording, head, rest)
    read = _element(inner, worded.text)
    if read is None or read.text != _WORD:
        return None
    item = listed.text
    if read.type is not None:
        before, _, behind = item.partition(_WORD)
        place = before.rfind(read.type)
        if place < 0:
            return None
        before = before[:place] + "{type}" + before[place + len(read.type) :]
        return Tree(inner, before + "{value}" + behind)
    return Tree(inner, item.replace(_WORD, "{value}"))


def _element(inner: Wording, text: str) -> Worded | None:
    """The value of a nested element: the probe's own reading, by its key."""
    lead, rest = inner.lead.replace(KEY, _KEY), inner.rest.replace(KEY, _KEY)
    if not text.startswith(lead) or not text.endswith(rest):
        return None
    value = text[len(lead) : len(text) - len(rest)]
    if inner.joint is None:
        return Worded(value)
    kind, joint, word = value.partition(inner.joint)
    return Worded(word, kind) if joint else None


def _recut(wording: Wording, head: str, rest: str) -> Wording:
    """The same arguments, cut where an element begins with `head` and ends with `rest`."""
    around = wording.around
    whole = around.before + around.opener + around.head
    spare = len(wording.rest) - len(rest)
    moved = replace(
        around,
        before=whole[: len(whole) - len(head)],
        behind=wording.rest[len(rest) :] + around.closer + around.behind,
        opener="",
        closer="",
        head=head,
        tail=around.tail[: len(around.tail) - spare],
    )
    lead = head + wording.lead[wording.lead.index(KEY) :]
    return Wording(moved, lead, wording.joint, rest, ("", ""))


def type_names(probe: Probe, wording: Wording) -> tuple[dict[str, Any], list[str]]:
    """The spec's `args.type_attr`, and the types of which nothing was seen."""
    values: dict[str, Any] = {
        "string": _WORD, "number": 1.5, "integer": 7, "boolean": True, "null": None,
        "array": [_WORD], "object": {_KEY: _WORD},
    }  # fmt: skip
    said: dict[str, str] = {}
    for name, value in values.items():
        worded = wording.of(probe, value)
        if worded is not None and worded.type is not None:
            said[name] = worded.type
    hidden = [name for name in values if name not in said]
    if said.get("integer") == said.get("number"):
        said.pop("integer", None)
    others = [kind for name, kind in said.items() if name != "string"]
    usual = max(others, key=others.count) if others else ""
    if hidden or others.count(usual) > 2:
        kept = {name: kind for name, kind in said.items() if kind != usual or name == "string"}
        return {**kept, "default": usual}, hidden
    return said, hidden
