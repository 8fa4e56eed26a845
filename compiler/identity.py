"""Objects as cache keys by what they are, not by what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class ByIdentity(Generic[T]):
    """A key equal to another of the same object only: for objects with no hash or a costly one."""

    value: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)
