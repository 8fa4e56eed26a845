"""Values as models write them that were never taught to: JSON, Python and what lies between.

Nothing is invented: a value without an end, or a word whose type nobody tells, is no value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...compiler.decode import Undecodable, decode_json, decode_number, decode_python
from ...compiler.limits import MAX_NESTING
from .frames import Place, Span

_BLANK: Final = frozenset(b" \t\r\n")
_SPACE: Final = re.compile(rb"[ \t\r\n]*+")
_KEY: Final = re.compile(rb"[A-Za-z_$][\w$.-]*+")
_NUMBER: Final = re.compile(rb"-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?(?=[\s,:\]})<]|`)")
_WORD: Final = re.compile(rb"[^\s,:=\[\]{}()\"'<`][^,:=\[\]{}()\"'<`\n]*+(?=[,)}])")
_JSON_STRING: Final = re.compile(rb'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_SINGLE: Final = re.compile(rb"'((?:[^'\\]|\\.)*+)'", re.DOTALL)
_LITERALS: Final = {b"true": True, b"false": False, b"null": None}
_PYTHON: Final = {b"True": True, b"False": False, b"None": None}
_PYTHON_NUMBER: Final = re.compile(
    rb"[+-]?(?:0[xX][0-9a-fA-F]++|0[oO][0-7]++|0[bB][01]++"
    rb"|(?:\d(?:_?\d)*+(?:\.(?:\d(?:_?\d)*+)?)?|\.\d(?:_?\d)*+)(?:[eE][+-]?\d++)?)"
    rb"(?=[\s,:\]})<]|`)"
)
_FRACTION: Final = re.compile("[.eE]")
_NO_NUMBERS: Final = frozenset((b"nan", b"infinity", b"inf", b"-infinity", b"-inf", b"-nan"))
"""Words for what is no number in JSON; they are no strings either."""
_CLOSERS: Final = {0x7B: 0x7D, 0x5B: 0x5D, 0x28: 0x29}

_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|(.))", re.DOTALL)
_KNOWN: Final = '"\\/bfnrt'
_ESCAPES: Final = {
    "python-escape": "a string with a single quote that is escaped, as in Python",
    "unknown-escape": "a string with escapes that JSON does not know: backslashes, as they stand",
}

Kind = Callable[[str, str], tuple[Any] | None]
"""What an unquoted text under a key of the arguments stands for, by the schema; None: nothing."""


class NoValue(Exception):
    """There is no value here."""


class Loose:
    """A place in a text, and what was overlooked on the way to it.

    Args:
        end: where the text ends.
        ends: what ends a call, for values that lack a bracket.
        python: are the strings of keyword arguments Python's?

    Attributes:
        quoted: where values stand that are text, the last one perhaps without its end: what looks
            like a call there is none.
        repeated: a key that came twice in one object; None: none did.
    """

    def __init__(
        self,
        text: bytes,
        at: int,
        end: int,
        ends: Callable[[int], bool],
        *,
        python: bool = True,
    ) -> None:
        self._python = python
        self.text = text
        self.at = at
        self.end = end
        self.noted: list[tuple[str, str, int, int]] = []
        self.repeated: str | None = None
        self.quoted: list[Span] = []
        self._ends = ends

    def note(self, code: str, message: str, start: int, end: int | None = None) -> None:
        """Something was overlooked."""
        self.noted.append((code, message, start, self.at if end is None else end))

    def repeat(self, keys: Sequence[str]) -> None:
        """Keys came twice in one object."""
        if keys:
            self.repeated = keys[0]

    def space(self) -> int:
        """Skip white space; -> the next byte, -1 at the end."""
        if self.at < self.end and self.text[self.at] not in _BLANK:
            return self.text[self.at]
        found = _SPACE.match(self.text, self.at, self.end)
        assert found is not None
        self.at = found.end()
        return self.text[self.at] if self.at < self.end else -1

    def match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """Read a pattern, if it is here."""
        found = pattern.match(self.text, self.at, self.end)
        if found is not None:
            self.at = found.end()
        return found

    def value(
        self, kind: Callable[[str], tuple[Any] | None], depth: int = 0, *, python: bool = False
    ) -> tuple[Any, Place]:
        """A value and where it stands.

        Args:
            kind: what an unquoted text stands for here.
            python: are strings Python's?

        Raises:
            NoValue: there is none, or none that is complete.
        """
        char = self.space()
        start = self.at
        if char in (0x7B, 0x5B):
            if depth >= MAX_NESTING:
                raise NoValue
            return self.container(char, None, depth, python=python)
        if char in (0x22, 0x27):
            text = self.string(char, python=python)
            self.quoted.append((start, self.at))
            return text, Place((start, self.at))
        found = self.match(_NUMBER)
        if found is not None:
            try:
                return decode_json(found[0].decode()), Place((start, self.at))
            except Undecodable:
                raise NoValue from None
        found = self.match(_KEY)
        if found is not None and found[0] in _LITERALS:
            return _LITERALS[found[0]], Place((start, self.at))
        if found is not None and found[0] in _PYTHON:
            self.note("python-literal", f"{found[0].decode()} is Python's spelling", start)
            return _PYTHON[found[0]], Place((start, self.at))
        self.at = start
        found = self.match(_PYTHON_NUMBER)
        if found is not None:
            number = _python_number(found[0].decode())
            self.note("python-literal", f"{found[0].decode()} is Python's spelling", start)
            return number, Place((start, self.at))
        found = self.match(_WORD)
        if found is not None and found[0].rstrip().lower() not in _NO_NUMBERS:
            told = kind(found[0].decode("utf-8", "replace").rstrip())
            if told is not None:
                self.note("unquoted-value", "a string without quotes", start)
                return told[0], Place((start, self.at))
        raise NoValue

    def string(self, quote: int, *, python: bool = False) -> str:
        """A quoted string; `python`: with Python's escapes, whatever its quotes."""
        start = self.at
        found = self.match(_JSON_STRING if quote == 0x22 else _SINGLE)
        if found is None:
            self.quoted.append((start, self.end))
            self.at = self.end
            raise NoValue
        text = found[1].decode("utf-8", "replace")
        if quote == 0x27:
            self.note("single-quotes", "a string in single quotes", start)
            return decode_python(text)
        if python:
            return decode_python(text)
        if "\\" not in text:
            return text
        codes: set[str] = set()
        text = _ESCAPE.sub(lambda escape: _known(escape, codes), text)
        for code in sorted(codes):
            self.note(code, _ESCAPES[code], start)
        return str(decode_json(f'"{text}"'))

    def container(
        self, opener: int, kind: Kind | None, depth: int, *, python: bool = False
    ) -> tuple[Any, Place]:
        """An object, an array or, in parentheses, keyword arguments; the opener is here.

        Args:
            kind: for the arguments themselves, what an unquoted text under a key stands for.
        """
        start = self.at
        self.at += 1
        closer = _CLOSERS[opener]
        keyed = opener != 0x5B
        members: dict[str, Any] = {}
        items: list[Any] = []
        place = Place((start, start))
        comma = start
        while True:
            char = self.space()
            if char == closer:
                if comma > start:
                    self.note("trailing-comma", "a comma with nothing behind it", comma, comma + 1)
                self.at += 1
                break
            key: str | int = self._key(opener, python=python) if keyed else len(items)
            name = key if isinstance(key, str) else ""
            # What stands behind an equals sign is an argument as in Python.
            own = python or (self._python and self.text[self.at - 1] == 0x3D)
            value, inner = self.value(_under(kind, name), depth + 1, python=own)
            place.inner[key] = inner
            if keyed:
                if name in members:
                    self.repeated = name
                members[name] = value
            else:
                items.append(value)
            char = self.space()
            if char == 0x2C:
                comma = self.at
                self.at += 1
                continue
            comma = start
            if char == closer:
                self.at += 1
                break
            if self._ends(self.at):
                self.note("missing-bracket", f"`{chr(closer)}` is missing", self.at)
                break
            raise NoValue
        place.span = (start, self.at)
        return (members if keyed else items), place

    def _key(self, opener: int, *, python: bool) -> str:
        start = self.at
        char = self.text[start] if start < self.end else -1
        if char in (0x22, 0x27):
            key = self.string(char, python=python)
        else:
            found = self.match(_KEY)
            if found is None:
                raise NoValue
            key = found[0].decode("utf-8", "replace")
            if opener == 0x7B:
                self.note("unquoted-key", "a key without quotes", start)
        char = self.space()
        if char != 0x3A and not (char == 0x3D and opener == 0x28):
            raise NoValue
        self.at += 1
        return key


def _python_number(text: str) -> int | float:
    """A number as Python writes it.

    Raises:
        NoValue: it has too many digits, or none that Python takes.
    """
    try:
        return int(text, 0)
    except ValueError:
        pass
    plain = text.replace("_", "")
    if not _FRACTION.search(plain):
        raise NoValue
    try:
        return decode_number(plain)
    except Undecodable:
        raise NoValue from None


def _under(kind: Kind | None, key: str) -> Callable[[str], tuple[Any] | None]:
    return lambda text: kind(key, text) if kind is not None else None


def _known(escape: re.Match[str], codes: set[str]) -> str:
    """An escape of a string in double quotes as one that JSON knows; what was overlooked is added
    to `codes`."""
    char = escape[1]
    if char is None or char in _KNOWN:
        return escape[0]
    if char == "'":
        codes.add("python-escape")
        return char
    codes.add("unknown-escape")
    return "\\" + escape[0]
