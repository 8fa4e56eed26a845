"""A model's vocabulary as the automata need it: every token as bytes, special ids apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property

from ..errors import CalligramError
from .loop_table import Tables
from .slices import Slices
from .trie import TokenTrie, TrieNode

MAX_PATHS = 200_000
"""Ways of literals down the trie that are kept."""


class VocabularyError(CalligramError):
    """A vocabulary that makes no sense."""


class Vocabulary:
    """The tokens of a model.

    Args:
        tokens: the bytes of each token, by id. An empty one stands for no text.
        special_ids: tokens that are matched by id and never by their text (control tokens, and
            tokens that users defined).
        eos_ids: tokens that end the text; allowed only where a grammar may end.
        padding_ids: ids without a token; never allowed.

    Raises:
        VocabularyError: ids out of range, no tokens, or no end token.
    """

    def __init__(
        self,
        tokens: Sequence[bytes],
        special_ids: Iterable[int] = (),
        eos_ids: Iterable[int] = (),
        padding_ids: Iterable[int] = (),
    ) -> None:
        self.tokens = tuple(tokens)
        self.special_ids = frozenset(special_ids)
        self.eos_ids = tuple(dict.fromkeys(eos_ids))
        self.padding_ids = frozenset(padding_ids)
        if not self.tokens:
            raise VocabularyError.at("vocabulary-empty", "the vocabulary has no tokens")
        if not all(isinstance(t, bytes) for t in self.tokens):
            raise VocabularyError.at("vocabulary-tokens", "tokens are bytes, one for each id")
        size = len(self.tokens)
        for what, ids in (
            ("special_ids", self.special_ids),
            ("eos_ids", self.eos_ids),
            ("padding_ids", self.padding_ids),
        ):
            wrong = [i for i in ids if not 0 <= i < size]
            if wrong:
                raise VocabularyError.at(
                    "vocabulary-id", f"{what} holds {wrong[0]}, the ids go from 0 to {size - 1}"
                )

        # Shared by all the automata over this vocabulary, see slices.py.
        self.slices = Slices(self.words)
        self.tables = Tables()
        self._paths: dict[tuple[TrieNode, bytes], tuple[list[int], TrieNode | None]] = {}

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def words(self) -> int:
        """32-bit words of a packed mask: ceil(V / 32)."""
        return (len(self.tokens) + 31) // 32

    @cached_property
    def specials(self) -> dict[str, int]:
        """The ids of special tokens by their text, the lowest id where two share one."""
        found: dict[str, int] = {}
        for token in sorted(self.special_ids - self.padding_ids):
            text = self.tokens[token].decode("utf-8", "replace")
            if text:
                found.setdefault(text, token)
        return found

    @cached_property
    def ordinary(self) -> list[int]:
        """The ids that are matched by their bytes, sorted by bytes."""
        apart = self.special_ids | self.padding_ids | frozenset(self.eos_ids)
        tokens = self.tokens
        return sorted(
            (i for i in range(len(tokens)) if tokens[i] and i not in apart),
            key=tokens.__getitem__,
        )

    @cached_property
    def trie(self) -> TokenTrie:
        """The ordinary tokens as a trie."""
        ids = self.ordinary
        return TokenTrie([self.tokens[i] for i in ids], ids)

    def path(self, node: TrieNode, text: bytes) -> tuple[list[int], TrieNode | None]:
        """What lies below a trie node along a text: the tokens that the text begins with, and the
        node at its end, None where no longer token goes on."""
        key = (node, text)
        found = self._paths.get(key)
        if found is None:
            if len(self._paths) >= MAX_PATHS:
                self._paths.clear()
            ids: list[int] = []
            here: TrieNode | None = node
            for byte in text:
                assert here is not None
                here = here.children.get(byte)
                if here is None:
                    break
                ids += here.ids
                if not here.size:
                    here = None
                    break
            found = self._paths[key] = (ids, here)
        return found

    @cached_property
    def longest(self) -> int:
        """Bytes of the longest ordinary token."""
        return max((len(self.tokens[i]) for i in self.ordinary), default=0)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over tokens and id classes; equal for equal vocabularies."""
        state = hashlib.sha256()
        for token in self.tokens:
            state.update(len(token).to_bytes(4, "little"))
            state.update(token)
        for ids in (sorted(self.special_ids), self.eos_ids, sorted(self.padding_ids)):
            state.update(repr(tuple(ids)).encode())
        return state.hexdigest()
