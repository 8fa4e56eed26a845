"""What became of each keyword: the raw material of the report (design law "nothing in silence")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

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
