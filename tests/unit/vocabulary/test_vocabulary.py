"""The class itself, files of any format, missing libraries, and the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from mistral_common.tokens.tokenizers import tekken

from calligram import Vocabulary, VocabularyError
from calligram.compiler.vocabulary.any_file import from_file
from tests.cli_runner import run
from tests.gguf_writing import CONTROL, NORMAL, write_gguf

MISTRAL = Path(tekken.__file__).parents[2] / "data"
BPE = {
    "added_tokens": [{"id": 1, "content": "</s>", "special": True}],
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"Ġa": 0, "</s>": 1}, "merges": []},
}


@pytest.fixture
def gguf_file(tmp_path: Path) -> str:
    tokens = [("Ġa", NORMAL), ("</s>", CONTROL), ("[PAD2]", NORMAL), ("bbb", NORMAL)]
    tokens.append(("<\x1b\n>", CONTROL))
    return str(write_gguf(tmp_path / "v.gguf", "gpt2", tokens, eos_token_id=1))


def test_the_digest_tells_tokens_and_classes_apart() -> None:
    same = [Vocabulary([b"ab", b"c", b"d"], [2], [1]) for _ in range(2)]
    others = [
        Vocabulary([b"a", b"bc", b"d"], [2], [1]),
        Vocabulary([b"ab", b"c", b"e"], [2], [1]),
        Vocabulary([b"ab", b"c", b"d"], [], [1]),
        Vocabulary([b"ab", b"c", b"d"], [2], [0]),
        Vocabulary([b"ab", b"c", b"d"], [2], [1], [0]),
    ]
    assert same[0].digest == same[1].digest
    assert len({v.digest for v in [same[0], *others]}) == 6


def test_ordinary_tokens_are_sorted_as_bytes_zero_bytes_included() -> None:
    tokens = [b"b", b"a\x00", b"a", b"", b"a", b"\xff", b"<s>", b"a\x00\x00"]
    found = Vocabulary(tokens, special_ids=[6], eos_ids=[0])
    assert list(found.ordinary) == [2, 4, 1, 7, 5]
    assert found.trie.strings == (b"a", b"a", b"a\x00", b"a\x00\x00", b"\xff")


def test_an_ordinary_token_can_be_made_an_end_and_back(gguf_file: str) -> None:
    assert Vocabulary.from_gguf(gguf_file).ordinary == (0, 3)
    assert Vocabulary.from_gguf(gguf_file, eos_ids=[3]).ordinary == (0,)
    assert Vocabulary.from_gguf(gguf_file, eos_ids=[2]).padding_ids == frozenset()


def test_the_format_is_told_by_the_content(tmp_path: Path, gguf_file: str) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(BPE))
    kinds = {
        Path(gguf_file): "gguf gpt2",
        tmp_path: "huggingface BPE",
        tmp_path / "tokenizer.json": "huggingface BPE",
        MISTRAL / "tekken_240911.json": "mistral tekken",
        MISTRAL / "tokenizer.model.v1": "sentencepiece",
    }
    assert {path: from_file(path).kind for path in kinds} == kinds
    (tmp_path / "x.txt").write_text("x")
    for name, code in (("x.txt", "vocabulary-format"), ("none", "vocabulary-unreadable")):
        with pytest.raises(VocabularyError) as caught:
            from_file(tmp_path / name)
        assert caught.value.problems[0].code == code


@pytest.mark.parametrize(
    ("method", "module", "package"),
    [
        ("from_tiktoken", "tiktoken", "tiktoken"),
        ("from_mistral", "mistral_common.tokens.tokenizers.tekken", "mistral-common"),
        ("from_sentencepiece", "sentencepiece", "sentencepiece"),
    ],
)
def test_a_missing_library_is_named_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, module: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / "x"
    path.write_text("{}")
    with pytest.raises(VocabularyError, match=f"pip install {package}, ") as caught:
        getattr(Vocabulary, method)(str(path))
    assert caught.value.problems[0].code == "vocabulary-library"


def test_files_of_gguf_and_hugging_face_need_no_library(
    tmp_path: Path, gguf_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("gguf", "tokenizers", "transformers"):
        monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "tokenizer.json").write_text(json.dumps(BPE))
    assert Vocabulary.from_gguf(gguf_file).tokens[0] == b" a"
    assert Vocabulary.from_huggingface(tmp_path).tokens[0] == b" a"


def test_the_command_says_what_a_vocabulary_holds(gguf_file: str) -> None:
    found = Vocabulary.from_gguf(gguf_file)
    result = run("vocabulary", gguf_file, "--size", "7", "--json")
    assert result.code == 0
    assert result.json == {
        "kind": "gguf gpt2",
        "size": 7,
        "ordinary": 2,
        "longest_bytes": 3,
        "special": 2,
        "end": [{"id": 1, "text": "</s>"}],
        "padding": 3,
        "digest": Vocabulary.from_gguf(gguf_file, size=7).digest,
    }
    result = run("vocabulary", gguf_file, "--no-cache")
    assert result.code == 0
    lines = dict(line.split(":", 1) for line in result.out.splitlines())
    assert {name: text.strip() for name, text in lines.items()} == {
        "kind": "gguf gpt2",
        "size": "5",
        "ordinary": "2, the longest 3 bytes",
        "special": "2",
        "end": "1 </s>",
        "padding": "1",
        "digest": found.digest,
    }


def test_the_command_shows_end_tokens_safely(tmp_path: Path) -> None:
    tokens = [("a", NORMAL), ("<\x1b\n\xff>", CONTROL)]
    path = write_gguf(tmp_path / "v.gguf", "gpt2", tokens, eos_token_id=1)
    assert r"1 <\x1b\nÿ>" in run("vocabulary", str(path)).out


def test_the_command_refuses_what_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("x")
    for name, code in (
        (str(path), "vocabulary-format"),
        (str(tmp_path / "none"), "vocabulary-unreadable"),
    ):
        result = run("vocabulary", name, "--json")
        assert (result.code, result.out) == (2, "")
        assert [p["code"] for p in result.problems] == [code]
