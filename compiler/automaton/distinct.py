"""Continuations that remember: distinct items of an array, distinct or ascending keys of an object.

A head between two items holds the plan's state and the number of the set of texts read so far.
Inside an item it holds the item's own continuation too, which ends with it, and the item's text up
to here; bytes run through both. No byte leads to where no text is left but those remembered. Where
no remembered text begins like the item any more, every byte of a range leads to the same but for
the text: such an arc's target is *pending*, and :meth:`Remembering.read` settles it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..errors import LimitExceeded
from ..grammar import Distinct, Expr, Members
from ..limits import MAX_REMEMBERED
from ..owners import back_to
from .distinct_plan import (
    MAX_REMEMBERED_BYTES,
    PLAIN,
    Alive,
    ItemsPlan,
    NamesPlan,
    Plan,
)
from .remembered import EMPTY_TEXT, NOTHING, UNKNOWN, Texts, Word
from .word_counts import WordCounts

if TYPE_CHECKING:
    from .cells import Head
    from .core import Core, Event, Pending

END: Final = 0
BETWEEN: Final = 9
"""``(BETWEEN, expr, state, memory)``: after an item, or before the first."""
NEXT: Final = 10
"""``(NEXT, expr, state, memory)``: behind the separator."""
INSIDE: Final = 11
"""``(INSIDE, expr, which, state, memory, inner, text, free)``: inside an item that leads to
`state`; `free`: no remembered text can be met any more."""
PENDING: Final = 12
"""The same without `free`, before `text` has got the byte that is being read."""


class Remembering:
    """The part of a core that remembers texts, unless it is not to."""

    def __init__(self, core: Core, on: bool) -> None:
        self.core = back_to(core)
        self.on = on
        self.texts = Texts()
        self.words = WordCounts(self.core)
        self.alive = Alive(self.words, self.texts)
        self._plans: dict[int, Plan] = {}
        self._below: dict[tuple[int, int, Any, int, int], tuple[Word, ...]] = {}
        self._pending: dict[int, tuple[Head, int]] = {}
        self._remembers: dict[int, bool] = {}

    # Interning --------------------------------------------------------------------------------

    def plan(self, index: int) -> Plan:
        """The plan of the node that is expression `index`."""
        plan = self._plans.get(index)
        if plan is None:
            node = self.core.exprs[index]
            if isinstance(node, Distinct):
                plan = ItemsPlan(node, self.alive)
            else:
                assert isinstance(node, Members)
                plan = NamesPlan(node, self.alive)
            self._plans[index] = plan
        return plan

    def start(self, index: int) -> Head:
        """The head before the first item."""
        return (BETWEEN, index, self.plan(index).start, NOTHING if self.on else PLAIN)

    def is_pending(self, cell: int) -> bool:
        """Does the cell wait for the byte that leads to it?"""
        return cell in self._pending

    def read(self, cell: int, byte: int) -> int:
        """The cell that `byte` leads to where an arc's target is `cell`."""
        found = self._pending.get(cell)
        if found is None:
            return cell
        (_, index, which, state, memory, inner, text), tail = found
        inner = self.read(inner, byte)
        if text != UNKNOWN:
            text = self.texts.child(text, byte)
        return self.core.cell((INSIDE, index, which, state, memory, inner, text, True), tail)

    def _wait(self, head: Head, inner: int, tail: int) -> int:
        _, index, which, state, memory, _, text, _ = head
        waiting = (PENDING, index, which, state, memory, inner, text)
        cell = self.core.cell(waiting, tail)
        self._pending[cell] = (waiting, tail)
        return cell

    def _unknown(self, head: Head, inner: int, tail: int) -> int:
        """Further inside an unknown text."""
        if self.is_pending(inner):
            return self._wait(head, inner, tail)
        return self.core.cell((*head[:5], inner, UNKNOWN, True), tail)

    # Looking inside -----------------------------------------------------------------------------

    def inside(self, cell: int) -> int | None:
        """The item's own continuation at a place inside a remembered text; None elsewhere."""
        head, _ = self.core.parts(cell)
        if not head or head[0] != INSIDE:
            return None
        inner: int = head[5]
        return inner

    def remembers(self, cell: int) -> bool:
        """Does what may follow depend on texts that have been read?"""
        found = self._remembers.get(cell)
        if found is None:
            head, tail = self.core.parts(cell)
            if not head:
                return False
            if head[0] in (BETWEEN, NEXT):
                found = head[3] > NOTHING or self.remembers(tail)
            else:
                found = head[0] == INSIDE or self.remembers(tail)
            self._remembers[cell] = found
        return found

    def is_known(self, cell: int) -> bool:
        """Is the place inside a text of which it matters what it is?

        Not where a key's text must come behind another, and it is not settled yet that it does:
        there the next byte matters, not just the whole.
        """
        head, _ = self.core.parts(cell)
        if not head or head[0] != INSIDE:
            return False
        _, index, _, _, _, inner, text, free = head
        if text != UNKNOWN and (free or not self.plan(index).ascending):
            return True
        return self.is_known(inner)

    def is_forgotten(self, cell: int) -> bool:
        """Is some text that matters here unknown?"""
        while cell:
            head, cell = self.core.parts(cell)
            if head[0] in (BETWEEN, NEXT) and head[3] > NOTHING and self.alive.is_careful(head[3]):
                return True
            if head[0] == INSIDE and (
                head[6] == UNKNOWN or self.alive.is_careful(head[4]) or self.is_forgotten(head[5])
            ):
                return True
        return False

    def forget(self, cell: int) -> int:
        """The same place with the text so far unknown.

        What can be read from there can be read from `cell` too, but for texts that are the same as
        remembered ones (:meth:`rests`); not the other way round: a text that comes after the
        unknown one, in one token with its end, may not be finished.
        """
        head, tail = self.core.parts(cell)
        _, index, _, _, _, inner, text, free = head
        inner = self.forget(inner) if self.is_known(inner) else inner
        if free or not self.plan(index).ascending:
            text, free = UNKNOWN, True
        return self.core.cell((*head[:5], inner, text, free), tail)

    def rests(self, cell: int) -> list[Word]:
        """What the item at a place may not go on with to its end."""
        out: list[Word] = []
        head, _ = self.core.parts(cell)
        while head and head[0] == INSIDE:
            _, index, _, _, _, inner, text, _ = head
            if not self.plan(index).ascending and text != UNKNOWN:
                at = self.texts.length(text)
                out += [t[at:] for t in self.below(head)]
            head, _ = self.core.parts(inner)
        return out

    def plain(self, cell: int, core: Core) -> int:
        """The same place in a core that remembers nothing: all that can be read from `cell`, and
        more."""
        return self._plain(cell, core, END)

    def _plain(self, cell: int, core: Core, here: int) -> int:
        """`cell` in `core`, then `here`."""
        heads: list[Head] = []
        while cell:
            head, cell = self.core.parts(cell)
            heads.append(head)
        for head in reversed(heads):
            if head[0] == INSIDE:
                _, index, which, state, _, inner, _, _ = head
                state = self.plan(index).plain(state)
                index = core.index(self.core.exprs[index])
                behind = core.remembering.behind(index, which, state, PLAIN, here)
                here = self._plain(inner, core, behind)
                continue
            if head[0] in (BETWEEN, NEXT):
                head = (head[0], head[1], self.plan(head[1]).plain(head[2]), PLAIN)
            here = core.cell(self.core.moved(head, core), here)
        return here

    @property
    def in_use(self) -> bool:
        """Has anything been met that remembers?"""
        return bool(self._plans)

    def of_unknown(self, cell: int) -> int | None:
        """The own continuation of an item whose text is unknown; None elsewhere."""
        head, _ = self.core.parts(cell)
        inner: int = head[5]
        return inner if head[6] == UNKNOWN else None

    def on_unknown(self, cell: int, inner: int) -> int:
        """The same item, whose text is unknown, with its own continuation at `inner`."""
        head, tail = self.core.parts(cell)
        return self.core.cell((*head[:5], inner, UNKNOWN, True), tail)

    # Opening ----------------------------------------------------------------------------------

    def open(
        self, head: Head, tail: int, events: tuple[Event, ...], stack: Pending
    ) -> list[tuple[int, int, int, tuple[Event, ...]]]:
        """The byte arcs of a head; what it turns into without a byte goes onto the stack."""
        if head[0] == INSIDE:
            return self._inside(head, tail, events, stack)
        assert head[0] in (BETWEEN, NEXT), "a pending continuation is settled by its byte"
        for nxt in reversed(self._between(head, tail)):
            stack.append((nxt, events))
        return []

    def _between(self, head: Head, tail: int) -> list[int]:
        kind, index, state, memory = head
        plan = self.plan(index)
        out = []
        ways = plan.ways(state, memory)
        if ways and kind == BETWEEN and plan.needs_separator(state):
            after = self.core.cell((NEXT, index, state, memory), tail)
            out.append(self.core.continuation(plan.separator, after))
        else:
            for way in ways:
                if way.name is None or memory == PLAIN:
                    body = self.behind(index, way.which, way.state, memory, tail)
                    first = way.body if way.name is None else way.name
                    assert first is not None
                    out.append(self.core.continuation(first, body))
                else:
                    out.append(self._begin(index, way.which, way.state, memory, way.name, tail))
        if kind == BETWEEN and plan.may_end(state):
            out.append(tail)
        return out

    def _begin(self, index: int, which: int, state: Any, memory: int, name: Expr, tail: int) -> int:
        inner = self.core.continuation(name)
        free = not self.plan(index).barred(which, state, memory)
        head = (INSIDE, index, which, state, memory, inner, EMPTY_TEXT, free)
        return self.core.cell(head, tail)

    def behind(self, index: int, which: int, state: Any, memory: int, tail: int) -> int:
        """What follows an item that leads to `state`."""
        after = self.core.cell((BETWEEN, index, state, memory), tail)
        body = self.plan(index).follows(which)
        return after if body is None else self.core.continuation(body, after)

    def _inside(
        self, head: Head, tail: int, events: tuple[Event, ...], stack: Pending
    ) -> list[tuple[int, int, int, tuple[Event, ...]]]:
        _, index, which, state, memory, inner, text, free = head
        expansion = self.core.expand(inner)
        plan = self.plan(index)
        ends = True
        if text == UNKNOWN:
            arcs = [
                (a.low, a.high, self._unknown(head, a.target, tail), a.events)
                for a in expansion.arcs
            ]
        elif plan.ascending:
            arcs, ends = self._ascending(head, tail)
        else:
            arcs, ends = self._other(head, tail)
        if ends and expansion.final is not None:
            stack.append((self._done(head, tail), events + expansion.final))
        return [(low, high, target, events + more) for low, high, target, more in arcs]

    def _other(
        self, head: Head, tail: int
    ) -> tuple[list[tuple[int, int, int, tuple[Event, ...]]], bool]:
        """The arcs inside a text that must not be one of some; and whether it may end here."""
        _, index, which, state, memory, inner, text, free = head
        careful = self.alive.is_careful(memory)
        below = () if free else self.below(head)
        at = self.texts.length(text)
        arcs = []
        meets = sorted({ord(t[at]) for t in below if len(t) > at})
        for low, high, target, events in self.core.expand(inner).arcs:
            if careful and (self.is_pending(target) or not self.words.more_than(target, 1)):
                # It may be that the one text left is the one that nobody knows.
                continue
            after = self._wait(head, target, tail)
            for byte in meets:
                if not low <= byte <= high:
                    continue
                if low < byte:
                    arcs.append((low, byte - 1, after, events))
                low = byte + 1
                met = tuple(t for t in below if len(t) > at and ord(t[at]) == byte)
                inside = self.read(target, byte)
                if self.alive.has_other(inside, met, at + 1, careful):
                    child = self.texts.child(text, byte)
                    along = self.core.cell((*head[:5], inside, child, False), tail)
                    arcs.append((byte, byte, along, events))
            if low <= high:
                arcs.append((low, high, after, events))
        return arcs, not careful and not any(len(t) == at for t in below)

    def _ascending(
        self, head: Head, tail: int
    ) -> tuple[list[tuple[int, int, int, tuple[Event, ...]]], bool]:
        """The arcs inside a text that must come behind another; and whether it may end here."""
        _, _, _, _, memory, inner, text, free = head
        last = None if free or memory == NOTHING else self.texts.spelled(memory)[-1]
        at = self.texts.length(text)
        arcs = []
        for low, high, target, events in self.core.expand(inner).arcs:
            if last is not None and at < len(last):
                byte = ord(last[at])
                inside = self.read(target, byte)
                if low <= byte <= high and self.words.has_greater(inside, last[at + 1 :]):
                    child = self.texts.child(text, byte)
                    along = self.core.cell((*head[:5], inside, child, False), tail)
                    arcs.append((byte, byte, along, events))
                low = max(low, byte + 1)
            if low <= high:
                arcs.append((low, high, self._wait(head, target, tail), events))
        return arcs, last is None

    def _done(self, head: Head, tail: int) -> int:
        """The continuation behind a remembered text."""
        _, index, which, state, memory, _, text, _ = head
        plan = self.plan(index)
        texts = self.texts
        after = texts.only(text) if plan.ascending else texts.with_text(memory, text)
        if len(texts.members(after)) > MAX_REMEMBERED or texts.size(after) > MAX_REMEMBERED_BYTES:
            raise LimitExceeded.at(
                "automaton-too-large",
                f"more than {MAX_REMEMBERED} texts or {MAX_REMEMBERED_BYTES} bytes of them to be "
                "told apart",
                plan.origin,
                "give the array a maxItems, or its items a maxLength",
            )
        return self.behind(index, which, state, after, tail)

    def below(self, head: Head) -> tuple[Word, ...]:
        """The texts that the item at `head` may not be and that begin like it."""
        _, index, which, state, memory, _, text, free = head
        if free:
            return ()
        key = (index, which, state, memory, text)
        found = self._below.get(key)
        if found is None:
            barred = self.plan(index).barred(which, state, memory)
            begun = self.texts.spell(text)
            found = self._below[key] = tuple(t for t in barred if t.startswith(begun))
        return found
