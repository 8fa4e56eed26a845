"""What became of each keyword: the raw material of the report (design law "nothing in silence")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, overload

from .origin import Origin

Status: TypeAlias = Literal["enforced", "narrowed", "relaxed", "refused", "annotation"]

RELAX_HINT = (
    'on_unsupported="relax" drops it; parsed calls are checked against it afterwards, values of a '
    "schema alone are not"
)
"""The way out for a keyword that cannot be enforced."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One occurrence of a keyword.

    Attributes:
        status: ``enforced`` exactly; ``narrowed`` the grammar allows less; ``relaxed`` it allows
            more; ``refused`` not compiled; ``annotation`` says nothing about values.
        keyword: the schema keyword.
        how: in words, where the status alone does not tell ("" otherwise).
        origin: the place of the keyword, its pointer ending in the keyword.
    """

    status: Status
    keyword: str
    how: str
    origin: Origin

    def to_json(self) -> dict[str, object]:
        """A plain dict; keys that are unknown or empty are left out."""
        pairs: dict[str, object] = {
            "status": self.status,
            "keyword": self.keyword,
            "tool": self.origin.tool,
            "pointer": self.origin.pointer,
            "how": self.how or None,
        }
        return {k: v for k, v in pairs.items() if v is not None}


class Findings(Sequence[Finding]):
    """Findings in order, some of them made only when somebody looks at any."""

    def __init__(self) -> None:
        self._parts: list[Callable[[], Sequence[Finding]]] = []
        self._made: tuple[Finding, ...] | None = None

    def extend(self, found: Iterable[Finding]) -> None:
        """Append findings."""
        kept = tuple(found)
        self.later(lambda: kept)

    def later(self, make: Callable[[], Sequence[Finding]]) -> None:
        """Append what `make` gives; it may be called more than once, and gives the same."""
        self._parts.append(make)
        self._made = None

    def take(self, other: Findings) -> None:
        """Append the findings of another, unmade as they are."""
        self._parts += other._parts
        self._made = None

    def _all(self) -> tuple[Finding, ...]:
        made = self._made
        if made is None:
            made = self._made = tuple(f for make in self._parts for f in make())
        return made

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, index: int) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...

    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self._all()[index]
