"""What a continuation begins with, in pieces larger than a byte.

:meth:`Core.expand <.core.Core.expand>` gives byte arcs. Whoever reads many bytes at once, tokens
say, is better served by the *front*: the literals that may stand here, whole; the loops (a string's
content, white space, digits), each as one thing; and byte arcs only for what is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..grammar import (
    Chars,
    Choice,
    Distinct,
    Expr,
    Literal,
    Machine,
    Members,
    RuleRef,
    Sequence,
    Token,
    children,
)
from .cells import BUT, BYTES, END, EXPR, MEMBER, MEMBERS, REGULAR, REPEAT, SEQ, Head
from .core import TOKEN_BASE, Arc, Core, Event, Pending
from .distinct import INSIDE
from .front_parts import (
    Front,
    LiteralFront,
    Loop,
    free,
    place_of,
    union,
)
from .items import ItemStates, Rows, plain_rows
from .machine_loops import ByteSet, is_uniform, leaving_firsts, state_firsts, wide

_WIDE: Final = 4
"""Characters that an item must be able to be for its repetition to count as a loop."""

_FIRSTS: Final = 64
"""First bytes that an item of several rules must have."""

_DEEPEST: Final = 50
"""Places inside each other of which the fronts are made one from the other."""

_MOST_PARTS: Final = 5000
"""Expressions in an item beyond which it is not looked into."""


class Fronts:
    """The fronts of one core's continuations, made when first asked for.

    Args:
        longest: the most bytes that are read in one go.
    """

    def __init__(self, core: Core, longest: int) -> None:
        self.core = core
        self._longest = longest
        self.known: dict[int, Front] = {END: ((), (), (), True, 0)}
        self._loops: dict[int, Loop | None] = {}
        self._around: dict[int, ByteSet] = {}
        self._bodies: dict[int, tuple[Expr | None, ByteSet]] = {}
        self._item_states: dict[int, ItemStates] = {}
        self._item_rows: dict[int, Rows] = {}
        self._complex: list[int] = []
        self._opened: set[int] = set()

    def front(self, cell: int) -> Front:
        """What the continuation begins with."""
        found = self.known.get(cell)
        if found is None:
            found = self.known[cell] = self._front(cell)
        return found

    def _front(self, cell: int) -> Front:
        core = self.core
        head, tail = core.parts(cell)
        kind = head[0]
        # Most places are in the middle of a literal, before one, or in a loop.
        literal = self._literal(head, tail)
        if literal is not None:
            return (literal,), (), (), False, 1 << literal[0][0]
        if kind == SEQ and not self._complex:
            return self.front(core.sequence(head[1], head[2], tail))
        parts: Iterable[int] = ()
        if kind == REPEAT:
            loop = self.loop(cell)
            if loop is not None:
                return self._loop_front(loop)
            parts = core.repeated(head, tail)
        elif kind == EXPR:
            expr = core.exprs[head[1]]
            if type(expr) is Sequence and expr.items and not self._complex:
                return self.front(core.sequence(head[1], 0, tail))
            elif type(expr) is Choice:
                parts = [core.continuation(option, tail) for option in expr.options]
        elif kind in (MEMBERS, MEMBER):
            parts = core.members(head, tail)
        if parts and not self._complex and len(self._opened) < _DEEPEST:
            merged = self._merged(cell, parts)
            if merged is not None:
                return merged
        return self._opened_up(cell)

    def _merged(self, cell: int, parts: Iterable[int]) -> Front | None:
        """The fronts of what a place may turn into, as one; None if it may turn into itself."""
        if cell in self._opened:
            return None
        self._opened.add(cell)
        try:
            fronts = [self.known.get(part) or self.front(part) for part in parts]
        finally:
            self._opened.discard(cell)
        return fronts[0] if len(fronts) == 1 else union(fronts)

    def _opened_up(self, cell: int) -> Front:
        """The front of any place: all that it may turn into is opened up, one by one."""
        core = self.core
        literals: list[LiteralFront] = []
        loops: list[Loop] = []
        plain: list[tuple[int, int, int]] = []
        arcs: list[Arc] = []
        final = False
        seen: set[int] = set()
        stack: Pending = [(cell, ())]
        nothing: tuple[Event, ...] = ()
        while stack:
            here = stack.pop()[0]
            if here in seen:
                continue
            seen.add(here)
            if here == END:
                final = True
                continue
            known = self.known.get(here)
            if known is not None:
                literals += known[0]
                loops += known[1]
                plain += known[2]
                final = final or known[3]
                continue
            head, tail = core.parts(here)
            literal = self._literal(head, tail)
            if literal is not None:
                literals.append(literal)
                continue
            if head[0] in (REPEAT, REGULAR, BUT, INSIDE) or self._complex:
                loop = self.loop(here)
                if loop is not None:
                    loops.append(loop)
                    if free(loop):
                        stack.append((loop.tail, nothing))
                    continue
            core.step_into(here, nothing, arcs, stack)
        plain += ((a.low, a.high, a.target) for a in arcs)
        firsts = 0
        for rest, _, _, _ in literals:
            firsts |= 1 << rest[0]
        for low, high, _ in plain:
            if low < TOKEN_BASE:
                firsts |= (1 << high + 1) - (1 << low)
        for loop in loops:
            firsts |= loop.around
        return (
            tuple(literals if len(literals) < 2 else dict.fromkeys(literals)),
            tuple(loops if len(loops) < 2 else {place_of(loop): loop for loop in loops}.values()),
            tuple(plain if len(plain) < 2 else dict.fromkeys(plain)),
            final,
            firsts,
        )

    def _loop_front(self, loop: Loop) -> Front:
        """What a loop begins with, and what is behind it where it may be left at once."""
        if not free(loop):
            return (), (loop,), (), False, loop.around
        literals, loops, arcs, final, firsts = self.known.get(loop.tail) or self.front(loop.tail)
        if loops:
            loops = tuple({place_of(each): each for each in (loop, *loops)}.values())
        else:
            loops = (loop,)
        return literals, loops, arcs, final, firsts | loop.around

    def _literal(self, head: Head, tail: int) -> LiteralFront | None:
        """The literal that a continuation is before or in the middle of."""
        core = self.core
        if head[0] == BYTES:
            _, data, at = head
            return data[at:], data, at, core.settled(tail)
        expr = core.exprs[head[1]] if head[0] == EXPR else None
        if isinstance(expr, Literal) and expr.text and not core.is_marked(expr.text):
            data = expr.text.encode("utf-8")
            return data, data, 0, core.settled(tail)
        return None

    # Ends -------------------------------------------------------------------------------------

    def ends(self, cell: int) -> bool:
        """May the text end here?"""
        return self.front(cell)[3]

    def specials(self, cell: int) -> list[int]:
        """The special tokens that may come next, by id."""
        return [low - TOKEN_BASE for low, _, _ in self.front(cell)[2] if low >= TOKEN_BASE]

    # First bytes ------------------------------------------------------------------------------

    def firsts(self, cell: int) -> ByteSet:
        """The bytes that the continuation can begin with."""
        known = self.known.get(cell)
        if known is None:
            head, tail = self.core.parts(cell)
            if head[0] == REPEAT and not self._may_be_empty(head[1]):
                # Without opening one repetition after the other: there may be thousands.
                _, index, need, left = head
                found = 0 if left == 0 else self._item_firsts(index)
                return found if need > 0 else found | self.firsts(self.core.settled(tail))
            known = self.front(cell)
        return known[4]

    def _may_be_empty(self, index: int) -> bool:
        """May what is repeated be no text at all?"""
        return self.front(self.core.continuation(self.core.exprs[index]))[3]

    def _item_firsts(self, index: int) -> ByteSet:
        found = self._around.get(index)
        if found is None:
            item = self.core.continuation(self.core.exprs[index])
            found = self._around[index] = self.firsts(item)
        return found

    # Loops ------------------------------------------------------------------------------------

    def loop(self, cell: int) -> Loop | None:
        """The loop the continuation stands in, if it is one worth treating as a whole."""
        if cell in self._loops:
            return self._loops[cell]
        self._loops[cell] = None  # While it is looked for: what is behind may lead here.
        found = self._loops[cell] = self._loop(cell)
        return found

    def _loop(self, cell: int) -> Loop | None:
        core = self.core
        head, tail = core.parts(cell)
        kind = head[0] if head else END
        if kind == REPEAT:
            _, index, need, left = head
            item, leaving = self._bodies.get(index) or self._look_into(index)
            if item is None:
                return self._inside_item(cell)
            behind = core.settled(tail)
            also = leaving & (self.known.get(behind) or self.front(behind))[4]
            return Loop(item, index, 0, need, left, behind, leaving, also)
        if kind == INSIDE:
            return self._unknown_item(cell)
        if kind not in (REGULAR, BUT):
            return self._inside_item(cell)
        _, index, state, need, left, *but = head
        machine = core.machine(index)
        if not wide(machine) or not is_uniform(machine, need, left):
            return None
        around, leaving = state_firsts(machine)[state], leaving_firsts(machine)
        behind = core.settled(tail)
        if but:
            number = core.whole(index)
            closed = core.exclusion(index).whole[but[0]]
            known = (index, but[0])
            loop = Loop(machine, number, state, need, left, behind, around, 0, None, known, closed)
        else:
            loop = Loop(machine, index, state, need, left, behind, around)
        also = leaving & self.firsts(loop.tail)
        if not also:
            return loop
        # Excluded texts are told by what leaves the loop.
        return None if loop.but is not None else loop._replace(also=also)

    def _look_into(self, index: int) -> tuple[Expr | None, ByteSet]:
        """What is repeated, if it is characters, and the bytes that it begins with."""
        item = self._body(index)
        made = self._bodies[index] = item, 0 if item is None else self._item_firsts(index)
        return made

    def _body(self, index: int) -> Expr | None:
        item = self.core.exprs[index]
        while isinstance(item, RuleRef):
            item = self.core.rules[item.name]
        refers = _refers(item)
        if refers and self._item_firsts(index).bit_count() < _FIRSTS:
            # Members of an array or an object, which have more to them than characters.
            return None
        if not _characters(item, self.core):
            return None
        if refers:
            states = self._item_states[index] = ItemStates(self.core, index, self._longest)
            rows = states.rows if states.usable else None
        else:
            rows = plain_rows(self.core, index, item, self._longest)
        if rows is None:
            return None
        self._item_rows[index] = rows
        if refers:
            self._complex.append(index)
        return item

    def item_rows(self, number: int) -> Rows:
        """The byte automaton of the item of a loop, by the loop's number."""
        return self._item_rows[number]

    def _inside_item(self, cell: int) -> Loop | None:
        """The loop whose item the continuation is inside of."""
        for index in self._complex:
            states = self._item_states[index]
            found = states.state(cell)
            if found is None:
                continue
            state, behind = found
            loop = self.loop(behind)
            if loop is None:
                return None
            row = states.rows[state]
            around = sum(1 << byte for byte in range(256) if row[byte] >= 0)
            # This item comes on top of those behind it.
            left = None if loop.left is None else loop.left + 1
            return loop._replace(state=state, need=loop.need + 1, left=left, around=around)
        return None

    def _unknown_item(self, cell: int) -> Loop | None:
        """The loop of an item whose text is unknown; its tail is the same item behind the loop."""
        remembering = self.core.remembering
        inner = remembering.of_unknown(cell)
        loop = None if inner is None else self.loop(inner)
        if loop is None:
            return None
        behind = remembering.on_unknown(cell, loop.tail)
        if isinstance(loop.body, Machine):
            around = leaving_firsts(loop.body)
        else:
            around = self._item_firsts(loop.number)
        if around & self.firsts(behind) or loop.also:
            return None
        return loop._replace(tail=behind, item=(cell, loop))

    def after(self, loop: Loop, state: int, count: int, text: bytes) -> int:
        """The continuation in the same loop after `text`, which is `count` items long, in a
        machine's `state`."""
        need = max(loop.need - count, 0)
        left = None if loop.left is None else loop.left - count
        return self.at(loop, state, need, left, text)

    def at(self, loop: Loop, state: int, need: int, left: int | None, text: bytes = b"") -> int:
        """The continuation in the same loop after `text`, with other counts."""
        if loop.item is not None:
            cell, inner = loop.item
            return self.core.remembering.on_unknown(cell, self.at(inner, state, need, left, text))
        if loop.but is not None:
            index, node = loop.but
            node = self.core.exclusion(index).after(node, text.decode("utf-8"))
            return self.core.but_cell(index, state, need, left, node, loop.tail)
        if isinstance(loop.body, Machine):
            return self.core.regular_cell(loop.number, state, need, left, loop.tail)
        return self.core.repeat_cell(loop.number, need, left, loop.tail)


def _refers(item: Expr) -> bool:
    """Does an expression refer to rules?"""
    todo = [item]
    while todo:
        part = todo.pop()
        if isinstance(part, RuleRef):
            return True
        todo += children(part)
    return False


def _characters(item: Expr, core: Core) -> bool:
    """Is the item characters of a class, perhaps with escapes or beginnings of a closer, and no
    small choice of texts?"""
    most = parts = 0
    todo = [item]
    seen: set[str] = set()
    while todo:
        part = todo.pop()
        parts += 1
        if parts > _MOST_PARTS:
            return False
        match part:
            case RuleRef(name):
                if name not in seen:
                    seen.add(name)
                    todo.append(core.rules[name])
                continue
            case Token() | Members() | Distinct():
                return False
            case Literal(text) if core.is_marked(text):
                return False
            case Chars(ranges):
                most = max(most, sum(high - low + 1 for low, high in ranges))
        todo += children(part)
    return most >= _WIDE
