"""Strings and enum members -> expressions: quoted or raw, bounded exactly or loop by loop."""

from __future__ import annotations

from functools import lru_cache

from ..automaton.liveness import liveness, searched
from ..errors import RenderError
from ..grammar import (
    EMPTY,
    ButMachine,
    Chars,
    Expr,
    Literal,
    Machine,
    Regular,
    Repeat,
    RuleRef,
    choice,
    optional,
    sequence,
)
from ..ir import EnumValue, StringValue
from ..origin import Origin, Problem
from ..regular.language import Language
from .layout import Layout
from .loops import bounded_loops
from .raw import raw_text
from .scalars import zero_fraction
from .shared import Shared
from .spelling import Escape, StringStyle, canonical_character, character, escaped, plain, spell
from .trie import trie
from .writer import Writer, not_carryable

_UNIT = (
    r"(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}"
    r"|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
JSON_INSIDE = rf'^(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u{_UNIT}))*$'
"""The inside of a JSON string as a pattern (RFC 8259 section 7, surrogates only in pairs)."""


class TextLowering:
    """Lowers strings in one layout. None stands for "no text at all"."""

    def __init__(self, shared: Shared, layout: Layout, writer: Writer) -> None:
        self.shared = shared
        self.layout = layout
        self.writer = writer

    def string(
        self,
        value: StringValue,
        styles: tuple[StringStyle, ...] | None = None,
        following: str = "",
    ) -> Expr | None:
        """A string in any of the styles; `following` ends raw text where a style has no closer."""
        low, high = value.min_length, value.max_length
        options = []
        for style in styles or self.layout.strings:
            body = self.inside(value.language, style, following, low, high, value.origin)
            if body is not None:
                options.append(sequence(Literal(style.open), body, Literal(style.close)))
        return choice(*options) if options else None

    def inside(
        self,
        language: Language | None,
        style: StringStyle,
        following: str,
        low: int,
        high: int | None,
        origin: Origin,
        most: int | None = None,
    ) -> Expr | None:
        """The inside of a string; `high` None: the schema has no bound, and `most`, if given, is
        smaller than the default one."""
        quote = style.close[:1]
        if style.escape == "none":
            if style.shuns:
                language = unopened(style.shuns) & (language or Language.any())
            return self.raw(language, style, following, low, high, origin, most)
        bounds = self.shared.bounds
        if self.layout.stops and style.escape in ("json", "ascii"):
            if language is None and not self.layout.one_spelling:
                return self._guarded(low, high, origin)
            language = Language.any() if language is None else language
            language = language & Language.avoiding(self.layout.stops)
        if language is None:
            if high is None and bounds is not None:
                high = max(bounds.string, low)
            one = self.layout.one_spelling
            key: tuple[object, ...] = ("string", style, low, high, one)
            char = (
                plain_character(self.shared, style)
                if one
                else self.shared.named(
                    ("char", style.escape, quote),
                    f"{style.escape}-char",
                    lambda: character(style.escape, quote),
                )
            )
            return self.shared.named(key, f"{style.escape}-text", lambda: Repeat(char, low, high))
        key = ("spelled", language, style.escape, quote)
        window = (low, high, most)
        return self._regular(key, language, style.escape, quote, window, language.what, origin)

    def raw(
        self,
        language: Language | None,
        style: StringStyle,
        following: str,
        low: int,
        high: int | None,
        origin: Origin,
        most: int | None = None,
    ) -> Expr | None:
        """Text without escapes, up to the style's closer or what follows."""
        stops, closer = self.layout.avoid, style.close or following
        if not closer and not stops and language is None:
            bounds = self.shared.bounds
            if high is None and bounds is not None:
                high = max(bounds.string, low)
            return Repeat(Chars(plain("none", "")), low, high)
        free = raw_text(style, following, stops)
        what = f"text without {closer!r}" if closer else "text"
        if language is not None:
            free, what = language & free, language.what
        elif high is None:
            origin = Origin()  # Shared by all such texts, whichever is built first.
        key = ("raw", language, closer, style.before, stops)
        return self._regular(key, free, "none", "", (low, high, most), what, origin)

    def _guarded(self, low: int, high: int | None, origin: Origin) -> Expr | None:
        """A JSON string's inside, any spelling, in which no stop of the notation around occurs."""
        stops = self.layout.stops
        spelled = Language.pattern(JSON_INSIDE, origin=Origin()) & Language.avoiding(stops)
        bounds = self.shared.bounds

        def build() -> Machine:
            # A character is complete where the text so far is a whole string's inside.
            dfa = spelled.dfa
            rows = (
                tuple((a, b, t, int(t in dfa.accepting)) for a, b, t in row)
                for row in dfa.transitions
            )
            return Machine(tuple(rows), dfa.accepting)

        machine = self.shared.machine(("guarded", stops), build)
        what = f"text without {stops[0]!r}"
        if high is not None or bounds is None:
            return Regular(machine, low, high, what, origin)
        most = max(bounds.string, low)
        shared = self.shared
        hint = "guarded-text"
        return self.shared.named(
            ("guarded-loops", stops, low),
            hint,
            lambda: bounded_loops(
                # Shared by all such strings, whichever is built first.
                at_least(machine, low),
                most,
                shared.rules,
                shared.names,
                hint,
                Origin(),
            ),
        )

    def _regular(
        self,
        key: tuple[object, ...],
        language: Language,
        escape: Escape,
        quote: str,
        window: tuple[int, int | None, int | None],
        what: str,
        origin: Origin,
    ) -> Expr | None:
        """The spelled words of a language, `window` many characters long.

        A bound that the schema has is exact. Without one, each loop is bounded by itself, which
        takes a few rules a state instead of one for each state and length.
        """
        low, high, most = window
        bounds = self.shared.bounds
        if high is not None or bounds is None:
            but = self._but_words(key, language, escape, quote, high)
            machine = but or self.shared.machine(key, lambda: spell(language.dfa, escape, quote))
            # The longest text that fits is no excluded one.
            if not liveness(machine if but is None else but.base).live(0, low, high):
                return None
            return Regular(machine, low, high, what, origin)
        if low > 0:
            language = language & longer_than(low)
        if language.is_empty:
            return None
        hint = "text" if key[0] == "raw" else origin.pointer.rsplit("/", 1)[-1] or "text"
        if most is not None:
            # Shared by all such keys, whichever is built first.
            hint, origin = "key", Origin()
        length = max(bounds.string if most is None else min(bounds.string, most), low)
        return self.shared.named(
            ("loops", *key, low, length),
            hint,
            lambda: bounded_loops(
                spell(language.dfa, escape, quote),
                length,
                self.shared.rules,
                self.shared.names,
                hint,
                origin,
            ),
        )

    def _but_words(
        self,
        key: tuple[object, ...],
        language: Language,
        escape: Escape,
        quote: str,
        high: int | None,
    ) -> ButMachine | None:
        """The machine of a language that is another, endless one but for some words."""
        whole, words = language.split_words()
        if not words or any(high is not None and len(word) >= high for word in words):
            return None
        base = self.shared.machine(
            ("spelled", whole, escape, quote), lambda: spell(whole.dfa, escape, quote)
        )
        # A text that has become one of the words must be able to grow longer than all of them:
        # without end, or up to the most.
        grows = searched(base)
        if not (grows.is_endless if high is None else grows.is_dense):
            return None
        texts = (escaped(word, escape, quote) for word in words)
        made = self.shared.machine(
            (*key, "but"),
            lambda: ButMachine(base, texts, lambda: spell(language.dfa, escape, quote)),
        )
        assert isinstance(made, ButMachine)
        return made

    def enum(
        self,
        value: EnumValue,
        styles: tuple[StringStyle, ...] | None = None,
        following: str = "",
    ) -> Expr | None:
        """The members in their canonical spelling, sharing prefixes."""
        texts: dict[str, Expr] = {}
        problems: tuple[Problem, ...] = ()
        for member in value.values:
            for style in (styles or self.layout.strings) if isinstance(member, str) else (None,):
                try:
                    text = self.writer.write(member, None, value.origin, following, style)
                    own = style is not None and style.escape == "none" and bool(style.open)
                    if not own and any(stop in text for stop in self.layout.stops):
                        raise not_carryable("the value holds a closing marker", value.origin)
                    texts[text] = self._fraction if type(member) is int else EMPTY
                except RenderError as error:
                    problems = error.problems
        if not texts:
            self.shared.problems += problems
            return None
        return trie(list(texts.items()))

    @property
    def _fraction(self) -> Expr:
        """What may follow a whole number: a fraction of zeros, where the layout has them."""
        if not self.layout.float_integers:
            return EMPTY
        bounds = self.shared.bounds
        return optional(zero_fraction(bounds.digits if bounds else None))


def plain_character(shared: Shared, style: StringStyle) -> RuleRef:
    """One character of a string in its shortest spelling."""
    quote = style.close[:1]
    return shared.named(
        ("plain-char", style.escape, quote),
        f"{style.escape}-plain-char",
        lambda: canonical_character(style.escape, quote),
    )


@lru_cache(maxsize=64)
def unopened(openers: tuple[str, ...]) -> Language:
    """Texts that begin with none of `openers`."""
    opened = "|".join("".join(f"\\u{ord(c):04x}" for c in o) for o in openers)
    return ~Language.pattern(rf"^(?:{opened})[\s\S]*$", origin=Origin("/args/string"))


def longer_than(low: int) -> Language:
    """Texts of at least `low` code points."""
    return Language.pattern(rf"^[\s\S]{{{low},}}$", origin=Origin("/minLength"))


def at_least(machine: Machine, low: int) -> Machine:
    """The machine's words with `low` counts or more, the counting done by the states."""
    if low == 0:
        return machine
    order: dict[tuple[int, int], int] = {(0, 0): 0}
    queue = [(0, 0)]
    rows = []
    for state, count in queue:
        row = []
        for a, b, target, counts in machine.transitions[state]:
            after = (target, min(count + counts, low))
            if after not in order:
                order[after] = len(order)
                queue.append(after)
            row.append((a, b, order[after], counts))
        rows.append(tuple(row))
    ends = (n for (state, count), n in order.items() if count == low and state in machine.accepting)
    return Machine(tuple(rows), frozenset(ends))
