"""Templates are rendered as `apply_chat_template` of transformers renders them, and cannot harm."""

from __future__ import annotations

import time
from typing import Any

import pytest

from calligram.chat_templates import ChatTemplate, ChatTemplateError

EACH = "{% for i in [1, 2, 3] %}"
LONG = "{% for i in range(99999) %}"


def rendered(source: str, seconds: float = 5.0, **variables: Any) -> str:
    return ChatTemplate(source, seconds=seconds).render([], **variables)


# Right values: transformers' `render_jinja_template` and jinja2's own documentation.
@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ x | tojson }}", '{"b": "é<&\'", "a": [1, 1.5, null, true]}'),
        ("{{ x | tojson(ensure_ascii=True) }}", '{"b": "\\u00e9<&\'", "a": [1, 1.5, null, true]}'),
        ("{{ x | tojson(separators=(',', ':')) }}", '{"b":"é<&\'","a":[1,1.5,null,true]}'),
        ("{{ x | tojson(separators=[',', ':']) }}", '{"b":"é<&\'","a":[1,1.5,null,true]}'),
        ("{{ [1] | tojson(indent=2) }}", "[\n  1\n]"),
        ("{{ {'b': 1, 'a': 2} | tojson(sort_keys=True) }}", '{"a": 2, "b": 1}'),
        ("{{ [{'n': 1}] | map(attribute='n') | tojson }}", "[1]"),
        ("{{ x }}", "{'b': \"é<&'\", 'a': [1, 1.5, None, True]}"),
        ("{{ '[1, 2]' | from_json | last }}", "2"),
        ("{{ {'k': 1} | items | list }}", "[('k', 1)]"),
        (EACH + "{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}", "13"),
        (EACH + "{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}", "1"),
        (
            "{% set n = namespace(v=0) %}" + EACH + "{% set n.v = n.v + i %}{% endfor %}{{ n.v }}",
            "6",
        ),
        ("a{% generation %}b{{ 1 }}{% endgeneration %}c", "ab1c"),
        ("{% if true %}\n  a\n  {% endif %}\nb", "  a\nb"),
        ("{% set l = [] %}{% set _ = l.append(1) %}{{ l }}", "[1]"),
        ("{{ strftime_now('%Y') | length }}", "4"),
        ("{{ missing }}|{{ missing is defined }}", "|False"),
        ("{{ '<b>' }}", "<b>"),
        ("{{ bos_token }}{{ eos_token }}{{ tools is none }}", "True"),
    ],
)  # fmt: skip
def test_what_templates_expect(source: str, text: str) -> None:
    assert rendered(source, x={"b": "é<&'", "a": [1, 1.5, None, True]}) == text


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        ("{% if %}", "template-syntax", "Expected an expression"),
        ("{{ raise_exception('must alternate') }}", "template-raised", "must alternate"),
        ("{{ 'a' + 1 }}", "template-failed", "concatenate"),
        ("{{ missing.x.y }}", "template-failed", "undefined"),
        ("{{ missing | tojson }}", "template-failed", "Undefined"),
        ("{% include 'other' %}", "template-failed", "no loader"),
        ("{{ ''.__class__.__mro__ }}", "template-failed", "unsafe"),
        ("{{ raise_exception.__globals__.json }}", "template-failed", "unsafe"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "template-failed", "nests too deep"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_told(source: str, code: str, message: str) -> None:
    with pytest.raises(ChatTemplateError) as caught:
        rendered(source)
    (problem,) = caught.value.problems
    assert problem.code == code
    assert message in problem.message


def test_a_syntax_error_has_its_line() -> None:
    with pytest.raises(ChatTemplateError) as caught:
        ChatTemplate("a\n{% for %}", place="t.jinja").render([])
    assert str(caught.value).startswith("t.jinja:2:1: ")


HOSTILE = {
    "nested loops": LONG + LONG + "{% endfor %}{% endfor %}",
    "a power": "{% set x = 7 ** (7 ** 11) %}{{ x % 10 }}",
    "a constant power": "{{ 9 ** (9 ** 9) }}",
    "text that doubles": "{% set n = namespace(t='a') %}{% for i in range(60) %}"
    "{% set n.t = n.t ~ n.t %}{% endfor %}{{ n.t | length }}",
    "a long product": "{{ ('a' * 10 ** 12) | length }}",
    "a wide format": "{{ '%999999999999d' | format(1) }}",
    "a wide centre": "{{ 'a' | center(10 ** 11) }}",
    "a long list": "{{ ([0] * 10 ** 11) | length }}",
    "much text": LONG + "{{ 'a' * 99999 }}{% endfor %}",
    "many loops": "{% for i in range(10 ** 9) %}{% endfor %}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_template_ends(name: str) -> None:
    started = time.monotonic()
    with pytest.raises(ChatTemplateError) as caught:
        rendered(HOSTILE[name], seconds=0.5)
    assert time.monotonic() - started < 30
    assert {p.code for p in caught.value.problems} <= {"template-limit", "template-failed"}
    # And the next one renders.
    assert rendered("{{ 1 + 1 }}") == "2"


def test_a_template_does_not_change_what_it_is_given() -> None:
    messages = [{"role": "user", "content": "hi"}]
    text = ChatTemplate("{% set _ = messages.append(1) %}{{ messages | length }}").render(messages)
    assert text == "2"
    assert messages == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("a\n{{ missing.x.y }}", 2),
        ("{% macro m(x) %}\n{{ x + 1 }}\n{% endmacro %}\n\n{{ m('a') }}", 2),
        ("\n\n{% for x in 5 %}{% endfor %}", 3),
        ("{{ [1] | join }}\n{{ 'a' | nothing_like_it }}", 2),
    ],
)
def test_what_fails_has_its_line(source: str, line: int) -> None:
    with pytest.raises(ChatTemplateError) as caught:
        rendered(source)
    (problem,) = caught.value.problems
    assert problem.origin.line == line
    assert problem.code in ("template-failed", "template-syntax")
