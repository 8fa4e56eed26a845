"""What llama.cpp's server is sent, beside what the dialect says."""

from __future__ import annotations

from typing import Final

from .compiler.trigger import Trigger

PATTERN: Final = 2
"""The server's number for a trigger that is a regular expression, searched in the answer so far;
the grammar takes over at its group. A number that it does not know ends its process.
Source: `common_grammar_trigger_type` in llama.cpp's common/common.h."""


def grammar_triggers(trigger: Trigger) -> list[dict[str, object]]:
    """What arms a lazy grammar, as the server's field `grammar_triggers` has it."""
    return [{"type": PATTERN, "value": pattern} for pattern in trigger.patterns]
