"""What arms the grammar under tool_choice auto."""

from __future__ import annotations

import re
from typing import Any

import pytest

import calligram
from calligram.compiler.spec_loader import load_spec_text
from calligram.compiler.trigger import Trigger

TOOLS = [
    {"name": name, "parameters": {"properties": {"a": {"type": "integer"}}}}
    for name in ("f", "get.it")
]


def trigger(dialect: Any) -> Trigger:
    return calligram.compile_tools(TOOLS, dialect, tool_choice="auto").trigger


@pytest.mark.parametrize(
    ("dialect", "texts", "tokens", "positions"),
    [
        ("deepseek-v31", ["<｜tool▁calls▁begin｜>"], True, ["anywhere"]),
        ("deepseek-v32-dsml", ["<｜DSML｜function_calls>"], False, ["anywhere"]),
        ("gemma4", ["<|tool_call>"], True, ["anywhere"]),
        ("glm45-xml", ["<tool_call>"], False, ["anywhere"]),
        ("harmony", ["<|channel|>commentary to=functions.", " to=functions."], False,
         ["anywhere", "message_start", "after"]),
        ("hermes-json", ["<tool_call>\n"], False, ["anywhere"]),
        ("kimi-k2", ["<|tool_calls_section_begin|>"], True, ["anywhere"]),
        ("lfm2-pythonic", ["<|tool_call_start|>"], True, ["anywhere"]),
        ("llama3-json", ['{"name": '], False, ["message_start"]),
        ("mistral-args", ["[TOOL_CALLS]"], True, ["anywhere"]),
        ("paren-json", ["f(", "get.it("], False, ["anywhere"]),
        ("qwen3-coder-xml", ["<tool_call>\n<function="], False, ["anywhere"]),
    ],
)  # fmt: skip
def test_triggers_of_the_shipped_dialects(
    dialect: str, texts: list[str], tokens: bool, positions: list[str]
) -> None:
    found = trigger(dialect)
    assert list(found.texts) == texts
    assert list(found.tokens) == (texts if tokens else [])
    assert list(found.positions) == positions


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_a_rendered_call_arms_at_its_beginning(dialect: str) -> None:
    grammar = calligram.compile_tools(TOOLS, dialect, tool_choice="auto")
    for name in ("f", "get.it"):
        text = grammar.render([{"name": name, "arguments": {"a": 1}}])
        armed = [m.start(1) for p in grammar.trigger.patterns if (m := re.search(p, text))]
        assert min(armed) == 0
        for pattern in grammar.trigger.patterns:
            assert re.compile(pattern).groups == 1
            assert not re.search(pattern, "Hello, <there>. f (x)")


SPEC = "id: x\ncall: '<c>{name} {args}</c>'\nargs: {notation: json}\ntriggers: ["


@pytest.mark.parametrize(
    ("written", "arms", "does_not"),
    [
        ("{text: '<c>'}", {"<c>": 0, "a<c>b": 1}, ["<c", "c>"]),
        ("{text: '<c>', at: message_start}", {"<c>x": 0}, [" <c>", "a<c>"]),
        ("{text: '<c>', at: 'after: !'}", {"a!<c>": 2}, ["<c>", "! <c>"]),
        ("{text: '<c>', not: [hat, at]}", {"<c>x": 0, "<c>ha": 0}, ["<c>hat", "<c>at"]),
        ("{pattern: '<c>[0-9]|<c>[a-z]'}", {"<c>1": 0, "!<c>f": 1}, ["<c>", "<c>F"]),
        ("{pattern: '<c>1|<c>[a-z]', at: message_start}", {"<c>f": 0}, ["!<c>f", "!<c>1"]),
        ("{pattern: '<c>1|<c>[a-z]', at: 'after: !'}", {"!<c>1": 1, "!<c>f": 1}, ["<c>1", "<c>f"]),
        ("{text: '<c>{name} ', per_tool: true}", {"<c>f ": 0, "<c>get.it ": 0}, ["<c>getXit "]),
    ],
)
def test_patterns(written: str, arms: dict[str, int], does_not: list[str]) -> None:
    (rule,) = trigger(load_spec_text(SPEC + written + "]\n").spec).rules
    for text, at in arms.items():
        found = re.search(rule.pattern, text)
        assert found is not None and found.start(1) == at, text
    for text in does_not:
        assert re.search(rule.pattern, text) is None, text


def test_a_name_alone_arms_where_a_word_begins() -> None:
    (rule,) = trigger("paren-json").rules
    for text, at in (("f(", 0), ("so f(", 3), ("(get.it(", 1)):
        found = re.search(rule.pattern, text)
        assert found is not None and found.start(1) == at, text
    for text in ("gf(", "_f(", "getXit(", "f ("):
        assert re.search(rule.pattern, text) is None, text


CODE = {"name": "python", "parameters": {"properties": {"code": {"type": "string"}}}}
KINDS = (
    SPEC + "{text: '<c>'}, {text: '<py>'}, {text: '<r>{name} ', per_tool: true}]\n"
    "accept: [{constrain: true, call: '<r>{name} {args}'}]\n"
    "tool_kinds: {py: {names: [python], call: '<py>{body}</py>'}}\n"
)


def test_what_begins_raw_bodies_alone_arms_where_a_tool_has_one() -> None:
    kinds = load_spec_text(KINDS).spec
    without = ["<c>", "<r>f ", "<r>get.it "]
    assert list(trigger(kinds).texts) == without
    grammar = calligram.compile_tools([*TOOLS, CODE], kinds, tool_choice="auto")
    assert list(grammar.trigger.texts) == ["<c>", "<py>", *without[1:], "<r>python "]


def test_a_trigger_whose_beginning_the_prompt_has_said() -> None:
    arrows = load_spec_text(
        "id: x\nprefill: '>>>'\ncall: \">>>{name}\\n{args}\"\nargs: {notation: json}\n"
        'triggers: [{text: ">>>{name}\\n", per_tool: true}]\n'
    ).spec
    grammar = calligram.compile_tools(TOOLS, arrows, tool_choice="auto")
    anywhere, first = grammar.trigger.rules
    assert (anywhere.texts, anywhere.at) == ((">>>f\n", ">>>get.it\n"), "anywhere")
    assert (first.texts, first.at) == (("f\n", "get.it\n"), "message_start")
    for text, at in (("get.it\n", 0), ("f\n{}", 0)):
        found = re.search(first.pattern, text)
        assert found is not None and found.start(1) == at
    for text in ("g\nf\n", "getXit\n", "f {}"):
        assert re.search(first.pattern, text) is None


def test_as_json() -> None:
    data = trigger("harmony").to_json()
    assert data["preserved_tokens"] == [
        "<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>"
    ]  # fmt: skip
    rules: Any = data["rules"]
    assert rules[2] == {
        "texts": [" to=functions."],
        "token": False,
        "pattern": r"<\|start\|>assistant( to=functions\.)",
        "at": "after",
        "after": "<|start|>assistant",
    }
    assert "after" not in rules[0]
