"""The mask target: token masks for a decode loop, from the grammar's automaton.

``compile(grammar, vocabulary)`` gives a :class:`MaskAutomaton`; ``automaton.matcher()`` gives one
matcher for each sequence.
"""

from ...compiler.compiled import CompiledGrammar
from ...compiler.vocabulary.vocabulary import Vocabulary
from .automaton import MaskAutomaton
from .bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    reset_token_bitmask,
)
from .matcher import Matcher, fill_next_token_bitmask_batch

__all__ = [
    "MaskAutomaton",
    "Matcher",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "compile",
    "fill_next_token_bitmask_batch",
    "get_bitmask_shape",
    "reset_token_bitmask",
]


def compile(grammar: CompiledGrammar, vocabulary: Vocabulary) -> MaskAutomaton:
    """The mask automaton of a compiled grammar; nothing is computed before the first mask."""
    return MaskAutomaton(grammar.enforced, vocabulary)
