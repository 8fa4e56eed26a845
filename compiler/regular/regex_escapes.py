"""The escapes of regular expressions: ECMA-262 sections 22.2.1 (syntax) and 22.2.2.9 (sets)."""

from __future__ import annotations

import re

from . import charset
from .charset import CharSet
from .unicode_data import category, property_set

DIGIT: CharSet = ((0x30, 0x39),)
WORD: CharSet = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
LINE_ENDS: CharSet = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
# WhiteSpace (12.2) and LineTerminator (12.3): TAB VT FF SP NBSP ZWNBSP, Zs, LF CR LS PS.
SPACE: CharSet = charset.charset(
    [
        (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
        (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
    ]
)  # fmt: skip
_SETS = {
    "d": DIGIT, "D": charset.complement(DIGIT), "w": WORD, "W": charset.complement(WORD),
    "s": SPACE, "S": charset.complement(SPACE),
}  # fmt: skip
_CONTROLS = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_FOREIGN = {"A": "^", "Z": "$", "z": "$"}
_HEX = {"x": re.compile(r"[0-9A-Fa-f]{2}"), "u": re.compile(r"[0-9A-Fa-f]{4}")}
_BRACED = re.compile(r"\{([0-9A-Fa-f]+)\}")
_LOW_SURROGATE = re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")


class _RegexProblem(Exception):
    """What is wrong with a pattern and where (characters from its start)."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason, position)
        self.reason = reason
        self.position = position


class RegexSyntaxError(_RegexProblem):
    """The text is not a regular expression."""


class RegexUnsupported(_RegexProblem):
    """The text uses what is not supported; ``reason`` names it."""


class Escapes:
    """A cursor over a pattern that can read escapes. ``at`` is the next character's position."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0

    def escape(self, start: int) -> CharSet:
        """The set of the escape whose backslash, at `start`, has been stepped over."""
        letter = self.source[self.at : self.at + 1]
        if letter in _SETS and letter:
            self.at += 1
            return _SETS[letter]
        if letter in ("p", "P"):
            self.at += 1
            return self._property(start, negative=letter == "P")
        code_point = self.single(start)
        if code_point is not None:
            return charset.charset([(code_point, code_point)])
        if letter.isdecimal() or letter == "k":
            raise RegexUnsupported(f"the back-reference \\{letter}", start)
        if letter in _FOREIGN:
            reason = f"\\{letter} is not ECMA-262, write {_FOREIGN[letter]}"
            raise RegexSyntaxError(reason, start)
        raise RegexSyntaxError(f"invalid escape \\{letter}", start)

    def single(self, start: int) -> int | None:
        """The code point of an escape for one character; None, and no step, for another escape."""
        letter = self.source[self.at : self.at + 1]
        if not letter:
            raise RegexSyntaxError("\\ at end of pattern", start)
        if letter in _CONTROLS:
            self.at += 1
            return _CONTROLS[letter]
        if letter == "0":
            if self.source[self.at + 1 : self.at + 2].isdecimal():
                raise RegexSyntaxError("invalid decimal escape", start)
            self.at += 1
            return 0
        if letter == "c":
            return self._control(start)
        if letter in _HEX:
            return self._hexadecimal(start, letter)
        if letter == "_" or not letter.isalnum():
            self.at += 1
            return ord(letter)
        return None

    def _control(self, start: int) -> int:
        letter = self.source[self.at + 1 : self.at + 2]
        if not (letter.isascii() and letter.isalpha()):
            raise RegexSyntaxError("invalid escape \\c", start)
        self.at += 2
        return ord(letter) % 32

    def _hexadecimal(self, start: int, letter: str) -> int:
        """`\\xHH`, `\\uHHHH` (two of them for a surrogate pair) or `\\u{H...}`."""
        self.at += 1
        braced = _BRACED.match(self.source, self.at) if letter == "u" else None
        if braced:
            digits = braced[1].lstrip("0") or "0"
            if len(digits) > 6 or int(digits, 16) > charset.MAX_CODE_POINT:
                raise RegexSyntaxError("code point beyond U+10FFFF", start)
            self.at = braced.end()
            return int(digits, 16)
        plain = _HEX[letter].match(self.source, self.at)
        if plain is None:
            raise RegexSyntaxError(f"invalid escape \\{letter}", start)
        self.at = plain.end()
        code_point = int(plain[0], 16)
        if 0xD800 <= code_point <= 0xDBFF:
            low = _LOW_SURROGATE.match(self.source, self.at)
            if low:
                self.at = low.end()
                return 0x10000 + ((code_point - 0xD800) << 10) + (int(low[1], 16) - 0xDC00)
        return code_point

    def _property(self, start: int, *, negative: bool) -> CharSet:
        end = self.source.find("}", self.at)
        if not self.source.startswith("{", self.at) or end < 0:
            short = self.source[self.at : self.at + 1]
            hint = f", write \\p{{{short}}}" if category(short) is not None else ""
            raise RegexSyntaxError(f"invalid property escape{hint}", start)
        name = self.source[self.at + 1 : end]
        found = property_set(name)
        if found is None:
            raise RegexUnsupported(f"the Unicode property \\p{{{name[:60]}}}", start)
        self.at = end + 1
        return charset.complement(found) if negative else found
