"""Target: regular expressions and token tables, for runtimes that mask with a finite automaton.

``compile(grammar, vocabulary)`` gives a :class:`TokenTable`, ``regex(grammar)`` the text of a
regular expression, ``dfa(grammar)`` the automaton over bytes between them, and ``load(path,
vocabulary)`` a table that was saved. They are the whole turn of the grammar, as the masks are.
What is not regular is refused with :class:`~calligram.TargetError`; recursion is cut at a stated
depth, and what was cut is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from ...compiler.automaton.byte_dfa import ByteDfa
from ...compiler.compiled import CompiledGrammar
from ...compiler.errors import ArtefactError
from ...compiler.passes.cut_recursion import RecursionCut
from ...compiler.vocabulary.vocabulary import Vocabulary
from .advice import advised
from .automaton import MAX_STATES, automaton
from .build import MAX_BYTES
from .counted import table_of
from .counted_table import CountedTable
from .files import load
from .guide import Guide
from .places import key_place
from .regular import MAX_DEPTH, regular
from .states import DEAD, ENDED, START
from .table import TokenTable
from .tensors import CountedTensors, TensorTable
from .text import HINT, HINT_OF_BOUNDS, MAX_TEXT, regex_text

__all__ = [
    "DEAD",
    "ENDED",
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_STATES",
    "MAX_TEXT",
    "START",
    "ByteDfa",
    "CountedTable",
    "CountedTensors",
    "Guide",
    "RecursionCut",
    "TensorTable",
    "TokenTable",
    "compile",
    "cuts",
    "dfa",
    "load",
    "regex",
]


def compile(
    grammar: CompiledGrammar,
    vocabulary: Vocabulary,
    *,
    max_depth: int | None = MAX_DEPTH,
    max_states: int = MAX_STATES,
    max_bytes: int = MAX_BYTES,
    progress: Callable[[float], None] | None = None,
) -> TokenTable:
    """The token table of a compiled grammar over a vocabulary.

    Args:
        max_depth: how often a rule may be inside itself (only without bounds are there such); what
            was cut stands in ``header["cuts"]``. None: a rule inside itself is refused.
        max_states: states of the automaton before minimising, with counts shortened if there are
            many.
        max_bytes: bytes of the table.
        progress: told from time to time how much is done, 0 to 1.

    Raises:
        TargetError: code ``unsupported-feature``: not regular, or more states or bytes than that,
            with the place in the schema.
        TypeError: not a compiled grammar and a vocabulary.
    """
    if not isinstance(grammar, CompiledGrammar) or not isinstance(vocabulary, Vocabulary):
        shown = f"{type(grammar).__name__} and {type(vocabulary).__name__}"
        raise TypeError(f"a compiled grammar and a Vocabulary are wanted, not {shown}")
    cut, found = regular(grammar.enforced, max_depth, max_states)
    if progress is not None:
        progress(0.0)
    with advised(grammar):
        return table_of(
            cut, vocabulary, partial(_header, grammar, found), max_states, max_bytes,
            partial(key_place, grammar), progress,
        )  # fmt: skip


def dfa(
    grammar: CompiledGrammar, *, max_depth: int | None = MAX_DEPTH, max_states: int = MAX_STATES
) -> ByteDfa:
    """The minimal automaton of the grammar's texts as bytes; special tokens are their texts.

    Args:
        max_depth, max_states: as for :func:`compile`.

    Raises:
        TargetError: as for :func:`compile`.
    """
    cut, _ = regular(grammar.enforced, max_depth, max_states)
    with advised(grammar):
        return automaton(cut, {}, max_states, partial(key_place, grammar))


def regex(
    grammar: CompiledGrammar, *, max_depth: int | None = MAX_DEPTH, max_length: int = MAX_TEXT
) -> str:
    """A regular expression of the grammar's texts, to be matched as a whole.

    Rust's `regex`, Python's `re` and interegular read it alike. Counted repeats are written as
    such, ``{m,n}``; engines that write them out want a grammar with ``bounds=None``.

    Args:
        max_depth: as for :func:`compile`.
        max_length: characters of the expression.

    Raises:
        TargetError: code ``unsupported-feature``: not regular, or longer than that.
    """
    cut, _ = regular(grammar.enforced, max_depth)
    hint = HINT if grammar.bounds is None else HINT_OF_BOUNDS
    return regex_text(cut, max_length, partial(key_place, grammar), hint)


def cuts(grammar: CompiledGrammar, *, max_depth: int = MAX_DEPTH) -> tuple[RecursionCut, ...]:
    """Where recursion of the grammar is cut at that depth; nothing for a grammar with bounds.

    Raises:
        TargetError: code ``unsupported-feature``: not regular, or more levels than can be made.
    """
    return regular(grammar.enforced, max_depth)[1]


def _recipe_digest(grammar: CompiledGrammar) -> str | None:
    """The digest of what the grammar was compiled from, as files of masks have it; None if that is
    no JSON."""
    try:
        return None if grammar.recipe is None else grammar.recipe.digest
    except ArtefactError:
        return None


def _header(
    grammar: CompiledGrammar, found: tuple[RecursionCut, ...], digest: str, states: int
) -> dict[str, Any]:
    bounds = grammar.bounds
    statuses = Counter(f.status for f in grammar.findings)
    return {
        "dialect": None if grammar.dialect is None else grammar.dialect.id,
        "tools": [call.name for call in grammar.calls],
        "grammar": _recipe_digest(grammar),
        "automaton": digest,
        "states": states,
        "bounds": None
        if bounds is None
        else {name: getattr(bounds, name) for name in type(bounds).__slots__},
        "cuts": [cut.to_json() for cut in found],
        "keywords": dict(sorted(statuses.items())),
        "dropped_tools": list(grammar.dropped),
    }
