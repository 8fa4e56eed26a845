"""Who reads turns back.

The compiler has no reader of turns; targets do. The public face puts one in here, so that a turn
that is rendered for a prompt can be held against what it would be read as.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .compiled import CompiledGrammar


class Turn(Protocol):
    """What a reader finds in a text."""

    @property
    def calls(self) -> Sequence[dict[str, Any]]:
        """``{"name", "arguments"}`` each."""

    @property
    def content(self) -> str:
        """Plain text beside the calls."""

    @property
    def reasoning(self) -> str:
        """The text of the reasoning block."""


Reading = Callable[[str], Turn]

_makers: list[Callable[[CompiledGrammar], Reading]] = []


def use_reader(maker: Callable[[CompiledGrammar], Reading]) -> None:
    """From now on `maker` makes what reads a grammar's turns."""
    _makers[:] = [maker]


def reading_of(grammar: CompiledGrammar) -> Reading:
    """What reads the turns of a grammar."""
    return _makers[0](grammar)
