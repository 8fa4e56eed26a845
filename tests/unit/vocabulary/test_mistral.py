"""Vocabularies of Mistral tokenizers."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path
from typing import Any

import mistral_common
import pytest
from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

from calligram import Vocabulary, VocabularyError

DATA = Path(mistral_common.__file__).parent / "data"
TEKKEN = DATA / "tekken_240911.json"
BEFORE = DATA / "mistral_instruct_tokenizer_240323.model.v3"


def small() -> dict[str, Any]:
    """A tekken.json of all bytes, one pair, and ten special tokens."""
    pairs = [bytes([b]) for b in range(256)] + [b" t", b"\xf0\x9f"]
    names = ["<unk>", "<s>", "</s>", "[TOOL_CALLS]", "<pad>"]
    return {
        "config": {
            "pattern": ".+",
            "num_vocab_tokens": 258,
            "default_vocab_size": 268,
            "default_num_special_tokens": 10,
            "version": "v11",
        },
        "vocab": [
            {"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None}
            for i, t in enumerate(pairs)
        ],
        "special_tokens": [
            {"rank": i, "token_str": n, "is_control": True} for i, n in enumerate(names)
        ],
    }


def test_special_tokens_come_before_the_others(tmp_path: Path) -> None:
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(small()))
    found = Vocabulary.from_mistral(path, size=270)
    assert found.kind == "mistral tekken" and len(found) == 270
    assert found.specials["[TOOL_CALLS]"] == 3
    assert found.special_ids == set(range(10)) - {4}
    assert found.padding_ids == {4, 268, 269}
    assert found.eos_ids == (2,)
    assert found.tokens[10:266] == tuple(bytes([b]) for b in range(256))
    assert found.tokens[266:268] == (b" t", b"\xf0\x9f")


def test_a_real_tokenizer_gives_the_bytes_of_its_texts() -> None:
    tokenizer = Tekkenizer.from_file(TEKKEN)
    found = Vocabulary.from_mistral(TEKKEN)
    assert len(found) == tokenizer.n_words
    assert found.specials["[TOOL_CALLS]"] == tokenizer.get_special_token("[TOOL_CALLS]")
    chance = random.Random(7)
    for _ in range(200):
        ids = chance.choices(found.ordinary, k=12)
        data = b"".join(found.tokens[i] for i in ids)
        assert tokenizer.decode(ids, SpecialTokenPolicy.KEEP) == data.decode("utf-8", "replace")
    for text in ("naïve café\n\t東京 🦊", '{"a": [1, 2.5e3, null]}'):
        ids = tokenizer.encode(text, bos=False, eos=False)
        assert b"".join(found.tokens[i] for i in ids) == text.encode()
    whole = Vocabulary.from_mistral(MistralTokenizer.from_file(str(TEKKEN)))
    assert whole.digest == found.digest


def test_models_before_tekken_are_sentencepiece() -> None:
    found = Vocabulary.from_mistral(BEFORE)
    assert found.kind == "sentencepiece"
    assert found.digest == Vocabulary.from_sentencepiece(BEFORE).digest
    whole = Vocabulary.from_mistral(MistralTokenizer.from_file(str(BEFORE)))
    assert whole.digest == found.digest
    assert "[TOOL_CALLS]" in found.specials


@pytest.mark.parametrize(
    "change",
    [
        {"config": {}},
        {"config": None},
        {"vocab": []},
        {"vocab": None},
        {"vocab": [{"rank": 0}]},
        {"special_tokens": [{"rank": 0}]},
        {"special_tokens": 7},
    ],
)
def test_what_the_library_does_not_read_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(small() | change))
    with pytest.raises(VocabularyError, match="mistral-common") as caught:
        Vocabulary.from_mistral(path)
    assert caught.value.problems[0].code == "vocabulary-format"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b'{"a": 1}', b"{" * 100_000])
def test_foreign_files(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "tekken.json"
    path.write_bytes(data)
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_mistral(path)
    assert caught.value.problems[0].code == "vocabulary-format"
    with pytest.raises(VocabularyError, match="cannot be read"):
        Vocabulary.from_mistral(tmp_path / "none.json")
    with pytest.raises(TypeError, match="not int"):
        Vocabulary.from_mistral(7)
