"""The error of this package, and what to do next where nothing more particular is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from ..compiler.errors import CalligramError
from ..compiler.origin import Problem

NEXT: Final[Mapping[str, str]] = {
    "template-failed": "the template may need variables or extensions of its own: look at what it "
    "does there, or use the model's template without them",
    "template-format": "name a .jinja file, a GGUF, a tokenizer_config.json or the folder of one",
    "template-limit": "use a shorter template that writes the same calls",
    "template-missing": "the template may be a file of its own on the model's page, as "
    "chat_template.jinja; `calligram dialects find NAME` goes by the model's name",
    "template-no-calls": "the model may have a second template, for tools; `calligram dialects "
    "find NAME` goes by the model's name; without either, write a spec of what the model writes",
    "template-raised": "the template refuses every form of a turn with calls: use the one that the "
    "model has for tools, or `calligram dialects find NAME`",
    "template-syntax": "mend the template at that place: nothing is rendered before",
    "template-underivable": "write the spec by hand, as the guide on adding a dialect says; "
    "`calligram dialects detect FILE` names the dialects that come nearest, to start from",
    "template-unreadable": "name a .jinja file, a GGUF, a tokenizer_config.json or the folder of "
    "one",
}
"""By code."""


class ChatTemplateError(CalligramError):
    """A chat template that cannot be read, or does not render. Every problem has a hint."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        super().__init__(p if p.hint else replace(p, hint=NEXT.get(p.code)) for p in problems)
