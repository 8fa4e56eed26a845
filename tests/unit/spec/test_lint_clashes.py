"""Specs whose texts could be read in two ways are refused, each for its kind."""

from __future__ import annotations

import pytest

from calligram.compiler.errors import SpecError
from calligram.compiler.spec_loader import load_spec_text

JSON = "id: x\nargs: {notation: json}\n"


def codes(text: str) -> list[str]:
    with pytest.raises(SpecError) as caught:
        load_spec_text(text)
    return [p.code for p in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            'content: {open: "[[", close: "]]"}\ncall: "[[{name}]]{args}"\n'
            'triggers: [{text: "[["}]\n',
            "opener-clash",
        ),
        (
            'reasoning: {open: "<t", close: "</t"}\ncall: "<tool>{name}{args}"\n'
            'triggers: [{text: "<tool>"}]\n',
            "opener-clash",
        ),
        (
            'call: "<c {id}>{name}{args}<{id}>"\ncall_id: {kind: pattern, pattern: "^[0-9]$"}\n'
            'triggers: [{text: "<c "}]\n',
            "call-repeats-id",
        ),
        (
            'call: "<c>{name}{args}</c>"\ntriggers: [{text: "<c>"}]\n'
            'accept: [{constrain: true, call: "<c>{name}:{args}</c>"}]\n',
            "ambiguous-boundary",
        ),
        (
            'call: "<c>{name}{args}</c>"\ntriggers: [{text: "<c>"}]\n'
            'tool_kinds: {py: {names: [f], call: "<c>{name}{body}</c>"}}\n',
            "adjacent-holes",
        ),
        (
            f'call: "<c>{{name}}{{args}}{"z" * 1100}"\ntriggers: [{{text: "<c>"}}]\n',
            "spec-too-large",
        ),
    ],
)
def test_texts_that_clash(text: str, code: str) -> None:
    assert code in codes(JSON + text)


@pytest.mark.parametrize("closer", ["]]", "}", '"', ", ", "e"])
def test_what_json_holds_ends_no_value(closer: str) -> None:
    quoted = closer.replace('"', '\\"')
    text = (
        "id: x\n"
        f'args: {{notation: tagged, param: "<{{key}}>{{value}}{quoted}"}}\n'
        'call: "<c {name}|{args}|c>"\n'
        'triggers: [{text: "<c "}]\n'
    )
    assert "value-closer" in codes(text)


@pytest.mark.parametrize("param", ["[[arg {key}]]{value}[[/arg]]", "{{{key}}}{value}{{/}}"])
def test_keys_may_end_like_what_follows_them(param: str) -> None:
    spec = load_spec_text(
        "id: x\n"
        f'args: {{notation: tagged, param: "{param}"}}\n'
        'call: "<c {name}>{args}</c>"\n'
        'triggers: [{text: "<c "}]\n'
    )
    assert spec.spec.args.param
