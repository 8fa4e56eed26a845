"""The corpus files: their format, and that every dialect has what it must have."""

from __future__ import annotations

import pytest

from calligram.compiler.spec_loader import load_dialect, shipped_ids
from tests import corpus_format as corpus


def test_text_is_verbatim() -> None:
    source = "# comment\n=== one\n:auto\n a\n\n=b \r\n---\n[]\n\n=== two\n:tool clock\n---\n[]\n"
    one, two = corpus.parse_corpus(source, "d")
    assert (one.text, one.auto, one.line, one.calls) == (" a\n\n=b \r", True, 2, [])
    assert (two.text, two.tool, two.auto) == ("", "clock", False)
    assert one.tool_choice == "auto"
    assert two.tool_choice == {"type": "function", "function": {"name": "clock"}}


def test_attributes_and_calls() -> None:
    source = '=== r\n:reject\nx\n---\n=== p\n:read\ny\n---\n[{"name": "a",\n "arguments": {}}]'
    reject, read = corpus.parse_corpus(source, "d")
    assert (reject.reject, reject.calls, reject.tool_choice) == (True, None, "required")
    assert (read.read, read.calls) == (True, [{"name": "a", "arguments": {}}])


def test_content_and_reasoning() -> None:
    source = '=== c\nx\n---\n{"calls": [], "content": "x", "reasoning": ""}'
    (case,) = corpus.parse_corpus(source, "d")
    assert (case.calls, case.content, case.reasoning) == ([], "x", "")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x\n=== a\n---\n[]", "d:1: text before"),
        ("=== a\nx\n", "d:1: the line `---` is missing"),
        ("=== a\n:rejct\nx\n---\n", "d:2: unknown attribute :rejct"),
        ("=== a\n:tool\nx\n---\n[]", "d:2: unknown attribute :tool"),
        ("=== a\n:reject\nx\n---\n[]", "d:1: a refused text has no calls"),
        ("=== a\n:reject\n:read\nx\n---\n", "d:1: a refused text"),
        ("=== a\nx\n---\n", "d:1: the calls are not JSON"),
        ("=== a\nx\n---\n{}", "d:1: calls are a list"),
        ('=== a\nx\n---\n[{"name": "n"}]', "d:1: calls are a list"),
        ('=== a\nx\n---\n{"calls": [], "contents": ""}', "d:1: beside the calls only"),
        ('=== a\nx\n---\n{"calls": [], "content": null}', "d:1: beside the calls only"),
        ("=== a\n---\n[]\n=== a\n---\n[]", "d:4: a second case named 'a'"),
    ],
)
def test_not_in_the_format(source: str, said: str) -> None:
    with pytest.raises(corpus.CorpusError) as caught:
        corpus.parse_corpus(source, "d")
    assert str(caught.value).startswith(said)


def test_every_shipped_dialect_has_a_corpus() -> None:
    assert corpus.corpus_dialects() == shipped_ids()


FOUNDING = [
    "required location cannot be left out",
    "queries cannot stand for query",
    "unit outside its enum",
    "array of strings comes out as an array",
    "days as text",
]


@pytest.mark.parametrize("dialect", shipped_ids())
def test_corpus_has_what_it_must_have(dialect: str) -> None:
    cases = {case.name: case for case in corpus.load_corpus(dialect)}
    spec = load_dialect(dialect)
    wanted = [*FOUNDING, "one call", "no arguments", "nested objects and arrays", "key twice"]
    wanted += ["two calls"] if spec.calls.max != 1 else []
    wanted += ["reasoning before the call"] if spec.reasoning else []
    wanted += ["turn end"] if spec.turn_end.tokens else []
    assert [name for name in wanted if name not in cases] == []
    assert sum(case.reject for case in cases.values()) >= 12
    assert any(case.auto and not case.reject for case in cases.values())


@pytest.mark.parametrize("dialect", shipped_ids())
def test_expected_calls_name_corpus_tools(dialect: str) -> None:
    names = {tool["function"]["name"] for tool in corpus.corpus_tools()}
    for case in corpus.load_corpus(dialect):
        assert {call["name"] for call in case.calls or []} <= names, case.id
