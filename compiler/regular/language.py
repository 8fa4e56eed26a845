"""Regular languages of values: patterns, formats, finite sets, and their algebra.

A :class:`Language` is a description; combining is cheap and nothing is determinised before
:attr:`Language.dfa` (or what needs it) is asked for. Patterns are parsed at once, so that a bad one
is reported where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias, assert_never

from ..errors import LimitExceeded, SchemaError
from ..origin import Origin
from . import formats, table
from .avoid import avoid
from .charset import FIRST_SURROGATE, LAST_SURROGATE
from .dfa import Dfa
from .regex_compile import compile_regex, split_length
from .regex_parser import RegexSyntaxError, RegexUnsupported, parse_regex
from .table import Table, TooLarge
from .words import word_table

MAX_DEPTH = 50
"""Deepest nesting of unevaluated operations; beyond it an operand is determinised at once."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    source: str
    origin: Origin = field(compare=False)
    any_length: bool = False


@dataclass(frozen=True, slots=True)
class _Format:
    name: str
    wide: bool = False


@dataclass(frozen=True, slots=True)
class _Words:
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Avoiding:
    stops: tuple[str, ...]
    closer: str


@dataclass(frozen=True, slots=True)
class _Known:
    dfa: Dfa
    what: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class _And:
    items: tuple[Language, ...]


@dataclass(frozen=True, slots=True)
class _Or:
    items: tuple[Language, ...]


@dataclass(frozen=True, slots=True)
class _Not:
    """What is not in `item`. Formats are read wide inside, unless this is read wide itself."""

    item: Language
    wide: bool = False


_Node: TypeAlias = _Pattern | _Format | _Words | _Avoiding | _Known | _And | _Or | _Not


class Language:
    """A regular set of texts over Unicode code points. Immutable.

    ``==`` and ``hash`` compare the description, not the set of texts; compare ``.dfa`` for that.
    Everything that determinises may raise LimitExceeded (code ``pattern-too-large``).
    """

    __slots__ = ("_depth", "_dfa", "_hash", "_node", "_table")

    def __init__(self, node: _Node) -> None:
        self._node = node
        self._depth: int = 0
        self._hash = hash(node)
        self._table: Table | None = None
        self._dfa: Dfa | None = None
        match node:
            case _And(items) | _Or(items):
                self._depth = 1 + max(item._depth for item in items)
            case _Not(item):
                self._depth = 1 + item._depth

    @classmethod
    def pattern(cls, source: str, *, origin: Origin) -> Language:
        """The texts in which a JSON Schema ``pattern`` is found (ECMA-262, u flag, not anchored).

        Raises:
            SchemaError: code ``invalid-pattern`` (with reason and position) or
                ``unsupported-pattern`` (naming the construct and its position).
        """
        try:
            parse_regex(source)
        except RegexSyntaxError as error:
            raise SchemaError.at(
                "invalid-pattern",
                f"invalid regular expression {_quoted(source)}: {error.reason} "
                f"at position {error.position}",
                origin,
            ) from None
        except RegexUnsupported as error:
            raise SchemaError.at(
                "unsupported-pattern",
                f"regular expression {_quoted(source)} uses {error.reason} "
                f"at position {error.position}, which is not supported",
                origin,
            ) from None
        return cls(_Pattern(source, origin))

    @classmethod
    def format(cls, name: str) -> Language | None:
        """The texts of a JSON Schema ``format``; None if no automaton is known for the name."""
        return cls(_Format(name)) if name in formats.KNOWN_FORMATS else None

    @classmethod
    def words(cls, words: Iterable[str]) -> Language:
        """Exactly these texts. One with a lone surrogate is no text and is left out."""
        return cls(_Words(tuple(dict.fromkeys(words))))

    @classmethod
    def any(cls) -> Language:
        """Every text."""
        return _ANY

    @classmethod
    def none(cls) -> Language:
        """No text."""
        return _NONE

    @classmethod
    def avoiding(cls, stops: Sequence[str], closer: str = "") -> Language:
        """Texts without a stop, after which `closer` is told at once; see :mod:`.avoid`."""
        return cls(_Avoiding(tuple(dict.fromkeys(stops)), closer))

    @classmethod
    def of(cls, dfa: Dfa, what: str = "text") -> Language:
        """The language of an automaton; `what` says it in words."""
        return cls(_Known(dfa, what))

    def __and__(self, other: Language) -> Language:
        if self == other or other == _ANY:
            return self
        if self == _ANY:
            return other
        if _NONE in (self, other):
            return _NONE
        items = dict.fromkeys((*_items(self, _And), *_items(other, _And)))
        return Language(_And(tuple(item._shallow() for item in items)))

    def __or__(self, other: Language) -> Language:
        if self == other or other == _NONE:
            return self
        if self == _NONE:
            return other
        if _ANY in (self, other):
            return _ANY
        items = dict.fromkeys((*_items(self, _Or), *_items(other, _Or)))
        return Language(_Or(tuple(item._shallow() for item in items)))

    def __invert__(self) -> Language:
        if self == _ANY:
            return _NONE
        if isinstance(self._node, _Not) and not self._node.wide:
            return self._node.item
        return Language(_Not(self._shallow()))

    def __sub__(self, other: Language) -> Language:
        return self & ~other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Language):
            return NotImplemented
        return self is other or (self._hash == other._hash and self._node == other._node)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<Language: {self.what}>"

    def __reduce__(self) -> tuple[type[Language], tuple[_Node]]:
        return Language, (self._node,)

    @property
    def dfa(self) -> Dfa:
        """The canonical automaton, made on first use.

        Raises:
            LimitExceeded: code ``pattern-too-large``, at the pattern's origin.
        """
        if self._dfa is None:
            self._dfa = Dfa.of(self._get_table())
        return self._dfa

    @property
    def is_empty(self) -> bool:
        """Whether no text is in the language."""
        whole, words = self.split_words()
        if words and (whole == _ANY or not whole.dfa.is_finite):
            return False
        return not self._get_table().accepting

    @property
    def wide(self) -> Language:
        """This language with each format read as all that may be called it: a superset."""
        match self._node:
            case _Format(name, False) if name in formats.WIDENED:
                return Language(_Format(name, True))
            case _And(items) if any(i.wide is not i for i in items):
                return Language(_And(tuple(i.wide for i in items)))
            case _Or(items) if any(i.wide is not i for i in items):
                return Language(_Or(tuple(i.wide for i in items)))
            case _Not(item, False) if item.wide is not item:
                return Language(_Not(item, True))
        return self

    def split_words(self) -> tuple[Language, tuple[str, ...]]:
        """A language and texts that it may hold; without them it is this language.

        An object's undeclared keys are any text but the declared ones: worth asking where words
        can be watched for beside an automaton, which would have a state for each of their letters.
        """
        match self._node:
            case _Not(Language(_node=_Words(words)), _):
                return _ANY, words
            case _And(items):
                parts = [item.split_words() for item in items]
                whole = parts[0][0]
                for part, _ in parts[1:]:
                    whole = whole & part
                return whole, tuple(dict.fromkeys(w for _, words in parts for w in words))
        return self, ()

    @property
    def is_any(self) -> bool:
        """Whether every text is in the language."""
        if any(_is_text(word) for word in self.split_words()[1]):
            return False
        made = self._get_table()
        return len(made.rows) == 1 and bool(made.accepting) and -1 not in made.rows[0]

    def accepts(self, text: str) -> bool:
        """Whether the whole text is in the language, total lengths of formats included."""
        match self._node:
            case _Format(name, False) if name in formats.FORMAT_LENGTHS:
                low, high = formats.FORMAT_LENGTHS[name]
                return low <= len(text) <= high and self.dfa.accepts(text)
            case _And(items):
                return all(item.accepts(text) for item in items)
            case _Or(items):
                return any(item.accepts(text) for item in items)
            case _Not(item, wide):
                return not (item if wide else item.wide).accepts(text)
        return self.dfa.accepts(text)

    def split_length(self) -> tuple[Language, int, int | None]:
        """A language and length bounds (code points) that together are this language.

        Worth asking before ``.dfa`` wherever lengths can be counted beside an automaton:
        `^(?=.{1,253}$)...` costs a counter then, not a state for each length and position. The
        total lengths of formats (a host name's 253) are found here only: see
        :data:`.formats.FORMAT_LENGTHS`.
        """
        match self._node:
            case _Pattern(source, origin, False):
                _, low, high = split_length(parse_regex(source))
                if (low, high) == (0, None):
                    return self, 0, None
                return Language(_Pattern(source, origin, any_length=True)), low, high
            case _Format(name, False) if name in formats.FORMAT_LENGTHS:
                return self, *formats.FORMAT_LENGTHS[name]
            case _And(items):
                parts = [item.split_length() for item in items]
                whole = parts[0][0]
                for part, _, _ in parts[1:]:
                    whole = whole & part
                highs = [high for _, _, high in parts if high is not None]
                return whole, max(low for _, low, _ in parts), min(highs, default=None)
        return self, 0, None

    @property
    def what(self) -> str:
        """The language in a few words, for messages; never determinises."""
        return _what(self._node)

    def _shallow(self) -> Language:
        """This language, determinised if it has become deep, so that no recursion can be."""
        return self if self._depth < MAX_DEPTH else Language.of(self.dfa, self.what)

    def _get_table(self) -> Table:
        if self._table is None:
            try:
                self._table = _make(self._node)
            except TooLarge as error:
                raise LimitExceeded.at(
                    "pattern-too-large",
                    f"{self.what} is too large for an automaton: {error.what}",
                    _origin(self),
                ) from None
        return self._table


_ANY = Language(_Avoiding((), ""))
_NONE = Language(_Words(()))


def _items(language: Language, kind: type[_And] | type[_Or]) -> tuple[Language, ...]:
    node = language._node
    return node.items if isinstance(node, kind) else (language,)


@lru_cache(maxsize=512)
def _make(node: _Node) -> Table:
    match node:
        case _Pattern(source, _, any_length):
            return compile_regex(source, any_length)
        case _Format(name, wide):
            return formats.format_table(name, wide)
        case _Words(words):
            return word_table(words)
        case _Avoiding(stops, closer):
            return _avoid(stops, closer)
        case _Known(dfa):
            return dfa.table()
        case _And(items):
            return _fold(items, conjunction=True)
        case _Or(items):
            return _fold(items, conjunction=False)
        case _Not(item, wide):
            return table.complement((item if wide else item.wide)._get_table())
    assert_never(node)


def _fold(items: tuple[Language, ...], *, conjunction: bool) -> Table:
    """All items combined, the small ones first, so that the parts stay small."""
    made = sorted((item._get_table() for item in items), key=lambda t: len(t.rows))
    result = made[0]
    for other in made[1:]:
        result = table.intersection(result, other) if conjunction else table.union(result, other)
    return result


@lru_cache(maxsize=256)
def _avoid(stops: tuple[str, ...], closer: str) -> Table:
    return avoid(stops, closer)


def _origin(language: Language) -> Origin | None:
    """The place of the first pattern of the description."""
    match language._node:
        case _Pattern(origin=origin):
            return origin
        case _And(items) | _Or(items):
            return next((o for o in map(_origin, items) if o is not None), None)
        case _Not(item):
            return _origin(item)
        case _:
            return None


def _is_text(word: str) -> bool:
    """Lone surrogates are in no text."""
    return not any(FIRST_SURROGATE <= ord(c) <= LAST_SURROGATE for c in word)


def _quoted(text: str, most: int = 80) -> str:
    short = text if len(text) <= most else text[: most - 3] + "..."
    return f"'{short}'"


def _what(node: _Node) -> str:
    match node:
        case _Pattern(source):
            short = source if len(source) <= 60 else source[:57] + "..."
            return f"text matching /{short}/"
        case _Format(name):
            return formats.what(name)
        case _Words(words):
            return _what_words(words)
        case _Avoiding(stops, closer):
            shown = [repr(s) for s in dict.fromkeys((closer, *stops)) if s]
            more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
            return f"text without {' or '.join(shown[:3])}{more}" if shown else "any text"
        case _Known(what=what):
            return what
        case _And(items):
            return _joined(items, " and ")
        case _Or(items):
            return _joined(items, " or ")
        case _Not(item):
            return f"not {item.what}"
    assert_never(node)


def _joined(items: tuple[Language, ...], word: str) -> str:
    shown = [f"({i.what})" if isinstance(i._node, _And | _Or) else i.what for i in items[:3]]
    return word.join(shown) + (f"{word}{len(items) - 3} more" if len(items) > 3 else "")


def _what_words(words: tuple[str, ...]) -> str:
    if not words:
        return "no text"
    if len(words) == 1:
        return f'the text "{words[0][:40]}"'
    return f"one of {len(words)} words"
