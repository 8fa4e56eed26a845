"""Where plain text may stand beside calls, by the dialect's `content.with_calls`."""

from __future__ import annotations

from pathlib import Path

import pytest

import calligram
from calligram.targets import parser

CALL = '<c>{"name": "f", "arguments": {}}</c>'
TOOLS = [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]
TEXTS = {
    "alone": "Hello.",
    "before": f"Hello. {CALL}",
    "after": f"{CALL} Bye.",
    "both": f"Hello. {CALL} Bye.",
    "none": CALL,
}


def spec(folder: Path, where: str) -> str:
    path = folder / f"{where}.yaml"
    path.write_text(
        f"id: {where}\n"
        'call: "<c>{\\"name\\": {name:json}, \\"arguments\\": {args}}</c>"\n'
        f"content: {{with_calls: {where}}}\n"
        "args: {notation: json}\n"
        'triggers: [{text: "<c>"}]\n',
        encoding="utf-8",
    )
    return str(path)


@pytest.mark.parametrize(
    ("where", "accepted"),
    [
        ("before", {"alone", "before", "none"}),
        ("exclusive", {"alone", "none"}),
        ("after", {"alone", "after", "none"}),
        ("any", {"alone", "before", "after", "both", "none"}),
    ],
)
def test_text_beside_calls(where: str, accepted: set[str], tmp_path: Path) -> None:
    grammar = calligram.compile_tools(TOOLS, spec(tmp_path, where), tool_choice="auto")
    reader = parser.compile(grammar)
    assert {name for name, text in TEXTS.items() if grammar.check(text)} == accepted
    for name, text in TEXTS.items():
        result = reader.parse(text)
        assert (not result.problems) == (name in accepted)
        assert len(result.calls) == (name != "alone")
        assert result.content.split() == text.replace(CALL, "").split()


def test_none_beside_required_calls(tmp_path: Path) -> None:
    grammar = calligram.compile_tools(TOOLS, spec(tmp_path, "any"))
    assert [name for name, text in TEXTS.items() if grammar.check(text)] == ["none"]
