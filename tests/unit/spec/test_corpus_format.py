"""The corpus files: their format, and that every dialect has what it must have."""

from __future__ import annotations

import re

import pytest

from calligram.compiler.spec import DialectSpec
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
AUTO = "call alone under auto"
LEAST_REFUSED = 12
MODEL = "hermes-json"
"""The corpus that examples of rows are taken from."""


def wanted_rows(spec: DialectSpec) -> list[str]:
    """The names of the rows that a dialect must have."""
    wanted = ["one call", "no arguments", "nested objects and arrays", "key twice", *FOUNDING]
    wanted += ["two calls"] if spec.calls.max != 1 else []
    wanted += ["reasoning before the call"] if spec.reasoning else []
    wanted += ["turn end"] if spec.turn_end.tokens else []
    return wanted


def example(row: str) -> str:
    """The row as the model corpus has it, verbatim."""
    source = (corpus.CORPUS / f"{MODEL}.txt").read_text(encoding="utf-8")
    found = re.search(rf"^=== {re.escape(row)}\n.*?(?=^=== |\Z)", source, re.M | re.S)
    assert found is not None, row
    return found[0].rstrip()


def lacking(dialect: str, spec: DialectSpec, cases: list[corpus.CorpusCase]) -> list[str]:
    """What the corpus must have and has not, each with an example to be rewritten."""
    names = {case.name for case in cases}
    rows = [row for row in wanted_rows(spec) if row not in names]
    if not any(case.auto and not case.reject for case in cases):
        rows.append(AUTO)
    file = f"tests/corpus/{dialect}.txt"
    said = [f"{file} lacks {row!r}; {MODEL} has\n\n{example(row)}\n" for row in rows]
    refused = sum(case.reject for case in cases)
    if refused < LEAST_REFUSED:
        said.append(f"{file} has {refused} rows with :reject, and needs {LEAST_REFUSED}")
    return said


@pytest.mark.parametrize("dialect", shipped_ids())
def test_corpus_has_what_it_must_have(dialect: str) -> None:
    cases = corpus.load_corpus(dialect) if dialect in corpus.corpus_dialects() else []
    said = lacking(dialect, load_dialect(dialect), cases)
    if said:
        pytest.fail("\n".join(said), pytrace=False)


def test_what_is_lacking_is_told_with_an_example() -> None:
    spec, cases = load_dialect(MODEL), corpus.load_corpus(MODEL)
    everything = lacking("new", spec, [])
    assert len(everything) == len(wanted_rows(spec)) + 2
    assert all(line.startswith("tests/corpus/new.txt ") for line in everything)
    without = [c for c in cases if c.name != "days as text" and not c.auto]
    assert [line.split("\n")[0] for line in lacking("new", spec, without)] == [
        "tests/corpus/new.txt lacks 'days as text'; hermes-json has",
        "tests/corpus/new.txt lacks 'call alone under auto'; hermes-json has",
    ]
    (case,) = corpus.parse_corpus(example("days as text"), "new")
    assert case.reject and '"days": "3"' in case.text


@pytest.mark.parametrize("dialect", corpus.corpus_dialects())
def test_expected_calls_name_corpus_tools(dialect: str) -> None:
    names = {tool["function"]["name"] for tool in corpus.corpus_tools()}
    for case in corpus.load_corpus(dialect):
        assert {call["name"] for call in case.calls or []} <= names, case.id
