"""Keys of objects -> expressions."""

from __future__ import annotations

from functools import lru_cache

from ..errors import RenderError
from ..grammar import Expr, Literal, Repeat, Sequence, choice, sequence
from ..ir import Key, OpenKeys
from ..origin import Origin
from ..regular.language import Language
from .layout import BARE_KEY_STOPS, Layout
from .shared import Shared
from .spelling import StringStyle
from .texts import TextLowering, plain_character
from .trie import trie
from .writer import write_key

MAX_KEY = 256
"""Code points of an undeclared key, where default bounds hold."""


class KeyLowering:
    """Lowers the keys of one layout."""

    def __init__(self, shared: Shared, layout: Layout, texts: TextLowering) -> None:
        self.shared = shared
        self.layout = layout
        self.texts = texts

    def key(self, member: Key | OpenKeys) -> Expr | None:
        """The spelled key."""
        if isinstance(member, Key):
            try:
                texts = {
                    write_key(member.name, self.layout, member.origin, style): None
                    for style in self.layout.keys
                }
            except RenderError as error:
                self.shared.problems += error.problems
                return None
            if len(texts) == 1:
                return Literal(*texts)
            return trie([(text, Sequence(())) for text in texts])
        found = [e for s in self.layout.keys if (e := self._spelled(member, s)) is not None]
        return choice(*found) if found else None

    def open_key(self, member: OpenKeys) -> Expr | None:
        """Any key of the class in the one way that it is written."""
        return self._spelled(member, self.layout.keys[0])

    def _spelled(self, member: OpenKeys, style: StringStyle) -> Expr | None:
        """Any key of the class, in its canonical spelling."""
        bounds = self.shared.bounds
        # Lengths are counted beside the automaton, not inside it.
        names, low, high = member.names.split_length()
        if self.layout.stops and style.escape in ("json", "ascii"):
            names = names & Language.avoiding(self.layout.stops)
        if style.escape == "none":
            language = names & bare_keys() if not style.open else names
            body = self.texts.raw(language, style, ":", low, high, member.origin, MAX_KEY)
        elif names.is_any:
            if high is None and bounds:
                high = max(min(bounds.string, MAX_KEY), low)
            body = Repeat(plain_character(self.shared, style), low, high)
        else:
            body = self.texts.inside(names, style, "", low, high, member.origin, MAX_KEY)
        if body is None:
            return None
        return sequence(Literal(style.open), body, Literal(style.close))


@lru_cache(maxsize=1)
def solid_text() -> Language:
    """Texts that are not empty, without white space at their ends."""
    return Language.pattern(r"^[^ \t\r\n]([\s\S]*[^ \t\r\n])?$", origin=Origin())


@lru_cache(maxsize=1)
def bare_keys() -> Language:
    """Keys that can stand without quotes."""
    return Language.avoiding(BARE_KEY_STOPS) & solid_text()
