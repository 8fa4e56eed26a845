"""A request's body: bytes -> an object, or why it is none.

Reading JSON stops everything else in the process. What it takes goes by the number of values rather
than by bytes, so that these are counted first, and no body may have more than a limit of them.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from .connection import Headers
from .request import RequestError
from .strict_json import NoNumber, place_of_number, read_value

LARGE: Final = 2**17
"""Bytes of a body from which on others get their turn while it is read."""
_VALUES: Final = re.compile(rb'[,{\[]|"(?:[^"\\]+|\\.)*"?', re.DOTALL)
"""What begins a value or stands before one, and strings, in which nothing is counted."""
_AT_ONCE: Final = 5_000
MAX_DEPTH: Final = 800
"""Objects and arrays in each other. Writing a value takes a frame of the stack for each, as reading
does, and where a request goes on its way it has fewer left than here."""


class TooManyValues(Exception):
    """A body has more values than the limit."""


async def read_object(data: bytes, headers: Headers, most: int) -> dict[str, Any]:
    """The request as an object.

    Args:
        most: values that it may have, in all its objects and arrays together.

    Raises:
        TooManyValues: it has more.
        RequestError: it is none. It is not sent on: what is not understood is not constrained.
    """
    # In a string these count as well, so that this says only where there cannot be too many.
    if len(data) > most and sum(map(data.count, (b",", b"{", b"["))) > most:
        await _check_values(data, most)
    body = parsed_body(data, headers)
    if len(data) > LARGE:
        await asyncio.sleep(0)
    return body


async def _check_values(data: bytes, most: int) -> None:
    count = 0
    for number, found in enumerate(_VALUES.finditer(data)):
        count += found[0][:1] != b'"'
        if count > most:
            raise TooManyValues
        if number % _AT_ONCE == 0:
            await asyncio.sleep(0)


def parsed_body(data: bytes, headers: Headers) -> dict[str, Any]:
    """The request as an object.

    Raises:
        RequestError: it is none.
    """
    encoding = next((v for k, v in headers if k.lower() == b"content-encoding"), b"identity")
    if encoding.strip().lower() not in (b"", b"identity"):
        message = "bodies that are compressed are not taken"
        raise RequestError.at("proxy-body", message)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise _no_json(None) from None
    try:
        body = read_value(text)
    except RecursionError:
        raise _too_deep() from None
    except NoNumber:
        raise _no_json(place_of_number(text)) from None
    except json.JSONDecodeError as error:
        raise _no_json(error.pos) from None
    if not isinstance(body, dict):
        raise RequestError.at("proxy-body", "the body is no object")
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH:
        _check_depth(body)
    return body


def _no_json(where: int | None) -> RequestError:
    place = "" if where is None else f", at character {where}"
    return RequestError.at("proxy-body", f"the body is no JSON in UTF-8{place}")


def _check_depth(value: dict[str, Any]) -> None:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return
    raise _too_deep()


def _inside(value: Any) -> Iterator[Any]:
    inner = value.values() if isinstance(value, dict) else value
    return (one for one in inner if isinstance(one, (dict, list)))


def _too_deep() -> RequestError:
    return RequestError.at("text-too-deep", f"the body nests deeper than {MAX_DEPTH} levels")
