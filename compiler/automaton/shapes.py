"""Shapes: what a part of a text is, apart from the grammar that it stands in.

Strings, numbers, white space and separators are alike in all grammars. A shape is a number for
what an expression matches, the same in all grammars that share their shapes: what is found out
about a shape is found out once. Objects have none, nor has anything that remembers, refers to
itself or is large.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final, TypeAlias

from ..grammar import (
    ButMachine,
    Capture,
    Chars,
    Choice,
    Cut,
    Expr,
    Literal,
    Machine,
    Regular,
    Repeat,
    RuleRef,
    Sequence,
    Token,
)
from .cells import BYTES, EXPR, REGULAR, REPEAT, SEQ, Head
from .core import Core
from .liveness import searched

Shape: TypeAlias = int

NO_SHAPE: Final[Shape] = 0
"""Of what has none."""

EMPTY: Final[Shape] = 1
"""The shape of no text at all."""

_MOST: Final = 80
"""Expressions in a shape, and in what is looked at for one."""

_DEEPEST: Final = 12
"""Expressions inside each other in a shape."""


class Shapes:
    """The shapes that some grammars have in common.

    Attributes:
        empty: by shape, whether it may be no text at all.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, Shape] = {}
        self.empty = [False, True]
        # Machines are told apart by who they are: they are kept alive.
        self._machines: dict[int, Machine] = {}

    def __len__(self) -> int:
        return len(self.empty)

    def number(self, key: Hashable, empty: bool) -> Shape:
        """The shape that is told from others by a key."""
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.empty)
            self.empty.append(empty)
        return found

    def row(self, first: Shape, second: Shape) -> Shape:
        """The shape of one after the other."""
        if first == EMPTY or second == EMPTY:
            return max(first, second)
        return self.number((first, second), self.empty[first] and self.empty[second])

    def machine(self, machine: Machine) -> int:
        """The number of a machine."""
        self._machines[id(machine)] = machine
        return id(machine)


class Shaper:
    """The shapes of one core's expressions and heads.

    Args:
        longest: the most bytes that are read in one go. Counts that they cannot tell from greater
            ones are alike.
    """

    def __init__(self, core: Core, shapes: Shapes, longest: int) -> None:
        self._core, self._shapes = core, shapes
        self._enough = longest + 2
        self._known: dict[int, tuple[Expr, Shape]] = {}
        self._rules: dict[str, Shape] = {}
        self._sequences: dict[int, list[Shape]] = {}
        self._left = _MOST
        self._depth = 0

    def head(self, head: Head) -> Shape:
        """The shape of a head."""
        kind = head[0]
        if kind == BYTES:
            _, data, at = head
            return self._shapes.number(data[at:], False)
        if kind == REPEAT:
            _, index, need, left = head
            return self._repeated(self.of(self._core.exprs[index]), need, left)
        if kind == EXPR:
            return self.of(self._core.exprs[head[1]])
        if kind == SEQ:
            _, index, at = head
            found = self._sequences.get(index)
            if found is None:
                found = self._sequences[index] = self._rests(self._core.items(index))
            return found[at]
        if kind == REGULAR:
            _, index, state, need, left = head
            return self._regular(self._core.machine(index), state, need, left)
        return NO_SHAPE

    def of(self, expr: Expr) -> Shape:
        """The shape of an expression."""
        kind = type(expr)
        # Most are these two, and each stands for itself.
        if kind is Literal:
            return self._text(expr.text)
        if kind is RuleRef:
            found = self._rules.get(expr.name)
            if found is None:
                found = self.of(self._core.rules[expr.name])
                if found or self._left >= 0:
                    self._rules[expr.name] = found
            return found
        known = self._known.get(id(expr))
        if known is not None:
            return known[1]
        top = not self._depth
        if top:
            self._left = _MOST
        self._left -= 1
        if self._left < 0 or self._depth >= _DEEPEST:
            self._left = -1
            return NO_SHAPE
        # While it is looked into: what leads to itself has no shape.
        self._known[id(expr)] = expr, NO_SHAPE
        self._depth += 1
        found = self._of(expr)
        self._depth -= 1
        if found or top or self._left >= 0:
            self._known[id(expr)] = expr, found
        else:
            # There was no room for it here, but by itself it may be small enough.
            del self._known[id(expr)]
        return found

    def _of(self, expr: Expr) -> Shape:
        core, shapes = self._core, self._shapes
        match expr:
            case Sequence(items):
                return self._row(items)
            case Chars(ranges):
                return shapes.number(ranges, False)
            case Choice(options):
                found = self._all(options)
                if found is None:
                    return NO_SHAPE
                return shapes.number(("choice", *found), any(shapes.empty[s] for s in found))
            case Repeat(item, low, most):
                return self._repeated(self.of(item), low, most)
            case Capture(_, item):
                return self.of(item)
            case Token(text) if text not in core.specials:
                return self._text(text)
            case Cut():
                return EMPTY
            case Regular(machine) if not isinstance(machine, ButMachine):
                head, _ = core.parts(core.continuation(expr))
                return self.head(head) if head and head[0] == REGULAR else NO_SHAPE
            case _:
                return NO_SHAPE

    def _text(self, text: str) -> Shape:
        if self._core.is_marked(text):
            return NO_SHAPE
        return self._shapes.number(text.encode("utf-8"), False) if text else EMPTY

    def _all(self, exprs: Iterable[Expr]) -> list[Shape] | None:
        """The shapes of all; None if one has none."""
        found = []
        for expr in exprs:
            shape = self.of(expr)
            if not shape:
                return None
            found.append(shape)
        return found

    def _row(self, items: tuple[Expr, ...]) -> Shape:
        """The shape of one after the other."""
        found = self._all(items)
        if found is None:
            return NO_SHAPE
        made = EMPTY
        for shape in reversed(found):
            made = self._shapes.row(shape, made)
        return made

    def _rests(self, items: tuple[Expr, ...]) -> list[Shape]:
        """The shapes of what is left of a sequence from each item on, the first one aside."""
        found = [NO_SHAPE] * len(items)
        made = EMPTY
        for at in range(len(items) - 1, 0, -1):
            shape = self.of(items[at])
            if not shape:
                break
            made = found[at] = self._shapes.row(shape, made)
        return found

    def _repeated(self, shape: Shape, need: int, left: int | None) -> Shape:
        if left == 0:
            return EMPTY
        if not shape or shape == EMPTY:
            return shape
        enough = self._enough
        if left is not None and left >= enough:
            left = None
        key = ("repeat", shape, min(need, enough), left)
        return self._shapes.number(key, need <= 0 or self._shapes.empty[shape])

    def _regular(self, machine: Machine, state: int, need: int, left: int | None) -> Shape:
        if machine.known is not None:
            return NO_SHAPE
        if need or left is not None:
            enough = self._enough + searched(machine).farthest
            need = min(need, enough)
            left = None if left is None or left >= enough else left
        key = ("machine", self._shapes.machine(machine), state, need, left)
        return self._shapes.number(key, state in machine.accepting and need <= 0)
