"""Tokens along the texts of a choice: the tree of the texts' prefixes and the sorted tokens, side
by side, no further down than there are tokens."""

from __future__ import annotations

from ...compiler.grammar import Choice, Expr, Literal, Sequence
from ...compiler.vocabulary.trie import Forest, Node


def tokens_along(forest: Forest, node: Node, choice: Choice) -> tuple[tuple[int, ...], list[Node]]:
    """The tokens below a node that a text of the choice begins with, and the nodes at the ends of
    those texts that longer tokens begin with.

    Args:
        choice: one that :class:`~...compiler.automaton.word_choices.WordChoices` tells.
    """
    trie, first, depth = forest.trie[node], forest.low[node], forest.depth[node]
    if not forest.size[node]:
        return (), []
    shared = trie.strings[first][:depth]
    found: dict[int, None] = {}
    ends: dict[bytes, None] = {}
    stack: list[tuple[Expr, bytes, int, int]] = [(choice, shared, first, forest.high[node])]
    while stack:
        expr, before, low, high = stack.pop()
        pieces = expr.items if type(expr) is Sequence else (expr,)
        for piece in pieces:
            if type(piece) is Choice:
                stack += [(option, before, low, high) for option in piece.options]
                break
            assert type(piece) is Literal, "the choice is one of plain texts"
            text = piece.text.encode("utf-8")
            ids, low, high = trie.along(low, high, before, text)
            if ids:
                found.update(dict.fromkeys(ids))
            if low == high:
                break
            before += text
        else:
            ends[before] = None
    return tuple(found), [forest.descendant(node, end[depth:]) for end in ends]
