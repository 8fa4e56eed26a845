"""A chat template -> the shipped dialect that explains what it writes, or none.

Probes are rendered through the template, and every shipped spec is asked whether it would have
written the same. Names play no part. What several specs explain alike goes to the one that
explains more, of reasoning, content, turn end and prompt; if none does, the answer is that it is
unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from ..compiler.errors import SpecError
from ..compiler.identity import ByIdentity
from ..compiler.origin import Origin
from ..compiler.spec import DialectSpec
from ..compiler.spec_loader import load_shipped, shipped_ids
from .chat_template import ChatTemplate
from .chat_template_error import ChatTemplateError
from .conversations import CONVERSATIONS, Conversation
from .explain import Explainer, Explanation, Shown, show, with_end
from .messages import Forms
from .pieces import Match
from .turn import reasoning_forms

UNKNOWN: Final = "unknown"

PROBES: Final = (
    "one call",
    "two calls",
    "no arguments",
    "nested objects and arrays",
    "true",
    "quotes",
    "unicode",
    "content before the call",
    "reasoning before the call",
    "reasoning and content",
    "content alone",
)
ENOUGH: Final = 0.6
"""The share of the calls that a spec must explain; templates have mistakes of their own."""
RUNNERS_UP: Final = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A dialect that explains some of what the template writes.

    Attributes:
        dialect: its id.
        explained: the probes it explains in full, white space beside the calls apart.
        failed: those it does not.
        evidence: sentences for a person.
    """

    dialect: str
    explained: tuple[str, ...]
    failed: tuple[str, ...]
    evidence: tuple[str, ...]
    rank: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "dialect": self.dialect,
            "explained": list(self.explained),
            "failed": list(self.failed),
            "evidence": list(self.evidence),
        }


@dataclass(frozen=True, slots=True)
class Detection:
    """What was found.

    Attributes:
        dialect: the id, or "unknown".
        reason: one sentence.
        best: the dialect with its evidence, None if it is unknown.
        runners_up: the next best; if the dialect is unknown, what comes nearest.
        hint: what to do next if the dialect is unknown, else "".
    """

    dialect: str
    reason: str
    best: Candidate | None
    runners_up: tuple[Candidate, ...]
    hint: str = ""

    @property
    def evidence(self) -> tuple[str, ...]:
        """Why it is this dialect, as sentences."""
        return self.best.evidence if self.best else ()

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "dialect": self.dialect,
            "reason": self.reason,
            "evidence": list(self.evidence),
            "best": self.best.to_json() if self.best else None,
            "runners_up": [c.to_json() for c in self.runners_up],
            "hint": self.hint,
        }


def detect_dialect(template: ChatTemplate | str | Path | Any) -> Detection:
    """The dialect of a chat template.

    Args:
        template: a :class:`ChatTemplate`; a path to a `.jinja` file, a GGUF, a
            `tokenizer_config.json` or its folder; or a Hugging Face tokenizer.

    Raises:
        ChatTemplateError: it cannot be read, or does not render. One that shows no calls is
            unknown, not an error.
    """
    chat = as_template(template)
    return _detect(ByIdentity(chat), tuple(shipped_ids()))


def as_template(template: ChatTemplate | str | Path | Any) -> ChatTemplate:
    """The template of whatever has one. Raises ChatTemplateError."""
    if isinstance(template, ChatTemplate):
        return template
    if isinstance(template, (str, Path)):
        return ChatTemplate.from_path(template)
    return ChatTemplate.from_tokenizer(template)


@lru_cache(maxsize=64)
def _detect(template: ByIdentity[ChatTemplate], dialects: tuple[str, ...]) -> Detection:
    chat = with_end(template.value)
    try:
        forms = reasoning_forms(chat)
    except ChatTemplateError as error:
        if any(p.code != "template-no-calls" for p in error.problems):
            raise
        return Detection(UNKNOWN, error.problems[0].message, None, (), error.problems[0].hint or "")
    shown = _shown(chat, forms)
    found = [candidate(load_shipped(name).spec, shown, chat) for name in dialects]
    ranked = sorted((c for c in found if c is not None), key=lambda c: c.rank, reverse=True)
    sure = [c for c in ranked if _is_sure(c, shown)]
    if not sure:
        reason = "no shipped dialect writes calls as this template does"
        near = tuple(ranked[:RUNNERS_UP])
        return Detection(UNKNOWN, reason, None, near, _next(near, chat))
    best, *others = sure
    equal = [c for c in others if c.rank == best.rank]
    if equal:
        names = ", ".join(c.dialect for c in (best, *equal))
        reason = f"several dialects explain it equally well: {names}"
        near = tuple(sure[: max(RUNNERS_UP, len(equal) + 1)])
        hint = f"name one of them; {_check(best, chat)}"
        return Detection(UNKNOWN, reason, None, near, hint)
    rest = [c for c in ranked if c is not best]
    reason = f"it writes {len(best.explained)} of {len(shown)} probes as the template does"
    return Detection(best.dialect, reason, best, tuple(rest[:RUNNERS_UP]))


def _next(near: Sequence[Candidate], template: ChatTemplate) -> str:
    """What to do where no shipped dialect is that of the template."""
    file = template.place or "FILE"
    derive = f"`calligram dialects derive --template {file}` writes a spec of this template"
    return f"{derive}; {_check(near[0], template)}" if near else derive


def _check(found: Candidate, template: ChatTemplate) -> str:
    file = template.place or "FILE"
    check = f"`calligram dialects check {found.dialect} --template {file}`"
    return f"{check} shows where {found.dialect} differs"


def _shown(template: ChatTemplate, forms: Forms) -> list[Shown]:
    """The probes as the template writes them; those it refuses are left out."""
    probes = {c.name: c for c in CONVERSATIONS}
    found = []
    for name in PROBES:
        try:
            found.append(show(template, forms, probes[name]))
        except ChatTemplateError as error:
            if any(p.code == "template-limit" for p in error.problems):
                raise
    return found


def candidate(
    spec: DialectSpec, shown: Sequence[Shown], template: ChatTemplate
) -> Candidate | None:
    """How well a spec explains the probes; None if it does not explain the first at all."""
    loose = Explainer(spec, loose=True)
    first = loose.explain(shown[0])
    if not isinstance(first.found, Match):
        return None
    explained = [first, *map(loose.explain, shown[1:])]
    strict = Explainer(spec)
    exact = [isinstance(strict.explain(s).found, Match) for s in shown]
    good = [e for e in explained if isinstance(e.found, Match)]
    plain = [e for e in good if e.shown.conversation.is_plain]
    fields = {p.field for e in good if isinstance(e.found, Match) for p in e.found.fields}
    marks = _marks(spec, template.source, shown)
    rank = (
        len(plain),
        len(good),
        sum(e.status == "same" for e in good),
        sum(exact),
        len(fields & {"/reasoning/open", "/reasoning/close"}),
        len([f for f in fields if f.startswith("/turn_end")]),
        -len([t for t in spec.tokens if t.text not in marks]),
        len([t for t in spec.turn_end.tokens if t in marks]),
    )
    return Candidate(
        spec.id,
        tuple(e.shown.conversation.name for e in good),
        tuple(_name(e) for e in explained if e not in good),
        tuple(_evidence(spec, good, fields, marks)),
        rank,
    )


def _name(explanation: Explanation) -> str:
    return explanation.shown.conversation.name


def _marks(spec: DialectSpec, source: str, shown: Sequence[Shown]) -> set[str]:
    """The spec's tokens that stand in the template or in what it writes."""
    texts = [t.text for t in spec.tokens] + [*spec.turn_end.tokens]
    rendered = [s.turn.text + s.turn.generation_prompt for s in shown]
    return {t for t in texts if t in source or any(t in r for r in rendered)}


def _evidence(
    spec: DialectSpec, good: Sequence[Explanation], fields: set[str], marks: set[str]
) -> Iterable[str]:
    same = [_name(e) for e in good if e.status == "same"]
    known = [f"{_name(e)} ({e.known})" for e in good if e.status == "known"]
    if same:
        yield "byte for byte: " + ", ".join(same)
    if known:
        yield "with mistakes that are known: " + ", ".join(known)
    seen = [t.text for t in spec.tokens if t.text in marks]
    if seen:
        yield f"{len(seen)} of {len(spec.tokens)} tokens occur: " + " ".join(seen)
    if spec.reasoning is not None and {"/reasoning/open", "/reasoning/close"} & fields:
        yield f"reasoning in {spec.reasoning.open!r} and {spec.reasoning.close!r}"
    ends = [t for t in spec.turn_end.tokens if t in marks]
    if ends:
        yield "ends turns with " + " ".join(ends)


def _is_sure(found: Candidate, shown: Sequence[Shown]) -> bool:
    plain: list[Conversation] = [s.conversation for s in shown if s.conversation.is_plain]
    several = [c.name for c in plain if len(c.calls) > 1]
    most = load_shipped(found.dialect).spec.calls.max
    wanted = [] if most == 1 else several
    return found.rank[0] >= ENOUGH * len(plain) and set(wanted) <= set(found.explained)


def dialect_of(template: ChatTemplate | str | Path | Any) -> str:
    """The id of the dialect, for `dialect="auto"`.

    Raises:
        SpecError: it is unknown (`dialect-unknown`); the hint says what comes nearest.
        ChatTemplateError: as :func:`detect_dialect`.
    """
    found = detect_dialect(template)
    if found.best is not None:
        return found.dialect
    near = ", ".join(c.dialect for c in found.runners_up)
    hint = f"nearest: {near}; {found.hint}" if near else found.hint
    place = as_template(template).place
    raise SpecError.at(
        "dialect-unknown",
        f"the template's dialect is unknown: {found.reason}",
        Origin(file=place),
        hint,
    )
