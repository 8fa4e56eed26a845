"""Masks inside remembered texts: token by token what stepping through the automaton says."""

from __future__ import annotations

import itertools
import json
from random import Random
from typing import Any

import numpy as np
import pytest

import calligram
from calligram import Vocabulary
from calligram.compiler.grammar import Chars, Distinct, Grammar, Literal, Repeat, Rules, Sequence
from calligram.targets import mask
from tests.sampling import Sampler, dice, fuzzed
from tests.token_by_token import TokenByToken

PIECES = ['"a', 'a"', '", "', '"', '""', '"a"', '"b", "', '["', '[["', '"]', '"]]', ', "', ', ',
          '1, 1', '1, ', ', 1', '11', '1', '12, 1', '[1', '], [', ']], [[', '{"a"', '{"', '": ',
          '": 1',
          '": "', '"}, {"', '}, {', '{}, {', 'aa', 'ab', 'abc', 'true', 'null', ', null',
          '"a", "b"',
          '"", ""', '[], [', '1.5', '.5, 1', 'a": 1, "b', '"}', 'é", "é']  # fmt: skip


def _vocabulary() -> Vocabulary:
    words = {piece.encode() for piece in PIECES}
    # Enough words below each node that slices are used and texts forgotten.
    letters = "abcx01 "
    words |= {"".join(w).encode() for n in (2, 3) for w in itertools.product(letters, repeat=n)}
    words |= {f'"{a}{b}'.encode() for a, b in itertools.product(letters, repeat=2)}
    words |= {f'{a}", "{b}'.encode() for a, b in itertools.product(letters, repeat=2)}
    tokens = [bytes([b]) for b in range(256)] + sorted(w for w in words if len(w) > 1)
    return Vocabulary([*tokens, b"<end>"], eos_ids=[len(tokens)])


VOCABULARY = _vocabulary()


def compared(
    automaton: mask.MaskAutomaton, oracle: TokenByToken, text: bytes, random: Random
) -> int:
    """Walk `text` with tokens drawn at random; every mask is what stepping says."""
    matcher, state = automaton.matcher(), oracle.start
    at = 0
    masks = 0
    while True:
        allowed = matcher.allowed_tokens()
        assert allowed == oracle.allowed(state), text[:at]
        assert allowed
        masks += 1
        if at == len(text):
            return masks
        fits = [t for t in allowed if text.startswith(VOCABULARY.tokens[t], at)]
        token = random.choice([t for t in fits if t not in VOCABULARY.eos_ids])
        state = oracle.step(state, token)
        assert matcher.accept_token(token)
        at += len(VOCABULARY.tokens[token])


SCHEMAS: dict[str, Any] = {
    "strings": {"items": {"type": "string"}},
    "short strings": {"items": {"type": "string", "maxLength": 2}, "minItems": 2},
    "digits": {"items": {"type": "integer", "minimum": 0, "maximum": 12}, "minItems": 9},
    "numbers": {"items": {"type": "number"}, "maxItems": 4},
    "of few values": {"items": {"enum": ["a", "aa", "ab", 1, 11, 12]}, "minItems": 3},
    "arrays": {"items": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
    "arrays of few": {
        "items": {"type": "array", "items": {"enum": [1, 11]}, "maxItems": 2}, "minItems": 4,
    },
    "objects": {"items": {"properties": {"a": {"type": "integer"}, "b": {}}, "type": "object"}},
    "mixed": {
        "items": {
            "anyOf": [
                {"type": "object", "properties": {"a": {"type": "integer"}}},
                {"type": "object", "properties": {"b": {"type": "integer"}}},
                {"type": ["string", "null"]},
            ]
        }
    },
    "anything": {},
    "tuples": {
        "prefixItems": [{"type": "string"}, {"const": "a"}, {"enum": ["a", "b", "c"]}],
        "minItems": 3,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEMAS)
def test_masks_are_what_stepping_says(name: str) -> None:
    grammar = calligram.compile_schema(
        {"type": "array", **SCHEMAS[name], "uniqueItems": True},
        bounds=calligram.Bounds(depth=2, string=6, items=5, digits=3, whitespace=1),
    )
    random = dice("mask distinct", name)
    sampler = Sampler(grammar.enforced.rules, random, size=24)
    automaton = mask.compile(grammar, VOCABULARY)
    oracle = TokenByToken(grammar.enforced, VOCABULARY)
    masks = sum(
        compared(automaton, oracle, text.encode(), random)
        for text in sampler.texts(grammar.enforced.start, fuzzed(2))
    )
    assert masks > 4


@pytest.mark.parametrize("texts", [["a", "ab", "a", "b"], ["", "aa", "aaa"]])
def test_an_item_is_not_written_twice(texts: list[str]) -> None:
    grammar = calligram.compile_schema({"items": {"type": "string"}, "uniqueItems": True})
    automaton = mask.compile(grammar, VOCABULARY)
    matcher = automaton.matcher()
    data = json.dumps(texts).encode()
    right = len(set(texts)) == len(texts)
    assert all(matcher.accept_token(byte) for byte in data) is right


def test_two_items_in_one_token() -> None:
    grammar = calligram.compile_schema({"items": {"type": "string"}, "uniqueItems": True})
    matcher = mask.compile(grammar, VOCABULARY).matcher()
    same, other = VOCABULARY.tokens.index(b'"", ""'), VOCABULARY.tokens.index(b'"a", "b"')
    assert matcher.accept_token(ord("["))
    allowed = matcher.allowed_tokens()
    assert other in allowed and same not in allowed


def test_open_keys_that_must_be_two() -> None:
    grammar = calligram.compile_schema(
        {"type": "object", "minProperties": 2, "additionalProperties": {"type": "integer"}},
        bounds=calligram.Bounds(digits=2, whitespace=1, keys=4),
    )
    random = dice("mask distinct keys")
    automaton = mask.compile(grammar, VOCABULARY)
    oracle = TokenByToken(grammar.enforced, VOCABULARY)
    for text in Sampler(grammar.enforced.rules, random, size=20).texts(grammar.enforced.start, 6):
        compared(automaton, oracle, text.encode(), random)
    assert not grammar.check('{"a": 1, "a": 2}')
    assert grammar.check('{"a": 1, "b": 2}')


def test_the_end_of_a_long_array_is_seen() -> None:
    letters = Repeat(Chars(((0x61, 0x62),)), 1, None)
    rules = Rules()
    node = Sequence((Literal("["), Distinct((), letters, Literal(","), 0, 2), Literal("]")))
    grammar = Grammar(rules, node)
    automaton = mask.MaskAutomaton(grammar, VOCABULARY)
    compared(automaton, TokenByToken(grammar, VOCABULARY), b"[aab,ab]", dice("long"))


def test_rows_are_shared_where_nothing_is_met() -> None:
    grammar = calligram.compile_schema({"items": {"type": "string"}, "uniqueItems": True})
    automaton = mask.compile(grammar, VOCABULARY)
    matcher = automaton.matcher()
    for byte in b'["abc", "x':
        assert matcher.accept_token(byte)
    first = matcher.mask_row()
    assert matcher.accept_token(ord("y"))
    assert np.shares_memory(first, matcher.mask_row())
