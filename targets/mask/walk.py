"""Which tokens a continuation can read: vocabulary trie and grammar, walked side by side.

A walk goes in steps: what a place itself begins with (a literal down the trie at once, a loop by
the vocabulary's slices, only what is left byte by byte), and from which nodes on what is behind it
has to be looked at. A step depends on nothing but the node and the place's own beginnings, its
*signature*, so all grammars of a vocabulary share it, and what is found as well: a walk through
places that were met in another grammar is a few look-ups.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final

from ...compiler.automaton.core import Core
from ...compiler.automaton.fronts import Fronts
from ...compiler.automaton.machine_loops import ByteSet
from ...compiler.vocabulary.trie import ROOT, Node
from ...compiler.vocabulary.vocabulary import Vocabulary
from .beginnings import Beginnings
from .results import (
    IN_HOLE,
    NOTHING,
    Around,
    Excluding,
    Less,
    Results,
    Row,
    Sign,
    Signature,
    Step,
    Summary,
)

if TYPE_CHECKING:
    from .distinct import MemoryRows

_FEW: Final = 48
"""Tokens below a node up to which remembered texts are not forgotten."""


_NO_STEP: Final[Step] = (NOTHING, (), ())
"""Stands for the step of a pair that is known already."""


_NO_TAILS: Final[tuple[int, ...]] = ()


class Walker:
    """Walks for one core over one vocabulary."""

    def __init__(
        self, core: Core, fronts: Fronts, vocabulary: Vocabulary, memory: MemoryRows
    ) -> None:
        self.core, self.fronts, self.vocabulary = core, fronts, vocabulary
        self._memory = memory
        self.results = Results.of(vocabulary)
        self._generation = self.results.generation
        self._beginnings = Beginnings(core, fronts, vocabulary, self.results)
        self.place, self.canonical = self._beginnings.place, self._beginnings.canonical
        self.repeated, self.keys = self._beginnings.repeated, self._beginnings.keys
        self._found: dict[tuple[Node, int], int] = {}
        # Where remembered texts were forgotten on the way: the tokens to be looked at.
        self._suspects: dict[tuple[Node, int], tuple[int, ...]] = {}

    def forget(self) -> None:
        """Drop what was found."""
        self._beginnings.begin()
        self._found.clear()
        self._suspects.clear()

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
        return self._beginnings.apart(cell)

    # The walk ---------------------------------------------------------------------------------

    def _walk(self, root: Node, start: int) -> int:
        """The result of the tokens below a trie node that can be read from a continuation."""
        done, steps = self._found, self.results.steps
        locals_, local = self._beginnings.known, self._beginnings.of
        remembering, union = self.core.remembering.plans, self.results.union
        pair = (root, start)
        known = done.get(pair)
        if known is not None:
            return known
        # Pairs that wait for another one below them, with the way to it and what was found so far.
        waiting: list[tuple[tuple[Node, int], Step, tuple[int, ...], int, list[int]]] = []
        while True:
            node, cell = pair
            if remembering and self._forget(node, cell):
                step, tails = _NO_STEP, _NO_TAILS
            else:
                signature, tails = locals_.get(cell) or local(cell)
                key = (node, signature)
                step = steps.get(key) or self._step(key)
            at, parts = 0, []
            while True:
                own, ways, less = step
                wanted = None
                while at < len(ways):
                    way, sub = ways[at]
                    below = (sub, tails[way])
                    inner = done.get(below)
                    if inner is None:
                        wanted = below
                        break
                    if inner:
                        parts.append(inner)
                    at += 1
                if wanted is not None:
                    waiting.append((pair, step, tails, at, parts))
                    pair = wanted
                    break
                if step is not _NO_STEP:
                    if less:
                        self._add_less(less, tails, parts)
                    done[pair] = union(own, parts) if parts else own
                    if self._suspects:
                        self._tell(pair, step, tails)
                if not waiting:
                    return done[pair]
                pair, step, tails, at, parts = waiting.pop()

    def _add_less(self, less: tuple[Less, ...], tails: tuple[int, ...], parts: list[int]) -> None:
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
        self._found[node, cell] = self._walk(*other)
        told = dict.fromkeys(self._memory.doubtful(node, cell))
        told.update(dict.fromkeys(self._suspects.get(other, ())))
        self._suspects[node, cell] = tuple(told)
        return True

    def _tell(self, pair: tuple[Node, int], step: Step, tails: tuple[int, ...]) -> None:
        """Pass on what was forgotten below."""
        _, own, less = step
        ways = chain(own, *(ways for _, ways, _ in less))
        told = [t for w, sub in ways if (t := self._suspects.get((sub, tails[w]))) is not None]
        if told:
            self._suspects[pair] = tuple(dict.fromkeys(chain.from_iterable(told)))

    # Steps ------------------------------------------------------------------------------------

    def _step(self, key: tuple[Node, Signature]) -> Step:
        """What is found from a node in a place, as far as the place itself tells."""
        made = self.results.steps[key] = self._make_step(*key)
        return made

    def _make_step(self, node: Node, signature: Signature) -> Step:
        if isinstance(signature, bytes):
            found, end = self.vocabulary.path(node, signature)
            return self.results.leaf([], found), ((0, end),) if end else (), ()
        if signature == IN_HOLE:
            return self.results.hole(node), (), ()
        sign = self.results.signs[signature]
        if isinstance(sign, int):
            return NOTHING, tuple((way, node) for way in range(sign)), ()
        if isinstance(sign, Summary):
            return self._summary(node, signature, sign)
        if isinstance(sign, Excluding):
            wrong = self._excluded(node, sign.rests, sign.behind)
            ways = ((0, node),)
            return (NOTHING, (), ((NOTHING, ways, wrong),)) if wrong else (NOTHING, ways, ())
        return self._pieces(node, sign)

    def _summary(self, node: Node, number: int, sign: Summary) -> Step:
        """What is found in the head of a place, and the nodes at which it may be behind it."""
        hollow = self._beginnings.hollow(number, self.fronts.hole(sign.behind))
        found, nodes = self.results.split(self._walk(node, hollow))
        leads = self.vocabulary.forest.leads
        return found, tuple((0, end) for end in nodes if leads(end) & sign.behind), ()

    def _pieces(self, node: Node, sign: Sign) -> Step:
        """What is found in the pieces of a front."""
        path, forest = self.vocabulary.path, self.vocabulary.forest
        masks: list[Row] = []
        ids: list[int] = []
        ways: list[tuple[int, Node]] = []
        less: list[Less] = []
        leads = forest.leads(node)
        rests, loops, ranges = sign
        way = 0
        for rest in rests:
            if not rest:
                # A hole, at once.
                ways.append((way, node))
            elif leads >> rest[0] & 1:
                found, end = path(node, rest)
                ids += found
                if end:
                    ways.append((way, end))
            way += 1
        for loop in loops:
            if leads & loop.around:
                wrong = self._excluded(node, loop.excluded, loop.behind) if loop.excluded else ()
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

    def _excluded(self, node: Node, rests: tuple[bytes, ...], behind: ByteSet) -> tuple[int, ...]:
        """The tokens below a node that hold the rest of an excluded text and what may follow it."""
        forest = self.vocabulary.forest
        found: list[int] = []
        for rest in rests:
            end = self.vocabulary.path(node, rest)[1] if rest else node
            if rest and not end:
                continue
            for byte in _bytes(behind & forest.leads(end)):
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
