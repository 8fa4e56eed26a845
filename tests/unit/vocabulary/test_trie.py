"""The trie of a vocabulary: along a text at once as byte by byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.vocabulary.trie import ROOT, Forest, TokenTrie

# Few bytes, so that texts meet; the last one has no successor.
_TEXTS = st.lists(st.sampled_from([0x61, 0x62, 0xFE, 0xFF]), max_size=6).map(bytes)


def _naive(tokens: list[bytes], before: bytes, text: bytes) -> tuple[tuple[int, ...], bool]:
    """Tokens that the text begins with behind `before`, shortest first; are there longer ones?"""
    reads = [before + text[:size] for size in range(1, len(text) + 1)]
    ids = [i for read in reads for i, token in enumerate(tokens) if token == read]
    longer = any(len(t) > len(before + text) and t.startswith(before + text) for t in tokens)
    return tuple(ids), longer


@given(st.lists(_TEXTS.filter(bool), min_size=1, max_size=60), _TEXTS, _TEXTS.filter(bool))
def test_along_a_text_as_token_by_token(tokens: list[bytes], before: bytes, text: bytes) -> None:
    order = sorted(range(len(tokens)), key=lambda i: tokens[i])
    forest = Forest(TokenTrie([tokens[i] for i in order], order))
    node = ROOT
    for byte in before:
        following = forest.children(node).get(byte)
        if following is None:
            return
        node = following
    made = len(forest)
    ids, longer = forest.along(node, text)
    assert (ids, longer) == _naive(tokens, before, text)
    assert len(forest) == made, "no node is made for looking along a text"
    if longer:
        end = forest.descendant(node, text)
        assert forest.size[end] == sum(
            len(t) > len(before + text) and t.startswith(before + text) for t in tokens
        )
