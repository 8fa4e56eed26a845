"""Whatever a model wants, what it writes is a call that its tool allows, and it ends."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

import calligram
from calligram.targets import mask, parser
from tests import real_vocabularies
from tests.adversary import WANTS, Adversary, written
from tests.sampling import dice, fuzzed, spread

TOOLS: list[dict[str, Any]] = json.loads(
    Path(__file__, "../../../mcp_style_tools.json").resolve().read_text(encoding="utf-8")
)
SMALL = calligram.Bounds(
    string=10, items=2, keys=2, depth=2, recursion=2, digits=4, exponent=1, whitespace=1, calls=2
)
DIALECTS = calligram.dialects()
COMBINATIONS = [(d, v) for d in DIALECTS for v in spread(real_vocabularies.NAMES, d, most=1)]


def compiled(tools: list[dict[str, Any]], dialect: str, **options: Any) -> Any:
    """The grammar of those of the tools that the dialect can carry; None of none."""
    try:
        return calligram.compile_tools(
            tools, dialect, bounds=SMALL, on_unsupported="drop-tool", **options
        )
    except calligram.CalligramError as error:
        assert {p.code for p in error.problems} == {"not-carryable"}
        return None


def judged(grammar: calligram.CompiledGrammar, text: bytes) -> parser.ParseResult:
    """The text, read; every call in it is valid."""
    result = parser.compile(grammar).parse(text.decode("utf-8"))
    assert not result.problems and result.incomplete is None, (text, result.problems)
    schemas = {tool["name"]: tool["inputSchema"] for tool in TOOLS}
    for call in result.calls:
        schema = schemas[call["name"]]
        validator = validator_for(schema, Draft202012Validator)
        checks = validator.FORMAT_CHECKER
        arguments = call["arguments"]
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
        validator(schema, format_checker=checks).validate(value)
    return result


def plan(random: Random, count: int) -> list[tuple[list[dict[str, Any]], str]]:
    """Tools, one or a few at a time, and what is wanted."""
    return [
        (random.sample(TOOLS, random.choice((1, 1, 1, 3))), random.choice(WANTS))
        for _ in range(count)
    ]


@pytest.mark.fuzz
@pytest.mark.parametrize(("dialect", "name"), COMBINATIONS)
def test_calls_that_must_be_made(dialect: str, name: str) -> None:
    vocabulary = real_vocabularies.real(name)
    random = dice("adversary", dialect, name)
    for tools, want in plan(random, fuzzed(3)):
        grammar = compiled(tools, dialect, reasoning="none")
        if grammar is None:
            continue
        longest = grammar.report.longest_call
        assert longest is not None
        matcher = mask.compile(grammar, vocabulary).matcher()
        text = written(matcher, Adversary(vocabulary, want, random), vocabulary, longest)
        result = judged(grammar, text)
        assert result.calls
        assert grammar.check(text)
        # The turn's end, as text, is no part of the calls, nor is the lead-in.
        assert len(text) <= longest + 32, (len(text), longest)


@pytest.mark.fuzz
@pytest.mark.parametrize(("dialect", "name"), COMBINATIONS)
def test_turns_that_may_hold_calls(dialect: str, name: str) -> None:
    vocabulary = real_vocabularies.real(name)
    random = dice("adversary", "auto", dialect, name)
    for tools, want in plan(random, fuzzed(1)):
        order = random.choice(("schema", "any"))
        grammar = compiled(tools, dialect, tool_choice="auto", key_order=order)
        if grammar is None:
            continue
        matcher = mask.compile(grammar, vocabulary).matcher()
        begun = ""
        # Half of the turns begin with what arms, where that may stand first.
        if random.random() < 0.5 and grammar.trigger.texts:
            text = random.choice(grammar.trigger.texts)
            special = vocabulary.specials.get(text)
            if matcher.accept_string(text) if special is None else matcher.accept_token(special):
                begun = text
        most = min(grammar.report.longest_call, 600)
        said = written(matcher, Adversary(vocabulary, want, random), vocabulary, most)
        judged(grammar, begun.encode() + said)
