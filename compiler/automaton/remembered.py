"""Sets of texts, interned: what a configuration remembers of a text that it has read.

Texts are nodes of one trie, so that a text costs a node a byte however many places remember it.
"""

from __future__ import annotations

from typing import Final, TypeAlias

Word: TypeAlias = str
"""A text as a string of symbols: bytes are the characters up to U+00FF, the special token with id n
is the character 256 + n. Not text for people."""

EMPTY_TEXT: Final = 0
UNKNOWN: Final = 1
"""A text that is none of those remembered: it stands for any of them, whatever is read on."""

NOTHING: Final = 0
"""The set without texts."""


class Texts:
    """Texts and sets of texts by number."""

    def __init__(self) -> None:
        self._children: dict[tuple[int, int], int] = {}
        self._nodes: list[tuple[int, int, int]] = [(EMPTY_TEXT, 0, 0), (UNKNOWN, 0, 0)]
        self._sets: list[frozenset[int]] = [frozenset()]
        self._set_numbers: dict[frozenset[int], int] = {frozenset(): NOTHING}
        self._sizes: list[int] = [0]
        self._spelled: dict[int, Word] = {}
        self._sorted: dict[int, tuple[Word, ...]] = {}

    def child(self, text: int, byte: int) -> int:
        """The text with one more byte."""
        key = (text, byte)
        found = self._children.get(key)
        if found is None:
            found = self._children[key] = len(self._nodes)
            self._nodes.append((text, byte, self._nodes[text][2] + 1))
        return found

    def length(self, text: int) -> int:
        """Bytes of a text."""
        return self._nodes[text][2]

    def parent(self, text: int) -> int:
        """The text without its last byte."""
        return self._nodes[text][0]

    def spell(self, text: int) -> Word:
        """The symbols of a text."""
        found = self._spelled.get(text)
        if found is None:
            out: list[str] = []
            here = text
            while here not in (EMPTY_TEXT, UNKNOWN):
                here, byte, _ = self._nodes[here]
                out.append(chr(byte))
            found = self._spelled[text] = "".join(reversed(out))
        return found

    def with_text(self, number: int, text: int) -> int:
        """The set with one more text."""
        return self._intern(self._sets[number] | {text})

    def only(self, text: int) -> int:
        """The set of one text."""
        return self._intern(frozenset((text,)))

    def _intern(self, texts: frozenset[int]) -> int:
        found = self._set_numbers.get(texts)
        if found is None:
            found = self._set_numbers[texts] = len(self._sets)
            self._sets.append(texts)
            self._sizes.append(sum(map(self.length, texts)))
        return found

    def members(self, number: int) -> frozenset[int]:
        """The texts of a set."""
        return self._sets[number]

    def spelled(self, number: int) -> tuple[Word, ...]:
        """The texts of a set that are known, sorted."""
        found = self._sorted.get(number)
        if found is None:
            known = (self.spell(t) for t in self._sets[number] if t != UNKNOWN)
            found = self._sorted[number] = tuple(sorted(known))
        return found

    def size(self, number: int) -> int:
        """Bytes of all the texts of a set."""
        return self._sizes[number]
