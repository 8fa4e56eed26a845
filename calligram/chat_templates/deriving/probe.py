"""Asking a template: turns with marked words in them, rendered."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...compiler.lower.arguments import json_type
from ...compiler.origin import Origin
from ..chat_template import ChatTemplate
from ..chat_template_error import ChatTemplateError
from ..explain import with_end
from ..messages import USER, Call, Tool
from ..turn import TURN_MARKS, Turn, assistant_turn, reasoning_forms

NAMES: Final = ("qtoolone", "qtooltwo", "qtoolthree")
IDS: Final = ("qidone111", "qidtwo222", "qidtri333")
"""Nine letters and digits: the strictest form of an id that a template is known to want."""
KEYS: Final = ("qzkeyone", "qakeytwo")
"""The first one sorts behind the second."""
VALUES: Final = ("qvalueone", "qvaluetwo")
NUMBER: Final = 7315
SAID: Final = "Qsaidwords"
THOUGHT: Final = "Qthoughtwords"
SECONDS: Final = 60.0
"""The longest that all renders together may take."""
CHARACTERS: Final = 20_000
"""The longest turn that is looked at."""


class Probe:
    """One template and what it writes.

    Attributes:
        template: with a mark for its `eos_token` where that is not known.
        errors: what the template said when it did not render, newest last.

    Raises:
        ChatTemplateError: the template shows no calls, takes too long, or has a word of its own by
            which the probe tells what comes from where.
    """

    def __init__(self, template: ChatTemplate, seconds: float = SECONDS) -> None:
        marks = (*NAMES, *IDS, *KEYS, *VALUES, SAID, THOUGHT, *TURN_MARKS)
        own = next((word for word in marks if word in template.source), None)
        if own is not None:
            raise ChatTemplateError.at(
                "template-underivable",
                f"the template has the word {own!r} in it, which marks what a turn says",
                Origin(file=template.place),
                f"write another word for {own!r} into a copy of the template, and derive from that",
            )
        self._until = time.monotonic() + seconds
        self._seconds = seconds
        self.template = with_end(template)
        self.forms = reasoning_forms(self.template)
        self.errors: list[str] = []

    def turn(
        self,
        calls: Sequence[Call],
        content: str | None = None,
        reasoning: str | None = None,
    ) -> Turn | None:
        """The turn with these calls, None if the template refuses it.

        Raises:
            ChatTemplateError: `template-limit`.
        """
        self.check_time()
        tools = [_tool(call) for call in calls]
        try:
            turn = assistant_turn(
                self.template, calls, content, reasoning, tools or None, self.forms
            )
        except ChatTemplateError as error:
            if any(p.code in ("template-limit", "template-syntax") for p in error.problems):
                raise
            self.errors.append(error.problems[0].message)
            return None
        if len(turn.text) > CHARACTERS:
            raise self._limit(f"a turn of one short call has more than {CHARACTERS:,} characters")
        return turn

    def text(self, arguments: Mapping[str, Any]) -> str | None:
        """The turn with one call of the first name, None if it is refused or not shown."""
        turn = self.turn([call(0, arguments)])
        return turn.text if turn is not None and NAMES[0] in turn.text else None

    def second_turn(self) -> str | None:
        """A turn with one call, behind a turn with one call and its result."""
        self.check_time()
        calls = [call(n, {KEYS[0]: VALUES[0]}) for n in range(2)]
        messages = [
            self.forms.user(),
            self.forms.assistant(calls[:1], None, None),
            {"role": "tool", "tool_call_id": IDS[0], "name": NAMES[0], "content": USER},
            self.forms.assistant(calls[1:], None, None),
        ]
        try:
            context = self.forms.context([_tool(c) for c in calls])
            text = self.template.render(messages, **context)
        except ChatTemplateError as error:
            self.errors.append(error.problems[0].message)
            return None
        return text[text.rfind(USER) :][:CHARACTERS] if NAMES[1] in text else None

    def check_time(self) -> None:
        """Raise ChatTemplateError (`template-limit`) if the time for all renders is up."""
        if time.monotonic() > self._until:
            raise self._limit(f"its renders take more than {self._seconds:g} seconds together")

    def _limit(self, message: str) -> ChatTemplateError:
        origin = Origin(file=self.template.place)
        return ChatTemplateError.at("template-limit", f"the template: {message}", origin)


def call(number: int, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A call with a marked name and id."""
    return {"name": NAMES[number], "arguments": arguments, "id": IDS[number]}


def _tool(call: Call) -> Tool:
    arguments: Mapping[str, Any] = call["arguments"]
    properties = {
        name: {"type": json_type(value), "description": "A value."}
        for name, value in arguments.items()
    }
    parameters = {"type": "object", "properties": properties, "required": list(arguments)}
    function = {"name": call["name"], "description": "A tool.", "parameters": parameters}
    return {"type": "function", "function": function}
