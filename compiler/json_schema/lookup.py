"""What an object alternative says of one key, and which keys it does not speak of by name."""

from __future__ import annotations

from collections.abc import Mapping

from ..regular.language import Language
from .forms import Member, Objects


def lookup(x: Objects, name: str) -> Member:
    """The member of that name, or what the class of the key makes of it (goal None: forbidden)."""
    member = x.members.get(name)
    if member is not None:
        return member
    for c in x.classes:
        if c.names is None or c.names.accepts(name):
            return Member(c.goal, False, False, c.implicit, c.evaluated, c.origin)
    return Member(None, origin=x.origin)


def open_names(names: Language | None, members: Mapping[str, object]) -> Language | None:
    """The keys of a class without those that are spoken of by name (None: every key)."""
    if names is None:
        return ~Language.words(list(members)) if members else None
    spoken = [name for name in members if names.accepts(name)]
    return names - Language.words(spoken) if spoken else names
