"""Tokens along what a choice may begin with: the tree of its texts' prefixes and the sorted tokens,
side by side, no further down than there are tokens."""

from __future__ import annotations

from ...compiler.automaton.word_choices import WordChoices, text_of
from ...compiler.grammar import Choice, Expr, Sequence
from ...compiler.vocabulary.trie import Forest, Node


class Chosen:
    """A choice and what is behind it.

    Attributes:
        tails: the continuations behind the texts, as far as tokens have reached them.
    """

    def __init__(self, words: WordChoices, choice: Choice, tail: int) -> None:
        self._words, self._choice, self._tail = words, choice, tail
        self.tails: list[int] = []
        self._ways: dict[int, int] = {}

    def below(self, forest: Forest, node: Node) -> tuple[tuple[int, ...], list[tuple[int, Node]]]:
        """The tokens below a node that one of the texts begins with; and for those texts that
        longer tokens begin with the number of what is behind them, and the node at their end."""
        if not forest.size[node]:
            return (), []
        trie, first, depth = forest.trie[node], forest.low[node], forest.depth[node]
        words, shared = self._words, trie.strings[first][:depth]
        found: dict[int, None] = {}
        ends: dict[tuple[int, bytes], None] = {}
        stack: list[tuple[Expr, bytes, int, int]] = [
            (self._choice, shared, first, forest.high[node])
        ]
        while stack:
            expr, before, low, high = stack.pop()
            if type(expr) is Choice:
                stack += [(option, before, low, high) for option in expr.options]
                continue
            text = text_of(expr).encode("utf-8")
            ids, low, high = trie.along(low, high, before, text)
            if ids:
                found.update(dict.fromkeys(ids))
            if low < high:
                within = words.within(expr) if type(expr) is Sequence else None
                if within is not None:
                    stack.append((within, before + text, low, high))
                else:
                    ends[self._way(words.behind(expr, self._tail)), before + text] = None
        ways = [(way, forest.descendant(node, end[depth:])) for way, end in ends]
        return tuple(found), ways

    def _way(self, tail: int) -> int:
        way = self._ways.setdefault(tail, len(self.tails))
        if way == len(self.tails):
            self.tails.append(tail)
        return way
