"""Vocabularies to measure with, and texts as their tokens."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from ..compiler.vocabulary.any_file import from_file
from ..compiler.vocabulary.trie import ROOT, Node
from ..compiler.vocabulary.vocabulary import Vocabulary
from .bench_error import BenchError

MADE_UP: Final = 32_768
"""Tokens of the vocabulary that is measured with unless a file is given."""


def load(path: str | None) -> Vocabulary:
    """The vocabulary of a file of any format that is known, or a made-up one.

    Raises:
        VocabularyError: the file cannot be read as one.
    """
    return made_up() if path is None else from_file(path)


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
    forest = vocabulary.forest
    data, ids, start = text.encode("utf-8"), list[int](), 0
    while start < len(data):
        node: Node | None = ROOT
        token, end, here = -1, start, start
        while node is not None and here < len(data):
            node = forest.children(node).get(data[here])
            here += 1
            if node is not None and forest.ids[node]:
                token, end = forest.ids[node][0], here
        if token < 0:
            raise BenchError.at("bench-text", f"no token of the vocabulary holds {data[start:]!r}")
        ids.append(token)
        start = end
    return ids
