"""Which states of an automaton a file should hold: those that texts are likely to reach.

Along sample texts, whatever tokens they are cut into; then breadth first, token by token, from the
start. Inside a string or a number tens of thousands of tokens are allowed, which lead to few places
that differ: there single bytes stand for them, one of those that lead to the same. A place that
differs from one met before in nothing that any mask can tell (how many characters are left of
thousands) is not looked at again.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...compiler.errors import LimitExceeded
from ...compiler.vocabulary.trie import ROOT
from ...compiler.vocabulary.vocabulary import Vocabulary
from .automaton import MaskAutomaton
from .row_codec import RowWriter, ids_of
from .states import DEAD, ENDED

Sample: TypeAlias = "str | bytes | Sequence[int]"
"""A text, or the ids of its tokens."""

MAX_SAMPLE_BYTES: Final = 2**18
"""Bytes of all sample texts, or tokens."""

_FEW: Final = 64
"""Allowed tokens up to which each of them is followed."""

_MANY: Final = 16
"""Bytes that lead to the same, beyond which one stands for all."""

_STATE_BYTES: Final = 48
_EDGE_BYTES: Final = 8
_PROGRESS: Final = 200

Steps = list[tuple[int, int]]
"""Tokens and the states that they lead to."""


@dataclass(frozen=True, slots=True)
class SampleCoverage:
    """How far a sample goes.

    Attributes:
        size: its bytes, or its tokens.
        covered: how many of them the grammar reads.
        complete: it was read to its end, and may end there.
    """

    size: int
    covered: int
    complete: bool


class Explorer:
    """Collects the states of one automaton, in the order in which a file holds them.

    Attributes:
        order: the states; each stands behind the one that it was reached from.
        reached: where each was reached from, and by which token.
        edges: the tokens followed from each state, and where they lead.
        rows: the number of each state's row in `writer`.
        cells: the number of the row of each continuation that stands for itself.
        depth: tokens from the start within which the search has seen all that it looks at.
        cut: whether something was left to be searched.
    """

    def __init__(self, automaton: MaskAutomaton) -> None:
        self.automaton = automaton
        self.writer = RowWriter(automaton.vocabulary.words)
        start = automaton.start
        self.order: list[int] = []
        self.reached: dict[int, tuple[int, int]] = {start: (DEAD, 0)}
        self.edges: dict[int, dict[int, int]] = {}
        self.rows: dict[int, int] = {}
        self.cells: dict[int, int] = {}
        self.depth = 0
        self.cut = False
        self._edge_count = 0
        self.take(start)

    @property
    def size(self) -> int:
        """Bytes of the file so far, about."""
        states = _STATE_BYTES * len(self.order) + 20 * len(self.cells)
        return states + _EDGE_BYTES * self._edge_count + self.writer.size

    def take(self, state: int) -> None:
        """Add a state, with its row and those of its continuations."""
        if state in self.rows:
            return
        automaton = self.automaton
        self.order.append(state)
        self.rows[state] = self.writer.add(automaton.row(state).view("uint32"))
        followed = self.edges[state] = {}
        for cell in automaton.cells(state):
            cell = automaton.canonical(cell)
            if cell not in self.cells:
                self.cells[cell] = self.writer.add(automaton.cell_row(cell))
        if automaton.may_end(state):
            followed.update(dict.fromkeys(automaton.vocabulary.eos_ids, ENDED))
            self._edge_count += len(followed)

    def follow(self, state: int, token: int) -> int:
        """The state after a token that is allowed; the step is kept."""
        after = self.automaton.accept(state, token)
        if after not in (DEAD, ENDED):
            self.reached.setdefault(after, (state, token))
            known = self.edges[state]
            self._edge_count += token not in known
            known[token] = after
        return after

    # Samples ----------------------------------------------------------------------------------

    def along(self, sample: Sample) -> SampleCoverage:
        """Take the states along a text."""
        if isinstance(sample, (str, bytes, bytearray)):
            data = sample.encode("utf-8") if isinstance(sample, str) else bytes(sample)
            return self._along_text(data)
        state = self.automaton.start
        for index, token in enumerate(sample):
            after = self.follow(state, token)
            if after == ENDED:
                return SampleCoverage(len(sample), index + 1, index + 1 == len(sample))
            if after == DEAD:
                return SampleCoverage(len(sample), index, False)
            self.take(after)
            state = after
        return SampleCoverage(len(sample), len(sample), self.automaton.may_end(state))

    def _along_text(self, data: bytes) -> SampleCoverage:
        """Every way to cut the text into tokens; texts of special tokens may be these tokens."""
        places: list[dict[int, None]] = [{} for _ in range(len(data) + 1)]
        places[0][self.automaton.start] = None
        covered = 0
        for at, states in enumerate(places):
            for state in states:
                covered = at
                for token, size in self._tokens_at(data, at):
                    after = self.follow(state, token)
                    if after not in (DEAD, ENDED):
                        self.take(after)
                        places[at + size][after] = None
        complete = any(self.automaton.may_end(state) for state in places[-1])
        return SampleCoverage(len(data), covered, complete)

    def _tokens_at(self, data: bytes, at: int) -> Steps:
        """Tokens that the text goes on with, each with its bytes."""
        vocabulary = self.automaton.vocabulary
        forest = vocabulary.forest
        found: Steps = []
        node = ROOT
        for size, byte in enumerate(data[at : at + vocabulary.longest], 1):
            following = forest.children(node).get(byte)
            if following is None:
                break
            node = following
            found += ((token, size) for token in forest.ids[node])
        special = self._special.match(data, at) if self._special else None
        if special:
            text = special[0]
            found += ((token, len(text)) for token in self._special_ids[text])
        return found

    @cached_property
    def _special_ids(self) -> dict[bytes, list[int]]:
        vocabulary: Vocabulary = self.automaton.vocabulary
        found: dict[bytes, list[int]] = {}
        for token in sorted(vocabulary.specials.values()):
            found.setdefault(vocabulary.tokens[token], []).append(token)
        return found

    @cached_property
    def _special(self) -> re.Pattern[bytes] | None:
        texts = sorted(self._special_ids, key=len, reverse=True)
        return re.compile(b"|".join(map(re.escape, texts))) if texts else None

    # Breadth first ----------------------------------------------------------------------------

    def breadth_first(
        self, states: int, size: int, progress: Callable[[int, int], None] | None = None
    ) -> None:
        """Take states from the start on until there are `states` or `size` bytes."""
        start = self.automaton.start
        queue = deque([(start, 0)])
        seen = {self._place(start)}
        while queue:
            state, depth = queue.popleft()
            if state not in self.rows and (len(self.order) >= states or self.size >= size):
                self.cut = True
                self.depth = depth - 1
                return
            self.take(state)
            self.depth = depth
            if progress is not None and len(self.order) % _PROGRESS == 0:
                progress(len(self.order), states)
            for token in self._ways(state):
                after = self.follow(state, token)
                if after in (DEAD, ENDED):
                    continue
                place = self._place(after)
                if place not in seen:
                    seen.add(place)
                    queue.append((after, depth + 1))

    def _place(self, state: int) -> tuple[int, ...]:
        """The state, but for what no mask can tell."""
        automaton = self.automaton
        return tuple(sorted({automaton.canonical(cell) for cell in automaton.cells(state)}))

    def _ways(self, state: int) -> list[int]:
        """Tokens that lead wherever the state leads."""
        row = self.automaton.row(state).view("uint32")
        if int(np.bitwise_count(row).sum()) <= _FEW:
            return [int(token) for token in ids_of(row)]
        tokens = [self._single[byte] for byte in self._bytes(state)]
        which = np.concatenate([np.array(tokens, dtype=np.int64), self._apart])
        allowed = row[which >> 5] >> (which & 31).astype(np.uint32) & 1
        return [int(token) for token in which[allowed == 1]]

    def _bytes(self, state: int) -> list[int]:
        """Bytes that lead wherever single bytes lead: one of many that lead to the same."""
        core = self.automaton.core
        arcs = [arc for cell in self.automaton.cells(state) for arc in core.expand(cell).arcs]
        ends = sorted({arc.low for arc in arcs} | {arc.high + 1 for arc in arcs})
        alike: dict[tuple[int, ...], list[int]] = {}
        for low, end in itertools.pairwise(ends):
            targets = tuple(arc.target for arc in arcs if arc.low <= low <= arc.high)
            if targets and low < 256:
                alike.setdefault(targets, []).extend(
                    byte for byte in range(low, end) if byte in self._single
                )
        return [
            byte for some in alike.values() for byte in (some[:1] if len(some) > _MANY else some)
        ]

    @cached_property
    def _apart(self) -> NDArray[np.int64]:
        """The special tokens, ascending."""
        return np.array(sorted(self.automaton.vocabulary.special_ids), dtype=np.int64)

    @cached_property
    def _single(self) -> dict[int, int]:
        """The ordinary token that is a single byte, the lowest id of several."""
        vocabulary: Vocabulary = self.automaton.vocabulary
        forest = vocabulary.forest
        roots = forest.children(ROOT)
        return {byte: min(forest.ids[node]) for byte, node in roots.items() if forest.ids[node]}


def check_samples(samples: Sequence[Sample]) -> None:
    """Raises LimitExceeded where there are too many."""
    total = sum(map(len, samples))
    if total > MAX_SAMPLE_BYTES:
        raise LimitExceeded.at(
            "input-too-long",
            f"the samples are {total:,} characters or tokens, at most {MAX_SAMPLE_BYTES:,}",
            hint="texts that are alike need only one sample",
        )
