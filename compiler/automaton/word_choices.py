"""Choices among beginnings in plain text.

A choice among many texts, or among what many texts begin, is written as a tree of their prefixes.
Whoever reads many bytes at once need not turn each of its nodes into continuations: the tree is
walked as it is, and only what is reached becomes one.
"""

from __future__ import annotations

from typing import Final

from ..grammar import Choice, Expr, Literal, Sequence
from .cells import EXPR
from .core import Core
from .front_parts import LiteralFront

MIN_OPTIONS: Final = 8
"""Beginnings from which on that is worth it."""

_DEEPEST: Final = 60
"""Prefixes behind each other."""

_Option = tuple[bytes, Expr]
"""What an option begins with, and the option."""


class WordChoices:
    """The continuations of one core that choose among beginnings in plain text, none empty."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._counts: dict[int, int] = {}
        self._by_byte: dict[int, dict[int, list[_Option]]] = {}

    def of(self, cell: int) -> tuple[Choice, int] | None:
        """The choice and what is behind it; None where the continuation is no choice of many
        beginnings."""
        head, tail = self._core.parts(cell)
        if not head or head[0] != EXPR:
            return None
        expr = self._core.exprs[head[1]]
        if type(expr) is not Choice or self.count(expr) < MIN_OPTIONS:
            return None
        return expr, tail

    def count(self, expr: Expr, depth: int = 0) -> int:
        """How many beginnings an expression has; 0 where one of them is no plain text."""
        match expr:
            case Literal():
                return int(self.is_plain(expr))
            case Sequence((first, *_)):
                if not self.is_plain(first):
                    return 0
                within = self.within(expr)
                return 1 if within is None else self.count(within, depth)
            case Choice(options):
                # The core keeps the outermost one, and that the others.
                known = self._counts.get(id(expr))
                if known is None:
                    found = [0]
                    if depth < _DEEPEST:
                        found = [self.count(option, depth + 1) for option in options]
                    known = self._counts[id(expr)] = sum(found) if all(found) else 0
                return known
            case _:
                return 0

    def is_plain(self, expr: Expr) -> bool:
        """Is this some text without a special token?"""
        return type(expr) is Literal and expr.text != "" and not self._core.is_marked(expr.text)

    def within(self, expr: Sequence) -> Choice | None:
        """The choice that a text and nothing else stands before, if all of it are beginnings."""
        if len(expr.items) == 2 and type(last := expr.items[1]) is Choice and self.count(last):
            return last
        return None

    def behind(self, expr: Expr, tail: int) -> int:
        """The continuation behind the text that an option begins with."""
        if type(expr) is Sequence and len(expr.items) > 1:
            return self._core.sequence(self._core.index(expr), 1, tail)
        return self._core.settled(tail)

    def starting(self, choice: Choice, tail: int, byte: int) -> tuple[LiteralFront, ...]:
        """What begins with a byte."""
        options = self._by_byte.get(id(choice))
        if options is None:
            options = self._by_byte[id(choice)] = {}
            stack: list[Expr] = [choice]
            while stack:
                expr = stack.pop()
                if type(expr) is Choice:
                    stack += expr.options
                else:
                    text = text_of(expr).encode("utf-8")
                    options.setdefault(text[0], []).append((text, expr))
        found = options.get(byte, ())
        return tuple([(text, text, 0, self.behind(expr, tail)) for text, expr in found])


def text_of(expr: Expr) -> str:
    """The text that an option begins with."""
    first = expr.items[0] if type(expr) is Sequence else expr
    assert type(first) is Literal, "the options begin with plain text"
    return first.text
