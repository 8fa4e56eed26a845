"""A request's body: bytes -> an object, or why it is none.

Reading JSON stops everything else in the process. What it takes goes by the number of values rather
than by bytes, so that these are counted first, and no body may have more than a limit of them.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, Final

from .connection import Headers
from .request import RequestError

LARGE: Final = 2**17
"""Bytes of a body from which on others get their turn while it is read."""
_VALUES: Final = re.compile(rb'[,{\[]|"(?:[^"\\]+|\\.)*"?', re.DOTALL)
"""What begins a value or stands before one, and strings, in which nothing is counted."""
_AT_ONCE: Final = 5_000


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
        body = json.loads(data.decode("utf-8"))
    except RecursionError:
        raise RequestError.at("text-too-deep", "the body nests too deep") from None
    except ValueError as error:
        where = getattr(error, "pos", None)
        place = "" if where is None else f", at character {where}"
        message = f"the body is no JSON in UTF-8{place}"
        raise RequestError.at("proxy-body", message) from None
    if not isinstance(body, dict):
        raise RequestError.at("proxy-body", "the body is no object")
    return body
