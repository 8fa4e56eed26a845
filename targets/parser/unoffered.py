"""Calls of tools that are not offered, where only a tool's name tells a call from prose.

Such dialects take no other name, so that a call of another tool, or of one that is misspelt, is
content. It is noted if it is all of a message, or all that stands behind its calls.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from ...compiler.origin import Origin, Problem, did_you_mean
from .frames import Span
from .loose import Loose, NoValue
from .markers import Marks

_BEFORE: Final = re.compile(rb"\s*+(?:```[\w-]*+\s++)?+[,;\[]?+\s*+")
_BEHIND: Final = re.compile(rb"\s*+\]?+\s*+(?:```)?+\s*+\Z")
_BETWEEN: Final = re.compile(rb"\s*+[,;]?+\s*+")
_NAME: Final = re.compile(rb"[A-Za-z_][\w.-]{0,127}+")
_LOOKS: Final = "this looks like a call of '{}', which is not among the tools, and is content"


def unoffered(
    marks: Marks, tools: Collection[str], text: bytes, spans: Sequence[Span], calls: Sequence[int]
) -> list[Problem]:
    """Notes of calls of tools that are not offered, if they are all there is at the end.

    Args:
        spans: the content, in order, those that touch as one.
        calls: where the calls that were read end.
    """
    if marks.bare is None or marks.named or not spans:
        return []
    start, end = spans[-1]
    rest = text[end:].strip()
    if (start != 0 and start not in calls) or (rest and rest not in marks.turn_ends):
        return []
    loose = Loose(text, start, end, lambda at: False)
    loose.match(_BEFORE)
    found: list[tuple[str, Span]] = []
    try:
        while loose.match(_BEHIND) is None:
            at = loose.at
            name = loose.match(_NAME)
            if name is None:
                return []
            _arguments(loose)
            found.append((name[0].decode(), (at, loose.at)))
            behind = loose.at
            if loose.match(_BEHIND) is not None:
                break
            loose.at = behind
            loose.match(_BETWEEN)
    except NoValue:
        return []
    return [
        Problem(
            "near-miss",
            _LOOKS.format(name),
            Origin(tool=name, span=span),
            did_you_mean(name, tools),
            "note",
        )
        for name, span in found
        if name not in tools
    ]


def _arguments(loose: Loose) -> None:
    """Read what may be the arguments of a call, in parentheses.

    Raises:
        NoValue: there are none.
    """
    if loose.space() != 0x28:
        raise NoValue
    at = loose.at
    loose.at += 1
    if loose.space() != 0x7B:
        loose.at = at
        loose.container(0x28, None, 0)
        return
    loose.container(0x7B, None, 0)
    if loose.space() != 0x29:
        raise NoValue
    loose.at += 1
