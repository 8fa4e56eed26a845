"""Mistral tokenizer -> Loaded, through mistral-common."""

from __future__ import annotations

from typing import Any

from .cache import cached
from .classes import ends_by_name, is_padding
from .files import is_path, malformed, read
from .from_sentencepiece import from_processor
from .from_sentencepiece import load as load_sentencepiece
from .libraries import optional
from .loaded import Loaded

_TEKKEN = "mistral_common.tokens.tokenizers.tekken"
_BASE = "mistral_common.tokens.tokenizers.base"


def load(tokenizer: Any, cache: bool) -> Loaded:
    """The vocabulary of a tekken.json or of a tokenizer object. Raises VocabularyError."""
    if is_path(tokenizer):
        return cached(cache, "mistral", [tokenizer], lambda: _from_file(tokenizer))
    # A whole tokenizer knows chats; inside is one for instructions, inside that one for text.
    inner = getattr(tokenizer, "instruct_tokenizer", tokenizer)
    inner = getattr(inner, "tokenizer", inner)
    if callable(getattr(inner, "id_to_byte_piece", None)) and hasattr(inner, "special_ids"):
        return _from_tekken(inner)
    # Older models are SentencePiece inside.
    processor = getattr(inner, "_model", None)
    if callable(getattr(processor, "id_to_piece", None)):
        return from_processor(processor, None)
    raise TypeError(
        f"a tokenizer of mistral-common or a path is needed, not {type(tokenizer).__name__}"
    )


def _from_file(path: Any) -> Loaded:
    if not read(path).lstrip().startswith(b"{"):  # Models before tekken.
        return load_sentencepiece(path, cache=False)
    tekken = optional(_TEKKEN, "mistral-common")
    try:
        tokenizer = tekken.Tekkenizer.from_file(path)
    # The library asserts and indexes what it expects.
    except (ValueError, AssertionError, KeyError, TypeError, AttributeError, IndexError) as error:
        said = str(error).strip().splitlines()
        reason = f"{type(error).__name__}: {said[0][:200]}" if said else type(error).__name__
        raise malformed(
            path, f"mistral-common does not read it as a tekken.json: {reason}"
        ) from None
    return _from_tekken(tokenizer)


def _from_tekken(tokenizer: Any) -> Loaded:
    keep = optional(_BASE, "mistral-common").SpecialTokenPolicy.KEEP
    special = set(tokenizer.special_ids)
    tokens = [tokenizer.id_to_byte_piece(i, keep) for i in range(tokenizer.n_words)]
    names = {tokens[i].decode("utf-8"): i for i in sorted(special, reverse=True)}
    padding = {i for name, i in names.items() if is_padding(name)}
    ends = [tokenizer.eos_id, *ends_by_name(names)]
    return Loaded.of("mistral tekken", tokens, special, ends, padding)
