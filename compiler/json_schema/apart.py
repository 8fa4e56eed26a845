"""Whether two forms have no value in common, as far as that is told quickly."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from .forms import Alternative, Form, Goal, Objects, Values
from .json_values import is_container, json_key
from .meet import meet

if TYPE_CHECKING:
    from .reading import Reader

# Required members that have few plain values, and those.
Tags: TypeAlias = Mapping[str, frozenset[Hashable]]


class Apart:
    """Compares the forms of one reader, which is passed in. Its answers may ask for forms that are
    being read."""

    def __init__(self) -> None:
        self._known: dict[Objects, dict[str, frozenset[Hashable]]] = {}

    def disjoint(self, a: Form, b: Form, reader: Reader) -> bool:
        """Whether no alternative of one form has a value in common with one of the other."""
        return all(self._apart(x, y, reader) for x in a.alternatives for y in b.alternatives)

    def tags(self, form: Form, reader: Reader) -> Tags:
        """The required members that have few plain values; none if there is more than one kind of
        objects, or something else."""
        match form.alternatives:
            case (Objects() as x,):
                return self._tags_of(x, reader)
            case _:
                return {}

    def _apart(self, x: Alternative, y: Alternative, reader: Reader) -> bool:
        if isinstance(x, Objects) and isinstance(y, Objects):
            mine, others = self._tags_of(x, reader), self._tags_of(y, reader)
            if any(name in others and not (tags & others[name]) for name, tags in mine.items()):
                return True
        elif type(x) is not type(y) and not isinstance(x, Values) and not isinstance(y, Values):
            return True
        met = meet(Form((x,)), Form((y,)), reader)
        return all(reader.empty(z, wide=True) for z in met.alternatives)

    def _tags_of(self, x: Objects, reader: Reader) -> Tags:
        tags = self._known.get(x)
        if tags is None:
            tags = self._known[x] = {}
            for name, m in x.members.items():
                if m.required and m.goal:
                    values = _plain_values(m.goal, reader)
                    if values is not None:
                        tags[name] = values
        return tags


def _plain_values(goal: Goal, reader: Reader) -> frozenset[Hashable] | None:
    found: set[Hashable] = set()
    for x in reader.form(goal).alternatives:
        if not isinstance(x, Values) or any(is_container(v) for v in x.values):
            return None
        found.update(json_key(v) for v in x.values)
    return frozenset(found)
