"""What the lint lets pass and what it warns of; its errors are in tests/bad_specs."""

from __future__ import annotations

import pytest

from calligram.compiler.lint import lint
from calligram.compiler.regex_check import regex_problem
from calligram.compiler.spec_loader import load_shipped, load_spec_text, shipped_ids

HERMES = "id: x\nextends: hermes-json\n"
CODER = "id: x\nextends: qwen3-coder-xml\n"
PYTHONIC = "id: x\nextends: lfm2-pythonic\n"


@pytest.mark.parametrize("dialect", shipped_ids())
def test_shipped_specs_are_clean(dialect: str) -> None:
    assert list(map(str, lint(load_shipped(dialect)))) == []
    assert load_shipped(dialect).warnings == ()


@pytest.mark.parametrize(
    "text",
    [
        HERMES + "calls: {max: 1, separator: x}\n",
        HERMES + 'triggers: [{text: "<tool_call>\\n{\\"name\\": "}]\n',
        HERMES + 'triggers: [{text: "\\n<tool_call>"}]\n',
        HERMES + 'triggers: [{text: "<tool_call>\\n{\\"name\\": \\"{name}\\"", per_tool: true}]\n',
        HERMES + 'triggers: [{token: "<tool_call>", at: "after: </think>"}]\n',
        HERMES + 'triggers: [{pattern: "<tool_call>[\\\\s(?=]*", not: ["x"]}]\n',
        HERMES + 'call: "<tool_call>\\n{name} {name} {args}\\n</tool_call>"\n',
        PYTHONIC + 'call: "{name} {args}"\ncalls: {max: 1, separator: ""}\n',
        PYTHONIC + 'args: {string: {open: "«", close: "»", escape: none, alternatives: []}}\n',
        CODER + 'args: {param: "<p={key}>{value}", separator: "\\n", string: {close: "</p>"}}\n',
        CODER + 'args: {param: "{key}={value}</p>", open: "<a>", close: "</a>"}\n',
    ],
)
def test_clean(text: str) -> None:
    assert list(map(str, lint(load_spec_text(text)))) == []


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (HERMES + 'tokens: ["<toolcall>"]\n', ["token-unused"]),
        (HERMES + 'args: {param: "{key}{value}", separator: x}\n', ["args-unused-key"] * 2),
        (HERMES + "args: {string: {escape: none}}\n", ["args-unused-key"]),
        (HERMES + "call_id: {kind: counter}\n", ["call-id-unused"]),
        (HERMES + 'lead_in: "{word}"\ncall: "<tool_call>\\n{word}{name} {args}</tool_call>"\n',
         ["unknown-hole"]),
        (HERMES + 'call: "<tool_call>\\n{name}-{args}</tool_call>"\n', ["name-boundary"]),
        (CODER + "args: {type_attr: {default: x}}\n", ["type-attr-unused"]),
        (CODER + 'args: {string: {close: "end"}}\n', ["closer-common"]),
        (HERMES + 'accept: [{constrain: true, call: "<c>{name} {args}</c>"}]\n',
         ["shape-without-trigger"]),
        (HERMES + 'args: {literals: {"null": ["null", None]}}\n', ["args-unused-key"]),
        (PYTHONIC + "args: {containers: json}\n", ["args-unused-key", *["literals-not-json"] * 3]),
        (PYTHONIC + "args: {containers: json, string: {escape: json, alternatives: []}}\n",
         ["literals-not-json"] * 3),
    ],
)  # fmt: skip
def test_warnings_do_not_stop_loading(text: str, codes: list[str]) -> None:
    found = lint(load_spec_text(text))
    assert [p.code for p in found] == codes
    assert {p.severity for p in found} == {"warning"}


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "[a-zA-Z0-9]{9}",
        "a|b",
        r"\(?=x",
        "[(?=]",
        "[](?!]",
        r"[^](?<!]",
        r"\\1x",
        "(?:a)(?P<n>b)",
    ],
)
def test_usable_patterns(pattern: str) -> None:
    assert regex_problem(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=a)", "look-around at offset 0"),
        ("a(?!b)", "look-around at offset 1"),
        ("(?<=a)b", "look-around at offset 0"),
        ("[a](?<!a)", "look-around at offset 3"),
        (r"(a)\1", "back reference at offset 3"),
        ("(?P<n>a)(?P=n)", "back reference at offset 8"),
        ("(a)?(?(1)b|c)", "back reference at offset 4"),
        ("(a", "offset 0"),
        ("[a", "offset 0"),
        ("*a", "offset 0"),
        ("a{3,1}", "offset 2"),
        ("\\", "offset 0"),
        ("(" * 2000, "longer than"),
        ("(" * 499 + ")" * 499, None),
        ("a{99999999999999}", "counts too high"),
    ],
)
def test_unusable_patterns(pattern: str, reason: str | None) -> None:
    found = regex_problem(pattern)
    if reason is not None:
        assert found is not None and reason in found
