"""Values of which it is plain that they can be written: their rules may be built later.

What a tool's arguments can be is lowered when its rule is first visited, and most tools of a list
never are. But what cannot be written must be told when the grammar is compiled. So lowering waits
only for values about which nothing can come out: no key or text is at odds with the notation, no
bounds leave nothing, no items have to differ; and where what is built does not depend on which of
the rules waiting is built first.
"""

from __future__ import annotations

from ..errors import RenderError
from ..ir import (
    AnyValue,
    ArrayValue,
    BooleanValue,
    EnumValue,
    IntegerValue,
    Json,
    Key,
    NullValue,
    NumberValue,
    ObjectValue,
    StringValue,
    UnionValue,
    Value,
)
from ..origin import Origin
from ..regular.language import Language
from .layout import Layout
from .spelling import StringStyle
from .writer import write_key, write_string

MAX_DEPTH = 24
"""Values inside one another; deeper ones are lowered at once."""

MAX_LETTERS = 4_000
"""Letters of the declared keys of an object that has others too."""


class PlainValues:
    """Tells of values in one layout whether it is plain that they can be written."""

    @classmethod
    def none(cls, layout: Layout) -> PlainValues:
        """Of no value it is plain: the notation has its own ways to fail."""
        return _NoPlainValues(layout)

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._quotes_keys = all(style.escape != "none" for style in layout.keys)
        self._quotes_texts = all(style.escape != "none" for style in layout.strings)
        # By identity; the values are kept, so that no other gets theirs.
        self._known: dict[int, tuple[Value, bool]] = {}

    def value(self, value: Value, depth: int = 0) -> bool:
        """Whether the value, and all that is inside it, can be written for sure."""
        if isinstance(value, (ObjectValue, ArrayValue, UnionValue)):
            known = self._known.get(id(value))
            if known is None:
                plain = depth < MAX_DEPTH and not self.layout.one_spelling
                plain = plain and self._compound(value, depth + 1)
                known = self._known[id(value)] = (value, plain)
            return known[1]
        return self._scalar(value)

    def _compound(self, value: ObjectValue | ArrayValue | UnionValue, depth: int) -> bool:
        match value:
            case ObjectValue():
                inside = self.bare(value) and all(
                    self.key(k) and self.value(k.value, depth) for k in value.keys
                )
                return inside and all(self.value(o.value, depth) for o in value.open_keys)
            case ArrayValue():
                most = value.max_items
                return (
                    value.items is not None
                    and not (value.prefix or value.steps or value.unique)
                    and (most is None or most >= value.min_items)
                    and self.value(value.items, depth)
                )
            case UnionValue(options):
                return all(self.value(option, depth) for option in options)

    def _scalar(self, value: Value) -> bool:
        match value:
            case StringValue():
                return value.language is None and (value.max_length is None or self._quotes_texts)
            case IntegerValue():
                return (
                    value.minimum is None
                    and value.maximum is None
                    and value.multiple_of is None
                    and not value.not_multiple_of
                )
            case NumberValue():
                return (
                    value.minimum is None
                    and value.maximum is None
                    and value.multiple_of is None
                    and not value.not_multiple_of
                )
            case BooleanValue() | NullValue() | AnyValue():
                return True
            case EnumValue(values):
                return all(map(self._listed, values))
            case _:
                return False

    def key(self, key: Key) -> bool:
        """Whether the key can be written in each of its styles, as the only one of its name."""
        if self._quotes_keys and key.name.isascii():
            return True
        try:
            for style in self.layout.keys:
                write_key(key.name, self.layout, key.origin, style)
        except RenderError:
            return False
        return True

    def text(self, text: str, styles: tuple[StringStyle, ...], following: str) -> bool:
        """Whether the string can be written in each of the styles, `following` behind it."""
        layout = self.layout
        try:
            written = [write_string(text, style, following, layout, _NOWHERE) for style in styles]
        except RenderError:
            return False
        return not any(stop in found for stop in layout.stops for found in written)

    def _listed(self, value: Json) -> bool:
        if not isinstance(value, str):
            return is_word(value)
        if self._quotes_texts and not self.layout.stops and value.isascii():
            return True
        return self.text(value, self.layout.strings, "")

    @staticmethod
    def bare(value: ObjectValue) -> bool:
        """Whether the object's keys are all that is said of it, and the undeclared ones all that
        have other names: not so many that their automaton might pass a limit."""
        if value.conditions or value.min_keys or value.max_keys is not None:
            return False
        for opened in value.open_keys:
            whole, words = opened.names.split_words()
            if whole != Language.any() or sum(map(len, words)) > MAX_LETTERS:
                return False
        return True


class _NoPlainValues(PlainValues):
    def value(self, value: Value, depth: int = 0) -> bool:
        return False


def is_word(value: Json) -> bool:
    """Whether a listed value is written as a word or a short number."""
    return value is None or isinstance(value, bool) or (type(value) is int and abs(value) < 10**15)


_NOWHERE = Origin()
