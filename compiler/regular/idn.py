"""Host names beyond ASCII (RFC 5890, RFC 5891): a subset that is valid under every rule.

Whether a label is valid depends on its normal form, on tables of contexts and on the length of its
Punycode. Here labels are composed lower-case letters of one script, which are in normal form
whatever stands together, need no context rule, run left to right, and stay within 63 octets.
"""

from __future__ import annotations

import unicodedata
from typing import TypeAlias

from . import charset
from .format_patterns import mailbox

_Blocks: TypeAlias = tuple[tuple[int, int], ...]

# First and last code point of blocks by script; what is not PVALID in them is sifted out. The most
# characters of a label keep it within 53 octets: `xn--`, a delimiter, and 4 octets of Punycode a
# character up to U+04FF, 6 above.
_SHORT_CODE_POINTS: tuple[_Blocks, ...] = (((0xDF, 0x24F),), ((0x3AC, 0x3CE),), ((0x430, 0x45F),))
_LONG_CODE_POINTS: tuple[_Blocks, ...] = (((0x3041, 0x3096), (0x4E00, 0x9FFF)), ((0xAC00, 0xD7A3),))
_MOST_SHORT = 12
_MOST_LONG = 8
MOST_LABELS = 4
"""Labels of a name with one beyond ASCII, so that it stays within the 253 octets of RFC 1123 2.1
as A-labels: three of 63, one of at most 53, and dots."""


def idn_hostname() -> str:
    """The regular expression, not anchored, of the host names of the module's subset.

    ASCII labels are letters, digits and inner hyphens, none of them at the third and fourth
    position together, where A-labels have theirs (RFC 5891 4.2.3.1).
    """
    alnum, any_ = "[A-Za-z0-9]", "[A-Za-z0-9-]"
    third = rf"{alnum}{any_}|-{alnum}"
    plain = rf"{alnum}(?:{alnum}|{any_}(?:{any_}?{alnum}|(?:{third}){any_}{{0,58}}{alnum}))?"
    labels = [plain]
    for blocks in _SHORT_CODE_POINTS:
        labels.append(_label(blocks, _MOST_SHORT))
    for blocks in _LONG_CODE_POINTS:
        labels.append(_label(blocks, _MOST_LONG))
    label = f"(?:{'|'.join(labels)})"
    return rf"(?:{plain}(?:\.{plain})*|{label}(?:\.{label}){{0,{MOST_LABELS - 1}}})"


def idn_email() -> str:
    """The regular expression, not anchored, of addresses at such hosts (RFC 6531 3.3).

    A local part takes every character beyond ASCII, as the RFC says (UTF8-non-ascii).
    """
    return mailbox(r"\u{80}-\u{10FFFF}", idn_hostname())


def _label(blocks: _Blocks, most: int) -> str:
    """A label of one script, ASCII letters and digits among it."""
    letters = charset.charset((i, i) for low, high in blocks for i in _letters(low, high))
    spelled = "".join(f"{chr(low)}-{chr(high)}" for low, high in letters)
    return f"[a-z0-9{spelled}]{{1,{most}}}"


def _letters(low: int, high: int) -> list[int]:
    """The letters, lower-case or without case, that are their own normal form (RFC 5892 2.2)."""
    return [
        i
        for i in range(low, high + 1)
        if unicodedata.category(chr(i)) in ("Ll", "Lo")
        and unicodedata.normalize("NFKC", chr(i).casefold()) == chr(i)
    ]
