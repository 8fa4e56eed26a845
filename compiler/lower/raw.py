"""Text without escapes: what it can hold, given what ends it."""

from __future__ import annotations

import re
from functools import lru_cache

from ..origin import Origin
from ..regular.language import Language
from .spelling import StringStyle, raw_fits

_GAP = r"[ \t\r\n]*"


def raw_text(style: StringStyle, following: str, avoid: tuple[str, ...]) -> Language:
    """The texts that can stand raw in `style`; `following` ends those that have no closer."""
    if not style.before:
        return Language.avoiding(avoid, style.close or following)
    pattern = _early_end(style)
    return Language.avoiding(avoid) - Language.pattern(pattern, origin=Origin("/args/string"))


def fits_raw(text: str, style: StringStyle, following: str, avoid: tuple[str, ...]) -> bool:
    """Is `text` one of the texts that :func:`raw_text` is the language of?"""
    if not style.before:
        return raw_fits(text, style.close or following, avoid)
    return raw_fits(text, "", avoid) and re.search(_early_end(style), text) is None


@lru_cache(maxsize=64)
def _early_end(style: StringStyle) -> str:
    """The closer where it closes. White space may vary, so it is no way to go on."""
    return re.escape(style.close) + _GAP + f"[{re.escape(style.before)}]"
