"""What a loader hands over: tokens with their classes, and the order of their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..errors import VocabularyError
from .classes import MAX_IDS


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A vocabulary as it was read, before the caller's wishes.

    Attributes:
        kind: what it was read from, for people.
        tokens: the bytes of each token by id; b"" where an id has none.
        special_ids, eos_ids, padding_ids: see `Vocabulary`; ascending but for `eos_ids`.
        order: int32[number of tokens that are not empty]; their ids, sorted by bytes, then id.
        least_size: ids that the model has, if its files say more than there are tokens.
    """

    kind: str
    tokens: Sequence[bytes]
    special_ids: tuple[int, ...]
    eos_ids: tuple[int, ...]
    padding_ids: tuple[int, ...]
    order: NDArray[np.int32]
    least_size: int = 0

    @classmethod
    def of(
        cls,
        kind: str,
        tokens: Sequence[bytes],
        special: Iterable[int],
        eos: Iterable[int],
        padding: Iterable[int],
        least_size: int = 0,
    ) -> Self:
        """Sorted, and the classes made disjoint: an end token is never padding, and what is
        padding is not special."""
        size = len(tokens)
        eos = tuple(dict.fromkeys(i for i in eos if 0 <= i < size))
        unused = set(padding) - set(eos)
        return cls(
            kind,
            tokens,
            tuple(sorted(set(special) - unused)),
            eos,
            tuple(sorted(unused)),
            sorted_by_bytes(tokens),
            least_size,
        )

    def with_size(self, size: int | None) -> Self:
        """With padding up to `size` ids.

        Raises:
            VocabularyError: there are more tokens, or `size` is beyond any model's.
        """
        have = len(self.tokens)
        want = max(have, self.least_size) if size is None else size
        if want < have:
            raise VocabularyError.at(
                "vocabulary-size",
                f"size={want} is smaller than the vocabulary, which has {have} ids",
                hint="give the width of the model's logits, or leave `size` out",
            )
        if want > MAX_IDS:
            raise VocabularyError.at("vocabulary-size", f"more than {MAX_IDS:,} ids are not read")
        if want == have:
            return self
        return replace(
            self,
            tokens=(*self.tokens, *[b""] * (want - have)),
            padding_ids=(*self.padding_ids, *range(have, want)),
        )

    def with_ends(self, eos_ids: Iterable[int] | None) -> Self:
        """With the caller's end tokens, if there are any.

        Raises:
            VocabularyError: neither the caller nor the file names one.
        """
        if eos_ids is None:
            if not self.eos_ids:
                raise VocabularyError.at(
                    "vocabulary-no-end",
                    "the vocabulary names no token that ends a text",
                    hint="name them: eos_ids=[...]",
                )
            return self
        ends = tuple(eos_ids)
        padding = set(self.padding_ids) - set(ends)
        return replace(self, eos_ids=ends, padding_ids=tuple(sorted(padding)))


def sorted_by_bytes(tokens: Sequence[bytes]) -> NDArray[np.int32]:
    """The ids of the tokens that are not empty, by their bytes and then by id.

    Python's own sort: of a quarter of a million short strings it takes a tenth of a second, and
    unlike numpy's strings it keeps zero bytes at their ends.
    """
    found = [i for i, token in enumerate(tokens) if token]
    found.sort(key=tokens.__getitem__)
    return np.asarray(found, dtype=np.int32)
