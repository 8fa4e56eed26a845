"""Finite sets of words as automata."""

from __future__ import annotations

from collections.abc import Iterable

from .alphabet import partition
from .charset import FIRST_SURROGATE, LAST_SURROGATE
from .table import MAX_STATES, Table, TooLarge, empty, minimise


def word_table(words: Iterable[str]) -> Table:
    """The automaton of exactly these words; those with a surrogate are left out.

    Raises:
        TooLarge: more than MAX_STATES prefixes.
    """
    children: list[dict[str, int]] = [{}]
    accepting: set[int] = set()
    for word in words:
        if any(FIRST_SURROGATE <= ord(c) <= LAST_SURROGATE for c in word):
            continue
        state = 0
        for char in word:
            following = children[state].get(char)
            if following is None:
                following = children[state][char] = len(children)
                children.append({})
                if following >= MAX_STATES:
                    raise TooLarge(f"more than {MAX_STATES} states")
            state = following
        accepting.add(state)
    if not accepting:
        return empty()
    characters = sorted({c for row in children for c in row})
    alphabet, members = partition([((ord(c), ord(c)),) for c in characters])
    classes = {c: m[0] for c, m in zip(characters, members, strict=True)}
    rows: list[list[int]] = []
    for row in children:
        targets = [-1] * alphabet.size
        for char, target in row.items():
            targets[classes[char]] = target
        rows.append(targets)
    return minimise(Table(alphabet, rows, frozenset(accepting)))
