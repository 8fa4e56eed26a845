"""A chat template -> a dialect spec, with what says so and what was checked."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from ...compiler.errors import CalligramError
from ...compiler.lint import lint
from ...compiler.origin import Origin, Problem
from ...compiler.spec_loader import LoadedSpec, load_spec_text
from ..chat_template import ChatTemplate
from ..chat_template_error import ChatTemplateError
from .arguments import Arguments
from .envelope import Envelope, envelope
from .json_arguments import json_arguments
from .listed_arguments import listed_arguments
from .markers import tokens, triggers
from .notes import Found, Notes, Unknown
from .opening import Around, around
from .probe import Probe
from .reasoning import Block, reasoning
from .texts import MARKER
from .verify import Verified, verify
from .writing import as_yaml

_DROPPABLE: Final = ("history", "accept", "triggers", "content", "reasoning", "lead_in")

UNUSABLE: Final = (
    "write the spec to a file with -o and mend what was not found by hand; `calligram dialects "
    "lint FILE` says what is wrong with it, the reference of the spec format what keys there are"
)
UNREAD: Final = (
    "write the spec to a file with -o; `calligram dialects check FILE --template TEMPLATE` shows "
    "where its turns differ from the template's"
)


@dataclass(frozen=True, slots=True)
class Derived:
    """A spec that was derived.

    Attributes:
        data: the spec as a mapping, in the order of its keys.
        yaml: the same as text, with comments.
        loaded: the spec, None if it cannot be used as it is: see `problems`.
        problems: what loading and linting find, errors and warnings.
        found: what was found, and why.
        unknown: what could not be found.
        verified: turns of other calls through template, grammar and parser.
    """

    data: dict[str, Any]
    yaml: str
    loaded: LoadedSpec | None
    problems: tuple[Problem, ...]
    found: tuple[Found, ...]
    unknown: tuple[Unknown, ...]
    verified: tuple[Verified, ...]

    @property
    def ok(self) -> bool:
        """Whether the spec can be used and reads any turn of the template."""
        return self.loaded is not None and any(v.status == "read" for v in self.verified)

    @property
    def hint(self) -> str:
        """What to do next if the spec cannot be used or reads no turn, else ""."""
        if self.ok:
            return ""
        if self.loaded is None:
            return UNUSABLE
        return UNREAD

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "ok": self.ok,
            "hint": self.hint,
            "spec": self.data,
            "found": [f.to_json() for f in self.found],
            "unknown": [u.to_json() for u in self.unknown],
            "verified": [v.to_json() for v in self.verified],
            "problems": [p.to_json() for p in self.problems],
        }


def derive_spec(
    template: ChatTemplate, dialect: str = "derived", tokens: Collection[str] | None = None
) -> Derived:
    """The spec of the dialect that a template writes calls in.

    Args:
        dialect: its id.
        tokens: the texts of the model's special and added tokens, if known.

    Raises:
        ChatTemplateError: the template shows no calls (`template-no-calls`), or none that the spec
            format can say (`template-underivable`); or it does not render.
    """
    notes = Notes()
    probe = Probe(template)
    arguments = json_arguments(probe, notes)
    if arguments is None and not notes.unknown:
        arguments = listed_arguments(probe, notes)
    calls = envelope(probe, arguments, notes) if arguments is not None else None
    if arguments is None or calls is None:
        raise _underivable(template, notes)
    block = reasoning(probe, notes)
    outer = around(probe, calls, block, notes)
    data = _data(template, dialect, arguments, calls, block, outer, tokens, notes)
    loaded, problems = _load(data, notes)
    verified = verify(loaded.spec, probe) if loaded is not None else ()
    data["verified"] = _summary(verified)
    text = as_yaml(data, notes, verified)
    return Derived(
        data, text, loaded, tuple(problems), tuple(notes.found), tuple(notes.unknown), verified
    )


def _underivable(template: ChatTemplate, notes: Notes) -> ChatTemplateError:
    why = "; ".join(u.why for u in notes.unknown) or "the arguments are nowhere in the turn"
    return ChatTemplateError.at(
        "template-underivable",
        f"no notation of the spec format is found in its calls: {why}",
        Origin(file=template.place),
    )


def _data(
    template: ChatTemplate,
    dialect: str,
    arguments: Arguments,
    calls: Envelope,
    block: Block | None,
    outer: Around,
    known: Collection[str] | None,
    notes: Notes,
) -> dict[str, Any]:
    said = block.spec() if block is not None else {}
    texts = [outer.prefill, *(said.get(k, "") for k in ("open", "close", "after"))]
    texts += [outer.content.get("open", ""), outer.content.get("close", "")]
    texts += [outer.section.get("open", ""), calls.call, calls.separator]
    texts += [outer.section.get("close", "")]
    opener = outer.section.get("open", "")
    found = tokens(texts, arguments.args, known, notes)
    names = [t if isinstance(t, str) else t["text"] for t in found]
    elsewhere = "".join([*texts[1:6], *outer.turn_end])
    parts = {
        "id": dialect,
        "families": [template.model] if template.model else [],
        "source": f"chat template {_source(template)}",
        "verified": "",
        "tokens": found,
        "prefill": outer.prefill,
        "reasoning": said,
        "content": outer.content,
        "lead_in": outer.lead_in,
        "section": outer.section,
        "calls": _calls(calls),
        "call": calls.call,
        "call_id": calls.call_id,
        "args": arguments.args,
        "json": arguments.layout,
        "triggers": triggers(opener, calls.call, said, elsewhere, names, notes),
        "turn_end": _turn_end(outer, calls, said),
        "accept": _accept(outer, calls),
        "history": arguments.history,
    }
    return {key: value for key, value in parts.items() if value or key == "verified"}


def _source(template: ChatTemplate) -> str:
    """What the template is called, without the folders of this machine."""
    file = PurePath(template.place or "").name
    return f"of {template.model}" if template.model else file or "without a name"


def _calls(calls: Envelope) -> dict[str, Any]:
    found: dict[str, Any] = {"separator": calls.separator} if calls.separator else {}
    return found | ({"max": calls.most} if calls.most is not None else {})


def _accept(outer: Around, calls: Envelope) -> list[dict[str, Any]]:
    """The shape of a turn with one call where that is closed in another way."""
    if calls.alone is None:
        return []
    close = calls.alone.rstrip()
    for token in outer.turn_end:
        close = close.removesuffix(token)
    parts = {"open": outer.section.get("open", ""), "close": close}
    return [{"section": {k: v for k, v in parts.items() if v}, "calls": {"max": 1}}]


def _turn_end(outer: Around, calls: Envelope, said: dict[str, Any]) -> dict[str, Any]:
    if not outer.turn_end:
        return {}
    inside = calls.call + calls.separator + outer.section.get("open", "") + said.get("close", "")
    inner = [token for token in outer.turn_end if token in inside]
    # Where a message ends and the turn goes on with another.
    marks = MARKER.findall(calls.separator)
    inner += marks[:1] if len(marks) > 1 else []
    inner += MARKER.findall(said.get("close", ""))[:1] if said.get("after", "").strip() else []
    inner = list(dict.fromkeys(inner))
    return {"tokens": list(outer.turn_end), **({"not_stop": inner} if inner else {})}


def _load(data: dict[str, Any], notes: Notes) -> tuple[LoadedSpec | None, list[Problem]]:
    """The spec, without the parts that make it unusable if it is usable without them."""
    loaded, problems = _try(data)
    for key in _DROPPABLE:
        if loaded is not None:
            break
        if key not in data:
            continue
        wrong = [p for p in problems if p.origin.pointer.startswith(f"/{key}")]
        if not wrong:
            continue
        del data[key]
        notes.miss(f"/{key}", f"what was found cannot be used: {wrong[0].message}")
        loaded, problems = _try(data)
    string = data["args"].get("string", {})
    if loaded is None and string.pop("alternatives", None):
        said = problems[0].message if problems else ""
        notes.miss("/args/string/alternatives", f"a second form cannot be used: {said}")
        loaded, problems = _try(data)
    return loaded, problems


def _try(data: dict[str, Any]) -> tuple[LoadedSpec | None, list[Problem]]:
    try:
        loaded = load_spec_text(as_yaml(data), "derived")
        problems = [*loaded.warnings, *lint(loaded)]
    except CalligramError as error:
        return None, list(error.problems)
    if any(p.severity == "error" for p in problems):
        return None, problems
    return loaded, problems


def _summary(verified: tuple[Verified, ...]) -> str:
    tried = [v for v in verified if v.status != "skipped"]
    read = sum(v.status == "read" for v in tried)
    return f"{read} of {len(tried)} other renders of that template accepted and read back"


def dialect_id(name: str) -> str:
    """A dialect's id made of a file's or model's name."""
    return "-".join(re.findall(r"[a-z0-9]+", name.lower())) or "derived"
