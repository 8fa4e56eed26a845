"""Bytes that a grammar needs and a vocabulary lacks."""

from __future__ import annotations

import pytest

import calligram
from calligram.compiler.spec_loader import shipped_ids
from calligram.targets import mask

TOOL = {"name": "f", "input_schema": {"properties": {"a": {"enum": ["é", "x"]}}}}


def vocabulary(without: bytes = b"", more: tuple[bytes, ...] = ()) -> calligram.Vocabulary:
    single = [bytes([b]) for b in range(256) if b not in without]
    return calligram.Vocabulary([*single, *more, b"<end>"], eos_ids=[len(single) + len(more)])


def test_a_vocabulary_of_all_bytes_lacks_none() -> None:
    grammar = calligram.compile_schema({})
    assert mask.lacking_bytes(grammar, vocabulary()) == []


@pytest.mark.parametrize("dialect", shipped_ids())
def test_bytes_that_are_needed_and_missing_are_told(dialect: str) -> None:
    grammar = calligram.compile_tools([TOOL], dialect)
    # "é" is C3 A9; FF is in no text.
    known = vocabulary(b"\xa9\xc3f\xff")
    assert mask.lacking_bytes(grammar, known) == sorted(b"\xa9\xc3f")


def test_a_byte_that_is_lacking_is_a_dead_end() -> None:
    grammar = calligram.compile_schema({"enum": ["é", "x"]})
    known = vocabulary(b"\xa9")
    assert mask.lacking_bytes(grammar, known) == [0xA9]
    matcher = mask.compile(grammar, known).matcher()
    assert all(matcher.accept_token(known.tokens.index(bytes([b]))) for b in b'"\xc3')
    assert matcher.allowed_tokens() == []
    # Another token that begins with it is a way on, if the end fits.
    known = vocabulary(b"\xa9", (b'\xa9"',))
    matcher = mask.compile(grammar, known).matcher()
    assert all(matcher.accept_token(known.tokens.index(bytes([b]))) for b in b'"\xc3')
    assert matcher.allowed_tokens() == [known.tokens.index(b'\xa9"')]


def test_excluded_keys_and_special_tokens_need_no_bytes_of_their_own() -> None:
    grammar = calligram.compile_schema(
        {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": False}
    )
    lacking = mask.lacking_bytes(grammar, vocabulary(bytes(range(0x80, 0x100)) + b"Z"))
    assert lacking == []
