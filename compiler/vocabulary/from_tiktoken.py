"""tiktoken encoding -> Loaded, through its public methods."""

from __future__ import annotations

from typing import Any

from ..errors import VocabularyError
from .classes import MAX_IDS, ends_by_name, is_padding
from .libraries import optional
from .loaded import Loaded


def load(encoding: Any) -> Loaded:
    """The vocabulary of an encoding, given itself or by name. Raises VocabularyError."""
    if isinstance(encoding, str):
        tiktoken = optional("tiktoken", "tiktoken")
        try:
            encoding = tiktoken.get_encoding(encoding)
        except ValueError as error:
            raise VocabularyError.at("vocabulary-unreadable", str(error).splitlines()[0]) from None
        except OSError as error:  # Encodings are downloaded when first used.
            message = f"the encoding cannot be fetched: {error}"
            raise VocabularyError.at("vocabulary-unreadable", message) from None
    if not hasattr(encoding, "decode_single_token_bytes") or not hasattr(encoding, "n_vocab"):
        raise TypeError(f"a tiktoken.Encoding or its name is needed, not {type(encoding).__name__}")
    size = encoding.n_vocab
    if size > MAX_IDS:
        raise VocabularyError.at("vocabulary-size", f"more than {MAX_IDS:,} ids are not read")
    tokens: list[bytes] = []
    padding = set()
    bytes_of = encoding.decode_single_token_bytes
    for token in range(size):
        try:
            tokens.append(bytes_of(token))
        except KeyError:
            tokens.append(b"")
            padding.add(token)
    names = {name: encoding.encode_single_token(name) for name in encoding.special_tokens_set}
    padding |= {i for name, i in names.items() if is_padding(name)}
    kept = {name: i for name, i in names.items() if i not in padding}
    kind = f"tiktoken {encoding.name}"
    return Loaded.of(kind, tokens, names.values(), ends_by_name(kept), padding)
