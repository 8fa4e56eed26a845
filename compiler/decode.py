"""From spelled text back to values: the inverse of ``lower.writer``.

Types come from the schema. Text whose notation does not tell (a tagged value under a key that may
be a string or something else) is read as JSON first where that satisfies the schema, else as the
string it is.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from .ir import EnumValue, ReferenceValue, StringValue, UnionValue, Value
from .limits import MAX_EXPONENT, MAX_NESTING, too_deep
from .membership import contains
from .spec import ArgsSpec, LiteralsSpec


class Undecodable(ValueError):
    """The text is not what its notation says; the message says why."""


class TooDeep(Undecodable):
    """The text may be JSON, but nests deeper than is read."""

    def __init__(self) -> None:
        super().__init__(f"nested more than {MAX_NESTING} deep")


_PYTHON_ESCAPES = {
    "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r",
    "t": "\t", "v": "\v", "\n": "",
}  # fmt: skip
_PYTHON_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.)|$)", re.DOTALL
)
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'"}


def _no_constant(text: str) -> None:
    raise Undecodable(f"{text} is no JSON")


def decode_number(text: str) -> float | int:
    """A number with a fraction or exponent; an exact whole one where a float would overflow.

    Raises:
        Undecodable: its exponent is beyond `MAX_EXPONENT`.
    """
    value = float(text)
    if math.isfinite(value):
        return value
    exact = Decimal(text)
    if exact.adjusted() > MAX_EXPONENT:
        raise Undecodable(f"the number {text[:40]} is too large")
    return int(exact)


class _Pairs:
    """Collects duplicate keys while JSON objects are built; the last one counts."""

    def __init__(self) -> None:
        self.duplicates: list[str] = []

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self.duplicates.append(key)
                seen.add(key)
        return found


class _Repeated(Exception):
    """An object has a key twice: the names are to be collected."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Repeated
    return found


_DECODER = json.JSONDecoder(
    strict=False,
    parse_constant=_no_constant,
    parse_float=decode_number,
    object_pairs_hook=_each_once,
)
"""Made once: most texts are short, and have no key twice."""


def decode_json(text: str, duplicates: list[str] | None = None) -> Any:
    """A JSON text as Python values; names of repeated keys are added to `duplicates`.

    Control characters inside strings are tolerated: the grammar's verdict speaks of them.

    Raises:
        TooDeep: nested more than `MAX_NESTING` deep.
        Undecodable: no JSON, or a number with too many digits.
    """
    pairs = _Pairs()
    try:
        try:
            value = _DECODER.decode(text)
        except _Repeated:
            value = json.loads(
                text,
                strict=False,
                parse_constant=_no_constant,
                parse_float=decode_number,
                object_pairs_hook=pairs,
            )
    except RecursionError:
        raise TooDeep from None
    except (Undecodable, json.JSONDecodeError) as error:
        raise Undecodable(str(error)) from None
    except ValueError:
        raise Undecodable("a number has too many digits") from None
    # As many brackets as it takes are rare, and soon counted.
    if text.count("{") + text.count("[") > MAX_NESTING and too_deep(value):
        raise TooDeep
    if duplicates is not None:
        duplicates += pairs.duplicates
    return _whole_characters(value) if "\\u" in text else value


_ESCAPE_OR_QUOTE = re.compile(r'\\.|"', re.DOTALL)


def decode_json_inside(text: str) -> str:
    """What stands between the quotes of a JSON string, whatever the quotes.

    Raises:
        Undecodable: it holds what is no escape.
    """
    return str(decode_json('"' + _ESCAPE_OR_QUOTE.sub(_escaped_quote, text) + '"'))


def _escaped_quote(found: re.Match[str]) -> str:
    return {'"': '\\"', "\\'": "'"}.get(found[0], found[0])


def _whole_characters(value: Any) -> Any:
    """The value with lone surrogates, which no UTF-8 can hold, replaced."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_whole_characters(v) for v in value]
        case dict():
            return {_whole_characters(k): _whole_characters(v) for k, v in value.items()}
        case _:
            return value


def decode_python(text: str) -> str:
    """The inside of a Python string literal. Unknown escapes stand for themselves, as in Python; so
    do those beyond Unicode, which Python refuses."""
    if "\\" not in text:
        return text

    def replace(found: re.Match[str]) -> str:
        byte, unit, point, octal, char = found.groups()
        if octal:
            return chr(int(octal, 8))
        digits = byte or unit or point
        if digits:
            code = int(digits, 16)
            return chr(code) if code <= 0x10FFFF else found[0]
        if char is None:
            return "\\"
        return _PYTHON_ESCAPES.get(char, "\\" + char)

    decoded = _PYTHON_ESCAPE.sub(replace, text)
    return decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_PYTHON_TOKEN = re.compile(
    r"""\s*(?:([\[\]{},:])|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(True|False|None)\b"""
    r"""|(-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?))\s*""",
    re.DOTALL,
)
_PYTHON_CONSTANTS = {"True": "true", "False": "false", "None": "null"}


def _python_container(text: str, duplicates: list[str] | None) -> tuple[Any] | None:
    """The list or dict that `text` displays in Python, in a tuple; None if it is none.

    Raises:
        TooDeep: nested more than `MAX_NESTING` deep.
    """
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    out: list[str] = []
    at = 0
    while at < len(text):
        token = _PYTHON_TOKEN.match(text, at)
        if token is None:
            return None
        sign, single, double, constant, number = token.groups()
        inside = double if single is None else single
        if inside is not None:
            out.append(json.dumps(decode_python(inside)))
        else:
            out.append(sign or number or _PYTHON_CONSTANTS[constant])
        at = token.end()
    try:
        return (decode_json("".join(out), duplicates),)
    except TooDeep:
        raise
    except Undecodable:
        return None


def decode_xml(text: str) -> str:
    """Text with the five predefined entities."""
    return re.sub(r"&(?:amp|lt|gt|quot|apos);", lambda m: _ENTITIES[m[0]], text)


def only_strings(kind: Value, definitions: Mapping[str, Value]) -> bool:
    """Can a value of this kind be nothing but a string?"""
    seen: set[str] = set()
    todo = [kind]
    while todo:
        part = todo.pop()
        match part:
            case StringValue():
                pass
            case EnumValue(values):
                if not all(isinstance(v, str) for v in values):
                    return False
            case UnionValue(options):
                todo += options
            case ReferenceValue(name):
                if name not in seen:
                    seen.add(name)
                    todo.append(definitions[name])
            case _:
                return False
    return True


def decode_untyped(
    text: str,
    kind: Value | None,
    definitions: Mapping[str, Value],
    args: ArgsSpec,
    duplicates: list[str] | None = None,
) -> Any:
    """Raw text whose type only the schema tells.

    Args:
        kind: the typed value it stands for; None if nothing is declared (JSON first, else string).
        args: the notation: its spellings of null, true and false, and what else is read.

    Raises:
        TooDeep: JSON nested more than `MAX_NESTING` deep.
    """
    if kind is not None and only_strings(kind, definitions):
        return text
    try:
        value = decode_json(text, duplicates)
    except TooDeep:
        raise
    except Undecodable:
        found = decode_literal(text, args.literals)
        if found is None and args.read_python:
            found = _python_container(text, duplicates)
        if found is None:
            return text
        value = found[0]
    if kind is None or contains(kind, definitions, value):
        return value
    return text if contains(kind, definitions, text) else value


def decode_literal(text: str, literals: LiteralsSpec) -> tuple[bool | None] | None:
    """The literal that `text` spells, in a tuple to tell null from nothing."""
    for texts, value in ((literals.null, None), (literals.true, True), (literals.false, False)):
        if text in texts:
            return (value,)
    return None
