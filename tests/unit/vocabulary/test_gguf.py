"""Vocabularies in GGUF files."""

from __future__ import annotations

import struct
from pathlib import Path

import gguf
import numpy as np
import pytest

from calligram import Vocabulary, VocabularyError
from calligram.compiler.vocabulary.gguf_file import read_metadata
from calligram.compiler.vocabulary.trie import ROOT
from tests.gguf_writing import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    contents,
    write_gguf,
)

GPT2: list[tuple[str, int]] = [
    ("a", NORMAL),
    ("Ġthe", NORMAL),
    ("Ċ", NORMAL),
    ("Ã©", NORMAL),
    ("Ā", NORMAL),
    ("<|im_end|>", CONTROL),
    ("<tool_call>", USER_DEFINED),
    ("[PAD7]", USER_DEFINED),
    ("\n\n", USER_DEFINED),
    ("<|reserved_special_token_0|>", NORMAL),
    ("x y", NORMAL),
    ("<|endoftext|>", CONTROL),
    ("<|eom_id|>", NORMAL),
]
SPM: list[tuple[str, int]] = [
    ("<unk>", UNKNOWN),
    ("<s>", CONTROL),
    ("</s>", CONTROL),
    ("<0x0A>", BYTE),
    ("<0xfF>", BYTE),
    ("▁the", NORMAL),
    ("▁▁", NORMAL),
    ("<0x41>", NORMAL),
    ("é", NORMAL),
    ("", UNUSED),
    ("▁", USER_DEFINED),
    ("<start_of_turn>", USER_DEFINED),
    ("<pad>", CONTROL),
]


def test_byte_level_tokens_are_the_bytes_of_the_gpt2_alphabet(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "v.gguf", "gpt2", GPT2, eos_token_id=11, eot_token_id=5)
    found = Vocabulary.from_gguf(path)
    assert found.tokens == (
        b"a",
        b" the",
        b"\n",
        "é".encode(),
        b"\x00",
        b"<|im_end|>",
        b"<tool_call>",
        b"[PAD7]",
        b"\n\n",
        b"<|reserved_special_token_0|>",
        b"x y",  # A space is not in the alphabet: llama.cpp and `tokenizers` take it as text.
        b"<|endoftext|>",
        b"<|eom_id|>",
    )
    assert found.kind == "gguf gpt2"
    assert found.special_ids == {5, 6, 9, 11}
    assert found.padding_ids == {7}
    assert found.eos_ids == (11, 5)
    assert found.specials["<tool_call>"] == 6
    assert list(found.ordinary) == [4, 2, 8, 1, 12, 0, 10, 3]


@pytest.mark.parametrize("kind", ["llama", "gemma4"])
def test_pieces_have_spaces_for_marks_and_bytes_for_byte_tokens(tmp_path: Path, kind: str) -> None:
    path = write_gguf(tmp_path / "v.gguf", kind, SPM, eos_token_id=2)
    assert Vocabulary.from_gguf(path).kind == f"gguf {kind}"
    found = Vocabulary.from_gguf(path)
    assert found.tokens[3:9] == (b"\n", b"\xff", b" the", b"  ", b"<0x41>", "é".encode())
    assert found.tokens[10] == b" "
    assert found.special_ids == {0, 1, 2, 11}
    assert found.padding_ids == {9, 12}
    assert found.eos_ids == (2,)


def test_rwkv_tokens_are_escaped_bytes(tmp_path: Path) -> None:
    raw = ["<s>", r"\n\n", r"\x80", r"a\\b", r"\'", "é", r"\t\r"]
    tokens: list[tuple[str, int]] = [(t, NORMAL if i else CONTROL) for i, t in enumerate(raw)]
    found = Vocabulary.from_gguf(write_gguf(tmp_path / "v.gguf", "rwkv", tokens), eos_ids=[0])
    assert found.tokens == (b"<s>", b"\n\n", b"\x80", rb"a\b", b"'", "é".encode(), b"\t\r")


@pytest.mark.parametrize("kind", ["bert", "t5", "no_vocab", "gemma4x"])
def test_kinds_without_bytes_are_refused(tmp_path: Path, kind: str) -> None:
    path = write_gguf(tmp_path / "v.gguf", kind, SPM, eos_token_id=2)
    with pytest.raises(VocabularyError, match=f"kind '{kind}'") as caught:
        Vocabulary.from_gguf(path)
    (problem,) = caught.value.problems
    assert problem.code == "vocabulary-kind" and problem.hint is not None
    assert "gpt2" in problem.hint


def test_without_types_the_named_ids_are_special(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "v.gguf", "gpt2", GPT2, types=False, eos_token_id=11)
    found = Vocabulary.from_gguf(path)
    assert found.special_ids == {9, 11} and found.eos_ids == (11,)


def test_a_larger_vocab_size_is_padding(tmp_path: Path) -> None:
    path = tmp_path / "v.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_vocab_size(6)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["a", "</s>"])
    writer.add_eos_token_id(1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    assert Vocabulary.from_gguf(path).padding_ids == {2, 3, 4, 5}
    assert len(Vocabulary.from_gguf(path, size=40)) == 40


@pytest.mark.parametrize("endianess", [gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG])
def test_every_value_is_what_the_gguf_package_reads(
    tmp_path: Path, endianess: gguf.GGUFEndian
) -> None:
    path = write_gguf(tmp_path / "v.gguf", "gpt2", GPT2, endianess=endianess, eos_token_id=11)
    found = read_metadata(path, lambda _: True)
    plain: dict[str, object] = {}
    for key, value in found.items():
        if isinstance(value, list):
            plain[key] = [v.decode() for v in value]
        elif isinstance(value, np.ndarray):
            plain[key] = value.tolist()
        else:
            plain[key] = value.decode() if isinstance(value, bytes) else value
    assert plain == contents(path)
    some = read_metadata(path, lambda key: key == "x.double")
    assert some == {"x.double": 0.5}


def test_a_file_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "v.gguf", "gpt2", GPT2, eos_token_id=11).read_bytes()
    path = tmp_path / "cut.gguf"
    # The last key is the vocabulary's; what is behind is alignment.
    end = whole.rindex(b"add_bos_token") + len(b"add_bos_token") + 4
    for length in range(end):
        path.write_bytes(whole[:length])
        with pytest.raises(VocabularyError) as caught:
            Vocabulary.from_gguf(path, cache=False)
        assert [p.code for p in caught.value.problems] == ["vocabulary-format"]
        assert caught.value.problems[0].origin.file == str(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\x80PNG and so on", "is no GGUF file"),
        (b"GGUF" + struct.pack("<I", 1) + bytes(16), "version 1"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 0), "holds no vocabulary"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "claims to have"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 60), "cut off"),
        (b"GGUF" + struct.pack("<IQQQ1sI", 3, 0, 1, 1, b"k", 99), "type 99"),
        (b"GGUF" + struct.pack("<IQQQ1sIIQ", 3, 0, 1, 1, b"k", 9, 8, 1 << 60), "cut off"),
        (
            b"GGUF" + struct.pack("<IQQQ1sI", 3, 0, 1, 1, b"k", 9) + struct.pack("<IQ", 9, 1) * 9,
            "deep",
        ),
        (b"GGUF" + struct.pack("<IQQQ1sIIQ", 3, 0, 1, 1, b"k", 9, 9, 1 << 60), "cut off"),
    ],
)
def test_foreign_and_hostile_files(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "v.gguf"
    path.write_bytes(data)
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.from_gguf(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.gguf", tmp_path):
        with pytest.raises(VocabularyError) as caught:
            Vocabulary.from_gguf(path)
        assert caught.value.problems[0].code == "vocabulary-unreadable"
    with pytest.raises(TypeError):
        Vocabulary.from_gguf(7)  # type: ignore[arg-type]


def test_without_an_end_token_the_caller_must_name_one(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "v.gguf", "gpt2", [("a", NORMAL), ("b", NORMAL)])
    with pytest.raises(VocabularyError, match="eos_ids="):
        Vocabulary.from_gguf(path)
    assert Vocabulary.from_gguf(path, eos_ids=[1]).eos_ids == (1,)
    with pytest.raises(VocabularyError, match="eos_ids holds 2"):
        Vocabulary.from_gguf(path, eos_ids=[2])
    with pytest.raises(VocabularyError, match="size=1 is smaller"):
        Vocabulary.from_gguf(path, eos_ids=[1], size=1)
    with pytest.raises(VocabularyError, match="more than"):
        Vocabulary.from_gguf(path, eos_ids=[1], size=1 << 40)


def test_duplicates_empty_and_very_long_tokens_are_kept(tmp_path: Path) -> None:
    tokens: list[tuple[str, int]] = [
        ("a", NORMAL),
        ("a", NORMAL),
        ("", NORMAL),
        ("b" * 300, NORMAL),
        ("</s>", CONTROL),
    ]
    found = Vocabulary.from_gguf(write_gguf(tmp_path / "v.gguf", "gpt2", tokens, eos_token_id=4))
    assert list(found.ordinary) == [0, 1, 3] and found.longest == 300
    assert found.forest.ids[found.forest.children(ROOT)[ord("a")]] == (0, 1)


def test_ends_of_messages_are_no_ends_of_turns_where_turns_have_their_own(tmp_path: Path) -> None:
    names = ["a", "<|end|>", "<|call|>", "<|return|>"]
    tokens: list[tuple[str, int]] = [(n, CONTROL if i else NORMAL) for i, n in enumerate(names)]
    found = Vocabulary.from_gguf(write_gguf(tmp_path / "v.gguf", "gpt2", tokens, eos_token_id=3))
    assert found.eos_ids == (3, 2)
    fewer = write_gguf(tmp_path / "w.gguf", "gpt2", tokens[:2])
    assert Vocabulary.from_gguf(fewer).eos_ids == (1,)
