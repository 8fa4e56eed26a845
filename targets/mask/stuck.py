"""The dead ends of a grammar in a vocabulary: places that tokens lead to, and from which none lead
to the end.

All the places that tokens lead to are looked at, up to a limit. What lies beyond it may lead to the
end: whatever is called a dead end is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...compiler.automaton.words import expected_words
from ...compiler.errors import LimitExceeded
from ...compiler.grammar import Grammar, Token
from ...compiler.vocabulary.vocabulary import Vocabulary
from .automaton import MaskAutomaton
from .lacking import lacking_bytes, named_tokens
from .reach import Reach
from .states import DEAD

LIMIT: Final = 5000
"""Places that are looked at."""

_SHOWN: Final = 16
"""Dead ends that are reported."""


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """A place that tokens lead to, and from which none lead to the end.

    Attributes:
        tokens: ids that lead there, one by one.
        text: their bytes; special tokens with their text.
        expected: what the grammar wants there, in words.
        next_bytes: the bytes that a token would have to begin with, ascending.
        leads_on: whether some token can be taken here all the same.
    """

    tokens: tuple[int, ...]
    text: bytes
    expected: tuple[str, ...]
    next_bytes: bytes
    leads_on: bool


@dataclass(frozen=True, slots=True)
class DeadEnds:
    """What is known of the dead ends of a grammar in a vocabulary.

    Attributes:
        decided: whether `found` is empty if and only if there are none.
        found: dead ends, those where no token leads on before those from which tokens lead to dead
            ends only, and near ones before far ones; the first of them only.
        hopeless: whether the very start is one: no text can be written.
        lacking_bytes: bytes that texts can hold and that are no token by themselves, ascending.
        lacking_tokens: markers that the grammar wants as special tokens and the vocabulary does
            not have: they are written as text.
        places: how many places were looked at; 0 if no byte is lacking.
        reason: why nothing was decided; empty if it was.
    """

    decided: bool
    found: tuple[DeadEnd, ...] = ()
    hopeless: bool = False
    lacking_bytes: tuple[int, ...] = ()
    lacking_tokens: tuple[str, ...] = ()
    places: int = 0
    reason: str = ""

    def __bool__(self) -> bool:
        """Are there dead ends, or might there be?"""
        return bool(self.found) or not self.decided


def find_dead_ends(grammar: Grammar, vocabulary: Vocabulary, limit: int = LIMIT) -> DeadEnds:
    """The dead ends of a grammar; at most `limit` places are looked at."""
    lacking = tuple(lacking_bytes(grammar, vocabulary))
    tokens = _lacking_tokens(grammar, vocabulary)
    if not lacking:
        return DeadEnds(True, lacking_tokens=tokens)
    automaton = MaskAutomaton(grammar, vocabulary)
    with vocabulary.lock:
        search = _Search(automaton, automaton.ends().every_place(), limit)
        try:
            search.run()
        except LimitExceeded as error:
            search.reason = search.reason or error.problems[0].message
            search.unknown.update(search.todo)
        found = search.found()
    return DeadEnds(
        bool(found) or not search.reason,
        found[:_SHOWN],
        any(not end.tokens for end in found),
        lacking,
        tokens,
        len(search.seen),
        "" if found else search.reason,
    )


def _lacking_tokens(grammar: Grammar, vocabulary: Vocabulary) -> tuple[str, ...]:
    wanted: list[Token] = [*named_tokens(grammar), *grammar.markers]
    texts = (t.text for t in wanted if t.match == "require")
    return tuple(sorted({text for text in texts if text not in vocabulary.specials}))


@dataclass
class _Search:
    """Continuations that tokens lead to, breadth first.

    came: the continuation and token before each one. unknown: may lead to the end, though that was
    not looked at.
    """

    automaton: MaskAutomaton
    reach: Reach
    limit: int
    came: dict[int, tuple[int, int]] = field(default_factory=dict)
    before: dict[int, list[int]] = field(default_factory=dict)
    seen: dict[int, None] = field(default_factory=dict)
    ends: set[int] = field(default_factory=set)
    unknown: set[int] = field(default_factory=set)
    todo: list[int] = field(default_factory=list)
    reason: str = ""

    def run(self) -> None:
        automaton = self.automaton
        self.todo = list(automaton.cells(automaton.start))
        self.seen = dict.fromkeys(self.todo)
        for number, cell in enumerate(self.todo):
            if automaton.fronts.ends(cell):
                self.ends.add(cell)
            if automaton.core.remembering.in_use:
                self.reason = "what may follow depends on texts that are remembered"
            elif number >= self.limit:
                self.reason = f"tokens lead to more than {self.limit} places"
            if self.reason:
                self.unknown.update(self.todo[number:])
                return
            for token, after in self.steps(cell):
                self.before.setdefault(after, []).append(cell)
                if after not in self.seen:
                    self.seen[after] = None
                    self.came[after] = cell, token
                    self.todo.append(after)

    def steps(self, cell: int) -> Iterator[tuple[int, int]]:
        """A token to each continuation that one leads to."""
        reached = self.reach.of(cell)
        for group in reached.groups:
            ids = [*group.ids, *(int(i) for row in group.rows for i in _bits(row))]
            tokens = [t for t in ids if t not in reached.single]
            if not tokens:
                continue
            if len(group.cells) == 1:
                yield tokens[0], group.cells[0]
            else:
                # These may be of several places: whose each is, it says itself.
                yield from ((t, c) for t in tokens for c in self.reach.after(cell, t))
        for token in sorted(reached.single):
            yield from ((token, after) for after in self.reach.after(cell, token))

    def found(self) -> tuple[DeadEnd, ...]:
        """The dead ends among the places."""
        alive = self.ends | self.unknown
        todo = list(alive)
        for cell in todo:
            for earlier in self.before.get(cell, ()):
                if earlier not in alive:
                    alive.add(earlier)
                    todo.append(earlier)
        found = []
        seen: set[int] = set()
        for cell in self.seen:
            if cell in alive:
                continue
            tokens = self.tokens_to(cell)
            state = self.automaton.start
            for token in tokens:
                state = self.automaton.accept(state, token)
            # Another reading of the same tokens may lead on.
            cells = self.automaton.cells(state)
            if (
                state == DEAD
                or state in seen
                or not all(c in self.seen and c not in alive for c in cells)
            ):
                continue
            seen.add(state)
            found.append(self.dead_end(state, tokens))
        if not found and any(cell not in alive for cell in self.seen):
            self.reason = self.reason or "some readings of a text end nowhere, others may"
        return tuple(sorted(found, key=lambda end: end.leads_on))

    def tokens_to(self, cell: int) -> tuple[int, ...]:
        tokens = []
        while cell in self.came:
            cell, token = self.came[cell]
            tokens.append(token)
        return tuple(reversed(tokens))

    def dead_end(self, state: int, tokens: tuple[int, ...]) -> DeadEnd:
        automaton = self.automaton
        text = b"".join(automaton.vocabulary.tokens[t] for t in tokens)
        expected = expected_words(automaton.core, automaton.cells(state))
        leads_on = bool(automaton.row(state).any())
        return DeadEnd(tokens, text, expected, bytes(automaton.next_bytes(state)), leads_on)


def _bits(row: np.ndarray) -> list[int]:
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    found: list[int] = np.flatnonzero(bits).tolist()
    return found
