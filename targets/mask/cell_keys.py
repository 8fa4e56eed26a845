"""Names for continuations that mean the same in every process.

Continuations are numbered as they are met, so numbers mean nothing to another process that compiles
the same grammar. A key is a digest of what the continuation is: where in the grammar its heads
stand (the number of the rule, breadth first from the start, and of the expression in it) and their
counters. Equal keys: equal continuations. Not every continuation has one.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Final

from ...compiler.automaton.cells import BUT, BYTES, CLOSE, END, RANGES, Head
from ...compiler.automaton.core import Core
from ...compiler.automaton.distinct import BETWEEN, INSIDE, NEXT, PENDING
from ...compiler.automaton.remembered import UNKNOWN
from ...compiler.grammar import (
    ButMachine,
    Chars,
    Expr,
    Grammar,
    Literal,
    Machine,
    Regular,
    RuleRef,
    Sequence,
    Token,
    children,
)

KEY_BYTES: Final = 16

_MAX_NESTED: Final = 40
"""Remembered texts inside remembered texts that are named."""

Window = tuple[int, int, int | None]


class CellKeys:
    """The keys of one core's continuations. Builds every rule of the grammar.

    Args:
        core: a core over the grammar's rules.
        grammar: the grammar.
    """

    def __init__(self, core: Core, grammar: Grammar) -> None:
        self._core = core
        self._keys: dict[int, bytes | None] = {END: b"\0" * KEY_BYTES}
        self._exprs: dict[int, str | None] = {}
        self._places: dict[int, str] = {}
        self._wholes: dict[Window, str] = {}
        self._rules: dict[str, int] = {}
        self._number(0, grammar.start)
        for number, (name, expr) in enumerate(grammar.rules.reachable(grammar.start), 1):
            self._rules[name] = number
            self._number(number, expr)

    def _number(self, rule: int, expr: Expr) -> None:
        todo = [expr]
        for at, part in enumerate(todo):
            place = f"{rule}.{at}"
            self._places.setdefault(id(part), place)
            if isinstance(part, Regular) and isinstance(part.machine, ButMachine):
                self._wholes.setdefault(_window(part.machine.base, part), place)
            todo += children(part)

    def of(self, cells: tuple[int, ...]) -> bytes | None:
        """The key of a set of continuations; None if one of them has none."""
        keys = [self.cell(cell) for cell in cells]
        found = [key for key in keys if key is not None]
        if len(found) < len(keys):
            return None
        if len(found) == 1:
            return found[0]
        return blake2b(b"".join(sorted(found)), digest_size=KEY_BYTES, person=b"set").digest()

    def cell(self, cell: int, nested: int = 0) -> bytes | None:
        """The key of one continuation: 16 bytes; None if it has none."""
        known = self._keys
        heads: list[tuple[int, Head]] = []
        while cell not in known:
            head, tail = self._core.parts(cell)
            heads.append((cell, head))
            cell = tail
        key = known[cell]
        for cell, head in reversed(heads):
            if key is not None:
                name = self._head(head, nested)
                if name is None:
                    key = None
                else:
                    key = blake2b(name + key, digest_size=KEY_BYTES).digest()
            known[cell] = key
        return key

    def _head(self, head: Head, nested: int) -> bytes | None:
        kind = head[0]
        if kind == BYTES:
            return repr((kind, head[1][head[2] :])).encode()
        if kind == RANGES:
            return repr(head).encode()
        if kind in (PENDING, CLOSE):
            return None
        expr = self._expr(head[1])
        if expr is None:
            return None
        rest: tuple[Any, ...] = head[2:]
        if kind == BUT:
            # Nodes of excluded texts are numbered in no order.
            exclusion = self._core.exclusion(head[1])
            rest = (*rest[:-1], exclusion.rests(rest[-1]), exclusion.whole[rest[-1]])
        elif kind in (BETWEEN, NEXT):
            texts = self._texts(rest[1])
            if texts is None:
                return None
            rest = (rest[0], texts)
        elif kind == INSIDE:
            which, state, memory, inner, text, free = rest
            texts = self._texts(memory)
            key = self.cell(inner, nested + 1) if nested < _MAX_NESTED else None
            if texts is None or key is None or text == UNKNOWN:
                return None
            rest = (which, state, texts, key, self._core.remembering.texts.spell(text), free)
        return repr((kind, expr, *rest)).encode()

    def _texts(self, memory: int) -> tuple[str, ...] | None:
        """The texts of a memory; None if one of them is unknown: such places are for others, and
        their rows not exact."""
        texts = self._core.remembering.texts
        if memory < 0 or UNKNOWN in texts.members(memory):
            return None
        return texts.spelled(memory)

    def _expr(self, index: int) -> str | None:
        if index not in self._exprs:
            self._exprs[index] = self._name(self._core.exprs[index])
        return self._exprs[index]

    def _name(self, expr: Expr) -> str | None:
        """The place of an expression; what it is, if it was made on the way."""
        place = self._places.get(id(expr))
        if place is not None:
            return place
        match expr:
            case Literal() | Token() | Chars():
                return repr(expr)
            case RuleRef(name):
                return f"rule {self._rules[name]}" if name in self._rules else None
            case Sequence(items):
                names = [self._name(item) for item in items]
                return None if None in names else f"sequence {names}"
            case Regular(machine):
                base = self._wholes.get(_window(machine, expr))
                return None if base is None else f"whole {base}"
            case _:
                return None


def _window(machine: Machine, expr: Regular) -> Window:
    return (id(machine), expr.min, expr.max)
