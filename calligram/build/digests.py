"""Digests of what grammars are made of: contents alone count, so that a record can be shared."""

from __future__ import annotations

import codecs
import hashlib
import os
from pathlib import Path
from typing import Final

from ..compiler.regular_file import regular_file

WHOLE: Final = 64 * 2**20
"""Bytes of a file that count, beside its size. In a model's file the vocabulary stands in front."""

State = tuple[int, int, int, int]
"""Device and number of a file, its size, and when it was changed, in nanoseconds."""

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

    ``files`` has every file that was asked for, by the name it was asked for, ``states`` what each
    was before it was read.
    """

    def __init__(self) -> None:
        self.files: dict[str, str | None] = {}
        self.states: dict[str, State | None] = {}

    def of(self, path: str) -> str | None:
        """SHA-256 of a file's content; None if it cannot be read."""
        if path not in self.files:
            self.states[path] = state_of(path)
            self.files[path] = file_digest(path)
        return self.files[path]

    def of_spec(self, path: str) -> str | None:
        """SHA-256 of the text of a spec's file, as `text_digest` has it; None if it cannot be
        read."""
        if self.of(path) is None:
            return None
        try:
            with open(path, "rb") as file:
                return hashlib.sha256(file.read().removeprefix(codecs.BOM_UTF8)).hexdigest()
        except OSError:
            return None

    def of_vocabulary(self, path: str) -> str | None:
        """Of all that a vocabulary is read from; None if it cannot be read."""
        files = vocabulary_files(path)
        if len(files) == 1:
            return self.of(path)
        if self.of(files[0]) is None and files[0] == path:
            return None  # Of a folder without one, who loads it says what it has instead.
        return text_digest(repr([self.of(file) for file in files]))

    def of_shipped(self) -> str:
        """Of all the dialects that come with calligram."""
        names = sorted(p.name for p in _SPECS.glob("*.yaml"))
        return text_digest(repr([(name, self.of(str(_SPECS / name))) for name in names]))


def vocabulary_files(path: str) -> list[str]:
    """The files that a vocabulary is read from, there or not."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    if folder != path and not _is_json(path):
        return [path]
    main = os.path.join(folder, _TOKENIZER[0]) if folder == path else path
    return [main, *(os.path.join(folder, name) for name in _TOKENIZER[1:])]


def is_shipped(dialect: str) -> bool:
    """Whether a dialect is an id; a file has a separator or ends like one."""
    return not (dialect.endswith((".yaml", ".yml")) or "/" in dialect or "\\" in dialect)


def file_digest(path: str) -> str | None:
    """SHA-256 of a file; of a very large one its size and its first bytes."""
    state = hashlib.sha256()
    try:
        with open(regular_file(path), "rb") as file:
            _begin(state, os.fstat(file.fileno()).st_size)
            left = WHOLE
            while left and (block := file.read(min(left, 2**20))):
                state.update(block)
                left -= len(block)
    except (OSError, ValueError):
        return None
    return state.hexdigest()


def content_digest(data: bytes) -> str:
    """The digest that a file of this content has."""
    state = hashlib.sha256()
    _begin(state, len(data))
    state.update(memoryview(data)[:WHOLE])
    return state.hexdigest()


def _begin(state: hashlib._Hash, size: int) -> None:
    if size > WHOLE:
        state.update(f"{size}\n".encode())


def state_of(path: str) -> State | None:
    """What tells whether a file was written to meanwhile; None if it is not there.

    Whoever writes to a file changes it, whatever is written back afterwards.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    return found.st_dev, found.st_ino, found.st_size, changed


def _is_json(path: str) -> bool:
    """Does a vocabulary's file hold JSON, by what it begins with? Loaders go by that, too."""
    try:
        with open(regular_file(path), "rb") as file:
            return file.read(65_536).lstrip().startswith(b"{")
    except (OSError, ValueError):
        return False
