"""Continuations, interned.

A *continuation* is what must still be matched: a head (a position inside one grammar node) and the
continuation after it, hash-consed to an integer; 0 is the end. Heads are tuples ``(kind, ...)``;
expressions enter as indices of :attr:`Cells.exprs`. Counters and key sets live in the head, so a
bound of 10,000 costs nothing until it is walked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ..errors import LimitExceeded
from ..grammar import (
    ButMachine,
    Capture,
    Chars,
    Choice,
    Expr,
    Literal,
    Machine,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Slot,
)
from .exclusion import GONE, Exclusion
from .liveness import liveness, searched

END: Final = 0

_MAX_HOPS: Final = 10_000

CELL_BITS: Final = 32
"""Of the number of a continuation."""

# Kinds of heads. Plain ints: these are compared millions of times. 9 to 12: see distinct.py.
EXPR, BYTES, RANGES, SEQ, REPEAT, REGULAR, MEMBERS, MEMBER, CLOSE = range(9)
BUT: Final = 13
"""``(BUT, expr, state, need, left, node)``: inside a text that may yet become an excluded one."""

Head = tuple[Any, ...]

_PLAIN: Final = frozenset({Literal, Sequence, Choice, Chars, Members})
"""Kinds of expressions that are not looked into."""


class Cells:
    """The continuations that one grammar's rules have led to so far.

    Args:
        rules: the grammar's rules, visited lazily.
        captures: whether captures matter; without, a capture is just its item.
        max_cells: the most continuations to intern before :class:`LimitExceeded` is raised.
        max_depth: the most tails that one continuation may have behind it, else the same.
    """

    def __init__(
        self, rules: Rules, *, captures: bool, max_cells: int, max_depth: int | None = None
    ) -> None:
        self.rules = rules
        self.captures = captures
        self.max_cells = max_cells
        self.max_depth = max_depth
        self._depths: list[int] = [0]
        self.slots: list[Slot] = []
        self._slot_index: dict[Slot, int] = {}
        self.exprs: list[Expr] = []
        self._expr_index: dict[int, int] = {}
        # By cell its head and tail; and its number by those of head and tail in one. Numbers and
        # few tuples: the garbage collector does not look at numbers.
        self._cell_heads: list[Head] = [()]
        self._tails: list[int] = [END]
        self._ids: dict[int, int] = {}
        self._head_numbers: dict[Head, int] = {}
        self._known_heads: list[Head] = []
        self._heads: dict[int, Head] = {}
        self._kept: list[Expr] = []
        self._items: dict[int, tuple[tuple[Expr, ...], tuple[Head, ...]]] = {}
        self._exclusions: dict[int, Exclusion] = {}
        self._wholes: dict[int, int] = {}

    def continuation(self, expr: Expr, tail: int = END) -> int:
        """The continuation that matches `expr`, then `tail`.

        References and repeats are looked into at once, so that one place has one continuation.
        """
        head = self._heads.get(id(expr))
        if head is None:
            head = self._heads[id(expr)] = self._head(expr)
            self._kept.append(expr)  # Its identity stays its own.
        return self.cell(head, tail) if head else tail

    def _head(self, expr: Expr) -> Head:
        """The head of the continuations that begin with an expression; empty if that is nothing."""
        for _ in range(_MAX_HOPS):
            if type(expr) in _PLAIN:
                break
            match expr:
                case RuleRef(name):
                    expr = self.rules[name]
                case Capture(_, item) if not self.captures:
                    expr = item
                case Repeat(item, low, high):
                    return () if high == 0 else (REPEAT, self.index(item), low, high)
                case Regular():
                    index = self.index(expr)
                    if isinstance(expr.machine, ButMachine):
                        return (BUT, index, 0, expr.min, expr.max, 0)
                    need, left = self.window(expr.machine, 0, expr.min, expr.max)
                    if liveness(expr.machine).live(0, need, left):
                        return (REGULAR, index, 0, need, left)
                    break
                case _:
                    break
        return (EXPR, self.index(expr))

    def index(self, expr: Expr) -> int:
        """The number of an expression."""
        index = self._expr_index.get(id(expr))
        if index is None:
            index = self._expr_index[id(expr)] = len(self.exprs)
            self.exprs.append(expr)  # Kept alive, so its id stays its own.
        return index

    def cell(self, head: Head, tail: int) -> int:
        """The continuation of a head and a tail."""
        number = self._head_numbers.get(head)
        if number is None:
            number = self._head_numbers[head] = len(self._known_heads)
            self._known_heads.append(head)
        key = number << CELL_BITS | tail
        cell = self._ids.get(key)
        if cell is None:
            cell = len(self._tails)
            if cell >= self.max_cells:
                raise LimitExceeded.at(
                    "automaton-too-large",
                    f"the automaton needs more than {self.max_cells} continuations",
                    hint="the text is nested too deeply or counts in too many ways at once",
                )
            if self.max_depth is not None:
                depth = self._depths[tail] + 1
                if depth > self.max_depth:
                    raise LimitExceeded.at(
                        "automaton-too-large",
                        f"the text nests more than {self.max_depth} parts",
                        hint="the text is nested too deeply",
                    )
                self._depths.append(depth)
            self._ids[key] = cell
            self._cell_heads.append(self._known_heads[number])
            self._tails.append(tail)
        return cell

    def settled(self, cell: int) -> int:
        """The continuation, looked into if it is just the next item of a sequence: one place has
        one continuation, however it was reached."""
        heads, tails = self._cell_heads, self._tails
        head = heads[cell]
        while head and head[0] == SEQ:
            cell = self.sequence(head[1], head[2], tails[cell])
            head = heads[cell]
        return cell

    def sequence(self, index: int, at: int, tail: int) -> int:
        """The continuation of item `at` of a sequence. The last item keeps the tail as it is, so
        that right recursion does not grow the stack."""
        items, following = self._items.get(index) or self._look_into(index)
        if following[at]:
            tail = self.cell(following[at], tail)
        return self.continuation(items[at], tail)

    def _look_into(self, index: int) -> tuple[tuple[Expr, ...], tuple[Head, ...]]:
        """The items of a sequence, and the head behind each but the last."""
        expr = self.exprs[index]
        assert isinstance(expr, Sequence)
        heads: list[Head] = [(SEQ, index, at) for at in range(1, len(expr.items))]
        made = self._items[index] = expr.items, (*heads, ())
        return made

    def moved(self, head: Head, cells: Cells) -> Head:
        """The same head in other cells over the same rules."""
        if head[0] in (BYTES, RANGES, CLOSE):
            return head
        return (head[0], cells.index(self.exprs[head[1]]), *head[2:])

    @property
    def size(self) -> int:
        """How many continuations have been interned."""
        return len(self._tails)

    def slot(self, slot: Slot) -> int:
        """The index of a slot; events refer to it."""
        index = self._slot_index.get(slot)
        if index is None:
            index = self._slot_index[slot] = len(self.slots)
            self.slots.append(slot)
        return index

    def parts(self, cell: int) -> tuple[Head, int]:
        """The head and tail of a continuation, for diagnostics."""
        return self._cell_heads[cell], self._tails[cell]

    def machine(self, index: int) -> Machine:
        """The machine of a regular text by the number of its expression. States of a text with
        excluded ones are those of the whole language."""
        expr = self.exprs[index]
        assert isinstance(expr, Regular)
        machine = expr.machine
        return machine.base if isinstance(machine, ButMachine) else machine

    def exclusion(self, index: int) -> Exclusion:
        """The excluded texts of a regular text, by the number of its expression."""
        found = self._exclusions.get(index)
        if found is None:
            expr = self.exprs[index]
            assert isinstance(expr, Regular) and isinstance(expr.machine, ButMachine)
            found = self._exclusions[index] = Exclusion(expr.machine.words)
        return found

    def whole(self, index: int) -> int:
        """The number of the expression that is the same without excluded texts."""
        found = self._wholes.get(index)
        if found is None:
            expr = self.exprs[index]
            assert isinstance(expr, Regular)
            whole = replace(expr, machine=self.machine(index))
            found = self._wholes[index] = self.index(whole)
        return found

    def literal_cell(self, data: bytes, at: int, tail: int) -> int:
        """The continuation with `at` bytes of a literal read."""
        return self.cell((BYTES, data, at), tail) if at < len(data) else tail

    def repeat_cell(self, index: int, need: int, left: int | None, tail: int) -> int:
        """The continuation that repeats an expression, by its number."""
        return self.cell((REPEAT, index, need, left), tail) if left != 0 else tail

    def regular_cell(self, index: int, state: int, need: int, left: int | None, tail: int) -> int:
        """The continuation in a state of a regular text, by the number of its expression."""
        if not self.machine(index).transitions[state]:
            return self.settled(tail)
        window = self.window(self.machine(index), state, need, left)
        return self.cell((REGULAR, index, state, *window), tail)

    def but_cell(
        self, index: int, state: int, need: int, left: int | None, node: int, tail: int
    ) -> int:
        """The continuation in a text that may yet become an excluded one, or cannot any more."""
        if node == GONE:
            return self.regular_cell(self.whole(index), state, need, left, tail)
        return self.cell((BUT, index, state, need, left, node), tail)

    def window(
        self, machine: Machine, state: int, need: int, left: int | None
    ) -> tuple[int, int | None]:
        """The same window of counts, told apart only where it makes a difference."""
        if need > 0 and machine.known is None and need <= searched(machine).shortest(state):
            need = 0
        if left is not None:
            longest = liveness(machine).longest(state)
            if longest is not None and longest <= left:
                left = None
        return need, left
