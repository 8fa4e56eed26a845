"""What an object alternative says of one key."""

from __future__ import annotations

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
