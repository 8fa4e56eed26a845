"""Hugging Face tokenizer -> Loaded: the JSON form of the `tokenizers` library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import VocabularyError
from ..origin import Origin
from .cache import cached
from .classes import MAX_IDS, ends_by_name, is_blank, is_padding, is_placeholder
from .files import is_path, malformed
from .hf_decoder import decoder_of
from .hf_files import Surroundings, json_object, parsed, tokenizer_files
from .hf_normalizer import normalised
from .loaded import Loaded


def load(tokenizer: Any, cache: bool) -> Loaded:
    """The vocabulary of a file, a folder or a tokenizer object. Raises VocabularyError."""
    if is_path(tokenizer):
        files = tokenizer_files(tokenizer)
        return cached(cache, "huggingface", files, lambda: _from_files(files))
    # A fast tokenizer of transformers has one of tokenizers inside, and knows its end token.
    inner = getattr(tokenizer, "backend_tokenizer", tokenizer)
    to_str = getattr(inner, "to_str", None)
    if not callable(to_str):
        raise TypeError(
            "a tokenizer of `tokenizers`, a fast one of `transformers`, or a path is needed, not "
            f"{type(tokenizer).__name__}"
        )
    found = _read(parsed(to_str(), None), None, [], [], 0)
    end = getattr(tokenizer, "eos_token_id", None)
    if isinstance(end, int) and end not in found.eos_ids:
        found = replace(found, eos_ids=(end, *found.eos_ids))
    return found


def _from_files(files: list[Path]) -> Loaded:
    document = json_object(files[0])
    beside = Surroundings(files)
    return _read(document, str(files[0]), beside.end_ids(), beside.end_names(), beside.width())


def _read(
    document: Mapping[str, Any],
    file: str | None,
    end_ids: Iterable[int],
    end_names: Iterable[str],
    width: int,
) -> Loaded:
    model = document.get("model")
    if not isinstance(model, Mapping) or "vocab" not in model:
        raise malformed(file, "is no tokenizer.json: it has no model with a vocab")
    kind = model.get("type") or "BPE"
    if kind not in ("BPE", "Unigram", "WordLevel"):
        raise VocabularyError.at(
            "vocabulary-kind",
            f"a tokenizer of kind {kind}: its tokens have no bytes of their own",
            Origin("/model/type", file=file),
        )
    decode = decoder_of(document.get("decoder"), file)
    texts = _texts(model["vocab"], file)
    special: set[int] = set()
    for token, entry in _added(document.get("added_tokens"), file):
        blank = _blank(entry, document.get("normalizer"))
        texts[token] = entry.text if blank is None else blank
        if blank is None:
            special.add(token)
    unknown = _unknown(model)
    special |= {i for i, text in texts.items() if is_placeholder(text) or text == unknown}
    tokens = [b""] * (max(texts, default=-1) + 1)
    for token, text in texts.items():
        try:
            tokens[token] = text.encode("utf-8") if token in special else decode(text)
        except UnicodeEncodeError:
            raise malformed(file, f"token {token} is no text: it has a lone surrogate") from None
    padding = set(range(len(tokens))) - texts.keys()
    padding |= {i for i, text in texts.items() if is_padding(text)}
    names = {texts[i]: i for i in sorted(special - padding, reverse=True)}
    ids = {text: i for i, text in texts.items()}
    ends = [*end_ids, *(ids[n] for n in end_names if n in ids), *ends_by_name(names)]
    return Loaded.of(f"huggingface {kind}", tokens, special, ends, padding, width)


def _texts(vocab: Any, file: str | None) -> dict[int, str]:
    """The model's tokens by id."""
    texts: dict[int, str] = {}
    for text, token in _entries(vocab, file):
        if texts.setdefault(_checked(token, file), text) != text:
            raise VocabularyError.at(
                "vocabulary-id",
                f"two tokens have the id {token}: {texts[token]!r} and {text!r}",
                Origin("/model/vocab", file=file),
            )
    return texts


def _entries(vocab: Any, file: str | None) -> Iterator[tuple[str, Any]]:
    """Texts with ids: an object of ids by text, or, in Unigram, a list of texts with scores."""
    if isinstance(vocab, Mapping):
        yield from vocab.items()
        return
    if not isinstance(vocab, list):
        raise malformed(file, "/model/vocab is neither an object nor a list")
    for token, entry in enumerate(vocab):
        if not isinstance(entry, list) or not entry or not isinstance(entry[0], str):
            raise malformed(file, f"/model/vocab/{token} is no text with a score")
        yield entry[0], token


def _checked(token: Any, file: str | None) -> int:
    if not isinstance(token, int) or isinstance(token, bool) or not 0 <= token < MAX_IDS:
        raise VocabularyError.at(
            "vocabulary-id",
            f"{token!r} is no id; ids go from 0 to {MAX_IDS - 1:,}",
            Origin("/model/vocab", file=file),
        )
    return token


@dataclass(frozen=True, slots=True)
class _AddedToken:
    text: str
    special: bool
    normalized: bool


def _blank(added: _AddedToken, normalizer: Any) -> str | None:
    """What an added token is in texts, if that is white space; None if it is special."""
    if added.special or not is_blank(added.text.replace("\u2581", " ")):
        return None
    return normalised(normalizer, added.text) if added.normalized else added.text


def _added(given: Any, file: str | None) -> Iterator[tuple[int, _AddedToken]]:
    """Added tokens by id."""
    if given is None:
        return
    if not isinstance(given, list):
        raise malformed(file, "/added_tokens is no list")
    for n, entry in enumerate(given):
        content = entry.get("content") if isinstance(entry, Mapping) else None
        if not isinstance(content, str):
            raise malformed(file, f"/added_tokens/{n} has no content")
        flags = (bool(entry.get(name)) for name in ("special", "normalized"))
        yield _checked(entry.get("id"), file), _AddedToken(content, *flags)


def _unknown(model: Mapping[str, Any]) -> str | None:
    """The text of the token that stands for what the vocabulary lacks."""
    given = model.get("unk_token")
    if isinstance(given, str):
        return given
    number, vocab = model.get("unk_id"), model["vocab"]
    if isinstance(number, int) and isinstance(vocab, list) and 0 <= number < len(vocab):
        return str(vocab[number][0])
    return None
