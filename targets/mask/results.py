"""What walks find, shared by all the automata of a vocabulary.

A *result* is a set of tokens, interned to a number: tokens in packed masks and by id, the union of
other results, or a result less some tokens. Places of any grammars from which the same was found in
the same way have one result, and one packed row.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Literal, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...compiler.automaton.machine_loops import ByteSet
from ...compiler.vocabulary.loop_table import LoopTable
from ...compiler.vocabulary.trie import Node
from ...compiler.vocabulary.vocabulary import Vocabulary
from .bitmask import allow, forbid

Row = NDArray[np.uint32]

Signature: TypeAlias = bytes | int
"""What a place begins with, whatever is behind: the rest of a literal, or a number for all else."""


class Around(NamedTuple):
    """All of a loop that a step depends on.

    behind: the bytes that what is behind the loop can begin with.
    excluded: what is left of the texts that the loop must not have been when it is left.
    The others as in :class:`~...compiler.automaton.front_parts.Loop` and
    :class:`~...compiler.vocabulary.loop_table.Place`; no greater counts than tokens can reach.
    """

    table: LoopTable
    start: int
    need: int
    left: int | None
    around: ByteSet
    also: ByteSet
    behind: ByteSet
    excluded: tuple[bytes, ...] = ()


Sign: TypeAlias = tuple[tuple[bytes, ...], tuple[Around, ...], tuple[tuple[int, int], ...]]
"""What a place begins with: literals, loops, and ranges of bytes."""


NOTHING: Final = 0
"""The result without tokens."""

MAX_RESULTS: Final = 500_000
"""Results and steps beyond which they are forgotten."""

_TRIMMED: Final = 16
"""Rows after which it is looked whether much is kept."""

MAX_ROW_BYTES: Final = 256 * 1024 * 1024
"""Rows that a vocabulary keeps; automata keep those that they use."""


Ways: TypeAlias = tuple[tuple[int, Node], ...]
"""What is left to look at: the number of what is behind a place, and the node from which on."""

Less: TypeAlias = tuple[int, Ways, tuple[int, ...]]
"""A result and ways, from which tokens are taken away."""

Step: TypeAlias = tuple[int, Ways, tuple[Less, ...]]
"""What is found from a node of the trie in a place, as far as the place itself tells: the result of
the tokens that end in it, the ways, and parts from which tokens are taken away.

A plain tuple: there are many, and the garbage collector does not look at those again.
"""


_LEAF: Final = 0
_UNION: Final = 1
_LESS: Final = 2

_Leaf: TypeAlias = tuple[Literal[0], tuple[Row, ...], tuple[int, ...]]
"""Packed masks and ids."""

_Part: TypeAlias = (
    _Leaf | tuple[Literal[1], tuple[int, ...]] | tuple[Literal[2], int, tuple[int, ...]]
)
"""A leaf, a union of results, or a result less some ids.

Plain tuples: there are many, and the garbage collector does not look at those again.
"""


class Results:
    """The results of one vocabulary; used under the vocabulary's lock.

    Attributes:
        steps: by node and signature.
        signs: what places begin with, by number.
        generation: another one once results were forgotten, so that numbers of before mean
            nothing.
    """

    _known: WeakKeyDictionary[Vocabulary, Results] = WeakKeyDictionary()

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._words = vocabulary.words
        self.generation = 0
        self._rows_made = 0
        self._nodes = vocabulary.generation
        self._signatures: dict[Sign, int] = {}
        self.signs: list[Sign] = []
        self._begin()

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Results:
        """The results of a vocabulary."""
        with vocabulary.lock:
            found = cls._known.get(vocabulary)
            if found is None:
                found = cls._known[vocabulary] = cls(vocabulary)
            return found

    def _begin(self) -> None:
        self.steps: dict[tuple[Node, Signature], Step] = {}
        self._parts: list[_Part] = [(_LEAF, (), ())]
        self._numbers: dict[Hashable, int] = {(): NOTHING}
        self._flat: dict[int, _Leaf] = {}
        self._rows: dict[tuple[int, tuple[int, ...]], Row] = {}
        self._row_bytes = 0

    def trim(self, vocabulary: Vocabulary) -> None:
        """Forget everything if it has become much, or nodes were numbered anew. Between rows only:
        numbers of results mean nothing then."""
        self._rows_made += 1
        if self._rows_made % _TRIMMED and self._nodes == vocabulary.generation:
            return
        vocabulary.trim()
        if (
            self._nodes != vocabulary.generation
            or len(self._parts) + len(self.steps) > MAX_RESULTS
            or len(self._signatures) > MAX_RESULTS
        ):
            self._nodes = vocabulary.generation
            self.generation += 1
            self._signatures.clear()
            self.signs.clear()
            self._begin()

    def signature(self, sign: Sign) -> int:
        """The number of what a place begins with."""
        found = self._signatures.get(sign)
        if found is None:
            found = self._signatures[sign] = len(self.signs)
            self.signs.append(sign)
        return found

    # Results ----------------------------------------------------------------------------------

    def leaf(self, masks: list[Row], ids: list[int] | tuple[int, ...]) -> int:
        """The result of masks and ids. Masks are told apart by identity and kept."""
        if not masks:
            if not ids:
                return NOTHING
            key: Hashable = tuple(ids)
        else:
            key = (tuple(map(id, masks)), tuple(ids))
        found = self._numbers.get(key)
        if found is None:
            found = self._add(key, (_LEAF, tuple(masks), tuple(ids)))
        return found

    def union(self, own: int, parts: list[int]) -> int:
        """The union of a result and others, none of which is NOTHING."""
        if not parts:
            return own
        if own:
            parts.append(own)
        if len(parts) == 1:
            return parts[0]
        members = set(parts)
        if len(members) == 1:
            return parts[0]
        key: _Part = (_UNION, tuple(sorted(members)))
        found = self._numbers.get(key)
        if found is None:
            found = self._add(key, key)
        return found

    def less(self, whole: int, ids: tuple[int, ...]) -> int:
        """A result without some tokens."""
        if not whole or not ids:
            return whole
        key: _Part = (_LESS, whole, ids)
        found = self._numbers.get(key)
        if found is None:
            found = self._add(key, key)
        return found

    def _add(self, key: Hashable, part: _Part) -> int:
        found = self._numbers[key] = len(self._parts)
        self._parts.append(part)
        return found

    # Rows -------------------------------------------------------------------------------------

    def row(self, result: int, ids: tuple[int, ...] = ()) -> Row:
        """The packed mask of a result and more ids: uint32[words], shared, read-only."""
        key = (result, ids)
        found = self._rows.get(key)
        if found is None:
            _, masks, own = self._flatten(result)
            found = _pack(masks, own + ids, self._words)
            found.flags.writeable = False
            self._row_bytes += found.nbytes
            if self._row_bytes > MAX_ROW_BYTES:
                self._rows.clear()
                self._row_bytes = found.nbytes
            self._rows[key] = found
        return found

    def _flatten(self, result: int) -> _Leaf:
        """Masks and ids whose union is the result."""
        part = self._parts[result]
        if part[0] == _LEAF:
            return part
        found = self._flat.get(result)
        if found is None:
            found = self._flat[result] = (
                self._without(part) if part[0] == _LESS else self._all(part[1])
            )
        return found

    def _without(self, part: tuple[Literal[2], int, tuple[int, ...]]) -> _Leaf:
        row = self.row(part[1]).copy()
        forbid(row, part[2])
        return _LEAF, (row,), ()

    def _all(self, parts: tuple[int, ...]) -> _Leaf:
        masks: dict[int, Row] = {}
        ids: set[int] = set()
        todo = list(parts)
        seen = set(todo)
        while todo:
            here = todo.pop()
            inner = self._parts[here]
            if inner[0] == _UNION and here not in self._flat:
                more = [p for p in inner[1] if p not in seen]
                seen.update(more)
                todo += more
                continue
            _, own, some = self._flatten(here)
            for mask in own:
                masks[id(mask)] = mask
            ids.update(some)
        return _LEAF, tuple(masks.values()), tuple(ids)


def _pack(masks: tuple[Row, ...], ids: tuple[int, ...], words: int) -> Row:
    """Masks and ids as one packed mask, a new one."""
    if not masks:
        row = np.zeros(words, dtype=np.uint32)
    elif len(masks) == 1:
        row = masks[0].copy()
    else:
        row = masks[0] | masks[1]
        for mask in masks[2:]:
            row |= mask
    allow(row, ids)
    return row
