"""Templates are found in files, folders, GGUFs, configurations and tokenizers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import pytest

from calligram.chat_templates import ChatTemplate, ChatTemplateError


def test_a_jinja_file(tmp_path: Path) -> None:
    path = tmp_path / "chat.jinja"
    path.write_text("{{ messages | length }}é", encoding="utf-8")
    assert ChatTemplate.from_path(path).render([]) == "0é"


def write_gguf(path: Path, **keys: str) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("Finch 7B")
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["<s>", "</s>", "a"])
    writer.add_uint32("tokenizer.ggml.bos_token_id", 0)
    writer.add_uint32("tokenizer.ggml.eos_token_id", 1)
    for name, text in keys.items():
        suffix = "" if name == "default" else f".{name}"
        writer.add_string(f"tokenizer.chat_template{suffix}", text)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def test_a_gguf(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", default="{{ bos_token }}x{{ eos_token }}", rag="r")
    template = ChatTemplate.from_path(path)
    assert template.render([]) == "<s>x</s>"
    assert template.model == "Finch 7B"
    assert ChatTemplate.from_path(path, "rag").render([]) == "r"


def test_the_template_for_tools_is_the_one_that_is_meant(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", default="d", tool_use="t")
    assert ChatTemplate.from_path(path).name == "tool_use"
    assert ChatTemplate.from_path(path, "default").render([]) == "d"


@pytest.mark.parametrize(
    "given",
    [
        "{{ bos_token }}x",
        [{"name": "default", "template": "{{ bos_token }}x"}, {"name": "rag", "template": "r"}],
        {"default": "{{ bos_token }}x"},
    ],
)
def test_a_configuration(tmp_path: Path, given: Any) -> None:
    path = tmp_path / "tokenizer_config.json"
    document = {"chat_template": given, "bos_token": {"content": "<s>"}, "eos_token": "</s>"}
    path.write_text(json.dumps(document), encoding="utf-8")
    for place in (path, tmp_path):
        assert ChatTemplate.from_path(place).render([]) == "<s>x"


def test_a_file_beside_the_configuration_wins(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text('{"chat_template": "old"}')
    (tmp_path / "chat_template.jinja").write_text("new")
    (tmp_path / "additional_chat_templates").mkdir()
    (tmp_path / "additional_chat_templates" / "rag.jinja").write_text("r")
    assert ChatTemplate.from_path(tmp_path).render([]) == "new"
    assert ChatTemplate.from_path(tmp_path, "rag").render([]) == "r"


def test_a_tokenizer_object() -> None:
    class Tokenizer:
        chat_template = "{{ eos_token }}"
        eos_token = "</s>"
        bos_token = None
        name_or_path = "acme/finch"

    template = ChatTemplate.from_tokenizer(Tokenizer())
    assert (template.render([]), template.model) == ("</s>", "acme/finch")
    with pytest.raises(ChatTemplateError, match="template-missing"):
        ChatTemplate.from_tokenizer(object())


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.jinja", None, "template-unreadable"),
        ("a.jinja", b"\xff", "template-unreadable"),
        ("a.jinja", b"x" * (4 * 2**20 + 1), "template-unreadable"),
        ("a.gguf", b"GGUF\x03", "vocabulary-format"),
        ("a.json", b"{", "template-format"),
        ("a.json", b"[]", "template-format"),
        ("a.json", b"{}", "template-missing"),
        ("a.json", b'{"chat_template": 3}', "template-missing"),
        ("a.json", b'{"chat_template": [3]}', "template-format"),
        ("a.json", b'{"chat_template": [{"name": "a"}]}', "template-format"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, data: bytes | None, code: str) -> None:
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ChatTemplateError) as caught:
        ChatTemplate.from_path(path)
    assert [p.code for p in caught.value.problems] == [code]
    assert name in str(caught.value)


def test_an_unknown_name_lists_the_others(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", default="d", tool_use="t")
    with pytest.raises(ChatTemplateError, match="did you mean `tool_use`"):
        ChatTemplate.from_path(path, "tooluse")


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(ChatTemplateError, match="template-missing"):
        ChatTemplate.from_path(tmp_path)
