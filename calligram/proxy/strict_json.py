"""JSON as the server reads it, so that what was read can be written again.

Python's own reader takes more: `NaN`, and for infinite what no double holds. Written again they are
no JSON.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

_NUMBER: Final = re.compile(
    r'"(?:[^"\\]+|\\.)*"|(NaN|-?Infinity|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)', re.DOTALL
)
"""A number, or what Python takes for one; strings, in which there is none."""
_SURE: Final = 300
"""Digits of a whole number that every double can hold, however wrongly."""


class NoNumber(ValueError):
    """A number that no double holds, or none at all."""


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise NoNumber(text)
    return value


def _whole(text: str) -> int:
    if len(text) > _SURE:
        _finite(text)
    return int(text)


def _constant(text: str) -> NoReturn:
    raise NoNumber(text)


_DECODER: Final = json.JSONDecoder(
    parse_float=_finite, parse_int=_whole, parse_constant=_constant
)  # fmt: skip


def read_value(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        JSONDecodeError: it is none.
        NoNumber: one of its numbers is none.
        RecursionError: it nests too deep.
    """
    return _DECODER.decode(text)


def place_of_number(text: str) -> int:
    """Where the first number is that is none, in characters; `text` is JSON up to there."""
    for found in _NUMBER.finditer(text):
        try:
            if found[1]:
                _finite(found[1])
        except NoNumber:
            break
    else:
        return len(text)
    return found.start(1)
