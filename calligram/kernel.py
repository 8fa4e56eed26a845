"""The kernel contract: all that a decode loop needs of a constraint.

Three signatures that name no model, no tokenizer, no device and no file. Whatever keeps them can
stand in a host's loop, and a host that is written against them takes any constraint:
:class:`calligram.targets.mask.Matcher` is one.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Constraint(Protocol):
    """What one text may become, one token at a time."""

    def mask_logits(self, logits: Any) -> None:
        """Set the logits of tokens that may not come next to minus infinity, in place.

        Args:
            logits: float[V], one logit an id.
        """
        ...

    def accept_token(self, token_id: int) -> bool:
        """Take the token that was chosen; False, and nothing changes, if it is not allowed."""
        ...

    def is_completed(self) -> bool:
        """May the text end here?"""
        ...


__all__ = ["Constraint"]
