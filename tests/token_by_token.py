"""An oracle for masks: every token of a vocabulary, byte by byte, through the plain recogniser.

It knows nothing of tries, slices, fronts or rows.
"""

from __future__ import annotations

from calligram import Vocabulary
from calligram.compiler.automaton.core import TOKEN_BASE
from calligram.compiler.automaton.recogniser import DEAD, Recogniser
from calligram.compiler.grammar import Grammar

ENDED = -1


class TokenByToken:
    """The tokens that a grammar allows; states are the recogniser's, or ENDED."""

    def __init__(self, grammar: Grammar, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        specials = vocabulary.specials
        self._recogniser = Recogniser(
            grammar.rules, grammar.start, specials=specials, markers=grammar.markers
        )
        self.start = self._recogniser.start

    def step(self, state: int, token: int) -> int:
        """The state after a token; DEAD if it is not allowed."""
        known = self.vocabulary
        if state == ENDED:
            return ENDED if token in known.eos_ids else DEAD
        if token in known.eos_ids and self._recogniser.accepting(state):
            return ENDED
        if token in known.padding_ids:
            return DEAD
        if token in known.special_ids:
            return self._recogniser.step(state, TOKEN_BASE + token)
        data = known.tokens[token]
        if not data or token in known.eos_ids:
            return DEAD
        for byte in data:
            state = self._recogniser.step(state, byte)
            if state == DEAD:
                return DEAD
        return state

    def allowed(self, state: int) -> list[int]:
        """All the tokens that may come next."""
        return [t for t in range(len(self.vocabulary)) if self.step(state, t) != DEAD]
