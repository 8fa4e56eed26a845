"""What places begin with, by number: what a step of a walk depends on.

A place is a head and what is behind it. Where the head has a *shape*, the same in all grammars,
what is found in it is found once, with a hole for what is behind, of which only the first bytes
matter: a *summary*. Else the place's front is taken to pieces.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from ...compiler.automaton.cells import (
    BUT,
    BYTES,
    END,
    EXPR,
    HOLE,
    MEMBER,
    MEMBERS,
    SEQ,
    Head,
)
from ...compiler.automaton.core import TOKEN_BASE, Core
from ...compiler.automaton.front_parts import Loop, free
from ...compiler.automaton.fronts import Fronts
from ...compiler.automaton.liveness import searched
from ...compiler.automaton.members import MembersPlan, State
from ...compiler.automaton.shapes import EMPTY, NO_SHAPE, Shape, Shaper
from ...compiler.grammar import Capture, Expr, Literal, Machine, RuleRef, Sequence
from ...compiler.vocabulary.loop_table import Place
from ...compiler.vocabulary.trie import ROOT
from ...compiler.vocabulary.vocabulary import Vocabulary
from .results import IN_HOLE, Around, Excluding, Results, Signature, Summary

Local: TypeAlias = tuple[Signature, tuple[int, ...]]
"""What a place begins with, by number, and the places behind."""

Run: TypeAlias = tuple[Shape, int]
"""The shape of the first heads of a place, and the place behind them."""


Keys: TypeAlias = list[tuple[bytes, int, State]]
"""What members begin with, the sequence that each is by its number, and the state behind it."""

_MOST_KNOWN: Final = 256
"""Places among members of which the keys are kept."""


class Beginnings:
    """What the places of one core begin with.

    Attributes:
        known: by cell, as far as they were asked for.
        examples: by the number of a summary, a place that it is one of.
    """

    def __init__(
        self, core: Core, fronts: Fronts, vocabulary: Vocabulary, results: Results
    ) -> None:
        self.core, self.fronts, self.vocabulary = core, fronts, vocabulary
        self.results = results
        self._bodies: dict[int, tuple[tuple[bytes, int] | None, Expr]] = {}
        self._keys_of: dict[tuple[int, State], tuple[Keys | None]] = {}
        self._places: dict[tuple[int, int], Place | None] = {}
        self.begin()

    def begin(self) -> None:
        """Forget all that goes by the numbers of results."""
        self.known: dict[int, Local] = {}
        self.examples: dict[int, int] = {}
        # The numbers of summaries of some text, which holds no special tokens.
        self._solid: set[int] = set()
        self._runs: dict[int, Run] = {END: (EMPTY, END)}
        self._shaper = Shaper(self.core, self.results.shapes, self.vocabulary.longest)

    def of(self, cell: int) -> Local:
        """What a place begins with."""
        found = self.known.get(cell)
        if found is None:
            found = self.known[cell] = self._of(cell)
        return found

    def _of(self, cell: int) -> Local:
        core = self.core
        while cell != END:
            head, tail = core.parts(cell)
            kind = head[0]
            if kind == BYTES:
                _, data, at = head
                return data[at:], (tail,)
            if kind == HOLE:
                return IN_HOLE, ()
            expr = None
            if kind == EXPR:
                expr = core.exprs[head[1]]
                if type(expr) is Literal and expr.text and not core.is_marked(expr.text):
                    return expr.text.encode("utf-8"), (tail,)
            shape, end = self._runs.get(cell) or self._run(cell)
            if end != cell and not (end and core.parts(end)[0][0] == HOLE):
                if shape == EMPTY:
                    cell = end
                    continue
                number = self.results.signature(Summary(shape, self.fronts.firsts(end)))
                if number not in self.examples:
                    self.examples[number] = cell
                    if not self.results.shapes.empty[shape]:
                        self._solid.add(number)
                return number, (end,)
            if kind in (MEMBERS, MEMBER):
                return self._members(cell, head, tail)
            if kind == BUT:
                return self._excluding(cell, head) or self._front(cell)
            if self._is_inside(tail):
                break
            if kind == SEQ:
                cell = core.sequence(head[1], head[2], tail)
            elif type(expr) is Sequence and expr.items:
                cell = core.sequence(head[1], 0, tail)
            else:
                break
        return self._front(cell)

    def _run(self, cell: int) -> Run:
        """As many of a continuation's heads as have shapes, one after the other."""
        parts, runs, head_of = self.core.parts, self._runs, self._shaper.head
        way: list[tuple[int, Shape]] = []
        here = cell
        while True:
            run = runs.get(here)
            if run is not None:
                break
            head, tail = parts(here)
            shape = head_of(head)
            if not shape or self._is_inside(tail):
                run = runs[here] = EMPTY, here
                break
            way.append((here, shape))
            here = tail
        shapes = self.results.shapes
        for here, shape in reversed(way):
            run = runs[here] = shapes.row(shape, run[0]), run[1]
        return run

    def hollow(self, number: int, hole: int) -> int:
        """A place with the heads of a summary, and a hole behind."""
        cell = self.examples[number]
        _, end = self._runs[cell]
        heads = []
        while cell != end:
            head, cell = self.core.parts(cell)
            heads.append(head)
        for head in reversed(heads):
            hole = self.core.cell(head, hole)
        return hole

    def _is_inside(self, tail: int) -> bool:
        """Is what is before `tail` inside an item of a loop that is walked as a whole?"""
        return bool(self.fronts.items) and self.fronts.is_inside(tail)

    def _members(self, cell: int, head: Head, tail: int) -> Local:
        """A place among an object's members: keys; or a separator or the end."""
        kind, index, state = head
        plan = self.core.members_plan(index)
        if kind == MEMBER:
            return self._keys(plan, index, state, tail) or self._front(cell)
        if not plan.needs_separator(state):
            if not plan.may_end(state):
                return self._keys(plan, index, state, tail) or self._front(cell)
            if self._texts(plan, index, state) is None:
                return self._front(cell)
            parts = [self.core.cell((MEMBER, index, state), tail), tail]
        elif self._separates(plan):
            parts = self.core.members(head, tail)
        else:
            return self._front(cell)
        if len(parts) == 1:
            return self.of(parts[0])
        return self.results.signature(len(parts)), tuple(parts)

    def _keys(self, plan: MembersPlan, index: int, state: State, tail: int) -> Local | None:
        """The keys that may come next; None if not all of them are texts."""
        keys = self._texts(plan, index, state)
        if keys is None:
            return None
        cell = self.core.cell
        rests = tuple([text for text, _, _ in keys])
        tails = tuple([cell((SEQ, n, 1), cell((MEMBERS, index, nxt), tail)) for _, n, nxt in keys])
        if len(rests) == 1:
            return rests[0], tails
        return self.results.signature((rests, (), ())), tails

    def _excluding(self, cell: int, head: Head) -> Local | None:
        """A place on the way to excluded texts: the same place without them, less the tokens that
        would be one of them. None where it is no loop."""
        loop = self.fronts.loop(cell)
        if loop is None or loop.but is None:
            return None
        _, index, state, need, left, node = head
        found = [
            rest for rest in self.core.exclusion(index).rests(node) if loop.around >> rest[0] & 1
        ]
        if loop.closed:
            found.append(b"")
        whole = self.core.regular_cell(loop.number, state, need, left, loop.tail)
        if not found:
            return self.of(whole)
        sign = Excluding(tuple(found), self.fronts.firsts(loop.tail))
        return self.results.signature(sign), (whole,)

    def keys(self, head: Head) -> Keys | None:
        """The keys that may come next at a place among members; None where there is more to it."""
        kind, index, state = head
        plan = self.core.members_plan(index)
        if kind == MEMBERS and plan.needs_separator(state):
            return None
        return self._texts(plan, index, state)

    def _texts(self, plan: MembersPlan, index: int, state: State) -> Keys | None:
        """The texts that the members that may come next begin with; None if some begin with
        something else."""
        known = self._keys_of.get((index, state))
        if known is not None:
            return known[0]
        found: Keys | None = []
        for body, nxt in plan.candidates(state):
            made = self._bodies.get(id(body))
            if made is None:
                made = self._bodies[id(body)] = self._body(body)
            if made[0] is None:
                found = None
                break
            found.append((*made[0], nxt))
        if len(self._keys_of) >= _MOST_KNOWN:
            self._keys_of.clear()
        self._keys_of[index, state] = (found,)
        return found

    def _body(self, body: Expr) -> tuple[tuple[bytes, int] | None, Expr]:
        # The expression is kept alive, so that its identity stays its own.
        whole, core = body, self.core
        while isinstance(body, (Capture, RuleRef)):
            body = body.item if isinstance(body, Capture) else core.rules[body.name]
        if not isinstance(body, Sequence) or len(body.items) < 2:
            return None, whole
        key = body.items[0]
        while isinstance(key, Capture):
            key = key.item
        if not isinstance(key, Literal) or not key.text or core.is_marked(key.text):
            return None, whole
        return (key.text.encode("utf-8"), core.index(body)), whole

    def apart(self, cell: int) -> tuple[int, ...]:
        """The special and end tokens that may come next."""
        local = self.known.get(cell)
        if local is not None and (type(local[0]) is bytes or local[0] in self._solid):
            return ()
        core, empty = self.core, self.results.shapes.empty
        while cell != END:
            head, tail = core.parts(cell)
            kind = head[0]
            if kind == BYTES:
                return ()
            shape, end = self._runs.get(cell) or self._run(cell)
            if end != cell:
                # What has a shape holds no special tokens.
                if not empty[shape]:
                    return ()
                cell = end
            elif kind == SEQ:
                cell = core.sequence(head[1], head[2], tail)
            elif kind == BUT and (loop := self.fronts.loop(cell)) is not None:
                if not free(loop):
                    return ()
                cell = loop.tail
            elif kind in (MEMBERS, MEMBER) and self._is_text(head):
                if kind == MEMBER or not core.members_plan(head[1]).may_end(head[2]):
                    return ()
                cell = tail
            else:
                break
        _, _, arcs, final, _ = self.fronts.front(cell)
        ids = tuple([low - TOKEN_BASE for low, _, _ in arcs if low >= TOKEN_BASE])
        return ids + self.vocabulary.eos_ids if final else ids

    def _is_text(self, head: Head) -> bool:
        """Are the members, or separators, that may come next surely some text?"""
        kind, index, state = head
        plan = self.core.members_plan(index)
        if kind == MEMBERS and plan.needs_separator(state):
            return self._separates(plan)
        return self._texts(plan, index, state) is not None

    def _separates(self, plan: MembersPlan) -> bool:
        """Is the separator some text that has a shape?"""
        shape = self._shaper.of(plan.node.separator)
        return shape != NO_SHAPE and not self.results.shapes.empty[shape]

    def _front(self, cell: int) -> Local:
        """A place by its front."""
        literals, loops, arcs, _, _ = self.fronts.known.get(cell) or self.fronts.front(cell)
        if len(literals) == 1 and not loops and not arcs and literals[0][0]:
            rest, _, _, tail = literals[0]
            return rest, (tail,)
        around: list[Around] = []
        tails = [literal[3] for literal in literals]
        for loop in loops:
            place = self.place(loop)
            if place is None:
                arcs += tuple((a.low, a.high, a.target) for a in self.core.expand(cell).arcs)
            else:
                around.append(self._around(loop, place))
                tails.append(loop.tail)
        if arcs:
            arcs = self._settled(arcs)
            tails += [target for _, _, target in arcs]
        rests = tuple([literal[0] for literal in literals])
        sign = (rests, tuple(around), tuple([(low, high) for low, high, _ in arcs]))
        return self.results.signature(sign), tuple(tails)

    def _around(self, loop: Loop, place: Place) -> Around:
        table, start, _ = place
        need, left = loop.need, loop.left
        behind = self.fronts.firsts(loop.tail)
        if not need and left is None and loop.but is None:
            return Around(table, start, 0, None, loop.around, loop.also, behind)
        excluded: tuple[bytes, ...] = ()
        if loop.but is not None:
            index, node = loop.but
            excluded = self.core.exclusion(index).rests(node)
        if need or left is not None:
            enough = self._enough(loop)
            need = min(need, enough)
            # A bound that no token reaches is none.
            left = None if left is None or left >= enough else max(left, need)
        return Around(table, start, need, left, loop.around, loop.also, behind, excluded)

    def _enough(self, loop: Loop) -> int:
        """A count that no token can tell from greater ones: it completes an item a byte at most."""
        enough = self.vocabulary.longest + 2
        if isinstance(loop.body, Machine):
            enough += searched(loop.body).farthest
        return enough

    def _settled(self, arcs: tuple[tuple[int, int, int], ...]) -> tuple[tuple[int, int, int], ...]:
        """Arcs of bytes alone; where the target waits for its byte, byte by byte."""
        found: list[tuple[int, int, int]] = []
        waits, read = self.core.is_pending, self.core.read
        for low, high, target in arcs:
            if high >= TOKEN_BASE:
                continue
            if waits(target):
                found += [(byte, byte, read(target, byte)) for byte in range(low, high + 1)]
            else:
                found.append((low, high, target))
        return tuple(found)

    def place(self, loop: Loop) -> Place | None:
        """The loop's byte automaton, made once a vocabulary."""
        key = (loop.number, loop.state)
        if key in self._places:
            return self._places[key]
        tables = self.vocabulary.tables
        found: Place | None
        if isinstance(loop.body, Machine):
            found = tables.place(loop.body, loop.state)
        else:
            found = Place(tables.item(self.fronts.item_rows(loop.number)), loop.state, (0,))
        self._places[key] = found
        return found

    def repeated(self, index: int) -> Place | None:
        """The byte automaton of a repeated item, by its number; None where the repetition is no
        loop."""
        key = (index, 0)
        if key in self._places:
            return self._places[key]
        if not self.fronts.is_item(index):
            found = self._places[key] = None
            return found
        found = Place(self.vocabulary.tables.item(self.fronts.item_rows(index)), 0, (0,))
        self._places[key] = found
        return found

    def canonical(self, cell: int) -> int:
        """The same continuation where a count is so large that no token can tell."""
        loop = self.fronts.loop(cell)
        if loop is None or (loop.left is None and not loop.need):
            return cell
        if loop.state and not isinstance(loop.body, Machine):
            # Inside an item: there are few such places.
            return cell
        enough = self._enough(loop)
        need, left = min(loop.need, enough), loop.left
        if left is not None:
            place = self.place(loop) if left < enough else None
            if place is not None:
                # Between two numbers of items that tokens can have, one more makes no difference.
                slices = self.vocabulary.slices
                left = slices.get(ROOT, place.table, place.start, loop.also, counting=True).level(
                    left
                )
            left = max(min(left, enough), need)
        if (need, left) == (loop.need, loop.left):
            return cell
        return self.fronts.at(loop, loop.state, need, left)
