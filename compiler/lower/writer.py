"""Writing values: the inverse of reading, and the spelling of enum members in grammars.

Where a typed value is at hand it leads: keys in its order, numbers as its grammar spells them,
enum members as the enum has them. Raises RenderError (code ``not-carryable``) for what the notation
cannot carry.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ..errors import RenderError
from ..ir import (
    ArrayValue,
    EnumValue,
    IntegerValue,
    NumberValue,
    ObjectValue,
    ReferenceValue,
    UnionValue,
    Value,
)
from ..json_schema.json_values import json_key
from ..limits import MAX_EXPONENT, MAX_NESTING
from ..membership import contains
from ..origin import Origin
from ..regular.numbers import spells_exponents
from .layout import BARE_KEY_STOPS, Layout
from .one_spelling import OneSpelling
from .raw import fits_raw
from .spelling import WHITESPACE, StringStyle, escaped, preferred

_SURROGATE = re.compile("[\ud800-\udfff]")

PLAIN_DIGITS = 20
"""Digits before or behind the point beyond which a number is written with an exponent."""


def not_carryable(message: str, origin: Origin, hint: str | None = None) -> RenderError:
    """The error for a value that the notation cannot hold."""
    return RenderError.at("not-carryable", message, origin, hint)


def check_written(value: Any, origin: Origin) -> None:
    """Refuse what no notation holds, before anything compares or sorts it.

    Args:
        value: what is to be written, not nested more than `MAX_NESTING` deep.

    Raises:
        RenderError: no JSON value: another type, a number that is none, a key that is no string, a
            lone surrogate.
    """
    match value:
        case str():
            check_text(value, origin)
        case dict():
            for name, inner in value.items():
                if not isinstance(name, str):
                    raise not_carryable(f"the key {name!r} is no string", origin)
                check_text(name, origin)
                check_written(inner, origin.child(name))
        case list() | tuple():
            for at, item in enumerate(value):
                check_written(item, origin.child(at))
        case float() | Decimal() if not math.isfinite(value):
            raise not_carryable(f"{value} is no JSON number", origin)
        case None | int() | float() | Decimal():
            pass
        case _:
            raise not_carryable(f"{type(value).__name__} is no JSON value", origin)


def as_json(value: Any) -> Any:
    """The value in lists and dicts, as it would be read."""
    match value:
        case Mapping():
            return {name: as_json(inner) for name, inner in value.items()}
        case list() | tuple():
            return [as_json(item) for item in value]
        case _:
            return value


def check_text(text: str, origin: Origin) -> None:
    """Refuse a text that is not of whole characters."""
    if _SURROGATE.search(text):
        raise not_carryable("a lone surrogate is no character", origin)


def write_string(
    text: str, style: StringStyle, following: str, layout: Layout, origin: Origin
) -> str:
    """A string in one style; `following` is the literal behind it (raw text must not hold it)."""
    check_text(text, origin)
    if text.startswith(style.shuns):
        raise not_carryable(f"the text {_short(text)} begins like another form of text", origin)
    if style.escape == "none":
        if not fits_raw(text, style, following, layout.avoid):
            closer = style.close or following
            raise not_carryable(
                f"the text {_short(text)} holds {_short(closer)} or another marker, which would "
                "end it early",
                origin,
            )
        return style.open + text + style.close
    body = escaped(text, style.escape, style.close[:1])
    return style.open + body + style.close


def write_key(name: str, layout: Layout, origin: Origin, style: StringStyle | None = None) -> str:
    """A key with its quotes, without the colon."""
    style = style or layout.keys[0]
    if not style.open:
        check_text(name, origin)
        bad = next((s for s in (*BARE_KEY_STOPS, *layout.avoid) if s in name), None)
        if bad is not None or not name or name != name.strip(WHITESPACE):
            raise not_carryable(f"the key {_short(name)} cannot be written without quotes", origin)
        return name
    return write_string(name, style, layout.colon, layout, origin)


def write_number(value: int | float | Decimal, kind: Value | None, origin: Origin) -> str:
    """A JSON number: whole without a fraction under an integer, no exponent if that is short."""
    if isinstance(value, int):
        try:
            return str(value)
        except ValueError:  # More digits than the interpreter converts.
            raise not_carryable("the integer has too many digits", origin) from None
    if isinstance(value, float):
        if not math.isfinite(value):
            raise not_carryable(f"{value} is no JSON number", origin)
        text = repr(value)
    else:
        if not value.is_finite():
            raise not_carryable(f"{value} is no JSON number", origin)
        text = str(value)
    exact = Decimal(text)
    if exact and abs(exact.adjusted()) > MAX_EXPONENT:
        raise not_carryable(f"a number beyond 1e±{MAX_EXPONENT}", origin)
    if isinstance(kind, IntegerValue) and exact == exact.to_integral_value():
        return format(exact.to_integral_value(), "f")
    plain = format(exact, "f")
    whole, _, fraction = plain.lstrip("-").partition(".")
    # Ranges of numbers are written without an exponent.
    ranged = isinstance(kind, NumberValue) and not spells_exponents(
        kind.minimum, kind.maximum, kind.multiple_of, kind.not_multiple_of
    )
    if ranged or max(len(whole), len(fraction)) <= PLAIN_DIGITS:
        return plain if "." in plain or "e" not in text.lower() else plain + ".0"
    return text.replace("E", "e")


def write_canonical(value: int | float | Decimal, origin: Origin) -> str:
    """A JSON number in its one spelling: no exponent, no needless zeros, no negative zero."""
    if not isinstance(value, int):
        exact = Decimal(repr(value)) if isinstance(value, float) else value
        if exact.is_finite() and exact and abs(exact.adjusted()) > MAX_EXPONENT:
            raise not_carryable(f"a number beyond 1e±{MAX_EXPONENT}", origin)
        if exact.is_finite() and exact != exact.to_integral_value():
            return format(exact.normalize(), "f")
        if exact.is_finite():
            value = int(exact)
    return write_number(value, None, origin)


class Writer:
    """Writes values in one layout, led by typed values where there are any.

    ``keep_order``: keys stay as given; else they come in the order of the typed value.
    ``margin``: the spaces that every line but the first begins with, where JSON is indented.
    """

    def __init__(self, layout: Layout, definitions: Mapping[str, Value]) -> None:
        self.layout = layout
        self.definitions = definitions
        self.keep_order = False
        self.margin = 0
        self._unique: dict[int, tuple[Writer, Value, Value]] = {}

    def write(
        self,
        value: Any,
        kind: Value | None,
        origin: Origin,
        following: str = "",
        style: StringStyle | None = None,
        depth: int = 0,
    ) -> str:
        """The text of a JSON value.

        Args:
            kind: the typed value that leads; None writes generically.
            following: the literal that follows, which raw text must not hold.
            style: the string style to use instead of the layout's first.
        """
        layout = self.layout
        if depth > MAX_NESTING:
            raise not_carryable(f"nested more than {MAX_NESTING} deep", origin)
        kind = self.resolve(kind, value)
        if isinstance(kind, EnumValue):
            wanted = json_key(value)
            # The member as the schema spells it: 1.0 for 1, keys in its order.
            value = next((v for v in kind.values if json_key(v) == wanted), value)
            kind = None
        match value:
            case None:
                return layout.literals.null[0]
            case bool():
                return (layout.literals.true if value else layout.literals.false)[0]
            case str():
                style = style or preferred(layout.strings, value)[0]
                return write_string(value, style, following, layout, origin)
            case int() | float() | Decimal():
                if layout.one_spelling:
                    return write_canonical(value, origin)
                return write_number(value, kind, origin)
            case list() | tuple():
                writer, kind = self._for_items(kind)
                items = [
                    writer.write(item, writer._item(kind, i), origin.child(i), "", None, depth + 1)
                    for i, item in enumerate(value)
                ]
                return self._join("[", items, "]", depth)
            case dict():
                members = [
                    self._member(name, value[name], inner, origin, depth)
                    for name, inner in self.ordered(value, kind)
                ]
                return self._join("{", members, "}", depth)
            case _:
                raise not_carryable(f"{type(value).__name__} is no JSON value", origin)

    def _member(self, name: Any, value: Any, kind: Value | None, origin: Origin, depth: int) -> str:
        if not isinstance(name, str):
            raise not_carryable(f"the key {name!r} is no string", origin)
        at = origin.child(name)
        text = write_key(name, self.layout, at)
        return text + self.layout.colon + self.write(value, kind, at, "", None, depth + 1)

    def _join(self, opening: str, parts: list[str], closing: str, depth: int) -> str:
        if not parts:
            return opening + closing
        indent = self.layout.indent
        if indent is None:
            return opening + self.layout.comma.join(parts) + closing
        inner, outer = self._line(indent * (depth + 1)), self._line(indent * depth)
        return opening + inner + ("," + inner).join(parts) + outer + closing

    def _line(self, spaces: int) -> str:
        """A line break and the next line's indentation, as far as a gap holds it."""
        most = self.layout.whitespace
        return ("\n" + " " * (self.margin + spaces))[:most]

    def like(self, layout: Layout, definitions: Mapping[str, Value]) -> Writer:
        """A writer in the same notation."""
        return Writer(layout, definitions)

    def resolve(self, kind: Value | None, value: Any) -> Value | None:
        """The alternative that `value` belongs to, references followed; None if there is none."""
        for _ in range(64):
            if isinstance(kind, ReferenceValue):
                kind = self.definitions.get(kind.name)
            elif isinstance(kind, UnionValue):
                kind = next((o for o in kind.options if contains(o, self.definitions, value)), None)
            else:
                return kind
        return None

    def _for_items(self, kind: Value | None) -> tuple[Writer, Value | None]:
        """Who writes an array's items, and what leads: distinct ones have one spelling each."""
        if not isinstance(kind, ArrayValue) or not kind.unique or self.layout.one_spelling:
            return self, kind
        found = self._unique.get(id(kind))
        if found is None:
            one = OneSpelling(kind, self.definitions, self.layout)
            writer = self.like(one.layout, one.definitions)
            found = self._unique[id(kind)] = (writer, one.value, kind)
        return found[0], found[1]

    def _item(self, kind: Value | None, index: int) -> Value | None:
        if not isinstance(kind, ArrayValue):
            return None
        if index < len(kind.prefix):
            return kind.prefix[index]
        if kind.steps:
            values = {id(s.value): s.value for row in kind.steps for s in row}
            return UnionValue(tuple(values.values()))
        return kind.items

    def ordered(
        self, value: Mapping[str, Any], kind: Value | None
    ) -> list[tuple[str, Value | None]]:
        """The keys of `value` in the order to write, each with its typed value."""
        if not isinstance(kind, ObjectValue):
            names_ = self._sorted(value) if self.layout.one_spelling else value
            return [(name, None) for name in names_]
        declared = [(k.name, k.value) for k in kind.keys if k.name in value]
        names = {name for name, _ in declared}
        rest: list[tuple[str, Value | None]] = []
        for name in self._sorted(value) if self.layout.one_spelling else value:
            if name not in names:
                opened = (o.value for o in kind.open_keys if o.names.accepts(name))
                rest.append((name, next(opened, None)))
        if self.keep_order:
            kinds = dict([*declared, *rest])
            return [(name, kinds[name]) for name in value]
        return [*declared, *rest]

    def _sorted(self, value: Mapping[str, Any]) -> list[str]:
        """The keys in the order of their bytes, behind those that have a place of their own."""
        ranks = {name: i for i, name in enumerate(self.layout.named_keys)}
        last = len(ranks)
        return sorted(
            value,
            key=lambda name: (
                ranks.get(name, last),
                write_key(name, self.layout, Origin()).encode(),
            ),
        )


def _short(text: str) -> str:
    shown = repr(text)
    return shown if len(shown) <= 60 else shown[:57] + "..."
