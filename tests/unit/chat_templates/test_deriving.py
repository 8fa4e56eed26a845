"""Specs derived from templates of our own say what the templates write, and what they do not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calligram import compile_tools
from calligram.chat_templates import ChatTemplate
from calligram.chat_templates.checking import check_spec
from calligram.chat_templates.deriving import Derived, derive_spec, dialect_id, known_tokens
from calligram.compiler.spec_loader import load_spec_text
from calligram.targets import parser
from tests.gguf_writing import CONTROL, NORMAL, USER_DEFINED, write_gguf
from tests.own_templates import NAMES, own_spec, own_template
from tests.template_pieces import TURN, each, json_call, members, template


def derived(chat: ChatTemplate, **options: Any) -> Derived:
    found = derive_spec(chat, **options)
    assert found.loaded is not None, [str(p) for p in found.problems]
    return found


def unread(found: Derived) -> list[str]:
    return [v.name for v in found.verified if v.status in ("refused", "misread")]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_derived_fits(name: str) -> None:
    found = derived(own_template(name), dialect=name)
    assert found.loaded is not None
    compared = check_spec(found.loaded, own_template(name))
    assert [str(d) for d in compared.differences] == []
    assert compared.ok
    own, got = own_spec(name).spec, found.loaded.spec
    for field in ("call", "section", "calls", "lead_in", "json_layout", "turn_end", "prefill"):
        assert getattr(got, field) == getattr(own, field), field
    assert got.args.notation == own.args.notation
    assert got.args.param == own.args.param
    assert got.args.type_attr == own.args.type_attr
    assert got.args.key_order == own.args.key_order


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_the_spec(name: str) -> None:
    found = derived(own_template(name))
    assert found.loaded is not None
    assert load_spec_text(found.yaml).spec == found.loaded.spec.model_copy(
        update={"verified": found.data["verified"]}
    )
    lines = found.yaml.splitlines()
    for key in ("call", "args", "triggers"):
        place = next(n for n, line in enumerate(lines) if line.startswith(f"{key}:"))
        assert lines[place - 1].startswith("# ")


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "json": (
        each(json_call(), "; "),
        {
            "call": '<c>{"name": {name:json}, "args": {args}}</c>',
            "calls": {"separator": "; "},
            "args": {"notation": "json"},
            "triggers": [{"token": "<c>"}],
        },
    ),
    "compact json": (
        each(json_call("args | tojson(separators=[',', ':'])")),
        {"json": {"separators": [",", ":"]}},
    ),
    "ascii json": (each(json_call("args | tojson(ensure_ascii=true)")), {"json": {"ascii": True}}),
    "indented json": (
        each(json_call("args | tojson(indent=2)")),
        {"json": {"indent": 2, "whitespace": 64}},
    ),
    "sorted json": (
        each(json_call("args | tojson(sort_keys=true)")),
        {"args": {"notation": "json", "key_order": "sorted"}},
    ),
    "nothing for no arguments": (
        each("{{ '<c>' + f.name + '(' }}{{ args | tojson if args else '' }}{{ ')</c>' }}"),
        {"call": "<c>{name}({args})</c>", "args": {"notation": "json", "empty": ""}},
    ),
    "one array": (
        "{{ '[RUN][' }}"
        + each(json_call().replace("<c>", "").replace("</c>", ""), ", ")
        + "{{ ']' }}",
        {
            "section": {"open": "[RUN][", "close": "]"},
            "calls": {"separator": ", "},
            "call": '{"name": {name:json}, "args": {args}}',
        },
    ),
    "numbered before the name": (
        each("{{ '<n' + (loop.index0 + 3) | string + ' ' + f.name + '>' }}{{ args | tojson }}"),
        {"call": "<n{index} {name}>{args}", "call_id": {"kind": "counter", "base": 3}},
    ),
    "numbered behind the name": (
        each("{{ '<c>fn.' + f.name + ':' + loop.index | string + '|' }}"
             "{{ args | tojson }}{{ '</c>' }}"),
        {"call": "<c>fn.{name}:{index}|{args}</c>", "call_id": {"kind": "counter", "base": 1}},
    ),
    "numbered behind the call": (
        each("{{ '<c ' + f.name + '>' }}{{ args | tojson }}{{ '</' + loop.index | string + '>' }}"),
        {"call": "<c {name}>{args}</{index}>", "call_id": {"kind": "counter", "base": 1}},
    ),
    "ids": (
        each("{{ '<c>' + c.id + '<n>' + f.name + '<a>' }}{{ args | tojson }}{{ '</c>' }}"),
        {
            "call": "<c>{id}<n>{name}<a>{args}</c>",
            "call_id": {"kind": "pattern", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
        },
    ),
    "the name twice": (
        each("{{ '<to ' + f.name + '><run ' + f.name + '>' }}{{ args | tojson }}{{ '</run>' }}"),
        {"call": "<to {name}><run {name}>{args}</run>"},
    ),
    "tags": (
        each("{{ '<f ' + f.name + '>\\n' }}"
             + members("{{ '<p ' + k + '>\\n' }}{{ v if v is string else v | tojson }}"
                       "{{ '\\n</p>\\n' }}")
             + "{{ '</f>' }}", "\\n"),
        {
            "call": "<f {name}>\n{args}</f>",
            "calls": {"separator": "\n"},
            "args": {"notation": "tagged", "param": "<p {key}>\n{value}\n</p>\n"},
        },
    ),
    "tags with types": (
        each("{{ '<f ' + f.name + '>' }}"
             + members("{% set t = 'str' if v is string else 'nil' if v is none else 'bool' if v is"
                       " boolean else 'num' if v is number else 'obj' if v is mapping else 'arr' %}"
                       "{{ '<p k=\"' + k + '\" t=\"' + t + '\">' }}"
                       "{{ v if v is string else v | tojson }}{{ '</p>' }}")
             + "{{ '</f>' }}"),
        {
            "args": {
                "notation": "tagged",
                "param": '<p k="{key}" t="{type}">{value}</p>',
                "type_attr": {
                    "string": "str", "number": "num", "boolean": "bool", "null": "nil",
                    "array": "arr", "object": "obj",
                },
            }
        },
    ),
    "tags with a line for no arguments": (
        each("{{ '<f ' + f.name + '>\\n' }}{{ '-\\n' if not args }}"
             + members("{{ '<p ' + k + '>' }}{{ v if v is string else v | tojson }}{{ '</p>\\n' }}")
             + "{{ '</f>' }}"),
        {"args": {"notation": "tagged", "param": "<p {key}>{value}</p>\n", "empty": "-\n"}},
    ),
    "keywords as json": (
        each("{{ f.name + '(' }}" + members("{{ k + '=' }}{{ v | tojson }}", ", ")
             + "{{ ')' }}", "\\n"),
        {
            "call": "{name}({args})",
            "args": {
                "notation": "kwargs",
                "separator": ", ",
                "param": "{key}={value}",
                "string": {"open": '"', "close": '"', "escape": "json"},
                "containers": "json",
            },
            "triggers": [{"text": "{name}(", "per_tool": True, "at": "message_start"}],
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_parts(name: str) -> None:
    calls, wanted = CASES[name]
    found = derived(template(calls))
    assert {key: found.data.get(key) for key in wanted} == wanted
    # Where no marker begins a call, none is found behind prose.
    marked = all(t.get("at") is None for t in found.data["triggers"])
    assert unread(found) == ([] if marked else ["content before the call"])
    assert sum(v.status == "read" for v in found.verified) >= 15
    assert found.data["turn_end"] == {"tokens": ["<|end|>"]}


KEYWORDS = "{{ '[' + f.name + '(' }}" + members("{{ k + '=' }}WRITTEN", ", ") + "{{ ')]' }}"


@pytest.mark.parametrize(
    ("written", "literals", "containers", "quirks"),
    [
        ("{{ v | tojson }}", None, "json", set[str]()),
        # Python's words beside JSON: a mistake, and read.
        ("{{ v if v is boolean or v is none else v | tojson }}",
         {"null": ["null", "None"], "true": ["true", "True"], "false": ["false", "False"]},
         "json", {"/args/literals"}),
        # JSON beside Python's strings: in JSON no such string can be read.
        ("{{ \"'\" + v + \"'\" if v is string else v | tojson }}",
         {"null": ["null", "None"], "true": ["true", "True"], "false": ["false", "False"]},
         "python", {"/args/string/escape", "/args/containers"}),
    ],
)  # fmt: skip
def test_keywords_whose_containers_are_json(
    written: str, literals: Any, containers: str, quirks: set[str]
) -> None:
    found = derived(template(each(KEYWORDS.replace("WRITTEN", written), "\\n")))
    args = found.data["args"]
    assert (args.get("literals"), args["containers"]) == (literals, containers)
    assert {f.field for f in found.found if f.quirk} == quirks
    misread = {v.name for v in found.verified if v.status == "misread"}
    assert misread - {"apostrophe"} == {"content before the call"}


TREE = """{%- macro written(v) -%}
{%- if v is mapping -%}
{%- for k, w in v.items() %}{{ '@<' + k + '>' }}{{ written(w) }}{{ '@</' + k + '>' }}{% endfor -%}
{%- elif v is sequence and v is not string -%}
{%- for w in v %}{{ '@<li>' }}{{ written(w) }}{{ '@</li>' }}{% endfor -%}
{%- else -%}{{ v if v is string else v | tojson }}{%- endif -%}
{%- endmacro -%}"""


def test_a_tree() -> None:
    calls = each("{{ '@<do ' + f.name + '>' }}{{ written(args) }}{{ '@</do>' }}")
    found = derive_spec(template(calls, whole=TREE + TURN))
    assert found.data["args"] == {
        "notation": "tree", "param": "@<{key}>{value}@</{key}>", "item": "@<li>{value}@</li>",
    }  # fmt: skip
    assert found.data["call"] == "@<do {name}>{args}@</do>"


def test_a_tree_with_types() -> None:
    written = TREE.replace("'@<' + k + '>'", "'@<' + k + ' ' + kind(w) + '>'")
    written = written.replace("'@<li>'", "'@<li ' + kind(w) + '>'")
    kind = (
        "{%- macro kind(v) -%}{{ 'raw' if v is string else 'map' if v is mapping else "
        "'list' if v is sequence else 'json' }}{%- endmacro -%}"
    )
    calls = each("{{ '@<do ' + f.name + '>' }}{{ written(args) }}{{ '@</do>' }}")
    found = derive_spec(template(calls, whole=kind + written + TURN))
    assert found.data["args"] == {
        "notation": "tree",
        "param": "@<{key} {type}>{value}@</{key}>",
        "type_attr": {"string": "raw", "array": "list", "object": "map", "default": "json"},
        "item": "@<li {type}>{value}@</li>",
    }


def test_mistakes_of_history_are_not_enforced() -> None:
    calls = each(
        "{{ '<f ' + f.name + '>' }}"
        + members("{{ '<p ' + k + '>' }}{{ v }}{{ '</p>' }}")
        + "{{ '</f>' }}"
    )
    found = derived(template(calls))
    assert found.data["args"]["literals"] == {
        "null": ["null", "None"], "true": ["true", "True"], "false": ["false", "False"],
    }  # fmt: skip
    assert found.data["history"] == [{"args": {"containers": "python"}}]
    assert {f.field for f in found.found if f.quirk} == {"/args/literals", "/args/containers"}
    # The parser reads the words, the grammar does not let them be written.
    refused = {v.name for v in found.verified if v.status == "refused"}
    assert {"true", "false", "null"} <= refused
    assert "# Checked, null: the grammar refuses it" in found.yaml


def test_an_object_printed_as_python_does() -> None:
    chat = template(each("{{ '<c ' + f.name + '>' }}{{ args }}{{ '</c>' }}"))
    # Without the text form, which such a template prints as it is.
    refusing = replace(
        chat, source="{%- set m = messages[-1] %}{%- if m.tool_calls and"
        " m.tool_calls[0].function.arguments is string %}{{ raise_exception(1) }}{% endif -%}"
        + chat.source,
    )  # fmt: skip
    found = derived(refusing)
    assert found.data["args"] == {"notation": "json"}
    assert [f.field for f in found.found if f.quirk] == ["/args"]


def test_quotes_around_every_value() -> None:
    calls = each(
        "{{ f.name + '(' }}" + members("{{ k + '=\"' }}{{ v }}{{ '\"' }}", ", ") + "{{ ')' }}"
    )
    found = derived(template(calls))
    assert found.data["args"]["notation"] == "kwargs"
    assert found.data["args"]["param"] == "{key}={value}"
    assert "/args/string" in {f.field for f in found.found if f.quirk}


def test_messages_to_tools_and_a_prompt_that_has_begun() -> None:
    whole = """{%- for m in messages -%}
{%- if m.role == 'assistant' -%}
{{ '<|to|>' }}{{ 'all:' + m.content if m.content }}{{ '<|to|>' if m.content and m.tool_calls }}
{%- for c in m.tool_calls or [] -%}
{{ '' if loop.first else '<|to|>' }}{{ c.function.name + ':' }}{{ c.function.arguments | tojson }}
{%- endfor %}{{ '<|stop|>' }}
{%- else %}{{ '<|from|>' + m.role + ':' + m.content }}{% endif -%}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|to|>' }}{% endif -%}"""
    found = derived(template("", whole=whole))
    assert found.data["prefill"] == "<|to|>"
    assert found.data["call"] == "<|to|>{name}:{args}"
    assert found.data["content"] == {"open": "<|to|>all:"}
    assert unread(found) == []


BLOCKS = {
    "tags": (
        "{{ '<why>\\n' + m.reasoning + '\\n</why>\\n\\n' if m.reasoning }}",
        {"open": "<why>", "close": "</why>", "after": "\n\n"},
    ),
    "markers with words between": (
        "{{ '<|open|>why<|is|>' + m.reasoning + '<|shut|>why<|is|>' if m.reasoning }}",
        {"open": "<|open|>why<|is|>", "close": "<|shut|>why<|is|>"},
    ),
    "a message of its own": (
        "{{ '<|to|>self:' + m.reasoning + '<|over|><|assistant|>' if m.reasoning }}",
        {"open": "<|to|>self:", "close": "<|over|>", "after": "<|assistant|>"},
    ),
    "sentences": (
        "{{ 'Let me think: ' + m.reasoning + '\\nSo much for that.\\n' if m.reasoning }}",
        {"open": "Let me think: ", "close": "So much for that.", "after": "\n"},
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_reasoning(name: str) -> None:
    head, wanted = BLOCKS[name]
    found = derived(template(each(json_call()), head))
    assert found.data["reasoning"] == wanted
    assert unread(found) == []
    shown = {v.name: v.status for v in found.verified}
    assert shown["reasoning before the call"] == shown["reasoning and content"] == "read"


def test_reasoning_that_the_prompt_opens() -> None:
    head = "{% if m.role == 'assistant' %}{{ (m.reasoning or '') + '</why>' }}{% endif %}"
    chat = template(each(json_call()), head)
    opening = replace(
        chat, source=chat.source.replace("{{ '<|assistant|>' }}", "{{ '<|assistant|><why>' }}")
    )
    inside = opening.source.replace(
        "{{ '<|' + m.role + '|>' }}",
        "{{ '<|' + m.role + '|>' + ('<why>' if m.role == 'assistant' else '') }}",
    )  # noqa: E501
    found = derived(replace(opening, source=inside))
    assert found.data["reasoning"] == {"open": "<why>", "close": "</why>"}
    assert unread(found) == []


def test_content_behind_the_calls() -> None:
    source = TURN.replace("{{ m.content or '' }}", "").replace(
        "{{ '<|end|>' }}", "{{ (m.content or '') + '<|end|>' }}"
    )
    found = derived(template(each(json_call()), whole=source))
    assert found.data["content"] == {"with_calls": "after"}


def test_what_is_not_found_is_said() -> None:
    source = TURN.replace("{{ '<|end|>' }}", "").replace(
        "{{ m.content or '' }}", "{{ m.content or '' if not m.tool_calls }}"
    )
    found = derived(template(each(json_call()), whole=source))
    missing = {u.field for u in found.unknown}
    assert missing == {"/turn_end/tokens", "/content/with_calls"}
    assert "# Not found: turn_end/tokens: " in found.yaml
    document = json.loads(json.dumps(found.to_json()))
    assert {u["field"] for u in document["unknown"]} == missing
    assert document["ok"] is True


def test_an_end_token_that_is_not_known() -> None:
    source = TURN.replace("'<|end|>'", "eos_token")
    found = derived(template(each(json_call()), whole=source))
    assert "turn_end" not in found.data
    assert any("eos_token" in u.why for u in found.unknown)
    chat = replace(template(each(json_call()), whole=source), special={"eos_token": "</s>"})
    assert derived(chat).data["turn_end"] == {"tokens": ["</s>"]}


def test_one_call_a_turn() -> None:
    lost = derived(template(each(json_call()).replace("in calls", "in calls[:1]")))
    assert lost.data["calls"] == {"max": 1}
    raising = "{% if calls | length > 1 %}{{ raise_exception('one at a time') }}{% endif %}"
    refused = derived(template(raising + each(json_call())))
    assert refused.data["calls"] == {"max": 1}
    assert any("one at a time" in f.why for f in refused.found)
    assert (
        lost.data["call"] == refused.data["call"] == '<c>{"name": {name:json}, "args": {args}}</c>'
    )


def test_a_turn_that_closes_otherwise_is_read_only() -> None:
    calls = "{{ '<s>' }}" + each(json_call()) + "{{ '</s>' if calls | length > 1 }}"
    found = derived(template(calls))
    assert found.data["section"] == {"open": "<s>", "close": "</s>"}
    assert found.data["accept"] == [{"section": {"open": "<s>"}, "calls": {"max": 1}}]
    assert {v.status for v in found.verified if v.name == "one call"} == {"refused"}


def test_tools_it_has_not_seen() -> None:
    """The outside view: a grammar for other tools takes what the template writes for them."""
    chat = template(CASES["tags"][0])
    loaded = derived(chat).loaded
    assert loaded is not None
    schema = {"type": "object", "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}}
    tools = [{"type": "function", "function": {"name": "look.up-2", "parameters": schema}}]
    grammar = compile_tools(tools, loaded.spec, key_order="any")
    calls = [
        {"type": "function", "function": {"name": "look.up-2", "arguments": a}}
        for a in ({"n": 12, "q": "a <b> c\n"}, {})
    ]
    text = chat.render([{"role": "assistant", "tool_calls": calls}]).removeprefix("<|assistant|>")
    assert grammar.check(text).accepted
    result = parser.compile(grammar).parse(text)
    assert [c["arguments"] for c in result.calls] == [{"n": 12, "q": "a <b> c\n"}, {}]


def test_known_tokens(tmp_path: Path) -> None:
    vocabulary = [("<c>", CONTROL), ("c>", USER_DEFINED), ("name", NORMAL), ("<|end|>", CONTROL)]
    path = write_gguf(tmp_path / "a.gguf", "gpt2", vocabulary)
    known = known_tokens(path)
    assert known == ["<c>", "c>", "<|end|>"]
    found = derived(template(each(json_call())), tokens=known)
    assert found.data["tokens"] == ["<c>", "c>"]  # "c>" stands in "</c>" as well.
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"added_tokens_decoder": {"7": {"content": "<c>"}, "8": 3}}))
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": [{"content": "</c>"}]}))
    assert known_tokens(config) == known_tokens(tmp_path) == ["<c>", "</c>"]
    assert derived(template(each(json_call())), tokens=["</c>"]).data["tokens"] == ["</c>"]
    jinja = tmp_path / "a.jinja"
    jinja.write_text("x")
    assert known_tokens(jinja) is None


def test_quotes_that_are_tokens() -> None:
    name = "bare"
    found = derived(own_template(name), tokens=["<q>", "<c>"])
    assert found.data["tokens"] == ["<c>", {"text": "<q>", "match": "require"}]


def test_names_of_files() -> None:
    assert dialect_id("Some Model-7B_v2.1") == "some-model-7b-v2-1"
    assert dialect_id("東京") == "derived"
