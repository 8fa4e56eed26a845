"""What texts begin with, without opening up what they are made of.

A front says what a place begins with in pieces, and to make one is work. Often only the first bytes
are wanted: of what stands behind a loop, say. They are told from the expressions, and only as far
as their beginnings go: rules behind these are not built for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, TypeAlias

from ..grammar import (
    Capture,
    Chars,
    Choice,
    Cut,
    Expr,
    Literal,
    Regular,
    Repeat,
    RuleRef,
    Sequence,
    Token,
)
from ..owners import back_to
from .cells import BYTES, END, EXPR, HOLE, MEMBER, MEMBERS, REGULAR, REPEAT, SEQ, Head
from .core import Core
from .machine_loops import ByteSet, is_uniform, state_firsts, wide
from .utf8 import byte_sequences

if TYPE_CHECKING:
    from .fronts import Fronts

Start: TypeAlias = tuple[ByteSet, bool]
"""The first bytes of an expression's texts, and whether it may be no text at all."""

_NOTHING: Final[Start] = (0, True)

_DEEPEST: Final = 50
"""Expressions inside each other that are looked into."""


class Firsts:
    """The first bytes of one core's continuations.

    Args:
        fronts: who is asked where expressions alone do not tell.
    """

    def __init__(self, core: Core, fronts: Fronts) -> None:
        self._core, self._fronts = core, back_to(fronts)
        self._cells: dict[int, ByteSet] = {END: 0}
        self._exprs: dict[int, tuple[Expr, Start | None]] = {}
        self._depth = 0

    def of(self, cell: int) -> ByteSet:
        """The bytes that the continuation can begin with."""
        found = self._cells.get(cell)
        if found is None:
            found = self._cells[cell] = self._of(cell)
        return found

    def _of(self, cell: int) -> ByteSet:
        parts, known = self._core.parts, self._fronts.known
        found = 0
        while True:
            front = known.get(cell)
            if front is not None:
                return found | front[4]
            head, tail = parts(cell)
            start = self._head(head)
            if start is None:
                return found | self._fronts.front(cell)[4]
            found |= start[0]
            if not start[1]:
                return found
            cell = tail

    def _head(self, head: Head) -> Start | None:
        kind, core = head[0], self._core
        if kind == BYTES:
            return 1 << head[1][head[2]], False
        if kind == EXPR:
            return self.start(core.exprs[head[1]])
        if kind == SEQ:
            return self._all(core.items(head[1])[head[2] :])
        if kind == REPEAT:
            _, index, need, left = head
            return self._repeated(core.exprs[index], need, left)
        if kind == REGULAR:
            _, index, state, need, left = head
            machine = core.machine(index)
            if not wide(machine) or not is_uniform(machine, need, left):
                return None
            return state_firsts(machine)[state], state in machine.accepting and need <= 0
        if kind in (MEMBERS, MEMBER):
            return self._members(head)
        return (head[1], False) if kind == HOLE else None

    def _members(self, head: Head) -> Start | None:
        """What a place among members begins with; they are texts, and so are separators."""
        kind, index, state = head
        plan = self._core.members_plan(index)
        members = plan.candidates(state)
        ends = kind == MEMBERS and plan.may_end(state)
        if not members:
            return 0, ends
        if kind == MEMBERS and plan.needs_separator(state):
            start = self.start(plan.node.separator)
            return None if start is None or start[1] else (start[0], ends)
        found = 0
        for body, _ in members:
            start = self.start(body)
            if start is None or start[1]:
                return None
            found |= start[0]
        return found, ends

    def start(self, expr: Expr) -> Start | None:
        """What an expression begins with; None if it does not tell by itself."""
        known = self._exprs.get(id(expr))
        if known is not None:
            return known[1]
        if self._depth >= _DEEPEST:
            return None
        # While it is looked into: what leads to itself does not tell.
        self._exprs[id(expr)] = expr, None
        self._depth += 1
        made = self._start(expr)
        self._depth -= 1
        self._exprs[id(expr)] = expr, made
        return made

    def _start(self, expr: Expr) -> Start | None:
        core = self._core
        match expr:
            case Literal(text) if not core.is_marked(text):
                return self._text(text)
            case Token(text) if text not in core.specials:
                return self._text(text)
            case Chars(ranges):
                found = 0
                for (low, high), *_ in byte_sequences(ranges):
                    found |= (1 << high + 1) - (1 << low)
                return found, False
            case Sequence(items):
                return self._all(items)
            case Choice(options):
                found, empty = 0, False
                for option in options:
                    start = self.start(option)
                    if start is None:
                        return None
                    found, empty = found | start[0], empty or start[1]
                return found, empty
            case Repeat(item, low, most):
                return self._repeated(item, low, most)
            case RuleRef(name):
                return self.start(core.rules[name])
            case Capture(_, item):
                return self.start(item)
            case Cut():
                return _NOTHING
            case Regular():
                head, _ = core.parts(core.continuation(expr))
                return self._head(head) if head and head[0] == REGULAR else None
            case _:
                return None

    def _text(self, text: str) -> Start:
        return (1 << text.encode("utf-8")[0], False) if text else _NOTHING

    def _repeated(self, item: Expr, need: int, left: int | None) -> Start | None:
        if left == 0:
            return _NOTHING
        start = self.start(item)
        return None if start is None else (start[0], start[1] or need <= 0)

    def _all(self, items: Iterable[Expr]) -> Start | None:
        """What one after the other begins with."""
        found = 0
        for item in items:
            start = self.start(item)
            if start is None:
                return None
            found |= start[0]
            if not start[1]:
                return found, False
        return found, True
