"""The special and added tokens of a model, where its files are at hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...compiler.errors import VocabularyError
from ...compiler.vocabulary.gguf_file import read_metadata
from ..chat_template_error import ChatTemplateError

_TOKENS: Final = "tokenizer.ggml.tokens"
_TYPES: Final = "tokenizer.ggml.token_type"
_SPECIAL: Final = (3, 4)
"""llama.cpp's CONTROL and USER_DEFINED."""
_MOST: Final = 64 * 2**20


def known_tokens(path: str | Path) -> list[str] | None:
    """The texts of special and added tokens; None if the path has no vocabulary.

    Reads a GGUF, a `tokenizer_config.json` (or its folder) and the `tokenizer.json` beside it.

    Raises:
        ChatTemplateError: a GGUF is broken.
    """
    path = Path(path)
    if path.is_dir():
        path = path / "tokenizer_config.json"
    if path.suffix == ".json":
        found = [*_configured(path), *_added(path.parent / "tokenizer.json")]
        return list(dict.fromkeys(found)) or None
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                return None
        data = read_metadata(path, lambda key: key in (_TOKENS, _TYPES))
    except OSError:
        return None
    except VocabularyError as error:
        raise ChatTemplateError(error.problems) from None
    texts, types = data.get(_TOKENS), data.get(_TYPES)
    if not isinstance(texts, list) or not isinstance(types, np.ndarray):
        return None
    pairs = zip(texts, types.tolist(), strict=False)
    return [bytes(t).decode("utf-8", "replace") for t, kind in pairs if kind in _SPECIAL]


def _configured(path: Path) -> list[str]:
    decoder = _object(path).get("added_tokens_decoder")
    entries = decoder.values() if isinstance(decoder, Mapping) else ()
    return [e["content"] for e in entries if _has_text(e)]


def _added(path: Path) -> list[str]:
    entries = _object(path).get("added_tokens")
    return [e["content"] for e in entries if _has_text(e)] if isinstance(entries, list) else []


def _has_text(entry: object) -> bool:
    return isinstance(entry, Mapping) and isinstance(entry.get("content"), str)


def _object(path: Path) -> dict[str, Any]:
    """The JSON object in a file, empty if there is none: the template is what was asked for."""
    try:
        if path.stat().st_size > _MOST:
            return {}
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
