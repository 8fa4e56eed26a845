"""Which tokens a continuation can read: vocabulary trie and grammar, walked side by side.

A walk goes in steps: what a place itself begins with (a literal down the trie at once, a loop by
the vocabulary's slices, only what is left byte by byte), and from which nodes on what is behind it
has to be looked at. A step depends on nothing but the node and the place's own beginnings, its
*signature*, so all grammars of a vocabulary share it, and what is found as well: a walk through
places that were met in another grammar is a few look-ups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

from ...compiler.automaton.cells import CELL_BITS
from ...compiler.automaton.core import TOKEN_BASE, Core
from ...compiler.automaton.front_parts import Loop
from ...compiler.automaton.fronts import Fronts
from ...compiler.automaton.liveness import searched
from ...compiler.automaton.machine_loops import ByteSet
from ...compiler.automaton.word_choices import WordChoices
from ...compiler.grammar import Machine
from ...compiler.vocabulary.loop_table import Place
from ...compiler.vocabulary.trie import ROOT, Node
from ...compiler.vocabulary.vocabulary import Vocabulary
from .chosen import Chosen
from .results import NOTHING, Around, Less, Results, Row, Signature, Step

if TYPE_CHECKING:
    from .distinct import MemoryRows

_FEW: Final = 48
"""Tokens below a node up to which remembered texts are not forgotten."""


Local: TypeAlias = tuple[Signature, Sequence[int]]
"""What a place begins with, by number, and the places behind."""

_NO_STEP: Final[Step] = (NOTHING, (), ())
"""Stands for the step of a pair that is known already."""


_NO_TAILS: Final[Sequence[int]] = ()


class Walker:
    """Walks for one core over one vocabulary."""

    def __init__(
        self, core: Core, fronts: Fronts, vocabulary: Vocabulary, memory: MemoryRows
    ) -> None:
        self.core, self.fronts, self.vocabulary = core, fronts, vocabulary
        self._memory = memory
        self.words = WordChoices(core)
        # By their signatures, which are below 0 and mean nothing to others.
        self._choices: dict[int, Chosen] = {}
        self._chosen: dict[tuple[Node, int], Step] = {}
        self._places: dict[tuple[int, int], Place | None] = {}
        self.results = Results.of(vocabulary)
        self._generation = self.results.generation
        self._locals: dict[int, Local] = {}
        # By node and cell in one number: the garbage collector does not look at numbers.
        self._found: dict[int, int] = {}
        # Where remembered texts were forgotten on the way: the tokens to be looked at.
        self._suspects: dict[tuple[Node, int], tuple[int, ...]] = {}

    def forget(self) -> None:
        """Drop what was found."""
        self._locals.clear()
        self._found.clear()
        self._suspects.clear()
        self._choices.clear()
        self._chosen.clear()

    def result(self, cell: int) -> int:
        """The result of all that a continuation can read, special and end tokens apart."""
        if self._generation != self.results.generation:
            self._generation = self.results.generation
            self.forget()
        return self._walk(ROOT, cell)

    def suspects(self, cell: int) -> tuple[int, ...] | None:
        """The tokens that may be wrong in the result, if remembered texts were forgotten; others
        may be missing then."""
        return self._suspects.get((ROOT, cell))

    def apart(self, cell: int) -> tuple[int, ...]:
        """The special and end tokens that may come next."""
        if ~cell in self._choices:
            return ()  # Ordinary text comes next.
        _, _, arcs, final, _ = self.fronts.front(cell)
        ids = tuple([low - TOKEN_BASE for low, _, _ in arcs if low >= TOKEN_BASE])
        return ids + self.vocabulary.eos_ids if final else ids

    # The walk ---------------------------------------------------------------------------------

    def _walk(self, root: Node, start: int) -> int:
        """The result of the tokens below a trie node that can be read from a continuation."""
        done, steps, locals_ = self._found, self.results.steps, self._locals
        remembering, union = self.core.remembering, self.results.union
        node, cell = root, start
        known = done.get(node << CELL_BITS | cell)
        if known is not None:
            return known
        # Pairs that wait for another one below them, with the way to it and what was found so far.
        waiting: list[tuple[Node, int, Step, Sequence[int], int, list[int]]] = []
        while True:
            if remembering.in_use and self._forget(node, cell):
                step, tails = _NO_STEP, _NO_TAILS
            else:
                signature, tails = locals_.get(cell) or self._local(cell)
                key = (node, signature)
                step = steps.get(key) or self._step(key)
            at, parts = 0, []
            while True:
                own, ways, less = step
                last = len(ways)
                while at < last:
                    way, sub = ways[at]
                    below = tails[way]
                    inner = done.get(sub << CELL_BITS | below)
                    if inner is None:
                        break
                    if inner:
                        parts.append(inner)
                    at += 1
                if at < last:
                    waiting.append((node, cell, step, tails, at, parts))
                    node, cell = sub, below
                    break
                if step is not _NO_STEP:
                    if less:
                        self._add_less(less, tails, parts)
                    done[node << CELL_BITS | cell] = union(own, parts) if parts else own
                    if self._suspects:
                        self._tell((node, cell), step, tails)
                if not waiting:
                    return done[node << CELL_BITS | cell]
                node, cell, step, tails, at, parts = waiting.pop()

    def _add_less(self, less: tuple[Less, ...], tails: Sequence[int], parts: list[int]) -> None:
        """Add what is found in loops, less the excluded texts."""
        for own, ways, wrong in less:
            inner = [r for way, sub in ways if (r := self._walk(sub, tails[way]))]
            found = self.results.less(self.results.union(own, inner), wrong)
            if found:
                parts.append(found)

    def _forget(self, node: Node, cell: int) -> bool:
        """Walk on from where the text so far is forgotten, where there are many tokens: they are
        not told apart by it."""
        remembering = self.core.remembering
        if self.vocabulary.forest.size[node] <= _FEW or not remembering.is_known(cell):
            return False
        other = (node, remembering.forget(cell))
        self._found[node << CELL_BITS | cell] = self._walk(*other)
        told = dict.fromkeys(self._memory.doubtful(node, cell))
        told.update(dict.fromkeys(self._suspects.get(other, ())))
        self._suspects[node, cell] = tuple(told)
        return True

    def _tell(self, pair: tuple[Node, int], step: Step, tails: Sequence[int]) -> None:
        """Pass on what was forgotten below."""
        _, own, less = step
        ways = chain(own, *(ways for _, ways, _ in less))
        told = [t for w, sub in ways if (t := self._suspects.get((sub, tails[w]))) is not None]
        if told:
            self._suspects[pair] = tuple(dict.fromkeys(chain.from_iterable(told)))

    # Places -----------------------------------------------------------------------------------

    def _local(self, cell: int) -> Local:
        """What a place begins with."""
        choice = self.words.of(cell)
        if choice is not None:
            chosen = self._choices[~cell] = Chosen(self.words, *choice)
            made: Local = (~cell, chosen.tails)
            self._locals[cell] = made
            return made
        literals, loops, arcs, _, _ = self.fronts.known.get(cell) or self.fronts.front(cell)
        if len(literals) == 1 and not loops and not arcs:
            rest, _, _, tail = literals[0]
            made = (rest, (tail,))
            self._locals[cell] = made
            return made
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
        made = (self.results.signature(sign), tuple(tails))
        self._locals[cell] = made
        return made

    def _around(self, loop: Loop, place: Place) -> Around:
        table, start, _ = place
        need, left = loop.need, loop.left
        tail = self.fronts.known.get(loop.tail)
        behind = self.fronts.firsts(loop.tail) if tail is None else tail[4]
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

    # Steps ------------------------------------------------------------------------------------

    def _step(self, key: tuple[Node, Signature]) -> Step:
        """What is found from a node in a place, as far as the place itself tells."""
        node, signature = key
        if isinstance(signature, int) and signature < 0:
            made = self._chosen.get((node, signature))
            if made is None:
                made = self._chosen[node, signature] = self._choose(node, signature)
            return made
        made = self.results.steps[key] = self._make_step(node, signature)
        return made

    def _choose(self, node: Node, signature: int) -> Step:
        """The step of a choice among many beginnings."""
        ids, ways = self._choices[signature].below(self.vocabulary.forest, node)
        return self.results.leaf([], ids), tuple(ways), ()

    def _make_step(self, node: Node, signature: Signature) -> Step:
        path, forest = self.vocabulary.path, self.vocabulary.forest
        if isinstance(signature, bytes):
            found, end = path(node, signature)
            return self.results.leaf([], found), ((0, end),) if end else (), ()
        masks: list[Row] = []
        ids: list[int] = []
        ways: list[tuple[int, Node]] = []
        less: list[Less] = []
        leads = forest.leads(node)
        rests, loops, ranges = self.results.signs[signature]
        way = 0
        for rest in rests:
            if leads >> rest[0] & 1:
                found, end = path(node, rest)
                ids += found
                if end:
                    ways.append((way, end))
            way += 1
        for loop in loops:
            if leads & loop.around:
                wrong = self._excluded(node, loop) if loop.excluded else ()
                if wrong:
                    others: list[Row] = []
                    more: list[int] = []
                    below: list[tuple[int, Node]] = []
                    self._inside(node, loop, way, others, more, below)
                    less.append((self.results.leaf(others, more), tuple(below), wrong))
                else:
                    self._inside(node, loop, way, masks, ids, ways)
            way += 1
        for low, high in ranges:
            for byte in _bytes(leads >> low & (1 << (high - low + 1)) - 1):
                child = forest.children(node)[low + byte]
                ids += forest.ids[child]
                if forest.size[child]:
                    ways.append((way, child))
            way += 1
        return self.results.leaf(masks, ids), tuple(ways), tuple(less)

    def _inside(
        self,
        node: Node,
        loop: Around,
        way: int,
        masks: list[Row],
        ids: list[int],
        ways: list[tuple[int, Node]],
    ) -> None:
        """The tokens below a node that go on in a loop, and those that leave it after a while."""
        counting = bool(loop.need) or loop.left is not None
        part = self.vocabulary.slices.get(
            node, loop.table, loop.start, loop.also, counting=counting
        )
        part.add(loop.left, masks, ids)
        for byte in _bytes(loop.behind & part.leads):
            rests = part.exits(byte, loop.need, loop.left)
            if rests is not None:
                ways.append((way, rests))

    def _excluded(self, node: Node, loop: Around) -> tuple[int, ...]:
        """The tokens below a node that hold the rest of an excluded text and what may follow it."""
        forest = self.vocabulary.forest
        found: list[int] = []
        for rest in loop.excluded:
            _, end = self.vocabulary.path(node, rest)
            if not end:
                continue
            for byte in _bytes(loop.behind & forest.leads(end)):
                child = forest.children(end)[byte]
                found += forest.ids[child]
                found += forest.below(child)
        return tuple(found)


def _bytes(found: ByteSet) -> Iterator[int]:
    """The members of a set of bits, ascending."""
    while found:
        bit = found & -found
        found ^= bit
        yield bit.bit_length() - 1
