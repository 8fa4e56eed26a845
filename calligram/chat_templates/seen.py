"""Which literals of a spec a comparison has seen, and which it had no occasion to see."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..compiler.spec import DialectSpec
from .pieces import Literal

_PART: Final = re.compile("[,;] ")


@dataclass(frozen=True, slots=True)
class Unseen:
    """A literal that nothing compared has held: it may be right or wrong."""

    field: str
    text: str


def strings(value: Any) -> Iterator[str]:
    """The strings in a JSON value, keys aside."""
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            stack += part.values()
        elif isinstance(part, list):
            stack += part


def unseen(
    spec: DialectSpec,
    seen: Sequence[Literal],
    shapes: Collection[str],
    known: Collection[str],
    texts: Collection[str],
) -> Iterator[Unseen]:
    """The literals that no render has shown.

    Args:
        seen: the pieces that matched.
        shapes: the pointers of the shapes that calls were written in, "" for the spec's own.
        known: what was known to differ.
        texts: the strings that the matched calls held.
    """
    if "" not in shapes:
        yield Unseen("/call", spec.call)
        around = {
            "/section/open": spec.section.open,
            "/section/close": spec.section.close,
            "/calls/separator": spec.calls.separator,
        }
        yield from (Unseen(pointer, text) for pointer, text in around.items() if text)
    for key, others in (("accept", spec.accept), ("history", spec.history)):
        for n, shape in enumerate(others):
            if f"/{key}/{n}" not in shapes:
                yield Unseen(f"/{key}/{n}", shape.call or "")
    for name, kind in spec.tool_kinds.items():
        # The tools of the conversations have arguments.
        yield Unseen(f"/tool_kinds/{name}", kind.call)
    fields = {piece.field for piece in seen if piece.text}
    for pointer, text in _literals(spec):
        if text and pointer not in fields:
            yield Unseen(pointer, text)
    yield from _spellings(spec, known)
    yield from _string_forms(spec, known, texts)


def _spellings(spec: DialectSpec, known: Collection[str]) -> Iterator[Unseen]:
    """Of null, true and false, each spelling but the one that was written."""
    for name in ("null", "true", "false"):
        words = getattr(spec.args.literals, name)
        said = {part for how in known for part in _PART.split(how)}
        shown = [word for word in words if f"{name} as {word}" in said] or words[:1]
        for n, word in enumerate(words):
            if word not in shown:
                yield Unseen(f"/args/literals/{name}/{n}", word)


def _string_forms(
    spec: DialectSpec, known: Collection[str], texts: Collection[str]
) -> Iterator[Unseen]:
    """The further forms of strings that nothing was written in, and what makes a text take one."""
    if spec.args.string is None:
        return
    for n, form in enumerate(spec.args.string.alternatives):
        where = f"/args/string/alternatives/{n}"
        taken = any(part in text for part in form.when for text in texts)
        elsewhere = any(f"strings in {form.open or 'nothing'}" in how for how in known)
        if not taken and not elsewhere:
            yield Unseen(where, form.open)
            continue
        for k, part in enumerate(form.when):
            others = [other for other in form.when if other != part]
            # A text that holds another one too would take the form without it; and where texts
            # that hold none take the form, it is not these that decide.
            alone = any(part in t and not any(other in t for other in others) for t in texts)
            if elsewhere or not alone:
                yield Unseen(f"{where}/when/{k}", part)


def _literals(spec: DialectSpec) -> Iterator[tuple[str, str]]:
    reasoning = spec.reasoning
    if reasoning is not None:
        yield "/reasoning/open", reasoning.open
        yield "/reasoning/close", reasoning.close
        yield "/reasoning/after", reasoning.after
    yield "/content/open", spec.content.open
    yield "/content/close", spec.content.close
    for n, form in enumerate(spec.content.alternatives):
        yield f"/content/alternatives/{n}/open", form.open
        yield f"/content/alternatives/{n}/close", form.close
    yield "/lead_in", spec.lead_in
    for n, text in enumerate(spec.turn_end.tokens):
        yield f"/turn_end/tokens/{n}", text
    for n, text in enumerate(spec.turn_end.not_stop):
        yield f"/turn_end/not_stop/{n}", text
