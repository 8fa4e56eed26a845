"""Masks of texts whose length is counted beside a pattern, against every token byte by byte."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import calligram
from calligram import Vocabulary
from calligram.compiler.spec_loader import shipped_ids
from calligram.targets import mask
from tests.token_by_token import TokenByToken


def _vocabulary() -> Vocabulary:
    random = Random(3)
    tokens = [bytes([b]) for b in range(256)]
    words: set[bytes] = set()
    while len(words) < 1500:
        text = "".join(random.choices('aaabxyz0189-_ @."\\é😀', k=random.randint(2, 7)))
        words.add(text.encode() + random.choice([b"", b"", b'"', b'",', b'"}']))
    return Vocabulary([*tokens, *sorted(words), b"<end>"], eos_ids=[256 + len(words)])


VOCABULARY = _vocabulary()

SCHEMAS: dict[str, Any] = {
    "found anywhere": {"pattern": "[0-9]+", "minLength": 3, "maxLength": 5},
    "exactly": {"pattern": "[0-9a]+", "minLength": 4, "maxLength": 4},
    "at least": {"pattern": "^[a-z]+$", "minLength": 3},
    "only even lengths": {"pattern": "^(?:aa)+$", "minLength": 3, "maxLength": 7},
    "ends in a digit": {"pattern": "^[a-z]*[0-9]$", "minLength": 2, "maxLength": 6},
    "one class, often": {"pattern": "^[a-z0-9]{2,40}$"},
    "one class, very often": {"pattern": "^.{1,300}$", "maxLength": 17},
    "not empty": {"minLength": 1},
    "short": {"maxLength": 3},
    "a window": {"minLength": 2, "maxLength": 4},
    "but words": {"not": {"enum": ["aa", "aaa", "ab"]}, "pattern": "^a", "maxLength": 4},
    "mail": {"format": "email"},
    "whole numbers": {"type": "integer", "minimum": 8, "maximum": 1089},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_masks_are_what_every_token_alone_says(name: str) -> None:
    schema = SCHEMAS[name]
    given = schema if "type" in schema else {"type": "string", **schema}
    grammar = calligram.compile_schema(given, bounds=None)
    automaton = mask.compile(grammar, VOCABULARY)
    oracle = TokenByToken(grammar.enforced, VOCABULARY)
    random = Random(name)
    for _ in range(4):
        matcher, state = automaton.matcher(), oracle.start
        for _ in range(9):
            allowed = oracle.allowed(state)
            assert matcher.allowed_tokens() == allowed
            assert allowed, "a dead end"
            longer = [t for t in allowed if len(VOCABULARY.tokens[t]) > 1] or allowed
            token = random.choice(random.choice((allowed, longer)))
            state = oracle.step(state, token)
            assert matcher.accept_token(token)
            if matcher.is_terminated():
                break


def _closers() -> Vocabulary:
    """Pieces of what raw text is closed with, between text of all kinds."""
    random = Random(4)
    markers = ["\n</parameter>\n", "</arg_value>", "</parameter>", '<|"|>', '"', "</", "\n\n\n"]
    words: set[bytes] = set()
    while len(words) < 1200:
        text = ""
        for _ in range(random.randint(1, 4)):
            marker = random.choice([*markers, "ab", "é", "< ", "x<", "\\"])
            start = random.randrange(len(marker))
            text += marker[start : start + random.randint(1, 6)]
        if len(text) > 1:
            words.add(text.encode()[: random.randint(2, 14)])
    special = b'<|"|>'
    return Vocabulary(
        [*(bytes([b]) for b in range(256)), *sorted(words), special, b"<end>"],
        special_ids=[256 + len(words)],
        eos_ids=[257 + len(words)],
    )


CLOSERS = _closers()


@pytest.mark.parametrize("string", [8192, 5])
@pytest.mark.parametrize("dialect", shipped_ids())
def test_raw_text_up_to_its_closer(dialect: str, string: int) -> None:
    tool = {
        "name": "f",
        "input_schema": {"properties": {"a": {"type": "string"}}, "required": ["a"]},
    }
    bounds = calligram.Bounds(string=string)
    grammar = calligram.compile_tools([tool], dialect, bounds=bounds)
    automaton = mask.compile(grammar, CLOSERS)
    oracle = TokenByToken(grammar.enforced, CLOSERS)
    random = Random(f"{dialect} {string}")
    for _ in range(3):
        matcher, state = automaton.matcher(), oracle.start
        for _ in range(60):
            allowed = matcher.allowed_tokens()
            # Where nearly nothing fits there is little to compare.
            if len(allowed) > 40 or random.random() < 0.2:
                assert allowed == oracle.allowed(state)
            assert allowed, "a dead end"
            longer = [t for t in allowed if len(CLOSERS.tokens[t]) > 2] or allowed
            token = random.choice(random.choice((allowed, longer, longer)))
            state = oracle.step(state, token)
            assert matcher.accept_token(token)
            if matcher.is_terminated():
                break
