"""The bracketed notations as one: JSON, Python displays and bare dictionaries differ only in data.

A :class:`Layout` says how strings, keys, literals and punctuation are written. The lowering of
values, the reading grammar and the writer all take one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ..spec import ArgsSpec, DialectSpec, JsonSpec, LiteralsSpec
from ..template import parse_item, parse_param
from .spelling import PLAIN, StringStyle, styles

JSON_STRING = StringStyle('"', '"', "json")
_ASCII_STRING = StringStyle('"', '"', "ascii")
_PYTHON_STRINGS = (StringStyle('"', '"', "python"), StringStyle("'", "'", "python"))
_PYTHON_LITERALS = LiteralsSpec(null=("None",), true=("True",), false=("False",))


@dataclass(frozen=True, slots=True)
class Layout:
    """How values are written in brackets.

    Attributes:
        name: short, for rule names.
        strings: the styles a string may have; the first is the one written.
        keys: the styles of keys; a style with empty `open` is a bare key, ended by the colon.
        comma, colon: between members; between key and value.
        literals: spellings of null, true, false.
        whitespace: the most whitespace in a gap: 0 = none beyond the separators as given, None =
            any amount.
        float_integers: whole numbers may also be spelled with a fraction of zeros.
        is_json: the text is JSON, and can be decoded as such.
        avoid: texts that no raw text may hold.
        stops: texts that may not occur in the spelled value at all, quoted strings included.
        indent: how it is rendered.
        one_spelling: each value has one text; see :mod:`.one_spelling`.
        named_keys: keys that untyped objects have in this order, before their others.
        also: of JSON, further spellings of null, true and false that are values by themselves,
            which are read.
    """

    name: str
    strings: tuple[StringStyle, ...] = (JSON_STRING,)
    keys: tuple[StringStyle, ...] = (JSON_STRING,)
    comma: str = ", "
    colon: str = ": "
    literals: LiteralsSpec = LiteralsSpec()
    whitespace: int | None = 0
    float_integers: bool = False
    is_json: bool = True
    avoid: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    indent: int | None = None
    one_spelling: bool = False
    named_keys: tuple[str, ...] = ()
    also: LiteralsSpec = LiteralsSpec()

    @property
    def flexible(self) -> bool:
        """Does whitespace vary?"""
        return self.whitespace != 0


@dataclass(frozen=True, slots=True)
class Gaps:
    """How whitespace is to be enforced: the dialect's own way, or freely up to `most` a gap."""

    flexible: bool = False
    most: int | None = None


def json_layout(spec: JsonSpec, gaps: Gaps) -> Layout:
    """The layout of embedded JSON."""
    whitespace: int | None = 0
    if gaps.flexible or spec.whitespace == "free":
        whitespace = gaps.most
    elif isinstance(spec.whitespace, int):
        whitespace = spec.whitespace
    elif spec.indent is not None:
        whitespace = gaps.most
    comma, colon = spec.separators
    return Layout(
        "json",
        comma=comma,
        colon=colon,
        strings=(_ASCII_STRING,) if spec.ascii else (JSON_STRING,),
        keys=(_ASCII_STRING,) if spec.ascii else (JSON_STRING,),
        whitespace=whitespace,
        indent=spec.indent,
    )


def value_layout(
    spec: DialectSpec, args: ArgsSpec, json: JsonSpec, gaps: Gaps, closer: str = ""
) -> Layout:
    """The layout of argument values (in `tagged`: of those that are not plain strings).

    `closer` ends a tagged value wherever it occurs, so no JSON string in one may hold it.
    """
    avoid = tuple(t.text for t in spec.tokens if t.match == "require")
    if args.notation == "tree":
        return _tree_layout(args, avoid)
    containers = args.containers or _CONTAINERS[args.notation]
    whitespace = gaps.most if gaps.flexible else 0
    match containers:
        case "json":
            tagged = args.notation == "tagged"
            # What a JSON string has to escape cannot occur in one.
            stops = (s for s in (closer, *avoid) if s and not set(s) & _ESCAPED) if tagged else ()
            found = replace(json_layout(json, gaps), avoid=avoid, stops=tuple(stops))
            # An argument by itself is read in all spellings; nothing but JSON is written.
            return replace(found, also=args.literals) if args.notation == "kwargs" else found
        case "python":
            strings = styles(args.string) if args.string else _PYTHON_STRINGS
            if args.notation == "tagged":
                # Only templates write this, and by mistake: what Python prints for a container.
                strings = _PYTHON_STRINGS[::-1]
            named = "literals" in args.model_fields_set
            return Layout(
                "python",
                strings=strings,
                keys=strings,
                literals=args.literals if named else _PYTHON_LITERALS,
                whitespace=whitespace,
                is_json=False,
                avoid=avoid,
            )
        case "recurse":
            strings = styles(args.string) if args.string else (JSON_STRING,)
            bare = args.key_quote == "bare"
            return Layout(
                "dict",
                strings=strings,
                keys=(PLAIN,) if bare else strings,
                comma=",",
                colon=":",
                literals=args.literals,
                whitespace=whitespace,
                is_json=False,
                avoid=avoid,
            )


def raw_stops(args: ArgsSpec, avoid: tuple[str, ...]) -> tuple[str, ...]:
    """What no leaf of a tree holds. Where nothing marks types, leaves are told from elements by
    what elements begin with."""
    heads: list[str] = []
    if args.type_attr is None:
        first = (parse_param(args.param or "")[:1], parse_item(args.item or "")[:1])
        heads = [part for parts in first for part in parts if isinstance(part, str)]
    return tuple(dict.fromkeys((*avoid, *heads)))


def _tree_layout(args: ArgsSpec, avoid: tuple[str, ...]) -> Layout:
    """The layout of a tree's leaves."""
    return Layout(
        "tree",
        strings=(PLAIN,),
        keys=(JSON_STRING if "{key:json}" in (args.param or "") else PLAIN,),
        comma="",
        colon="",
        literals=args.literals,
        is_json=False,
        avoid=raw_stops(args, avoid),
    )


Containers = Literal["json", "python", "recurse"]
_ESCAPED = {'"', "\\", *map(chr, range(0x20))}

_CONTAINERS: dict[str, Containers] = {
    "json": "json",
    "tagged": "json",
    "kwargs": "python",
    "bare-dict": "recurse",
}

BARE_KEY_STOPS = (":", ",", "{", "}", "[", "]", '"', "\n")
"""What a bare key cannot hold: it would not be told from the punctuation around it."""
