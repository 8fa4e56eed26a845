"""Unicode properties for `\\p{...}`, as far as the standard library knows them exactly.

General categories come from ``unicodedata`` (Unicode Character Database, UAX #44), in the version
that the running Python has. Scripts are a table of Scripts.txt for the scripts in wide use.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby

from . import charset
from .charset import ALL, MAX_CODE_POINT, CharSet
from .unicode_scripts import SCRIPTS

# Long names of General_Category values (PropertyValueAliases.txt, gc).
_CATEGORY_NAMES = {
    "Other": "C", "Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Unassigned": "Cn",
    "Private_Use": "Co", "Surrogate": "Cs", "Letter": "L", "Cased_Letter": "LC",
    "Lowercase_Letter": "Ll", "Modifier_Letter": "Lm", "Other_Letter": "Lo",
    "Titlecase_Letter": "Lt", "Uppercase_Letter": "Lu", "Mark": "M", "Combining_Mark": "M",
    "Spacing_Mark": "Mc", "Enclosing_Mark": "Me", "Nonspacing_Mark": "Mn", "Number": "N",
    "Decimal_Number": "Nd", "digit": "Nd", "Letter_Number": "Nl", "Other_Number": "No",
    "Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd",
    "Close_Punctuation": "Pe", "Final_Punctuation": "Pf", "Initial_Punctuation": "Pi",
    "Other_Punctuation": "Po", "Open_Punctuation": "Ps", "Symbol": "S", "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk", "Math_Symbol": "Sm", "Other_Symbol": "So", "Separator": "Z",
    "Line_Separator": "Zl", "Paragraph_Separator": "Zp", "Space_Separator": "Zs",
}  # fmt: skip


@lru_cache(maxsize=1)
def _categories() -> dict[str, CharSet]:
    """Every two-letter category and its code points."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    start = 0
    for name, group in groupby(map(unicodedata.category, map(chr, range(MAX_CODE_POINT + 1)))):
        count = sum(1 for _ in group)
        ranges.setdefault(name, []).append((start, start + count - 1))
        start += count
    return {name: charset.charset(found) for name, found in ranges.items()}


def category(name: str) -> CharSet | None:
    """The code points of a General_Category value (`Lu`, `L`, `Letter`), None if unknown."""
    short = _CATEGORY_NAMES.get(name, name)
    known = _categories()
    if short == "LC":
        return charset.union(known["Ll"], known["Lu"], known["Lt"])
    if len(short) == 1 and short in "CLMNPSZ":
        return charset.union(*(ranges for key, ranges in known.items() if key[0] == short))
    return charset.NONE if short == "Cs" else known.get(short)


def script(name: str) -> CharSet | None:
    """The code points whose Script property has that value, None if the table lacks it."""
    return SCRIPTS.get(name)


@lru_cache(maxsize=8)
def binary(name: str) -> CharSet | None:
    """The code points of a binary property, None if the standard library does not know it."""
    match name:
        case "Any":
            return ALL
        case "ASCII":
            return ((0, 0x7F),)
        case "ASCII_Hex_Digit" | "AHex":
            return charset.of("0123456789abcdefABCDEF")
        case "Assigned":
            unassigned = category("Cn")
            assert unassigned is not None
            return charset.complement(unassigned)
        case "Lowercase" | "Lower":
            return _where(str.islower)
        case "Uppercase" | "Upper":
            return _where(str.isupper)
        case "White_Space" | "space":
            # str.isspace also takes U+001C..U+001F, which PropList.txt does not.
            return charset.difference(_where(str.isspace), ((0x1C, 0x1F),))
    return None


def _where(test: Callable[[str], bool]) -> CharSet:
    return charset.charset((i, i) for i in range(MAX_CODE_POINT + 1) if test(chr(i)))


def property_set(text: str) -> CharSet | None:
    """The code points of `\\p{text}`: `L`, `gc=L`, `Script=Greek`, `ASCII`; None if not known."""
    name, equals, value = text.partition("=")
    if not equals:
        found = category(name)
        return binary(name) if found is None else found
    if name in ("General_Category", "gc"):
        return category(value)
    if name in ("Script", "sc"):
        return script(value)
    return None
