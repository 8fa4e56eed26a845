"""JSON text -> Python objects, strictly and with exact numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from os import PathLike, fspath
from typing import Any, Final, NoReturn

from .errors import LimitExceeded, ToolError
from .origin import Origin

_FILE: Final = re.compile(r"[^\n{}\"\[\]]{0,4096}(?:\.jsonc?|[/\\][^\n{}\"\[\]]{1,255})", re.I)
"""Looks like a file's name, and begins no JSON."""
_JSON: Final = re.compile(r"\s*[{\[]|\s*(?:true|false)\s*\Z")
MAX_TEXT = 64 * 1024 * 1024
# Digits of a number in JSON text; longer ones would take quadratic time to read.
MAX_NUMBER_DIGITS = 1000


def read_json(text: str | bytes | bytearray, what: str) -> object:
    """The value of JSON text, numbers exact (Decimal where not whole).

    `what` names the text in messages, in the plural.

    Raises:
        ToolError: code ``invalid-json``: not UTF-8, no JSON, a duplicate key, NaN.
        LimitExceeded: more than 64 MiB, numbers of more than 1,000 digits, too deep.
    """
    if len(text) > MAX_TEXT:
        raise LimitExceeded.at("text-too-large", f"more than {MAX_TEXT} bytes of {what}")
    if not isinstance(text, str):
        try:
            text = bytes(text).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            _fail(f"{what} are not UTF-8: byte {error.start} is invalid")
    try:
        return json.loads(
            text.removeprefix("\ufeff"),
            parse_int=_whole,
            parse_float=_decimal,
            parse_constant=_no_constant,
            object_pairs_hook=_no_duplicates,
        )
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise ToolError.at(
            "invalid-json", f"{what} are no JSON: {reason}",
            Origin(line=error.lineno, column=error.colno), file_hint(text),
        ) from None  # fmt: skip
    except RecursionError:
        raise LimitExceeded.at("text-too-deep", f"{what} nest too deep") from None


def file_hint(given: object, *, parsed: bool = False) -> str | None:
    """What to write instead, where a file's name was given in place of what is in it.

    Args:
        parsed: not JSON text is wanted, but what it says.
    """
    if isinstance(given, PathLike):
        name = str(fspath(given))
    elif isinstance(given, (str, bytes, bytearray)):
        name = given if isinstance(given, str) else bytes(given).decode("utf-8", "replace")
        if parsed and _JSON.match(name):
            return "that is JSON text: pass json.loads(text)"
        if not _FILE.fullmatch(name):
            return None
    else:
        return None
    text = f"Path({name!r}).read_text()"
    return f"that is a file's name; pass what is in it: {f'json.loads({text})' if parsed else text}"


def _whole(text: str) -> int:
    if len(text) > MAX_NUMBER_DIGITS:
        raise LimitExceeded.at("number-too-large", f"a number of {len(text)} digits")
    return int(text)


def _decimal(text: str) -> Decimal:
    if len(text) > MAX_NUMBER_DIGITS:
        raise LimitExceeded.at("number-too-large", f"a number of {len(text)} digits")
    try:
        return Decimal(text)
    except InvalidOperation:
        # An exponent that Decimal itself cannot hold.
        raise LimitExceeded.at("number-too-large", f"the number {text}") from None


def _no_constant(text: str) -> NoReturn:
    _fail(f"no JSON: {text} is no number")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key in _keys(pairs):
            if key in seen:
                _fail(f"the key '{key}' stands twice in one object")
            seen.add(key)
    return made


def _keys(pairs: list[tuple[str, Any]]) -> Iterator[str]:
    return (key for key, _ in pairs)


def _fail(message: str) -> NoReturn:
    raise ToolError.at("invalid-json", message)
