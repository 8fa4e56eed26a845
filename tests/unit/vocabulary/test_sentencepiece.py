"""Vocabularies of SentencePiece models."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest
import sentencepiece

from calligram import Vocabulary, VocabularyError

TEXTS = [
    "The quick brown fox jumps over the lazy dog, twice, and naps.",
    "Über Äpfel, naïve café, and again the fox and the dog.",
    "Numbers 1 2 3 45 678 and {braces} [brackets] <angles>.",
]


def model(kind: str, **more: Any) -> bytes:
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS),
        model_writer=out,
        model_type=kind,
        vocab_size=330,
        byte_fallback=True,
        hard_vocab_limit=False,
        minloglevel=2,
        user_defined_symbols=["<tool_call>", "▁▁"],
        control_symbols=["<|im_end|>"],
        pad_id=3,
        **more,
    )
    return out.getvalue()


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("suffix", [False, True])
@pytest.mark.parametrize("prefix", [False, True])
def test_pieces_are_the_bytes_the_library_decodes(
    kind: str, suffix: bool, prefix: bool, tmp_path: Any
) -> None:
    data = model(kind, treat_whitespace_as_suffix=suffix, add_dummy_prefix=prefix)
    path = tmp_path / "tokenizer.model"
    path.write_bytes(data)
    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    found = Vocabulary.from_sentencepiece(path)
    assert Vocabulary.from_sentencepiece(processor).digest == found.digest
    assert len(found) == processor.get_piece_size()
    assert [found.tokens[i] for i in found.eos_ids] == [b"</s>", b"<|im_end|>"]
    assert set(found.specials) == {"<unk>", "<s>", "</s>", "<|im_end|>", "<tool_call>"}
    assert found.padding_ids == {3}
    assert b"  " in [found.tokens[i] for i in found.ordinary]
    # The decoder strips the prefix off a text's beginning, or the suffix off its end.
    anchor = next(i for i in found.ordinary if found.tokens[i] == b"e")
    whole = [i for i in found.ordinary if not processor.is_byte(i)]
    for token in whole:
        data = b"".join(found.tokens[i] for i in (anchor, token, anchor))
        assert processor.decode([anchor, token, anchor]) == data.decode()
    chance = random.Random(8)
    for _ in range(100):
        ids = [anchor, *chance.choices(whole, k=8), anchor]
        assert processor.decode(ids) == b"".join(found.tokens[i] for i in ids).decode()
    for text in ("e 東京 🦊 e", *(f"e {t} e" for t in TEXTS)):
        ids = [i for i in processor.encode(text)]
        data = b"".join(found.tokens[i] for i in ids)
        assert data.decode().strip(" ") == text


def test_a_model_that_rewrites_its_output_is_refused() -> None:
    data = model("bpe")
    # denormalizer_spec = 5 with precompiled_charsmap = 2, appended: protocol buffers merge.
    rewriting = data + b"\x2a\x05\x12\x03abc"

    class Processor(sentencepiece.SentencePieceProcessor):
        def serialized_model_proto(self) -> bytes:
            return rewriting

    with pytest.raises(VocabularyError, match="rewrites") as caught:
        Vocabulary.from_sentencepiece(Processor(model_proto=data))
    assert caught.value.problems[0].code == "vocabulary-kind"


@pytest.mark.parametrize("data", [b"", b"\n", b"no model", b"{}", b"\x00" * 100])
def test_foreign_files(tmp_path: Any, data: bytes) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(data)
    with pytest.raises(VocabularyError, match="no SentencePiece model"):
        Vocabulary.from_sentencepiece(path)
    path.write_bytes(model("bpe")[:-200])
    with pytest.raises(VocabularyError, match="no SentencePiece model"):
        Vocabulary.from_sentencepiece(path)
    with pytest.raises(VocabularyError, match="cannot be read"):
        Vocabulary.from_sentencepiece(tmp_path / "none.model")
    with pytest.raises(TypeError, match="not int"):
        Vocabulary.from_sentencepiece(7)
