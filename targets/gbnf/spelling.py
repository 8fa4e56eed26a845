"""How GBNF spells literals, classes and counts, within what all of its readers agree on.

Escapes are those of llama.cpp's ``parse_char``: ``\\n \\r \\t \\\\ \\"``, ``\\xHH``, ``\\uHHHH``,
``\\UHHHHHHHH`` (code points). ``\\-`` is not used, since llguidance refuses it.
"""

from __future__ import annotations

import re

from ...compiler.grammar import MAX_CODE_POINT, SURROGATES, Ranges

NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
IN_CLASS = frozenset("]-[^")


def escape(character: str, special: frozenset[str]) -> str:
    """One character, escaped if it is in `special`, a control or otherwise not visible."""
    if character in NAMED:
        return NAMED[character]
    if character in special:
        return '\\"' if character == '"' else f"\\x{ord(character):02X}"
    if character == " " or (character.isprintable() and not character.isspace()):
        return character
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def literal(text: str) -> str:
    """`text` in double quotes."""
    return '"' + _ESCAPED.sub(_escape_match, text) + '"'


_QUOTE = frozenset('"')
# Every character but the printable ones of ASCII without quote and backslash.
_ESCAPED = re.compile(r"[^ !#-\[\]-~]")


def _escape_match(match: re.Match[str]) -> str:
    return escape(match.group(), _QUOTE)


def characters(ranges: Ranges) -> str:
    """The class of `ranges`, positive or negated, whichever is shorter (positive in a tie)."""
    positive = "[" + _spell(ranges) + "]"
    outside = complement(ranges)
    if not outside:
        # Every code point: a class cannot be empty, so the full range is spelled.
        return "[\\x00-\\U0010FFFF]"
    negated = "[^" + _spell(outside) + "]"
    return negated if len(negated) < len(positive) else positive


def complement(ranges: Ranges) -> Ranges:
    """What is outside of `ranges`. Surrogates are in no text: alone they are not listed."""
    gaps = []
    at = 0
    for low, high in (*ranges, (MAX_CODE_POINT + 1, MAX_CODE_POINT + 1)):
        if at < low and (at, low - 1) != SURROGATES:
            gaps.append((at, low - 1))
        at = high + 1
    return tuple(gaps)


def _spell(ranges: Ranges) -> str:
    parts = []
    for low, high in ranges:
        parts.append(escape(chr(low), IN_CLASS))
        if high > low:
            if high > low + 1:
                parts.append("-")
            parts.append(escape(chr(high), IN_CLASS))
    return "".join(parts)
