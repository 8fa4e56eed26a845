"""The end of a turn, where it is written in several tokens."""

from __future__ import annotations

import calligram
from calligram import Vocabulary
from calligram.compiler.spec_loader import load_spec_text
from calligram.targets import mask
from tests.laws.tools import tool

SPEC = """
id: long-end
tokens: [{text: "<|close|>", match: require}, {text: "<|sep|>", match: require}]
call: "<call {name}>{args}"
args: {notation: json}
triggers: [{text: "<call "}]
turn_end: {tokens: ["<|close|>turn<|sep|><|end|>", "<|end|>"]}
"""
SPECIAL = [b"<|close|>", b"<|sep|>", b"<|end|>"]


def test_it_is_taken_token_by_token() -> None:
    tokens = [bytes([i]) for i in range(256)] + SPECIAL
    vocabulary = Vocabulary(tokens, special_ids={256, 257, 258}, eos_ids={258})
    grammar = calligram.compile_tools([tool("f", {})], load_spec_text(SPEC).spec)
    automaton = mask.compile(grammar, vocabulary)
    for end in ([256, *b"turn", 257, 258], [258]):
        matcher = automaton.matcher()
        for token in (*b"<call f>{}", *end[:-1]):
            assert matcher.accept_token(token), token
        assert matcher.accept_token(end[-1])
    for wrong in ([256, *b"turn", 258], [257], [256, 257]):
        matcher = automaton.matcher()
        said = [matcher.accept_token(token) for token in (*b"<call f>{}", *wrong)]
        assert not said[-1]


def test_it_is_read_whole() -> None:
    grammar = calligram.compile_tools([tool("f", {})], load_spec_text(SPEC).spec)
    for end in ("<|close|>turn<|sep|><|end|>", "<|end|>", ""):
        assert grammar.check("<call f>{}" + end).accepted
    assert not grammar.check("<call f>{}<|close|>turn<|sep|>").accepted
