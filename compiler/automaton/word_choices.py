"""Choices of plain texts.

A choice among many texts is written as a tree of their prefixes. Whoever reads many bytes at once
need not turn each of its nodes into continuations: the tree is walked as it is.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..grammar import Choice, Expr, Literal, Sequence
from .cells import EXPR
from .core import Core

MIN_WORDS: Final = 8
"""Texts from which on that is worth it."""

_DEEPEST: Final = 60
"""Prefixes behind each other."""


class _Words(NamedTuple):
    """How many texts an expression stands for, 0 where it is not only plain texts; and whether the
    empty one is among them."""

    number: int
    empty: bool


_OTHER: Final = _Words(0, False)


class WordChoices:
    """The continuations of one core that choose among plain texts."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._known: dict[int, _Words] = {}

    def of(self, cell: int) -> tuple[Choice, int] | None:
        """The choice, and the continuation behind each of its texts, none of which is empty; None
        where the continuation is no choice of many plain texts."""
        head, tail = self._core.parts(cell)
        if not head or head[0] != EXPR:
            return None
        expr = self._core.exprs[head[1]]
        if type(expr) is not Choice:
            return None
        words = self._words(expr, 0)
        if words.number < MIN_WORDS or words.empty:
            return None
        return expr, self._core.settled(tail)

    def _words(self, expr: Expr, depth: int) -> _Words:
        match expr:
            case Literal(text):
                return _OTHER if self._core.is_marked(text) else _Words(1, not text)
            case Sequence(items):
                return self._sequence(items, depth)
            case Choice(options):
                # The core keeps the outermost one, and that the others.
                known = self._known.get(id(expr))
                if known is None:
                    known = self._known[id(expr)] = self._choice(options, depth)
                return known
            case _:
                return _OTHER

    def _sequence(self, items: tuple[Expr, ...], depth: int) -> _Words:
        if not items:
            return _Words(1, True)
        empty = True
        for item in items[:-1]:
            if type(item) is not Literal or self._core.is_marked(item.text):
                return _OTHER
            empty = empty and not item.text
        last = self._words(items[-1], depth)
        return _Words(last.number, empty and last.empty)

    def _choice(self, options: tuple[Expr, ...], depth: int) -> _Words:
        if depth == _DEEPEST:
            return _OTHER
        found = [self._words(option, depth + 1) for option in options]
        if not all(words.number for words in found):
            return _OTHER
        return _Words(sum(words.number for words in found), any(words.empty for words in found))
