"""Texts that must not be met whole, as a trie of characters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

GONE: Final = -1
"""The text is no beginning of an excluded one any more."""


class Exclusion:
    """A trie of the excluded texts; node 0 is the empty beginning.

    Attributes:
        children: for each node, the nodes after one more character, by code point.
        whole: for each node, whether an excluded text ends there.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.children: list[dict[int, int]] = [{}]
        self.whole: list[bool] = [False]
        self._rests: dict[int, tuple[bytes, ...]] = {}
        for word in words:
            node = 0
            for char in word:
                following = self.children[node].get(ord(char))
                if following is None:
                    following = self.children[node][ord(char)] = len(self.children)
                    self.children.append({})
                    self.whole.append(False)
                node = following
            self.whole[node] = True

    def after(self, node: int, text: str) -> int:
        """The node after more text, or GONE."""
        for char in text:
            following = self.children[node].get(ord(char))
            if following is None:
                return GONE
            node = following
        return node

    def split(self, node: int, low: int, high: int) -> list[tuple[int, int, int]]:
        """``(low, high, node or GONE)``: where the characters of a range lead."""
        children = self.children[node]
        found = []
        for code in sorted(children):
            if low <= code <= high:
                if low < code:
                    found.append((low, code - 1, GONE))
                found.append((code, code, children[code]))
                low = code + 1
        if low <= high:
            found.append((low, high, GONE))
        return found

    def rests(self, node: int) -> tuple[bytes, ...]:
        """What completes an excluded text from a node, the empty rest left out, as UTF-8."""
        known = self._rests.get(node)
        if known is None:
            found = []
            todo = [(node, "")]
            while todo:
                here, text = todo.pop()
                if self.whole[here] and text:
                    found.append(text.encode("utf-8"))
                todo += ((child, text + chr(c)) for c, child in self.children[here].items())
            known = self._rests[node] = tuple(sorted(found))
        return known
