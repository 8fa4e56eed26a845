"""The hand-written corpus: every text through check, llama.cpp's engine and the parser.

What is right was derived from each model's own template; see tests/corpus_format.py for the form.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import calligram
from calligram.compiler.compiled import CompiledGrammar
from calligram.targets import gbnf, parser
from tests.corpus_format import CorpusCase, corpus_dialects, corpus_tools, load_corpus
from tests.engine import Engine


def same(a: Any, b: Any) -> bool:
    """Equality of JSON values with types told apart: True is not 1, and 1 is not 1.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def named(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls without their ids, of which the corpus says nothing."""
    return [{"name": c["name"], "arguments": c["arguments"]} for c in calls]


def armed_text(grammar: CompiledGrammar, text: str) -> str | None:
    """The text from where a host would arm the grammar; None if nothing arms it.

    Hosts do not look for triggers inside a block of reasoning.
    """
    assert grammar.dialect is not None
    block = grammar.dialect.reasoning
    if block is not None and text.startswith(block.open) and block.close in text:
        text = text[text.index(block.close) + len(block.close) :]
        # What the template writes there is layout, and the message starts behind it.
        text = text.removeprefix(block.after) if block.after.isspace() else text
    found = [m.start(1) for p in grammar.trigger.patterns if (m := re.search(p, text))]
    return text[min(found) :] if found else None


class Judges:
    """One compile for each tool_choice of a dialect, and what is made of it."""

    def __init__(self, dialect: str, engine: Engine) -> None:
        self.dialect = dialect
        self.engine = engine
        self._made: dict[str, tuple[CompiledGrammar, str, parser.Reader]] = {}

    def of(self, case: CorpusCase) -> tuple[CompiledGrammar, str, parser.Reader]:
        key = json.dumps(case.tool_choice)
        if key not in self._made:
            grammar = calligram.compile_tools(
                corpus_tools(), self.dialect, tool_choice=case.tool_choice
            )
            self._made[key] = grammar, gbnf.emit(grammar), parser.compile(grammar)
        return self._made[key]

    def engine_says(self, case: CorpusCase) -> bool | None:
        """The engine's verdict; None where a host would not have armed the grammar at all."""
        grammar, source, _ = self.of(case)
        text = armed_text(grammar, case.text) if case.auto else case.text
        return None if text is None else self.engine.accepted(source, [text])[0]


def complaints(case: CorpusCase, judges: Judges) -> list[str]:
    """What is wrong with the case, in words."""
    grammar, _, reader = judges.of(case)
    verdict = grammar.check(case.text)
    result = reader.parse(case.text)
    strict = not result.problems and result.incomplete is None
    wanted = not (case.reject or case.read)
    out = []
    if verdict.accepted != wanted:
        out.append(f"check: {verdict.accepted}, {verdict.message} at byte {verdict.position}")
    if strict != wanted:
        out.append(f"parser: problems {[str(p) for p in result.problems]} {result.incomplete}")
    engine = judges.engine_says(case)
    if engine is not None and engine != wanted:
        out.append(f"engine: {engine}")
    if engine is None and case.calls:
        out.append("nothing in the text arms the grammar")
    if case.calls is not None and not same(named(result.calls), case.calls):
        out.append(f"calls: {named(result.calls)}")
    for part in ("content", "reasoning"):
        wanted_text, text = getattr(case, part), getattr(result, part)
        if wanted_text is not None and text.strip() != wanted_text.strip():
            out.append(f"{part}: {text!r}")
    return out


@pytest.mark.parametrize("dialect", corpus_dialects())
def test_every_text_gets_its_verdict_and_its_calls(dialect: str, engine: Engine) -> None:
    judges = Judges(dialect, engine)
    wrong = {
        f"{dialect}.txt:{case.line}: {case.name}": found
        for case in load_corpus(dialect)
        if (found := complaints(case, judges))
    }
    listed = "\n".join(f"{case}\n    " + "\n    ".join(found) for case, found in wrong.items())
    assert not wrong, listed


def test_every_shipped_dialect_has_a_corpus() -> None:
    assert corpus_dialects() == calligram.dialects()


def test_a_corpus_that_is_wrong_is_noticed(engine: Engine) -> None:
    from dataclasses import replace

    judges = Judges("hermes-json", engine)
    one = load_corpus("hermes-json")[0]
    assert not complaints(one, judges)
    assert complaints(replace(one, calls=None, reject=True), judges)
    assert complaints(replace(one, read=True), judges)
    assert complaints(replace(one, text=one.text + " "), judges)
    assert one.calls is not None
    other = [{**one.calls[0], "arguments": {**one.calls[0]["arguments"], "days": 3.0}}]
    assert complaints(replace(one, calls=other), judges)
