"""Digests of what grammars are made of: contents alone count, so that a record can be shared."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import Final

WHOLE: Final = 64 * 2**20
"""Bytes of a file that count, beside its size. In a model's file the vocabulary stands in front."""

SHIPPED: Final = "shipped"
"""Stands for the dialects that come with calligram."""

_SPECS: Final = Path(__file__).resolve().parents[1] / "dialect_specs"
# A tokenizer.json, what `Vocabulary.from_huggingface` reads beside it, and what a folder may hold
# instead.
_TOKENIZER: Final = (
    "tokenizer.json", "generation_config.json", "config.json", "tokenizer_config.json",
    "special_tokens_map.json",
)  # fmt: skip


def text_digest(text: str) -> str:
    """SHA-256 of a text, lone surrogates included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Digests:
    """Digests of files, each read once.

    ``files`` has every file that was asked for, by the name it was asked for.
    """

    def __init__(self) -> None:
        self.files: dict[str, str | None] = {}

    def of(self, path: str) -> str | None:
        """SHA-256 of a file's content; None if it cannot be read."""
        if path not in self.files:
            self.files[path] = file_digest(path)
        return self.files[path]

    def of_vocabulary(self, path: str) -> str | None:
        """Of all that a vocabulary is read from; None if it cannot be read."""
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        if folder != path and os.path.basename(path) != _TOKENIZER[0] and not _is_json(path):
            return self.of(path)
        main = os.path.join(folder, _TOKENIZER[0]) if folder == path else path
        if self.of(main) is None and folder != path:
            return None  # Of a folder without one, who loads it says what it has instead.
        beside = [os.path.join(folder, name) for name in _TOKENIZER[1:]]
        return text_digest(repr([self.of(name) for name in (main, *beside)]))

    def of_shipped(self) -> str:
        """Of all the dialects that come with calligram."""
        names = sorted(p.name for p in _SPECS.glob("*.yaml"))
        return text_digest(repr([(name, self.of(str(_SPECS / name))) for name in names]))


def is_shipped(dialect: str) -> bool:
    """Whether a dialect is an id; a file has a separator or ends like one."""
    return not (dialect.endswith((".yaml", ".yml")) or "/" in dialect or "\\" in dialect)


def file_digest(path: str) -> str | None:
    """SHA-256 of a file; of a very large one its size and its first bytes."""
    state = hashlib.sha256()
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None  # Of a pipe nobody knows when it ends.
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > WHOLE:
                state.update(f"{size}\n".encode())
            left = WHOLE
            while left and (block := file.read(min(left, 2**20))):
                state.update(block)
                left -= len(block)
    except (OSError, ValueError):
        return None
    return state.hexdigest()


def _is_json(path: str) -> bool:
    return path.endswith(".json")
