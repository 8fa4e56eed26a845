"""A model's vocabulary as the automata need it: every token as bytes, special ids apart."""

from __future__ import annotations

import gc
import hashlib
import os
import threading
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import VocabularyError
from .loaded import Loaded, sorted_by_bytes
from .loop_table import Tables
from .slices import Slices
from .trie import ROOT, Forest, Node, TokenTrie

MAX_PATHS = 200_000
"""Ways of literals down the trie that are kept."""

MAX_NODES = 1_000_000
"""Nodes of tries beyond which they are forgotten."""

MAX_SLICE_BYTES = 256 * 1024 * 1024
"""Bytes of slices beyond which they are forgotten."""


class Vocabulary:
    """The tokens of a model, given as bytes or loaded by one of the ``from_...`` methods.

    Args:
        tokens: the bytes of each token, by id. An empty one stands for no text.
        special_ids: tokens that are matched by id and never by their text (control tokens, and
            tokens that users defined).
        eos_ids: tokens that end the text; allowed only where a grammar may end.
        padding_ids: ids without a token; never allowed. An id that ends texts too is an end token:
            many models pad with theirs.
        order: int32[tokens], the ids sorted by their bytes, if that is known.

    Attributes:
        kind: what it was loaded from, for people: "gguf gpt2", "" if it was given as bytes.
        trie: the ordinary tokens.
        longest: bytes of the longest ordinary token.
        forest: the nodes of the trie, and of what is left of tokens behind loops.
        slices: what the tokens do inside loops, as far as has been asked.

    Raises:
        VocabularyError: ids out of range, or no tokens.
    """

    def __init__(
        self,
        tokens: Sequence[bytes],
        special_ids: Iterable[int] = (),
        eos_ids: Iterable[int] = (),
        padding_ids: Iterable[int] = (),
        *,
        order: NDArray[np.int32] | None = None,
    ) -> None:
        self.tokens = tuple(tokens)
        self.special_ids = frozenset(special_ids)
        self.eos_ids = tuple(dict.fromkeys(eos_ids))
        self.padding_ids = frozenset(padding_ids).difference(self.eos_ids)
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

        self.kind = ""
        self._order = order
        # Shared by all the automata over this vocabulary, see slices.py. The lock is held while
        # one of them works out what it has not seen yet.
        self.lock = threading.RLock()
        self.tables = Tables()
        self.generation = 0
        self._others: dict[frozenset[str], tuple[int, ...]] = {}
        # Made now, so that it does not count as part of the first mask.
        self.trie = TokenTrie([self.tokens[i] for i in self.ordinary], self.ordinary)
        self.longest = max(self.trie.lengths, default=0)
        self._begin()
        self.trie.index(self.words)
        self.trie.levels.below  # noqa: B018
        # Large new tuples are looked through by the next young collection, once: not in a request.
        gc.collect(0)

    def _begin(self) -> None:
        self.forest = Forest(self.trie)
        # Every first mask asks for it: one look through all the tokens.
        self.forest.leads(ROOT)
        self.slices = Slices(self.forest, self.words)
        self._paths: dict[tuple[Node, bytes], tuple[tuple[int, ...], Node]] = {}
        self._roots: dict[frozenset[str], Node] = {}

    @classmethod
    def from_gguf(
        cls,
        path: str | os.PathLike[str],
        *,
        size: int | None = None,
        eos_ids: Iterable[int] | None = None,
        cache: bool = True,
    ) -> Vocabulary:
        """The vocabulary in a GGUF file; of a model in several files, the first one.

        Special are the types CONTROL, USER_DEFINED (but for white space, which is text) and
        UNKNOWN; padding are UNUSED and `[PAD...]`. End tokens are the file's eos, eot and eom ids
        and special tokens whose name says that they end a turn.

        Args:
            size: the number of logits, if more than the tokens; the ids between are padding.
            eos_ids: the end tokens, instead of those that the file names.
            cache: keep what was read in the cache folder, and look there first.

        Raises:
            VocabularyError: the file cannot be read, is cut off or no GGUF, or its tokens have no
                bytes of their own (codes ``vocabulary-...``).
        """
        from .from_gguf import load

        return cls._of(load(path, cache), size, eos_ids)

    @classmethod
    def from_huggingface(
        cls,
        tokenizer: Any,
        *,
        size: int | None = None,
        eos_ids: Iterable[int] | None = None,
        cache: bool = True,
    ) -> Vocabulary:
        """The vocabulary of a Hugging Face tokenizer.

        A token's bytes are what the tokenizer's decoder makes of it in the middle of a text.
        Special are all added tokens (but for white space that is not marked special) and the
        unknown token. End tokens are those of generation_config.json, config.json and
        tokenizer_config.json, and special tokens whose name says that they end a turn.

        Args:
            tokenizer: a folder or its tokenizer.json, beside which the other files are looked for;
                or a tokenizer of `tokenizers`, or a fast one of `transformers`.
            size, eos_ids, cache: as in `from_gguf`. Without `size`, a larger `vocab_size` in
                config.json counts.

        Raises:
            VocabularyError: a file cannot be read or is no tokenizer, or its tokens have no bytes
                of their own: WordPiece, a decoder that looks at a token's neighbours.
            TypeError: not a tokenizer, nor a path.
        """
        from .from_huggingface import load

        return cls._of(load(tokenizer, cache), size, eos_ids)

    @classmethod
    def from_tiktoken(
        cls, encoding: Any, *, size: int | None = None, eos_ids: Iterable[int] | None = None
    ) -> Vocabulary:
        """The vocabulary of a tiktoken encoding. Ids that it skips are padding.

        Args:
            encoding: a `tiktoken.Encoding`, or the name of one that tiktoken knows.
            size, eos_ids: as in `from_gguf`.

        Raises:
            VocabularyError: tiktoken is not installed or knows no such name; no end token.
            TypeError: not an encoding.
        """
        from .from_tiktoken import load

        return cls._of(load(encoding), size, eos_ids)

    @classmethod
    def from_mistral(
        cls,
        tokenizer: Any,
        *,
        size: int | None = None,
        eos_ids: Iterable[int] | None = None,
        cache: bool = True,
    ) -> Vocabulary:
        """The vocabulary of a Mistral tokenizer, read by mistral-common.

        Args:
            tokenizer: a tekken.json, or a tokenizer of mistral-common.
            size, eos_ids, cache: as in `from_gguf`.

        Raises:
            VocabularyError: mistral-common is not installed, or does not read the file.
            TypeError: not a tokenizer, nor a path.
        """
        from .from_mistral import load

        return cls._of(load(tokenizer, cache), size, eos_ids)

    @classmethod
    def from_sentencepiece(
        cls,
        model: Any,
        *,
        size: int | None = None,
        eos_ids: Iterable[int] | None = None,
        cache: bool = True,
    ) -> Vocabulary:
        """The vocabulary of a SentencePiece model, read by sentencepiece.

        Special are control, user-defined (but for white space) and unknown pieces.

        Args:
            model: a tokenizer.model, or a `sentencepiece.SentencePieceProcessor`.
            size, eos_ids, cache: as in `from_gguf`.

        Raises:
            VocabularyError: sentencepiece is not installed, or does not read the file.
            TypeError: not a processor, nor a path.
        """
        from .from_sentencepiece import load

        return cls._of(load(model, cache), size, eos_ids)

    @classmethod
    def _of(cls, loaded: Loaded, size: int | None, eos_ids: Iterable[int] | None) -> Vocabulary:
        loaded = loaded.with_size(size).with_ends(eos_ids)
        ids = (loaded.special_ids, loaded.eos_ids, loaded.padding_ids)
        made = cls(loaded.tokens, *ids, order=loaded.order)
        made.kind = loaded.kind
        return made

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def words(self) -> int:
        """32-bit words of a packed mask: ceil(V / 32)."""
        return (len(self.tokens) + 31) // 32

    @cached_property
    def all_row(self) -> NDArray[np.int32]:
        """The packed mask of every token but padding: int32[words], read-only."""
        bits = np.zeros(self.words * 32, dtype=bool)
        bits[: len(self.tokens)] = True
        bits[list(self.padding_ids)] = False
        row = np.packbits(bits, bitorder="little").view("<i4")
        row.flags.writeable = False
        return row

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
    def ordinary(self) -> tuple[int, ...]:
        """The ids that are matched by their bytes, sorted by bytes."""
        order = sorted_by_bytes(self.tokens) if self._order is None else self._order
        apart = np.zeros(len(self.tokens), dtype=bool)
        for ids in (self.special_ids, self.padding_ids, self.eos_ids):
            apart[list(ids)] = True
        return tuple(order[~apart[order]].tolist())

    def trim(self) -> None:
        """Forget slices, ways and nodes if they have become many."""
        if len(self.forest) > MAX_NODES or self.slices.size > MAX_SLICE_BYTES:
            self.forget()

    def forget(self) -> None:
        """Forget slices, ways and nodes. Nodes are numbered anew then, and `generation` is another
        one."""
        self._begin()
        self.generation += 1

    def path(self, node: Node, text: bytes) -> tuple[tuple[int, ...], Node]:
        """What lies below a node along a text: the tokens that the text begins with, and the node
        at its end, ROOT where no longer token goes on."""
        key = (node, text)
        found = self._paths.get(key)
        if found is None:
            if len(self._paths) >= MAX_PATHS:
                self._paths.clear()
            ids, longer = self.forest.along(node, text)
            node = self.forest.descendant(node, text) if longer else ROOT
            found = self._paths[key] = (ids, node)
        return found

    def specials_but(self, markers: frozenset[str]) -> tuple[int, ...]:
        """The special tokens whose text is none of `markers`, sorted by it; without those that end
        a text, and those whose text is empty or no UTF-8."""
        found = self._others.get(markers)
        if found is None:
            known = {text.encode("utf-8") for text in markers}
            kept = self.special_ids - self.padding_ids - frozenset(self.eos_ids)
            others = (i for i in kept if self.tokens[i] not in known and _is_text(self.tokens[i]))
            found = self._others[markers] = tuple(sorted(others, key=lambda i: (self.tokens[i], i)))
        return found

    def root_of_specials_but(self, markers: frozenset[str]) -> Node:
        """The root of a trie of these tokens alone. Good until `trim`."""
        found = self._roots.get(markers)
        if found is None:
            ids = self.specials_but(markers)
            trie = TokenTrie([self.tokens[i] for i in ids], ids)
            found = self._roots[markers] = self.forest.plant(trie)
        return found

    @cached_property
    def digest(self) -> str:
        """SHA-256 over tokens and id classes; equal for equal vocabularies."""
        sizes = np.fromiter(map(len, self.tokens), dtype="<u4", count=len(self.tokens))
        state = hashlib.sha256(len(self.tokens).to_bytes(4, "little"))
        state.update(sizes.tobytes())
        state.update(b"".join(self.tokens))
        for ids in (sorted(self.special_ids), self.eos_ids, sorted(self.padding_ids)):
            state.update(repr(tuple(ids)).encode())
        return state.hexdigest()


def _is_text(data: bytes) -> bool:
    try:
        return bool(data.decode("utf-8"))
    except UnicodeDecodeError:
        return False
