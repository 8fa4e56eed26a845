"""What the inference of the arguments' notation gives to the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Arguments:
    """How arguments are written.

    Attributes:
        region: the text that stands for the first key with the first value, which is where
            ``{args}`` goes.
        args: the spec's `args`.
        layout: the spec's `json`, empty if it is the default.
        history: further shapes that history has by mistake, `history` of the spec.
    """

    region: str
    args: dict[str, Any]
    layout: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
