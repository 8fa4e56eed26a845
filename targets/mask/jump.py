"""Jump-forward decoding: forced bytes as tokens.

The tokens that a model would write depend on what follows them, so a token is given only if no
continuation could have led to a longer one in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...compiler.vocabulary.trie import ROOT, Node
from ...compiler.vocabulary.vocabulary import Vocabulary

Encode = Callable[[str], Sequence[int]]


def longest_tokens(vocabulary: Vocabulary, data: bytes, last: bool) -> list[int]:
    """Tokens of forced bytes, the longest match at each place.

    Args:
        data: the bytes that must come.
        last: nothing can follow them, so the last token is sure as well.

    Returns:
        Ids whose bytes are a prefix of `data`. Ends before the first place from which a token
        reaches beyond `data`, or where no token fits.
    """
    forest = vocabulary.forest
    found: list[int] = []
    start = 0
    while start < len(data):
        node: Node | None = ROOT
        token = None
        here = start
        while node is not None and here < len(data):
            node = forest.children(node).get(data[here])
            here += 1
            if node is not None and forest.ids[node]:
                token, end = forest.ids[node][0], here
        if token is None or (not last and node is not None and forest.size[node]):
            break
        found.append(token)
        start = end
    return found


def encoded_tokens(
    vocabulary: Vocabulary, data: bytes, encode: Encode, endings: Sequence[bytes]
) -> list[int]:
    """Tokens of forced bytes as a tokenizer writes them.

    Args:
        encode: text -> ids, without tokens of its own at the beginning or end.
        endings: bytes that may follow; the tokens must stand whichever of them comes. Empty if
            nothing can follow.

    Returns:
        Ids whose bytes are a prefix of `data`; ends before a token of which the tokenizer makes
        another where the text goes on.
    """
    text = whole_characters(data)
    tokens = _spelled(vocabulary, text.encode(), list(encode(text)))
    for ending in endings:
        other = list(encode(whole_characters(data + ending)))
        same = 0
        while same < min(len(tokens), len(other)) and tokens[same] == other[same]:
            same += 1
        del tokens[same:]
    if endings and tokens and _extends(vocabulary, vocabulary.tokens[tokens[-1]]):
        whole = sum(len(vocabulary.tokens[t]) for t in tokens) == len(data)
        del tokens[len(tokens) - whole :]
    return tokens


def whole_characters(data: bytes) -> str:
    """The text at the beginning of `data`, cut before a character that is not whole."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data[: error.start].decode("utf-8")


def _spelled(vocabulary: Vocabulary, data: bytes, tokens: list[int]) -> list[int]:
    """The tokens as far as their bytes spell `data`: tokenizers may add spaces and markers."""
    apart = vocabulary.special_ids | vocabulary.padding_ids | frozenset(vocabulary.eos_ids)
    start = 0
    for index, token in enumerate(tokens):
        known = 0 <= token < len(vocabulary.tokens) and token not in apart
        piece = vocabulary.tokens[token] if known else b""
        if not piece or not data.startswith(piece, start):
            return tokens[:index]
        start += len(piece)
    return tokens


def _extends(vocabulary: Vocabulary, piece: bytes) -> bool:
    """Does a longer ordinary token begin like this one?"""
    forest = vocabulary.forest
    node: Node | None = ROOT
    for byte in piece:
        node = None if node is None else forest.children(node).get(byte)
    return node is not None and forest.size[node] > 0
