"""GGUF file -> Loaded: the keys ``tokenizer.ggml.*`` as llama.cpp reads them (src/llama-vocab.cpp,
``token_to_piece``)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..errors import VocabularyError
from ..origin import Origin
from .cache import cached
from .classes import MAX_IDS, ends_by_name, is_blank, is_padding, is_placeholder
from .files import malformed
from .gguf_file import read_metadata
from .loaded import Loaded
from .spelling import META, byte_level, fallback_byte, unescaped

UNKNOWN: Final = 2
CONTROL: Final = 3
USER_DEFINED: Final = 4
UNUSED: Final = 5
BYTE: Final = 6

_PREFIX: Final = "tokenizer.ggml."
_UNNEEDED: Final = {_PREFIX + name for name in ("merges", "scores")}
_ENDS: Final = ("eos_token_id", "eot_token_id", "eom_token_id")
_MARKS: Final = (*_ENDS, "bos_token_id", "unknown_token_id")
"""Tokens that are special whatever their type."""


def _wanted(key: str) -> bool:
    return key.startswith(_PREFIX) and key not in _UNNEEDED or key.endswith(".vocab_size")


def _from_gpt2(token: bytes) -> bytes:
    try:
        return byte_level(token.decode("utf-8"))
    except UnicodeDecodeError:
        return token


def _from_pieces(token: bytes) -> bytes:
    return token.replace(META, b" ")


_KINDS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gpt2": _from_gpt2,
    "llama": _from_pieces,
    "gemma": _from_pieces,  # Written with the number of the family that brought it.
    "rwkv": unescaped,
}
_NUMBERED: Final = re.compile(r"(gemma)\d+")


def load(path: str | os.PathLike[str], cache: bool) -> Loaded:
    """The vocabulary of a GGUF file. Raises VocabularyError."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a path is needed, not {type(path).__name__}")
    return cached(cache, "gguf", [path], lambda: _read(path))


def _read(path: str | os.PathLike[str]) -> Loaded:
    values = read_metadata(path, _wanted)
    raw = values.get(_PREFIX + "tokens")
    if not isinstance(raw, list):
        raise malformed(
            path,
            "holds no vocabulary (no list tokenizer.ggml.tokens)",
            "of a model in several files, give the first",
        )
    if len(raw) > MAX_IDS:
        raise malformed(path, f"has {len(raw):,} tokens; more than {MAX_IDS:,} are not read")
    kind = values.get(_PREFIX + "model")
    kind = kind.decode("utf-8", "replace") if isinstance(kind, bytes) else "none"
    spell = _KINDS.get(_NUMBERED.sub(r"\1", kind) if _NUMBERED.fullmatch(kind) else kind)
    if spell is None:
        raise VocabularyError.at(
            "vocabulary-kind",
            f"a tokenizer of kind '{kind}': its tokens have no bytes of their own that are known",
            Origin(file=os.fspath(path)),
            f"kinds that are: {', '.join(_KINDS)}",
        )
    types = _types(values.get(_PREFIX + "token_type"), len(raw), path)
    marks = {name: values.get(_PREFIX + name) for name in _MARKS}
    ids = {name: i for name, i in marks.items() if isinstance(i, int) and 0 <= i < len(raw)}
    widths = [v for k, v in values.items() if k.endswith(".vocab_size") and isinstance(v, int)]
    return _classified(f"gguf {kind}", raw, types, spell, ids, max(widths, default=0))


def _types(given: Any, count: int, path: str | os.PathLike[str]) -> list[int]:
    """The type of each token; without a list all are ordinary."""
    if given is None:
        return [1] * count
    if isinstance(given, (bytes, int, float, list)) or len(given) != count:
        raise malformed(path, f"tokenizer.ggml.token_type is no list of {count} numbers")
    return [int(t) for t in given.tolist()]


def _classified(
    kind: str,
    raw: Sequence[bytes],
    types: Sequence[int],
    spell: Callable[[bytes], bytes],
    ids: dict[str, int],
    width: int,
) -> Loaded:
    tokens: list[bytes] = []
    special = set(ids.values())
    padding: set[int] = set()
    for token, (text, type_) in enumerate(zip(raw, types, strict=True)):
        piece = text
        if type_ == BYTE:
            piece = fallback_byte(text) or text
        elif type_ in (CONTROL, USER_DEFINED, UNKNOWN):
            # What users defined is written as it is; a line break or a run of spaces is text.
            if type_ != USER_DEFINED or not is_blank(_from_pieces(text).decode("utf-8", "replace")):
                special.add(token)
            else:
                piece = _from_pieces(text)
        elif type_ == UNUSED:
            padding.add(token)
        else:
            piece = spell(text)
        if text[:1] in b"<[" and text[-1:] in b">]":
            name = text.decode("utf-8", "replace")
            if is_padding(name):
                padding.add(token)
            elif is_placeholder(name):
                special.add(token)
        tokens.append(piece)
    for token in special:
        tokens[token] = raw[token]
    names = {raw[i].decode("utf-8", "replace"): i for i in sorted(special - padding, reverse=True)}
    ends = [ids[name] for name in _ENDS if name in ids]
    return Loaded.of(kind, tokens, special, [*ends, *ends_by_name(names)], padding, width)
