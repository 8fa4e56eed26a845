"""One argument in the dialect's tags, as models write it that were never taught to.

What the dialect says of values holds here too: its strings' quotes, its literals, and the types
that its tags give, which count for more than the schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from ...compiler.decode import Undecodable, decode_json, decode_json_inside, decode_python
from ...compiler.decode import decode_xml as _xml
from ...compiler.lower.shape import Shape
from ...compiler.lower.spelling import StringStyle
from ...compiler.spec import ArgsSpec, TypeAttrSpec
from ...compiler.template import Hole
from .frames import Span
from .loose import Loose, NoValue
from .patterns import any_of, loose

_LINES: Final = "lines end in CR LF, where the dialect has LF"
_DECODERS: Final[dict[str, Callable[[str], str]]] = {
    "json": decode_json_inside,
    "ascii": decode_json_inside,
    "python": decode_python,
    "xml": _xml,
    "none": lambda text: text,
}

Typed = Callable[[str, str, ArgsSpec], tuple[Any] | None]
"""What a raw text under a key stands for, by the schema; None: that does not tell."""


@dataclass(frozen=True, slots=True)
class Param:
    """How one tagged argument is written, loosely.

    Attributes:
        begin: what every argument begins with.
        head: all of it up to its value, as the group ``crlf`` the end of a line as in Windows.
        own: what ends the value in the first place, as the group ``close`` if it is its own
            closer: before the next argument and the turn's end, whatever else stands inside.
        stop: what ends a value that lacks its closer, as the group ``cut`` if the text is cut off
            there.
        quotes: the styles of strings that have quotes of their own.
        types: whether a type that the tag names is that of strings, by its name.
        args: how the dialect writes arguments.
    """

    begin: re.Pattern[bytes]
    head: re.Pattern[bytes]
    own: re.Pattern[bytes]
    stop: re.Pattern[bytes]
    quotes: tuple[StringStyle, ...]
    types: dict[str, Literal["string", "json"]]
    args: ArgsSpec


class Argument(NamedTuple):
    """An argument that was read, and where its value stands."""

    key: str
    value: Any
    span: Span


def param_of(shape: Shape, tails: tuple[bytes, ...], turn_ends: tuple[bytes, ...]) -> Param:
    """The patterns of a tagged argument, white space free."""
    at = next(i for i, p in enumerate(shape.param) if isinstance(p, Hole) and p.name == "value")
    head = b""
    for part in shape.param[:at]:
        match part:
            case str():
                head += loose(part)
            case Hole(name="key"):
                head += rb"\s*+(?P<key>[^\s<>\"=]+)\s*+"
            case Hole(name="type"):
                head += rb"\s*+(?P<type>[^\s<>\"=]*+)\s*+"
            case _:
                head += rb"[^\s<>\"=]*"
    first = shape.param[0]
    begin = loose(first.strip() if isinstance(first, str) else "")
    close = rb"(?P<close>\n?" + loose(shape.value_closer.strip()) + rb")"
    cut = rb"(?P<cut>%s)" % any_of(turn_ends)
    return Param(
        re.compile(begin),
        re.compile(rb"\s*+" + head + rb"(?:(?P<crlf>\r\n)|\n)?"),
        re.compile(b"|".join([close, begin, cut])),
        re.compile(b"|".join([begin, *map(re.escape, tails), cut])),
        tuple(style for style in shape.raw_styles() if style.open),
        _types(shape.args.type_attr),
        shape.args,
    )


def _types(spec: TypeAttrSpec | None) -> dict[str, Literal["string", "json"]]:
    """What a type in a tag says of the notation: a string as it stands, or JSON. One that stands
    for both says nothing."""
    if spec is None:
        return {}
    named = spec.model_dump(exclude_none=True)
    string = named.pop("string", None) or named.get("default")
    others = {*named.values()} - {string}
    types: dict[str, Literal["string", "json"]] = dict.fromkeys(others, "json")
    if string is not None and string not in named.values():
        types[string] = "string"
    return types


def read_argument(
    source: Loose, param: Param, typed: Typed, marker: Callable[[int, int], int | None]
) -> Argument:
    """Read one argument, whose beginning is here.

    Args:
        marker: where the first marker that begins a call stands within a part of the text.

    Raises:
        NoValue: there is none, or its type is not known, or what its value is.
    """
    head = source.match(param.head)
    if head is None:
        raise NoValue
    key = head["key"].decode("utf-8", "replace")
    start = source.at
    for style in param.quotes:
        if source.text.startswith(style.open.encode(), start, source.end):
            return _quoted(source, param, key, style)
    end = _end(source, param, key, marker)
    raw = source.text[start:end]
    if source.at == end and raw.endswith(b"\n"):
        raw = raw[:-1]
    if head["crlf"] is not None:
        source.note("loose-space", _LINES, start - 2, start)
        # Of the line's end behind the value, the other half is gone.
        raw = raw.removesuffix(b"\r")
    text = raw.decode("utf-8", "replace")
    named = (head.groupdict().get("type") or b"").decode("utf-8", "replace")
    match param.types.get(named):
        case "string":
            value: Any = text
        case "json":
            repeated: list[str] = []
            try:
                value = decode_json(text, repeated)
            except Undecodable:
                raise NoValue from None
            source.repeat(repeated)
        case None:
            told = typed(key, text, param.args)
            if told is None:
                raise NoValue
            value = told[0]
    return Argument(key, value, (start, end))


def _end(source: Loose, param: Param, key: str, marker: Callable[[int, int], int | None]) -> int:
    """Where a value ends that nothing quotes; what ends it is read.

    What ends a call is text inside a value that has its own closer. Without one, a call that
    begins inside may be text of the value, or the next call: nobody knows where the value ends.
    """
    start = source.at
    found = param.own.search(source.text, start, source.end)
    if found is not None and found["close"] is not None:
        source.at = found.end()
        source.quoted.append((start, found.start()))
        return found.start()
    found = param.stop.search(source.text, start, source.end)
    if found is None or found["cut"] is not None:
        source.at = source.end if found is None else found.start()
        raise NoValue
    end = source.at = found.start()
    if marker(start, end) is not None:
        raise NoValue
    source.note("missing-closer", f"what ends the argument '{key}' is missing", end)
    return end


def _quoted(source: Loose, param: Param, key: str, style: StringStyle) -> Argument:
    """A string between quotes of its own, whatever stands inside."""
    opened = source.at
    start = opened + len(style.open.encode())
    end = source.text.find(style.close.encode(), start, source.end)
    if end < 0:
        source.quoted.append((opened, source.end))
        source.at = source.end
        raise NoValue
    source.at = end + len(style.close.encode())
    source.quoted.append((opened, source.at))
    span = (opened, source.at)
    closer = param.own.match(source.text, source.at, source.end)
    if closer is not None and closer["close"] is not None:
        source.at = closer.end()
    else:
        source.note("missing-closer", f"what ends the argument '{key}' is missing", source.at)
    text = source.text[start:end].decode("utf-8", "replace")
    return Argument(key, _DECODERS[style.escape](text), span)
