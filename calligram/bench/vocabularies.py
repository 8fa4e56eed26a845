"""Vocabularies to measure with, and texts as their tokens."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..compiler.errors import CalligramError
from ..compiler.origin import Origin
from ..compiler.vocabulary.trie import TrieNode
from ..compiler.vocabulary.vocabulary import Vocabulary

MADE_UP: Final = 32_768
"""Tokens of the vocabulary that is measured with unless a file is given."""


class BenchError(CalligramError):
    """What to measure with cannot be read or is not installed."""


def load(path: str | None) -> Vocabulary:
    """The vocabulary of a GGUF file, or a made-up one.

    Raises:
        BenchError: the file cannot be read.
    """
    return made_up() if path is None else read_gguf(path)


def read_gguf(path: str) -> Vocabulary:
    """The vocabulary of a GGUF file, whose metadata is described at
    https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.

    Raises:
        BenchError: no such file, not GGUF, without a vocabulary, or `gguf` is not installed.
    """
    origin = Origin(file=path)
    if not Path(path).is_file():
        raise BenchError.at("cannot-read", "cannot be read: no such file", origin)
    try:
        gguf: Any = importlib.import_module("gguf")
    except ImportError:
        raise BenchError.at(
            "bench-not-installed", "gguf is not installed", origin, "pip install 'calligram[vocab]'"
        ) from None
    try:
        fields = gguf.GGUFReader(path).fields
        texts = _column(fields, "tokenizer.ggml.tokens")
        kinds = [int(k[0]) for k in _column(fields, "tokenizer.ggml.token_type")]
        end = int(fields["tokenizer.ggml.eos_token_id"].parts[-1][0])
        bytewise = bytes(fields["tokenizer.ggml.model"].parts[-1]) == b"gpt2"
    except (ValueError, KeyError, IndexError, OSError) as error:
        message = f"is not a GGUF file with a vocabulary: {error}"
        raise BenchError.at("cannot-read", message, origin) from None
    alphabet = _byte_alphabet()
    special = [i for i, kind in enumerate(kinds) if kind in (3, 4)]
    padding = [i for i, kind in enumerate(kinds) if kind == 5]
    tokens = [
        _spelled(bytes(text).decode("utf-8"), kind, alphabet if bytewise else None)
        for text, kind in zip(texts, kinds, strict=True)
    ]
    return Vocabulary(tokens, special_ids=special, eos_ids=[end], padding_ids=padding)


def _column(fields: Any, name: str) -> list[Any]:
    field = fields[name]
    return [field.parts[i] for i in field.data]


def _spelled(text: str, kind: int, alphabet: dict[str, int] | None) -> bytes:
    """The bytes of an entry: 3 control, 4 user-defined, 6 byte; others as the model writes them."""
    if kind in (3, 4):
        return text.encode()
    if kind == 6:
        return bytes([int(text[3:5], 16)])
    if alphabet is None:
        return text.replace("\u2581", " ").encode()
    if all(c in alphabet for c in text):
        return bytes(alphabet[c] for c in text)
    return text.encode()


def _byte_alphabet() -> dict[str, int]:
    """The characters that stand for bytes in byte-level BPE: printable ones for themselves, then
    from U+0100 on."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = (b for b in range(256) if b not in plain)
    return {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(other)}


def store(vocabulary: Vocabulary, path: Path) -> None:
    """Write a vocabulary for `restore`: one .npz of the tokens' bytes, their lengths, the ids."""
    np.savez(
        path,
        data=np.frombuffer(b"".join(vocabulary.tokens), dtype=np.uint8),
        lengths=np.asarray([len(t) for t in vocabulary.tokens], dtype=np.int64),
        special=np.asarray(sorted(vocabulary.special_ids), dtype=np.int64),
        ends=np.asarray(vocabulary.eos_ids, dtype=np.int64),
        padding=np.asarray(sorted(vocabulary.padding_ids), dtype=np.int64),
    )


def restore(path: Path) -> Vocabulary:
    """The vocabulary that `store` wrote."""
    with np.load(path, allow_pickle=False) as file:
        data, ends = file["data"].tobytes(), np.cumsum(file["lengths"]).tolist()
        starts = [0, *ends[:-1]]
        return Vocabulary(
            [data[start:end] for start, end in zip(starts, ends, strict=True)],
            special_ids=file["special"].tolist(),
            eos_ids=file["ends"].tolist(),
            padding_ids=file["padding"].tolist(),
        )


def made_up(size: int = MADE_UP) -> Vocabulary:
    """A vocabulary like a small model's: bytes, punctuation of JSON, numbers, words, one end."""
    tokens = dict.fromkeys(bytes([b]) for b in range(256))
    for piece in itertools.chain(_punctuation(), _numbers(), _words()):
        if len(tokens) >= size - 1:
            break
        tokens[piece.encode()] = None
    return Vocabulary([*tokens, b"</s>"], special_ids=[len(tokens)], eos_ids=[len(tokens)])


def _punctuation() -> Iterator[str]:
    marks = ['"', ":", ",", "{", "}", "[", "]", " ", "\n", "\\"]
    for length in (2, 3, 4):
        for piece in itertools.product(marks, repeat=length):
            if len(set(piece)) > length - 2:
                yield "".join(piece)
        if length == 3:
            return


def _numbers() -> Iterator[str]:
    for length in (2, 3):
        yield from ("".join(digits) for digits in itertools.product("0123456789", repeat=length))


def _words() -> Iterator[str]:
    yield from ("true", "false", "null", "name", "type", " the", " and", "ing", "é", "ü", "и", "漢")
    heads = ["", "b", "c", "ch", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "st", "t", "w"]
    syllables = [h + v + t for h in heads for v in "aeiou" for t in ("", "n", "r", "s", "t")]
    for one in syllables:
        yield from (one, " " + one, one.capitalize(), '"' + one)
    for one, two in itertools.product(syllables, repeat=2):
        yield from (one + two, " " + one + two)


def encode(vocabulary: Vocabulary, text: str) -> list[int]:
    """The text as tokens, the longest that fits at each place.

    Raises:
        BenchError: no token fits somewhere.
    """
    data, ids, start = text.encode("utf-8"), list[int](), 0
    while start < len(data):
        node: TrieNode | None = vocabulary.trie.root
        token, end, here = -1, start, start
        while node is not None and here < len(data):
            node = node.children.get(data[here])
            here += 1
            if node is not None and node.ids:
                token, end = node.ids[0], here
        if token < 0:
            raise BenchError.at("bench-text", f"no token of the vocabulary holds {data[start:]!r}")
        ids.append(token)
        start = end
    return ids
