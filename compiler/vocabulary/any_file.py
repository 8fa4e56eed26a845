"""A vocabulary's file of whatever format, told by its content."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from .files import Named, malformed, opened, unreadable
from .vocabulary import Vocabulary

_HEAD: Final = 65_536
_TEKKEN: Final = (b'"token_bytes"', b'"is_control"')


def from_file(path: Named, *, size: int | None = None, cache: bool = True) -> Vocabulary:
    """The vocabulary of a GGUF file, a tokenizer.json or its folder, a tekken.json or a
    SentencePiece model.

    Raises:
        VocabularyError: as the loaders do, or the format is none of these.
    """
    try:
        head = b"{" if Path(path).is_dir() else _head(path)
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from None
    if head.startswith(b"GGUF"):
        return Vocabulary.from_gguf(path, size=size, cache=cache)
    if head.lstrip().startswith(b"{"):
        if any(mark in head for mark in _TEKKEN):
            return Vocabulary.from_mistral(path, size=size, cache=cache)
        return Vocabulary.from_huggingface(path, size=size, cache=cache)
    if head.startswith(b"\n"):  # The first field of a SentencePiece model: its first piece.
        return Vocabulary.from_sentencepiece(path, size=size, cache=cache)
    raise malformed(
        path,
        "is of no format that is known",
        "known are GGUF, tokenizer.json (or its folder), tekken.json and SentencePiece models",
    )


def _head(path: Named) -> bytes:
    with opened(path) as file:
        return file.read(_HEAD)
