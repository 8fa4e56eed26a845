"""What arms a constraint under tool_choice auto, for hosts that arm one themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .ir import Call
from .lower.free_text import after_text, escape_pattern, trigger_pattern, trigger_texts
from .lower.kinds import begins_kind, kind_of
from .lower.shape import shapes
from .spec import DialectSpec, TriggerSpec

Position = Literal["anywhere", "message_start", "after"]


@dataclass(frozen=True, slots=True)
class TriggerRule:
    """One way to arm.

    Attributes:
        texts: the texts that arm, as they are written; empty for a pattern.
        token: the text is one vocabulary token.
        pattern: the same as a regular expression without flags, searched in the answer so far; its
            one group is where the grammar takes over.
        at: where in the answer it counts; with "after", behind `after`.
    """

    texts: tuple[str, ...]
    token: bool
    pattern: str
    at: Position
    after: str = ""


@dataclass(frozen=True, slots=True)
class Trigger:
    """All the ways to arm, and the tokens a host must keep visible in the text."""

    rules: tuple[TriggerRule, ...]
    preserved: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that arm, of all rules."""
        return tuple(dict.fromkeys(t for r in self.rules for t in r.texts))

    @property
    def tokens(self) -> tuple[str, ...]:
        """Those of them that are tokens."""
        return tuple(dict.fromkeys(t for r in self.rules if r.token for t in r.texts))

    @property
    def patterns(self) -> tuple[str, ...]:
        """All rules as patterns."""
        return tuple(r.pattern for r in self.rules)

    @property
    def positions(self) -> tuple[Position, ...]:
        """The positions, rule by rule."""
        return tuple(r.at for r in self.rules)

    def to_json(self) -> dict[str, object]:
        """A plain dict."""
        return {
            "rules": [
                {
                    "texts": list(r.texts),
                    "token": r.token,
                    "pattern": r.pattern,
                    "at": r.at,
                    **({"after": r.after} if r.after else {}),
                }
                for r in self.rules
            ],
            "preserved_tokens": list(self.preserved),
        }


def make_trigger(spec: DialectSpec, calls: Sequence[Call]) -> Trigger:
    """The trigger of a dialect for these tools."""
    rules = []
    names = [c.name for c in calls]
    for trigger in spec.triggers:
        if not _has_call(spec, trigger, calls):
            continue
        texts = () if trigger.pattern is not None else trigger_texts(trigger, names)
        at: Position = "anywhere"
        after = ""
        if trigger.at == "message_start":
            at = "message_start"
        elif trigger.at.startswith("after:"):
            at, after = "after", after_text(trigger)
        pattern = _grouped(spec, trigger, names)
        rules.append(TriggerRule(texts, trigger.token is not None, pattern, at, after))
        behind = tuple(t.removeprefix(spec.prefill) for t in texts if t.startswith(spec.prefill))
        if spec.prefill and behind:
            # The prompt has said the beginning of a trigger that comes first.
            pattern = "^(" + "|".join(map(escape_pattern, behind)) + ")"
            rules.append(TriggerRule(behind, False, pattern, "message_start"))
    return Trigger(tuple(rules), tuple(t.text for t in spec.tokens))


def _has_call(spec: DialectSpec, trigger: TriggerSpec, calls: Sequence[Call]) -> bool:
    """Does one of the tools begin so? What begins only raw bodies arms for tools that have one."""
    kinds = [k for k in spec.tool_kinds.values() if begins_kind(trigger, k)]
    if not kinds or any(kind_of(spec, c) in kinds for c in calls):
        return True
    text = trigger.text or trigger.token or ""
    return any(s.begins_with(text) for s in shapes(spec) if s.constrain)


def _grouped(spec: DialectSpec, trigger: TriggerSpec, names: Sequence[str]) -> str:
    """The trigger's pattern with one group around what the grammar reads."""
    whole = trigger_pattern(spec, trigger, names)
    if trigger.at.startswith("after:"):
        before = escape_pattern(after_text(trigger))
        return f"{before}({whole.removeprefix(before)})"
    if whole.startswith("^"):
        return f"^({whole[1:]})"
    if whole.startswith(r"\b"):
        return rf"\b({whole[2:]})"
    return f"({whole})"
