"""JSON as models write it -> JSON that says the same as the result, piece by piece.

What is JSON stays as it is written. Three things that are read are not, or not for everyone:
control characters in strings become escapes, halves of surrogate pairs U+FFFD, as in the result,
and numbers beyond a float, which other readers take for infinity, are written out.
"""

from __future__ import annotations

import json
import re
from typing import Final

from ...compiler.decode import Undecodable, decode_number

_INSIDE: Final = re.compile(
    r"""(?P<clean>(?:[^"\\\x00-\x1f]++
        |\\[^u]
        |\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}
        |\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
        )++)
    |(?P<half>\\u[dD][89abAB][0-9a-fA-F]{2}(?=[^\\]|\\[^u]|\\u[^dD]|\\u[dD][^c-fC-F])
        |\\u[dD][c-fC-F][0-9a-fA-F]{2})
    |(?P<control>[\x00-\x1f])
    |(?P<quote>")
    """,
    re.DOTALL | re.VERBOSE,
)
"""As much of a string as is sure whatever follows."""
_OUTSIDE: Final = re.compile(
    r"""(?P<clean>[^"0-9-]++)|(?P<quote>")|(?P<number>[0-9-][0-9.eE+-]*+)"""
)
_DIGITS: Final = re.compile(r"[0-9.eE+-]*+")
_FLOAT: Final = re.compile("[.eE]")
_SPECIAL: Final = re.compile(r'["\\\x00-\x1f]')


class JsonText:
    """One JSON text. It may break off anywhere, and then holds back what was not sure."""

    def __init__(self) -> None:
        self._inside = False
        # The beginning of an escape, or of a number.
        self._held = ""
        self._number: list[str] = []

    @property
    def inside(self) -> bool:
        """Is it inside a string, with nothing held back?"""
        return self._inside and not self._held

    def feed(self, text: str) -> str:
        """More of it as it is written; -> what is sure."""
        if self._inside and not self._held and _SPECIAL.search(text) is None:
            return text
        out: list[str] = []
        if self._number:
            found = _DIGITS.match(text)
            assert found is not None
            self._number.append(found[0])
            if found.end() == len(text):
                return ""
            out.append(_written("".join(self._number)))
            self._number.clear()
            text = text[found.end() :]
        text = self._held + text
        self._held = ""
        at = 0
        while at < len(text):
            found = (_INSIDE if self._inside else _OUTSIDE).match(text, at)
            if found is None:
                self._held = text[at:]
                break
            at = found.end()
            match found.lastgroup:
                case "half":
                    out.append("\\ufffd")
                case "control":
                    out.append(json.dumps(found[0])[1:-1])
                case "number" if at == len(text):
                    self._number.append(found[0])
                case "number":
                    out.append(_written(found[0]))
                case kind:
                    self._inside ^= kind == "quote"
                    out.append(found[0])
        return "".join(out)


def _written(number: str) -> str:
    """A number as it is written, or written out if it is beyond a float."""
    if _FLOAT.search(number) is None:
        return number
    try:
        value = decode_number(number)
    except (Undecodable, ValueError):
        return number  # The call is none, which its end says.
    return str(value) if isinstance(value, int) else number
