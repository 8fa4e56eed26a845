"""The automaton core: continuations, interned.

A *continuation* is what must still be matched: a head (a position inside one grammar node) and the
continuation after it, hash-consed to an integer; 0 is the end. Expanding one gives byte arcs to
other continuations, computed when first asked for and remembered. Counters and key sets live in
the head, so a bound of 10,000 costs nothing until it is walked. These are Antimirov's partial
derivatives, with a stack for recursion.

Heads are tuples ``(kind, ...)``; expressions enter as indices of :attr:`Core.exprs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ..errors import LimitExceeded
from ..grammar import (
    ButMachine,
    Capture,
    Chars,
    Choice,
    Cut,
    Distinct,
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
    Token,
)
from .distinct import BETWEEN, INSIDE, NEXT, PENDING, Remembering
from .exclusion import GONE, Exclusion
from .liveness import liveness
from .members import MembersPlan
from .utf8 import byte_sequences

END: Final = 0
CUT: Final = 0
TOKEN_BASE: Final = 256
"""Symbols below are bytes, from here on special tokens by id."""

_MAX_HOPS: Final = 10_000

Event = int
"""0 is a cut; ``slot + 1`` opens the capture of that slot, ``-(slot + 1)`` closes it."""

# Kinds of heads. Plain ints: these are compared millions of times.
EXPR, BYTES, RANGES, SEQ, REPEAT, REGULAR, MEMBERS, MEMBER, CLOSE = range(9)
BUT: Final = 13
"""``(BUT, expr, state, need, left, node)``: inside a text that may yet become an excluded one."""

Head = tuple[Any, ...]
Pending = list[tuple[int, tuple[Event, ...]]]
"""Continuations to open, the next one last, with the events on the way to each."""


class Arc(NamedTuple):
    """Any byte of ``low..high`` leads to `target`, after `events`."""

    low: int
    high: int
    target: int
    events: tuple[Event, ...]


class Expansion(NamedTuple):
    """What a continuation can do next: read a byte along an arc, or end after `final` events."""

    arcs: tuple[Arc, ...]
    final: tuple[Event, ...] | None


class Core:
    """Interned continuations over the rules of one grammar.

    Args:
        rules: the grammar's rules, visited lazily.
        specials: vocabulary ids of special tokens by text. A :class:`Token` that is one of them
            is read as the single symbol ``TOKEN_BASE + id``, not as bytes.
        captures: whether arcs carry capture events; without, a capture is just its item.
        max_cells: the most continuations to intern before :class:`LimitExceeded` is raised.
        remember: without, items and keys that must differ need not.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        captures: bool = False,
        specials: Mapping[str, int] | None = None,
        max_cells: int = 4_000_000,
        remember: bool = True,
    ) -> None:
        self.rules = rules
        self.captures = captures
        self.specials = specials or {}
        self.max_cells = max_cells
        self.slots: list[Slot] = []
        self._slot_index: dict[Slot, int] = {}
        self.exprs: list[Expr] = []
        self._expr_index: dict[int, int] = {}
        self._cells: list[tuple[Head, int]] = [((), END)]
        self._ids: dict[tuple[Head, int], int] = {}
        self._expansions: dict[int, Expansion] = {END: Expansion((), ())}
        self._plans: dict[int, MembersPlan] = {}
        self._exclusions: dict[int, Exclusion] = {}
        self._wholes: dict[int, int] = {}
        self.remembering = Remembering(self, remember)
        self.is_pending = self.remembering.is_pending
        self.read = self.remembering.read

    # Interning ------------------------------------------------------------------------------

    def continuation(self, expr: Expr, tail: int = END) -> int:
        """The continuation that matches `expr`, then `tail`.

        References and repeats are looked into at once, so that one place has one continuation.
        """
        for _ in range(_MAX_HOPS):
            match expr:
                case RuleRef(name):
                    expr = self.rules[name]
                case Capture(_, item) if not self.captures:
                    expr = item
                case Repeat(item, low, high):
                    if high == 0:
                        return tail
                    return self.cell((REPEAT, self.index(item), low, high), tail)
                case Regular():
                    index = self.index(expr)
                    if isinstance(expr.machine, ButMachine):
                        return self.cell((BUT, index, 0, expr.min, expr.max, 0), tail)
                    need, left = self._window(expr.machine, 0, expr.min, expr.max)
                    if liveness(expr.machine).live(0, need, left):
                        return self.cell((REGULAR, index, 0, need, left), tail)
                    break
                case _:
                    break
        return self.cell((EXPR, self.index(expr)), tail)

    def index(self, expr: Expr) -> int:
        """The number of an expression."""
        index = self._expr_index.get(id(expr))
        if index is None:
            index = self._expr_index[id(expr)] = len(self.exprs)
            self.exprs.append(expr)  # Kept alive, so its id stays its own.
        return index

    def cell(self, head: Head, tail: int) -> int:
        """The continuation of a head and a tail."""
        key = (head, tail)
        cell = self._ids.get(key)
        if cell is None:
            if len(self._cells) >= self.max_cells:
                raise LimitExceeded.at(
                    "automaton-too-large",
                    f"the automaton needs more than {self.max_cells} continuations",
                    hint="the text is nested too deeply or counts in too many ways at once",
                )
            cell = self._ids[key] = len(self._cells)
            self._cells.append(key)
        return cell

    def moved(self, head: Head, core: Core) -> Head:
        """The same head in another core over the same rules."""
        if head[0] in (BYTES, RANGES, CLOSE):
            return head
        return (head[0], core.index(self.exprs[head[1]]), *head[2:])

    @property
    def size(self) -> int:
        """How many continuations have been interned."""
        return len(self._cells)

    def slot(self, slot: Slot) -> int:
        """The index of a slot; events refer to it."""
        index = self._slot_index.get(slot)
        if index is None:
            index = self._slot_index[slot] = len(self.slots)
            self.slots.append(slot)
        return index

    def parts(self, cell: int) -> tuple[Head, int]:
        """The head and tail of a continuation, for diagnostics."""
        return self._cells[cell]

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
        window = self._window(self.machine(index), state, need, left)
        return self.cell((REGULAR, index, state, *window), tail)

    def but_cell(
        self, index: int, state: int, need: int, left: int | None, node: int, tail: int
    ) -> int:
        """The continuation in a text that may yet become an excluded one, or cannot any more."""
        if node == GONE:
            return self.regular_cell(self.whole(index), state, need, left, tail)
        return self.cell((BUT, index, state, need, left, node), tail)

    # Looking inside, for diagnostics ----------------------------------------------------------

    def epsilon(self, cell: int) -> list[int] | None:
        """What a continuation turns into without a byte; None if its head reads one."""
        head, _ = self._cells[cell]
        if head[0] in (BYTES, RANGES, REGULAR, BUT):
            return None
        if isinstance(self.head_expression(cell), (Chars, Regular)):
            return None
        stack: Pending = []
        self.step_into(cell, (), [], stack)
        return [c for c, _ in reversed(stack)]

    def head_expression(self, cell: int) -> Expr | None:
        """The expression at a continuation's head, if that is what its head is about."""
        head, _ = self._cells[cell]
        if head[0] in (EXPR, REGULAR, BUT):
            assert isinstance(head[1], int)
            return self.exprs[head[1]]
        return None

    def regular_state(self, cell: int) -> tuple[int, int, int | None]:
        """State and window of counts of a head that is inside a regular text."""
        head, _ = self._cells[cell]
        if head[0] in (REGULAR, BUT):
            return head[2:5]
        expr = self.head_expression(cell)
        assert isinstance(expr, Regular)
        return 0, expr.min, expr.max

    def after_regular(self, cell: int) -> list[int]:
        """The continuation after a regular text, if it may end here."""
        stack: Pending = []
        self.step_into(cell, (), [], stack)
        return [c for c, _ in stack]

    def rest_of_literal(self, cell: int) -> str | None:
        """What is left of the literal at a continuation's head."""
        head, _ = self._cells[cell]
        if head[0] != BYTES:
            return None
        _, data, at = head
        assert isinstance(data, bytes) and isinstance(at, int)
        return data[at:].decode("utf-8", "replace")

    # Expansion ------------------------------------------------------------------------------

    def expand(self, cell: int) -> Expansion:
        """The arcs out of a continuation, in order of preference, and whether it may end."""
        found = self._expansions.get(cell)
        if found is None:
            found = self._expansions[cell] = self._expand(cell)
        return found

    def _expand(self, cell: int) -> Expansion:
        arcs: list[Arc] = []
        final: tuple[Event, ...] | None = None
        seen: set[int] = set()
        # Depth first, left to right: the first way to reach a continuation is the preferred one.
        stack: Pending = [(cell, ())]
        while stack:
            here, events = stack.pop()
            if here in seen:
                continue
            seen.add(here)
            if here == END:
                final = events if final is None else final
                continue
            known = self._expansions.get(here)
            if known is not None:
                arcs += (
                    known.arcs
                    if not events
                    else [Arc(a.low, a.high, a.target, events + a.events) for a in known.arcs]
                )
                if known.final is not None and final is None:
                    final = events + known.final
                continue
            self.step_into(here, events, arcs, stack)
        return Expansion(tuple(dict.fromkeys(arcs)), final)

    def step_into(
        self,
        cell: int,
        events: tuple[Event, ...],
        arcs: list[Arc],
        stack: Pending,
    ) -> None:
        """Open one head: append its byte arcs, or push what it turns into without a byte."""
        head, tail = self._cells[cell]
        kind = head[0]
        if kind == EXPR:
            self._enter(self.exprs[head[1]], tail, events, arcs, stack)
        elif kind == BYTES:
            _, data, at = head
            assert isinstance(data, bytes) and isinstance(at, int)
            byte = data[at]
            after = self.settled(tail)
            if at + 1 < len(data):
                after = self.cell((BYTES, data, at + 1), tail)
            arcs.append(Arc(byte, byte, after, events))
        elif kind == RANGES:
            low, high = head[1]
            after = self.settled(tail)
            if len(head) > 2:
                after = self.cell((RANGES, *head[2:]), tail)
            arcs.append(Arc(low, high, after, events))
        elif kind == SEQ:
            _, index, at = head
            stack.append((self._sequence(index, at, tail), events))
        elif kind == REPEAT:
            _, index, need, left = head
            for nxt in reversed(self._repeat(index, need, left, tail)):
                stack.append((nxt, events))
        elif kind == REGULAR:
            _, index, state, need, left = head
            self._regular(index, state, need, left, tail, events, arcs, stack)
        elif kind == BUT:
            self._but(head, tail, events, arcs, stack)
        elif kind in (BETWEEN, NEXT, INSIDE, PENDING):
            opened = self.remembering.open(head, tail, events, stack)
            arcs.extend(Arc(*arc) for arc in opened)
        elif kind in (MEMBERS, MEMBER):
            for nxt in reversed(self._members(head, tail)):
                stack.append((nxt, events))
        else:
            assert kind == CLOSE
            stack.append((tail, (*events, -(head[1] + 1))))

    def _enter(
        self,
        expr: Expr,
        tail: int,
        events: tuple[Event, ...],
        arcs: list[Arc],
        stack: Pending,
    ) -> None:
        match expr:
            case Token(text, match) if text in self.specials:
                symbol = TOKEN_BASE + self.specials[text]
                arcs.append(Arc(symbol, symbol, self.settled(tail), events))
                if match == "either":
                    stack.append((self.continuation(Literal(text), tail), events))
            case Literal(text) | Token(text):
                data = text.encode("utf-8")
                stack.append((self.cell((BYTES, data, 0), tail) if data else tail, events))
            case Chars(ranges):
                for first, *rest in byte_sequences(ranges):
                    after = self.cell((RANGES, *rest), tail) if rest else self.settled(tail)
                    arcs.append(Arc(*first, after, events))
            case Sequence(items):
                index = self.index(expr)
                stack.append((self._sequence(index, 0, tail) if items else tail, events))
            case Choice(options):
                for option in reversed(options):
                    stack.append((self.continuation(option, tail), events))
            case Repeat(item, low, high):
                index = self.index(item)
                for nxt in reversed(self._repeat(index, low, high, tail)):
                    stack.append((nxt, events))
            case RuleRef(name):
                stack.append((self.continuation(self.rules[name], tail), events))
            case Regular():
                self._regular_start(expr, tail, events, arcs, stack)
            case Distinct():
                head = self.remembering.start(self.index(expr))
                stack.append((self.cell(head, tail), events))
            case Members() if expr.names:
                head = self.remembering.start(self.index(expr))
                stack.append((self.cell(head, tail), events))
            case Members():
                index = self.index(expr)
                self._plans.setdefault(index, MembersPlan(expr))
                start = self._plans[index].start
                for nxt in reversed(self._members((MEMBERS, index, start), tail)):
                    stack.append((nxt, events))
            case Capture(slot, item) if self.captures:
                number = self.slot(slot) + 1
                closed = self.cell((CLOSE, number - 1), tail)
                stack.append((self.continuation(item, closed), (*events, number)))
            case Capture(_, item):
                stack.append((self.continuation(item, tail), events))
            case Cut():
                stack.append((tail, (*events, CUT) if self.captures else events))

    def settled(self, cell: int) -> int:
        """The continuation, looked into if it is just the next item of a sequence: one place has
        one continuation, however it was reached."""
        head, tail = self._cells[cell]
        while head and head[0] == SEQ:
            cell = self._sequence(head[1], head[2], tail)
            head, tail = self._cells[cell]
        return cell

    def _sequence(self, index: int, at: int, tail: int) -> int:
        """The continuation of item `at` of a sequence. The last item keeps the tail as it is, so
        that right recursion does not grow the stack."""
        expr = self.exprs[index]
        assert isinstance(expr, Sequence)
        if at + 1 < len(expr.items):
            tail = self.cell((SEQ, index, at + 1), tail)
        return self.continuation(expr.items[at], tail)

    def _repeat(self, index: int, need: int, left: int | None, tail: int) -> list[int]:
        """`need` more items at least, `left` at most (None: no bound); one more is preferred."""
        out = []
        if left is None or left > 0:
            fewer = max(need - 1, 0)
            after = tail
            if left != 1:
                left = None if left is None else left - 1
                after = self.cell((REPEAT, index, fewer, left), tail)
            out.append(self.cell((EXPR, index), after))
        if need <= 0:
            out.append(tail)
        return out

    def _regular_start(
        self,
        expr: Regular,
        tail: int,
        events: tuple[Event, ...],
        arcs: list[Arc],
        stack: Pending,
    ) -> None:
        index = self.index(expr)
        if isinstance(expr.machine, ButMachine):
            stack.append((self.continuation(expr, tail), events))
            return
        need, left = self._window(expr.machine, 0, expr.min, expr.max)
        if liveness(expr.machine).live(0, need, left):
            self._regular(index, 0, need, left, tail, events, arcs, stack)

    def _window(
        self, machine: Machine, state: int, need: int, left: int | None
    ) -> tuple[int, int | None]:
        """The same window of counts, told apart only where it makes a difference."""
        if 0 < need <= liveness(machine).shortest(state):
            need = 0
        if left is not None:
            longest = liveness(machine).longest(state)
            if longest is not None and longest <= left:
                left = None
        return need, left

    def _regular(
        self,
        index: int,
        state: int,
        need: int,
        left: int | None,
        tail: int,
        events: tuple[Event, ...],
        arcs: list[Arc],
        stack: Pending,
    ) -> None:
        expr = self.exprs[index]
        assert isinstance(expr, Regular)
        machine = expr.machine
        alive = liveness(machine).live
        for low, high, target, counts in machine.transitions[state]:
            rest = None if left is None else left - counts
            if rest is not None and rest < 0:
                continue
            wanted = max(need - counts, 0)
            if not alive(target, wanted, rest):
                continue
            window = self._window(machine, target, wanted, rest)
            if machine.transitions[target]:
                after = self.cell((REGULAR, index, target, *window), tail)
            else:
                after = self.settled(tail)
            for first, *more in byte_sequences(((low, high),)):
                nxt = self.cell((RANGES, *more), after) if more else after
                arcs.append(Arc(*first, nxt, events))
        if state in machine.accepting and need <= 0:
            stack.append((tail, events))

    def _but(
        self,
        head: Head,
        tail: int,
        events: tuple[Event, ...],
        arcs: list[Arc],
        stack: Pending,
    ) -> None:
        _, index, state, need, left, node = head
        machine, exclusion = self.machine(index), self.exclusion(index)
        alive = liveness(machine).live
        for low, high, target, counts in machine.transitions[state]:
            rest = None if left is None else left - counts
            wanted = max(need - counts, 0)
            if (rest is not None and rest < 0) or not alive(target, wanted, rest):
                continue
            for first, last, following in exclusion.split(node, low, high):
                after = self.but_cell(index, target, wanted, rest, following, tail)
                for span, *more in byte_sequences(((first, last),)):
                    nxt = self.cell((RANGES, *more), after) if more else after
                    arcs.append(Arc(*span, nxt, events))
        if state in machine.accepting and need <= 0 and not exclusion.whole[node]:
            stack.append((tail, events))

    def _members(self, head: Head, tail: int) -> list[int]:
        kind, index, state = head
        assert isinstance(index, int) and isinstance(state, tuple)
        expr = self.exprs[index]
        assert isinstance(expr, Members)
        plan = self._plans.get(index)
        if plan is None:
            plan = self._plans[index] = MembersPlan(expr)
        out = []
        members = plan.candidates(state)
        if members:
            if kind == MEMBERS and plan.needs_separator(state):
                after = self.cell((MEMBER, index, state), tail)
                out.append(self.continuation(expr.separator, after))
            else:
                for body, nxt in members:
                    after = self.cell((MEMBERS, index, nxt), tail)
                    out.append(self.continuation(body, after))
        if kind == MEMBERS and plan.may_end(state):
            out.append(tail)
        return out
