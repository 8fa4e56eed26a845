"""Printed text and how it holds together."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

INLINE = 60
"""Characters up to which a rule used once is printed where it is used."""
GROUP = 1000
"""Characters up to which a group is printed in place."""
DEPTH = 16
"""Groups inside groups; deeper ones get a name."""
EMPTY_TEXT = '""'

MARK = "\x00"
"""Stands around names in printed text, so that they are told from the text of literals."""


class Level(IntEnum):
    """How tightly a fragment holds together."""

    CHOICE = 0
    SEQUENCE = 1
    ATOM = 2
    SINGLE = 3
    """An atom that may be repeated: a name, a class, a single character."""


class Fragment(NamedTuple):
    """Printed text with its level and the depth of groups in it."""

    text: str
    level: Level
    depth: int = 0
