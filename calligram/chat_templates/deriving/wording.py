"""The text of one value, cut out of a turn whose call has one argument."""

from __future__ import annotations

import os.path
from dataclasses import dataclass
from typing import Any

from .members import Members, filled
from .notes import Notes
from .probe import KEYS, NUMBER, VALUES, Probe

KEY = KEYS[0]


@dataclass(frozen=True, slots=True)
class Worded:
    """A value as it is written, and what its element says of its type."""

    text: str
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Wording:
    """What stands around the value of an argument, whatever its type.

    Attributes:
        lead: from the argument's beginning to the type, or to the value if no type is said.
        joint: between type and value; None: no type is said.
        rest: behind the value.
        quotes: what strings have around them, where other values have nothing.
        types: for strings and numbers what is said in between.
    """

    around: Members
    lead: str
    joint: str | None
    rest: str
    quotes: tuple[str, str]

    def param(self) -> str:
        """The template of one argument."""
        middle = "{value}" if self.joint is None else "{type}" + self.joint + "{value}"
        return self.lead.replace(KEY, "{key}") + middle + self.rest.replace(KEY, "{key}")

    def read(self, text: str | None) -> Worded | None:
        """The value in the text of a turn, None if the argument is not there."""
        argument = _argument(self.around, text)
        if argument is None or not argument.startswith(self.lead):
            return None
        if not argument.endswith(self.rest):
            return None
        inner = argument[len(self.lead) : len(argument) - len(self.rest)]
        if self.joint is None:
            return Worded(inner)
        kind, joint, value = inner.partition(self.joint)
        return Worded(value, kind) if joint else None

    def of(self, probe: Probe, value: Any) -> Worded | None:
        """How a value is written, None if the template does not show it."""
        return self.read(probe.text({KEY: value}))


def wording(probe: Probe, around: Members, notes: Notes) -> Wording | None:
    """What strings and numbers have in common, None if that is nothing."""
    string = filled(around.inner, {"key": KEY, "value": VALUES[0]})
    argument = around.head + string + around.tail
    number = _argument(around, probe.text({KEY: NUMBER}))
    spelled = str(NUMBER)
    if number is None or number.count(spelled) != 1:
        notes.miss("/args/param", "a number is written in another way than a string")
        return None
    lead_s, _, rest_s = argument.partition(VALUES[0])
    lead_n, _, rest_n = number.partition(spelled)
    if lead_s.startswith(lead_n) and rest_s.endswith(rest_n):
        quotes = lead_s[len(lead_n) :], rest_s[: len(rest_s) - len(rest_n)]
        return Wording(around, lead_n, None, rest_n, quotes)
    lead = os.path.commonprefix([lead_s, lead_n])
    while lead and lead[-1].isalnum():
        lead = lead[:-1]
    joint = os.path.commonprefix([lead_s[len(lead) :][::-1], lead_n[len(lead) :][::-1]])[::-1]
    while joint and joint[0].isalnum():
        joint = joint[1:]
    if KEY not in lead or not joint or rest_s != rest_n:
        notes.miss("/args/type_attr", "strings and numbers have different texts around them")
        return None
    return Wording(around, lead, joint, rest_n, ("", ""))


def _argument(around: Members, text: str | None) -> str | None:
    """The text of the only argument."""
    before, behind = around.before + around.opener, around.closer + around.behind
    if text is None or not text.startswith(before) or not text.endswith(behind):
        return None
    if len(text) < len(before) + len(behind):
        return None
    return text[len(before) : len(text) - len(behind)]
