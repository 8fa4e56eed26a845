"""What the files beside a tokenizer.json say: end tokens, and how many ids the model has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from .files import Named, malformed, read

TOKENIZER: Final = "tokenizer.json"
GENERATION: Final = "generation_config.json"
CONFIG: Final = "config.json"
TOKENIZER_CONFIG: Final = "tokenizer_config.json"
SPECIAL_MAP: Final = "special_tokens_map.json"
BESIDE: Final = (GENERATION, CONFIG, TOKENIZER_CONFIG, SPECIAL_MAP)

_INSTEAD: Final = (
    ("tekken.json", "from_mistral"),
    ("tokenizer.model", "from_sentencepiece"),
)


def tokenizer_files(path: Named) -> list[Path]:
    """The tokenizer.json that `path` is or holds, and the files beside it, there or not."""
    main = Path(path)
    if main.is_dir():
        folder, main = main, main / TOKENIZER
        if not main.exists():
            other = next(((n, m) for n, m in _INSTEAD if (folder / n).exists()), None)
            hint = None if other is None else f"it has a {other[0]}: Vocabulary.{other[1]}(...)"
            raise malformed(folder, f"the folder has no {TOKENIZER}", hint)
    return [main, *(main.parent / name for name in BESIDE)]


def json_object(path: Path) -> dict[str, Any]:
    """A JSON object in a file. Raises VocabularyError."""
    return parsed(read(path), str(path))


def parsed(data: bytes | str, file: str | None) -> dict[str, Any]:
    """`data` as a JSON object. Raises VocabularyError."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise malformed(file, f"is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise malformed(file, "is JSON, but no object")
    return document


class Surroundings:
    """The files beside a tokenizer.json, those that are there."""

    def __init__(self, files: list[Path]) -> None:
        self._documents = {p.name: json_object(p) for p in files[1:] if p.exists()}

    def end_ids(self) -> Iterator[int]:
        """End tokens given by id: a number or a list of numbers, as `transformers` has it."""
        for name in (GENERATION, CONFIG):
            for document in self._models(name):
                given = document.get("eos_token_id")
                for token in given if isinstance(given, list) else [given]:
                    if isinstance(token, int) and not isinstance(token, bool):
                        yield token

    def end_names(self) -> Iterator[str]:
        """End tokens given by text: a string, or an object with "content"."""
        for name in (TOKENIZER_CONFIG, SPECIAL_MAP):
            given = self._documents.get(name, {}).get("eos_token")
            if isinstance(given, Mapping):
                given = given.get("content")
            if isinstance(given, str):
                yield given

    def width(self) -> int:
        """The number of logits that config.json states, 0 if it does not."""
        sizes = [d.get("vocab_size") for d in self._models(CONFIG)]
        return max((s for s in sizes if isinstance(s, int)), default=0)

    def _models(self, name: str) -> Iterator[Mapping[str, Any]]:
        """A configuration, and that of the text part of a model that also sees or hears."""
        document = self._documents.get(name, {})
        yield document
        text = document.get("text_config")
        if isinstance(text, Mapping):
            yield text
