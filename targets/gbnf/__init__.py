"""Target: GBNF, the grammar notation of llama.cpp.

Only what llama.cpp, llguidance and XGrammar read alike is emitted. What GBNF cannot say exactly is
refused with :class:`~calligram.TargetError`; nothing is approximated.
"""

from __future__ import annotations

from typing import Protocol

from ...compiler.grammar import Grammar
from .emitter import emit_grammar

ARMED = "# For tool_choice auto: armed lazily, from the trigger on. As it is, it demands a call."

__all__ = ["Compiled", "emit", "emit_grammar"]


class Compiled(Protocol):
    """What `emit` needs of a compiled grammar."""

    @property
    def enforced(self) -> Grammar: ...


def emit(compiled: Compiled) -> str:
    """The grammar as GBNF, with the root rule ``root``.

    Under tool_choice "auto" this is the grammar from the trigger on (``compiled.trigger``).
    Raises :class:`~calligram.TargetError` for what GBNF cannot express, by feature and pointer.
    """
    text = emit_grammar(compiled.enforced)
    if compiled.enforced.armed is None:
        return text
    first, _, rest = text.partition("\n")
    return f"{first}\n{ARMED}\n{rest}"
