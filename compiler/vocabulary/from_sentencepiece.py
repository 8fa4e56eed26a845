"""SentencePiece model -> Loaded."""

from __future__ import annotations

from typing import Any

from ..errors import VocabularyError
from .cache import cached
from .classes import MAX_IDS, ends_by_name, is_blank, is_padding, is_placeholder
from .files import is_path, malformed, read
from .libraries import optional
from .loaded import Loaded
from .sentencepiece_proto import USER_DEFINED, changes_output, piece_types
from .spelling import META, fallback_byte


def load(model: Any, cache: bool) -> Loaded:
    """The vocabulary of a model's file or of a processor. Raises VocabularyError."""
    if is_path(model):
        return cached(cache, "sentencepiece", [model], lambda: _from_file(model))
    if not callable(getattr(model, "id_to_piece", None)):
        raise TypeError(
            "a sentencepiece.SentencePieceProcessor or a path is needed, not "
            f"{type(model).__name__}"
        )
    return from_processor(model, None)


def _from_file(path: Any) -> Loaded:
    sentencepiece = optional("sentencepiece", "sentencepiece")
    data = read(path)
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=data)
        size = processor.get_piece_size()
    except (RuntimeError, OSError, TypeError) as error:
        raise malformed(path, f"is no SentencePiece model: {error}") from None
    if not size:
        raise malformed(path, "is no SentencePiece model: it has no pieces")
    return from_processor(processor, path)


def from_processor(processor: Any, path: Any) -> Loaded:
    """The vocabulary of a processor; `path` is for errors. Raises VocabularyError."""
    size = processor.get_piece_size()
    if size > MAX_IDS:
        raise malformed(path, f"has {size:,} pieces; more than {MAX_IDS:,} are not read")
    proto = processor.serialized_model_proto()
    if changes_output(proto):
        raise VocabularyError.at(
            "vocabulary-kind",
            "the model rewrites text after decoding: its pieces have no bytes of their own",
        )
    types = piece_types(proto)
    tokens: list[bytes] = []
    special: set[int] = set()
    padding: set[int] = set()
    pieces = processor.id_to_piece(list(range(size)))
    for token, text in enumerate(pieces):
        raw = text.encode("utf-8")
        piece = raw.replace(META, b" ")
        if processor.is_byte(token):
            piece = fallback_byte(raw) or raw
        elif processor.is_unused(token):
            padding.add(token)
        elif is_padding(text):
            padding.add(token)
        elif (
            processor.is_control(token)
            or processor.is_unknown(token)
            or is_placeholder(text)
            or (types[token] == USER_DEFINED and not is_blank(piece.decode("utf-8")))
        ):
            special.add(token)
            piece = raw
        tokens.append(piece)
    names = {pieces[i]: i for i in sorted(special, reverse=True)}
    end = processor.eos_id()  # -1: none
    return Loaded.of("sentencepiece", tokens, special, [end, *ends_by_name(names)], padding)
