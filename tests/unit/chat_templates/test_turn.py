"""The assistant's turn is cut out of what a template makes of a conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from calligram.chat_templates import (
    ChatTemplate,
    ChatTemplateError,
    assistant_turn,
    call_forms,
    reasoning_forms,
)

OWN = Path(__file__).parents[2] / "chat_templates"
CALLS: list[dict[str, Any]] = [
    {"name": "clock", "arguments": {"zone": "Oslo", "on": True}},
    {"name": "stop"},
]
ONE = [{"name": "clock", "arguments": {"zone": "Oslo"}}]


def turns(assistant: str, prompt: str = "<A>") -> ChatTemplate:
    """A template whose assistant's turns are written by `assistant`, a piece of jinja2."""
    return ChatTemplate(
        "{% for m in messages %}{% if m.role == 'user' %}<U>{{ m.content }}</u>{% else %}"
        f"<A>{assistant}</s>{{% endif %}}{{% endfor %}}"
        f"{{% if add_generation_prompt %}}{prompt}{{% endif %}}"
    )


EACH = "{% for c in m.tool_calls %}"
END = "{% endfor %}"
AS_JSON = EACH + "[{{ c.function.name }}]{{ c.function.arguments | tojson }}" + END


def test_calls() -> None:
    template = ChatTemplate.from_path(OWN / "json-lines.jinja")
    turn = assistant_turn(template, CALLS)
    assert turn.text == (
        '<tool_call>\n{"name": "clock", "arguments": {"zone": "Oslo", "on": true}}\n</tool_call>\n'
        '<tool_call>\n{"name": "stop", "arguments": {}}\n</tool_call><|im_end|>\n'
    )
    assert turn.generation_prompt == "<|im_end|>\n<|im_start|>assistant\n"
    assert turn.opened == ""


def test_content_and_reasoning() -> None:
    template = ChatTemplate.from_path(OWN / "json-lines.jinja")
    turn = assistant_turn(template, ONE, content="Let me see.", reasoning="Which zone?")
    assert turn.text.startswith("<think>\nWhich zone?\n</think>\n\nLet me see.\n<tool_call>\n{")
    assert reasoning_forms(template).reasoning == "reasoning_content"


@pytest.mark.parametrize(
    ("assistant", "arguments"),
    [
        (AS_JSON, "object"),
        (AS_JSON.replace(" | tojson", ""), "text"),
        (
            EACH + "{{ c.function.name }}{% for k, v in c.function.arguments | items %}"
            "{{ k }}={{ v }}" + END + END,
            "object",
        ),
        (
            EACH + "{{ c.function.name }}{{ c.function.arguments | from_json | tojson }}" + END,
            "text",
        ),
    ],
)
def test_arguments_are_given_as_the_template_takes_them(assistant: str, arguments: str) -> None:
    assert call_forms(turns(assistant)).arguments == arguments


@pytest.mark.parametrize(
    ("assistant", "content"),
    [
        ("{{ m.content or '' }}" + AS_JSON, "null"),
        ("{% if m.content is defined %}{{ m.content + '' }}{% endif %}" + AS_JSON, "missing"),
        ("{% if 'x' in m.content %}{% endif %}" + AS_JSON, "missing"),
        ("{{ m.content | trim }}" + AS_JSON, "missing"),
        ("{{ m['content'].strip() }}" + AS_JSON, "empty"),
    ],
)
def test_no_content_is_told_as_the_template_takes_it(assistant: str, content: str) -> None:
    template = turns(assistant)
    assert call_forms(template).content == content
    assert assistant_turn(template, ONE).text == '[clock]{"zone": "Oslo"}</s>'


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking", "thought"])
def test_reasoning_is_told_under_the_name_the_template_knows(field: str) -> None:
    template = turns("{% if m." + field + " %}({{ m." + field + " }}){% endif %}" + AS_JSON)
    assert reasoning_forms(template).reasoning == field
    assert assistant_turn(template, ONE, reasoning="why").text.startswith("(why)[clock]")


def test_reasoning_as_a_part_of_the_content() -> None:
    template = turns(
        "{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}"
        "{% if p.type == 'thinking' %}({{ p.thinking }}){% else %}{{ p.text }}{% endif %}"
        "{% endfor %}{% endif %}" + AS_JSON
    )
    turn = assistant_turn(template, ONE, content="Hm.", reasoning="why")
    assert turn.text == '(why)Hm.[clock]{"zone": "Oslo"}</s>'


def test_a_switch_for_reasoning() -> None:
    template = turns("{% if enable_thinking %}({{ m.reasoning_content }}){% endif %}" + AS_JSON)
    assert "(why)" in assistant_turn(template, ONE, reasoning="why").text


def test_a_template_without_reasoning_has_none() -> None:
    template = turns(AS_JSON)
    assert reasoning_forms(template).reasoning is None
    assert assistant_turn(template, ONE, reasoning="why").text == '[clock]{"zone": "Oslo"}</s>'


@pytest.mark.parametrize(
    ("assistant", "prompt", "text", "opened"),
    [
        (AS_JSON, "<A>", '[clock]{"zone": "Oslo"}</s>', ""),
        (AS_JSON, "<A><think>", '[clock]{"zone": "Oslo"}</s>', "<think>"),
        # `<t` is common to both, and belongs to neither alone.
        ("<tool>" + AS_JSON, "<A><think>\n", '<tool>[clock]{"zone": "Oslo"}</s>', "<think>\n"),
        ("<think></think>" + AS_JSON, "<A><think>", '</think>[clock]{"zone": "Oslo"}</s>', ""),
        ("</think>" + AS_JSON, "<A><think></think>", '[clock]{"zone": "Oslo"}</s>', ""),
    ],
)
def test_where_the_turn_begins(assistant: str, prompt: str, text: str, opened: str) -> None:
    turn = assistant_turn(turns(assistant, prompt), ONE)
    assert (turn.text, turn.opened) == (text, opened)


def test_a_prompt_that_comes_unasked_is_no_part_of_the_turn() -> None:
    template = ChatTemplate(
        "{% for m in messages %}{% if m.role == 'user' %}<U>{{ m.content }}</t>{% else %}<A><B><C>"
        + AS_JSON + "</t>{% endif %}{% endfor %}<A><B><C>"
    )  # fmt: skip
    turn = assistant_turn(template, ONE)
    assert turn.generation_prompt == "</t><A><B><C>"
    assert turn.text == '[clock]{"zone": "Oslo"}'


def test_tools_that_the_template_cannot_print() -> None:
    template = ChatTemplate(
        "{% for t in tools or [] %}{% for p in t.function.parameters.properties.values() %}"
        "{{ p.type + p.description }}{% endfor %}{% endfor %}" + turns(AS_JSON).source
    )
    tools: list[dict[str, Any]] = [
        {"type": "function", "function": {
            "name": "clock",
            "parameters": {"type": "object", "properties": {"zone": {"type": ["string"]}}},
        }}
    ]  # fmt: skip
    assert assistant_turn(template, ONE, tools=tools).text == '[clock]{"zone": "Oslo"}</s>'


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}", "template-no-calls"),
        ("nothing", "template-no-calls"),
        ("{% if %}", "template-syntax"),
        ("{{ raise_exception('no tools') }}", "template-raised"),
    ],
)
def test_templates_without_calls(source: str, code: str) -> None:
    with pytest.raises(ChatTemplateError) as caught:
        assistant_turn(ChatTemplate(source), ONE)
    assert {p.code for p in caught.value.problems} == {code}
