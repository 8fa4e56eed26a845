"""Automaton + vocabulary -> token table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ...compiler.automaton.byte_dfa import ByteDfa
from ...compiler.errors import TargetError
from ...compiler.vocabulary.vocabulary import Vocabulary
from .automaton import HINT
from .classes import Classes, Ints, Maps, Progress, TooManyEntries, token_classes
from .states import ENDED, START
from .table import Numbers, TokenTable

MAX_BYTES: Final = 2**30
"""Bytes of one table."""


def token_table(
    dfa: ByteDfa,
    vocabulary: Vocabulary,
    header: Mapping[str, Any],
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
) -> TokenTable:
    """The table of an automaton whose special tokens are those of the vocabulary.

    Raises:
        TargetError: code ``unsupported-feature`` (table): it would take more than `max_bytes`.
    """
    try:
        # Entries are sparse while the table is not: it is never the smaller one.
        classes = token_classes(dfa, vocabulary, Maps(dfa, max_bytes // 2), progress)
    except TooManyEntries:
        raise _too_large(dfa, None, max_bytes) from None
    return dense(dfa, classes, vocabulary, header, max_bytes)


def dense(
    dfa: ByteDfa,
    classes: Classes,
    vocabulary: Vocabulary,
    header: Mapping[str, Any],
    max_bytes: int = MAX_BYTES,
) -> TokenTable:
    """The table of classes; class 0 is that of the tokens that are never allowed."""
    size = len(dfa) + START
    of_token, ends, count = with_ends(classes, vocabulary)
    kind = np.int16 if max(size, count) <= np.iinfo(np.int16).max else np.int32
    if size * count * np.dtype(kind).itemsize > max_bytes:
        raise _too_large(dfa, count, max_bytes)
    table = np.zeros((size, count), dtype=kind)
    for number, (states, targets) in enumerate(classes.maps, 1):
        table[states + START, number] = targets + START
    accepting = np.zeros(size, dtype=bool)
    accepting[ENDED] = True
    accepting[START:] = dfa.accepting
    for base, number in ends.items():
        table[:, number] = table[:, base]
        table[accepting, number] = ENDED
    compact, used = without_unused(table, of_token)
    made: Numbers = used.astype(kind)
    return TokenTable(vocabulary, compact, made, accepting, header)


def with_ends(classes: Classes, vocabulary: Vocabulary) -> tuple[Ints, dict[int, int], int]:
    """Classes of tokens, 0 for those that are never allowed; those of end tokens, by the class that
    they would be of otherwise; how many there are."""
    of_token = classes.of_token + 1
    of_token[sorted(vocabulary.padding_ids)] = 0
    # End tokens have classes of their own, one for each way in which they may be read besides.
    ends: dict[int, int] = {}
    count = len(classes.maps) + 1
    for token in vocabulary.eos_ids:
        if token not in vocabulary.padding_ids:
            base = int(of_token[token])
            of_token[token] = ends.setdefault(base, count + len(ends))
    return of_token, ends, count + len(ends)


def without_unused(table: Numbers, of_token: np.ndarray[Any, Any]) -> tuple[Numbers, Any]:
    """The table without classes that only end tokens were of; class 0 stays."""
    used = np.union1d(np.zeros(1, dtype=of_token.dtype), of_token)
    if len(used) == table.shape[1]:
        return table, of_token
    number = np.zeros(table.shape[1], dtype=of_token.dtype)
    number[used] = np.arange(len(used))
    return np.ascontiguousarray(table[:, used]), number[of_token]


def _too_large(dfa: ByteDfa, classes: int | None, limit: int) -> TargetError:
    what = f"{len(dfa):,} states" + ("" if classes is None else f" by {classes:,} classes")
    return TargetError.at(
        "unsupported-feature", f"table: {what} of tokens take more than {limit:,} bytes", hint=HINT
    )
