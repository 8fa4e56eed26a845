"""The turns of a comparison as a corpus file, in the format of tests/corpus_format.py."""

from __future__ import annotations

import json
from typing import Any

from ..compiler.spec import DialectSpec
from .checking import Checked, SpecCheck


def corpus_text(found: SpecCheck, spec: DialectSpec) -> str:
    """One row a turn that the parser reads back; one that the grammar refuses is `:read`."""
    rows = [
        f"# Rendered by the chat template {found.template} for {spec.id}.\n"
        "# Read it before you keep it: it is what the template does, not what is right.\n"
    ]
    rows += [_row(c) for c in found.checked if c.read and (c.accepted or c.conversation.calls)]
    return "\n".join(rows)


def _row(checked: Checked) -> str:
    conversation = checked.conversation
    expected: dict[str, Any] = {
        "calls": [{"name": c["name"], "arguments": c["arguments"]} for c in conversation.calls]
    }
    for name in ("content", "reasoning"):
        if (text := getattr(conversation, name)) is not None:
            expected[name] = text
    attributes = [] if checked.accepted else [":read"]
    if not conversation.calls or conversation.content is not None:
        attributes.append(":auto")
    plain = list(expected) == ["calls"]
    tree = json.dumps(expected["calls"] if plain else expected, ensure_ascii=False)
    lines = [f"=== {conversation.name}", *attributes, checked.text, "---", tree, ""]
    return "\n".join(lines)
