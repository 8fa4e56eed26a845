"""Matchers found by the tokens that were generated.

Hosts hand over whole rows of ids: beams change places and split, drafted tokens are tried and
dropped. So no row has a matcher of its own; a matcher is what a text leads to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..targets.mask import MaskAutomaton, Matcher

Text = tuple[int, ...]

MAX_KEPT: Final = 4096
"""Texts whose matchers are kept; beyond, the older half is forgotten, and followed anew if it
comes again."""


class Followed:
    """The matchers of texts of one automaton.

    A text that the automaton does not allow has a matcher too: it stands where the text left the
    grammar, and `left` says so.
    """

    def __init__(self, automaton: MaskAutomaton) -> None:
        self._automaton = automaton
        self._known: dict[Text, tuple[Matcher, bool]] = {(): (automaton.matcher(), False)}

    def continues(self, tokens: Sequence[int]) -> bool:
        """Is this one more token behind a text that was followed, or no token at all?"""
        return not tokens or tuple(tokens[:-1]) in self._known

    def after(self, tokens: Sequence[int]) -> tuple[Matcher, bool]:
        """The matcher after these tokens, and whether they have left the grammar before.

        After an end token anything is taken: hosts pad texts that are shorter than others.
        """
        text = tuple(tokens)
        found = self._known.get(text)
        if found is not None:
            return found
        length = len(text) - 1
        while text[:length] not in self._known:
            length -= 1
        matcher, left = self._known[text[:length]]
        matcher = matcher.fork()
        for token in text[length:]:
            if left or matcher.is_terminated():
                break
            left = not matcher.accept_token(token)
        if len(self._known) >= MAX_KEPT:
            newest = list(self._known.items())[len(self._known) // 2 :]
            self._known = {(): (self._automaton.matcher(), False), **dict(newest)}
        self._known[text] = (matcher, left)
        return matcher, left
