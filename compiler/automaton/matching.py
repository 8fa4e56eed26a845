"""Distinct representatives: can places be filled with words, no word twice?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .remembered import Word

Group = tuple[set[Word], int]
"""The words that may stand at each of so many places."""


def can_match(groups: Sequence[Group], without: Word | None = None) -> bool:
    """Can every place have a word of its own?"""
    if len(groups) == 1:
        words, places = groups[0]
        return len(words) - (without in words) >= places
    holder: dict[Word, int] = {}
    options = [
        sorted(word for word in words if word != without)
        for words, times in groups
        for _ in range(times)
    ]
    return all(_place(at, options, holder, set()) for at in range(len(options)))


def _place(
    at: int, places: Sequence[Iterable[Word]], holder: dict[Word, int], tried: set[Word]
) -> bool:
    """Find a word for place `at`, moving others on if need be (Kuhn's augmenting path)."""
    # A stack of its own: there may be more places than Python's stack is deep.
    path: list[tuple[int, Iterable[Word]]] = [(at, iter(places[at]))]
    chosen: list[Word] = []
    while path:
        here, words = path[-1]
        for word in words:
            if word in tried:
                continue
            tried.add(word)
            chosen.append(word)
            if word not in holder:
                for (place, _), taken in zip(path, chosen, strict=True):
                    holder[taken] = place
                return True
            path.append((holder[word], iter(places[holder[word]])))
            break
        else:
            path.pop()
            if chosen:
                chosen.pop()
    return False


def forced_words(groups: Sequence[Group]) -> set[Word]:
    """The words without which the places cannot all be filled; they can be with all words."""
    if len(groups) == 1:
        words, places = groups[0]
        return set(words) if len(words) == places else set()
    every = set().union(*(words for words, _ in groups))
    return {word for word in every if not can_match(groups, word)}
