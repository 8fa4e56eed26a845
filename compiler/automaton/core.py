"""The automaton core: what continuations lead to.

Expanding a continuation gives byte arcs to other continuations, computed when first asked for and
remembered. These are Antimirov's partial derivatives, with a stack for recursion.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from threading import RLock
from typing import Final, NamedTuple

from ..grammar import (
    ButMachine,
    Capture,
    Chars,
    Choice,
    Cut,
    Distinct,
    Expr,
    Literal,
    Members,
    Ranges,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Token,
)
from .cells import (
    BUT,
    BYTES,
    CLOSE,
    END,
    EXPR,
    MEMBER,
    MEMBERS,
    RANGES,
    REGULAR,
    REPEAT,
    SEQ,
    Cells,
    Head,
)
from .distinct import BETWEEN, INSIDE, NEXT, PENDING, Remembering
from .liveness import liveness
from .members import MembersPlan
from .utf8 import byte_sequences

CUT: Final = 0
TOKEN_BASE: Final = 256
"""Symbols below are bytes, from here on special tokens by id."""

Event = int
"""0 is a cut; ``slot + 1`` opens the capture of that slot, ``-(slot + 1)`` closes it."""

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


class Core(Cells):
    """The continuations of one grammar, and where each byte leads.

    Args:
        rules: the grammar's rules, visited lazily.
        specials: vocabulary ids of special tokens by text. A :class:`Token` that is one of them
            is read as the single symbol ``TOKEN_BASE + id``, not as bytes.
        markers: special tokens that literals hold as text, see :class:`~..grammar.Grammar`.
        captures: whether arcs carry capture events; without, a capture is just its item.
        max_cells, max_depth: limits, as in :class:`Cells`.
        remember: without, items and keys that must differ need not.

    Attributes:
        lock: held while something is worked out. Threads may share a core: what is known is read
            without it.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        captures: bool = False,
        specials: Mapping[str, int] | None = None,
        markers: tuple[Token, ...] = (),
        max_cells: int = 4_000_000,
        max_depth: int | None = None,
        remember: bool = True,
    ) -> None:
        super().__init__(rules, captures=captures, max_cells=max_cells, max_depth=max_depth)
        self.lock = RLock()
        self.specials = specials or {}
        self._markers = {m.text: m for m in markers if m.text in self.specials}
        self._marker = re.compile("(" + "|".join(map(re.escape, self._markers)) + ")")
        self._pieces: dict[str, Expr] = {}
        self._expansions: dict[int, Expansion] = {END: Expansion((), ())}
        self._plans: dict[int, MembersPlan] = {}
        self.remembering = Remembering(self, remember)
        self.is_pending = self.remembering.is_pending
        self.read = self.remembering.read

    def expand(self, cell: int) -> Expansion:
        """The arcs out of a continuation, in order of preference, and whether it may end."""
        found = self._expansions.get(cell)
        if found is None:
            with self.lock:
                found = self._expansions[cell] = self._expand(cell)
        return found

    def step(self, cells: tuple[int, ...], symbol: int) -> tuple[int, ...]:
        """The continuations that one byte or special token leads to, sorted; none if it is
        refused."""
        targets = {
            self.read(arc.target, symbol)
            for cell in cells
            for arc in self.expand(cell).arcs
            if arc.low <= symbol <= arc.high
        }
        return tuple(sorted(targets))

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
        head, tail = self.parts(cell)
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
            stack.append((self.sequence(index, at, tail), events))
        elif kind == REPEAT:
            for nxt in reversed(self.repeated(head, tail)):
                stack.append((nxt, events))
        elif kind in (REGULAR, BUT):
            self._regular(head, tail, events, arcs, stack)
        elif kind in (BETWEEN, NEXT, INSIDE, PENDING):
            opened = self.remembering.open(head, tail, events, stack)
            arcs.extend(Arc(*arc) for arc in opened)
        elif kind in (MEMBERS, MEMBER):
            for nxt in reversed(self.members(head, tail)):
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
            case Literal(text) if self.is_marked(text):
                stack.append((self.continuation(self._marked(text), tail), events))
            case Literal(text) | Token(text):
                data = text.encode("utf-8")
                stack.append((self.cell((BYTES, data, 0), tail) if data else tail, events))
            case Chars(ranges):
                self._spell(ranges, self.settled(tail), events, arcs)
            case Sequence(items):
                index = self.index(expr)
                stack.append((self.sequence(index, 0, tail) if items else tail, events))
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
                for nxt in reversed(self.members((MEMBERS, index, start), tail)):
                    stack.append((nxt, events))
            case Capture(slot, item) if self.captures:
                number = self.slot(slot) + 1
                closed = self.cell((CLOSE, number - 1), tail)
                stack.append((self.continuation(item, closed), (*events, number)))
            case Capture(_, item):
                stack.append((self.continuation(item, tail), events))
            case Cut():
                stack.append((tail, (*events, CUT) if self.captures else events))

    def is_marked(self, text: str) -> bool:
        """Does a literal hold a special token?"""
        return bool(self._markers) and self._marker.search(text) is not None

    def _marked(self, text: str) -> Expr:
        """A literal with the special tokens in it told apart."""
        found = self._pieces.get(text)
        if found is None:
            pieces = [p for p in self._marker.split(text) if p]
            items = tuple(self._markers.get(p, Literal(p)) for p in pieces)
            found = self._pieces[text] = items[0] if len(items) == 1 else Sequence(items)
        return found

    def repeated(self, head: Head, tail: int) -> list[int]:
        """What a repeat turns into, in order of preference."""
        _, index, need, left = head
        return self._repeat(index, need, left, tail)

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
        need, left = self.window(expr.machine, 0, expr.min, expr.max)
        if liveness(expr.machine).live(0, need, left):
            self._regular((REGULAR, index, 0, need, left), tail, events, arcs, stack)

    def _regular(
        self,
        head: Head,
        tail: int,
        events: tuple[Event, ...],
        arcs: list[Arc],
        stack: Pending,
    ) -> None:
        """A place in a machine; with a node at the end of the head, among excluded texts too."""
        _, index, state, need, left, *node = head
        machine = self.machine(index)
        exclusion = self.exclusion(index) if node else None
        alive = liveness(machine).live
        for low, high, target, counts in machine.transitions[state]:
            rest = None if left is None else left - counts
            wanted = max(need - counts, 0)
            if (rest is not None and rest < 0) or not alive(target, wanted, rest):
                continue
            if exclusion is None:
                after = self.regular_cell(index, target, wanted, rest, tail)
                self._spell(((low, high),), after, events, arcs)
                continue
            for first, last, following in exclusion.split(node[0], low, high):
                after = self.but_cell(index, target, wanted, rest, following, tail)
                self._spell(((first, last),), after, events, arcs)
        closed = exclusion is not None and exclusion.whole[node[0]]
        if state in machine.accepting and need <= 0 and not closed:
            stack.append((tail, events))

    def _spell(
        self, ranges: Ranges, after: int, events: tuple[Event, ...], arcs: list[Arc]
    ) -> None:
        """Append the byte arcs of a class of characters, behind which is `after`."""
        for first, *rest in byte_sequences(ranges):
            target = self.cell((RANGES, *rest), after) if rest else after
            arcs.append(Arc(*first, target, events))

    def members(self, head: Head, tail: int) -> list[int]:
        """What a place among members turns into, in order of preference."""
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
