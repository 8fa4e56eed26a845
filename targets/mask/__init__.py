"""The mask target: token masks for a decode loop, from the grammar's automaton.

``compile(grammar, vocabulary)`` gives a :class:`MaskAutomaton`; ``automaton.matcher()`` gives one
matcher for each sequence. ``automaton.save`` writes it to a file, ``load`` reads it.
"""

from ...compiler.compiled import CompiledGrammar
from ...compiler.vocabulary.vocabulary import Vocabulary
from . import lacking, stuck
from .automaton import MaskAutomaton
from .bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    reset_token_bitmask,
)
from .explore import SampleCoverage
from .loaded import LoadedAutomaton, load
from .matcher import Matcher, fill_next_token_bitmask_batch
from .save import SaveBudget, SaveReport
from .stuck import DeadEnd, DeadEnds

__all__ = [
    "DeadEnd",
    "DeadEnds",
    "LoadedAutomaton",
    "MaskAutomaton",
    "Matcher",
    "SampleCoverage",
    "SaveBudget",
    "SaveReport",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "compile",
    "dead_ends",
    "fill_next_token_bitmask_batch",
    "get_bitmask_shape",
    "lacking_bytes",
    "load",
    "reset_token_bitmask",
]


def compile(grammar: CompiledGrammar, vocabulary: Vocabulary) -> MaskAutomaton:
    """The mask automaton of a compiled grammar; nothing is computed before the first mask.

    Raises:
        TypeError: not a compiled grammar and a vocabulary.
    """
    if not isinstance(grammar, CompiledGrammar) or not isinstance(vocabulary, Vocabulary):
        shown = f"{type(grammar).__name__} and {type(vocabulary).__name__}"
        raise TypeError(f"a compiled grammar and a Vocabulary are wanted, not {shown}")
    return MaskAutomaton(grammar.enforced, vocabulary, recipe=grammar.recipe)


def lacking_bytes(grammar: CompiledGrammar, vocabulary: Vocabulary) -> list[int]:
    """The bytes that the grammar's texts can hold and that are no token by themselves, ascending.

    If there are none, no place that the grammar leads to is a dead end in this vocabulary: some
    token always goes on. Builds every rule of the grammar, so it is no part of compiling.
    """
    return lacking.lacking_bytes(grammar.enforced, vocabulary)


def dead_ends(
    grammar: CompiledGrammar, vocabulary: Vocabulary, *, limit: int = stuck.LIMIT
) -> DeadEnds:
    """The places that tokens lead to and from which no tokens lead to the end.

    If no byte is lacking (:func:`lacking_bytes`) there are none, and nothing is looked at.
    Otherwise all the places that tokens lead to are, up to `limit`: what is found is a dead end
    for sure, and `decided` says whether all were looked at. Builds every rule of the grammar, so
    it is no part of compiling.
    """
    return stuck.find_dead_ends(grammar.enforced, vocabulary, limit)
