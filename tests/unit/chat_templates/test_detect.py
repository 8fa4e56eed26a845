"""Dialects are told by what templates write."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import calligram
from calligram.chat_templates import ChatTemplate, ChatTemplateError, reasoning_forms
from calligram.chat_templates.conversations import CONVERSATIONS
from calligram.chat_templates.detect import Candidate, candidate, detect_dialect
from calligram.chat_templates.explain import Shown, show, with_end
from calligram.compiler.errors import SpecError, ToolError
from calligram.compiler.spec import DialectSpec, ReasoningSpec, TurnEndSpec
from tests.corpus_format import corpus_tools
from tests.own_templates import FOLDER, own_spec, own_template

SHIPPED = sorted((FOLDER / "shipped").glob("*.jinja"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_template_of_a_shipped_dialect(path: Path) -> None:
    found = detect_dialect(path)
    assert found.dialect == path.stem
    assert any(line.startswith("byte for byte: one call") for line in found.evidence)
    assert found.best is not None and "one call" in found.best.explained
    assert json.loads(json.dumps(found.to_json()))["dialect"] == path.stem


@pytest.mark.parametrize("name", ["array", "tagged", "typed", "keywords", "bare"])
def test_a_dialect_that_is_not_shipped_is_unknown(name: str) -> None:
    found = detect_dialect(own_template(name))
    assert (found.dialect, found.best, found.evidence) == ("unknown", None, ())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<tool_call>", "<call>"),
        ('"arguments"', '"args"'),
        ("<|im_end|>", "<|done|>"),
        ("call.function.arguments | tojson", "call.function.arguments | tojson(indent=1)"),
        ("'\\n' }}\n{%- endif %}\n{{- '<tool", "' ' }}\n{%- endif %}\n{{- '<tool"),
    ],
)
def test_what_is_nearly_a_shipped_dialect_is_unknown(old: str, new: str) -> None:
    source = own_template("json-lines").source
    assert old in source
    assert detect_dialect(ChatTemplate(source.replace(old, new))).dialect == "unknown"


def test_names_in_a_template_play_no_part() -> None:
    source = "{#- Qwen3-Coder, gpt-oss, Gemma 4 -#}" + own_template("json-lines").source
    path = Path("hermes-json")
    assert detect_dialect(ChatTemplate(source)).dialect == path.name


def test_a_template_without_calls_is_unknown() -> None:
    found = detect_dialect(ChatTemplate("{% for m in messages %}{{ m.content }}{% endfor %}"))
    assert found.dialect == "unknown"
    assert "does not show the assistant's calls" in found.reason


def test_a_template_that_does_not_render_is_an_error() -> None:
    with pytest.raises(ChatTemplateError, match="template-syntax"):
        detect_dialect(ChatTemplate("{% if %}"))


def probes(name: str) -> tuple[ChatTemplate, list[Shown]]:
    template = with_end(own_template(name))
    forms = reasoning_forms(template)
    return template, [show(template, forms, c) for c in CONVERSATIONS]


def judged(spec: DialectSpec, **changes: Any) -> Candidate | None:
    template, shown = probes("json-lines")
    return candidate(spec.model_copy(update=changes), shown, template)


def test_calls_alike_and_reasoning_not() -> None:
    spec = own_spec("json-lines").spec
    right = judged(spec)
    other = judged(spec, reasoning=ReasoningSpec(open="<why>", close="</why>"))
    none = judged(spec, reasoning=None)
    assert right is not None and other is not None and none is not None
    assert right.rank > other.rank and right.rank > none.rank
    assert "reasoning before the call" in other.failed


def test_calls_alike_and_turn_end_not() -> None:
    spec = own_spec("json-lines").spec
    assert judged(spec, turn_end=TurnEndSpec(tokens=("<|other|>",))) is None
    more = judged(spec, turn_end=TurnEndSpec(tokens=("<|other|>", "<|im_end|>")))
    assert more is not None


def test_a_tokenizer_and_a_configuration(tmp_path: Path) -> None:
    source = own_template("json-lines").source

    class Tokenizer:
        chat_template = source
        eos_token = "<|im_end|>"

    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"chat_template": source}), encoding="utf-8")
    assert detect_dialect(Tokenizer()).dialect == detect_dialect(path).dialect != "unknown"


def test_detection_is_quick() -> None:
    detect_dialect(own_template("json-lines"))
    started = time.process_time()
    detect_dialect(own_template("array"))
    assert time.process_time() - started < 2


def test_compile_with_auto() -> None:
    path = FOLDER / "shipped" / "mistral-args.jinja"
    grammar = calligram.compile_tools(corpus_tools(), dialect="auto", chat_template=path)
    assert grammar.dialect is not None and grammar.dialect.id == path.stem


def test_auto_that_cannot_be_told() -> None:
    with pytest.raises(SpecError) as caught:
        calligram.compile_tools(
            corpus_tools(), dialect="auto", chat_template=FOLDER / "array.jinja"
        )
    assert [p.code for p in caught.value.problems] == ["dialect-unknown"]
    with pytest.raises(SpecError, match="dialect-auto"):
        calligram.compile_tools(corpus_tools(), dialect="auto")


def test_a_template_beside_a_named_dialect_is_refused() -> None:
    with pytest.raises(ToolError, match="invalid-option"):
        calligram.compile_tools(corpus_tools(), dialect=SHIPPED[0].stem, chat_template="x.jinja")
