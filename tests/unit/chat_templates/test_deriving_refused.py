"""Templates that no spec can be derived from, by mistake or on purpose: a located error, soon."""

from __future__ import annotations

import time

import pytest

from calligram.chat_templates import ChatTemplate, ChatTemplateError
from calligram.chat_templates.chat_template_error import NEXT
from calligram.chat_templates.deriving import derive_spec
from calligram.chat_templates.deriving.probe import Probe
from calligram.compiler.codes import TEMPLATES
from tests.template_pieces import each, json_call, members, template


def source(calls: str) -> str:
    return template(calls).source


HOSTILE = {
    "no calls": ("{{ messages[-1].content }}", "template-no-calls"),
    "does not end": (
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "template-limit",
    ),
    "no jinja": ("{% for %}", "template-syntax"),
    "refuses all": ("{{ raise_exception('no') }}", "template-raised"),
    "much text": (source(each(json_call()) + "{{ 'x' * 30000 }}"), "template-limit"),
    "json in json": (source(each(json_call("args | tojson | tojson"))), "template-underivable"),
    "the value before its key": (
        source(each(members("{{ v | string + '<-' + k }}") + "{{ f.name }}")),
        "template-underivable",
    ),
    "arguments that differ with their number": (
        source(
            each("{{ f.name }}" + members("{{ k + ':' + args | length | string + v | string }}"))
        ),
        "template-underivable",
    ),
    # What marks the parts of a turn, as a word of the template's own.
    **{
        word: (source(f"<think {word}>" + each(json_call())), "template-underivable")
        for word in ("Qthoughtwords", "Qsaidwords", "qtoolone", "qkey")
    },
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_templates_that_cannot_be_derived(name: str) -> None:
    text, code = HOSTILE[name]
    began = time.monotonic()
    with pytest.raises(ChatTemplateError) as caught:
        derive_spec(ChatTemplate(text, place="bad.jinja", seconds=1.0))
    assert [p.code for p in caught.value.problems] == [code]
    assert caught.value.problems[0].origin.file == "bad.jinja"
    assert caught.value.problems[0].hint
    assert time.monotonic() - began < 60


def test_every_code_has_a_next_step() -> None:
    assert NEXT.keys() == TEMPLATES.keys()


def test_slow_templates_end() -> None:
    probe = Probe(template(each(json_call())), seconds=0)
    with pytest.raises(ChatTemplateError) as caught:
        probe.text({})
    assert [p.code for p in caught.value.problems] == ["template-limit"]
