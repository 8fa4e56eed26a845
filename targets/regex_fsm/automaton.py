"""Grammar -> minimal byte automaton, or a refusal that says what takes the states."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from ...compiler.automaton.byte_dfa import ByteDfa, minimal
from ...compiler.automaton.determinise import Share, TooManyStates, determinise
from ...compiler.automaton.free_tokens import NO_TOKENS, Free
from ...compiler.errors import TargetError
from ...compiler.grammar import Grammar
from ...compiler.origin import Origin

MAX_STATES = 200_000
"""States before minimising; more take minutes and gigabytes."""

HINT = (
    "give the schema smaller bounds there, or none and compile with bounds=None; masks "
    "(calligram.targets.mask) need no table"
)


Find = Callable[[Origin, str], Origin]
"""The place of an object, and a declared key of it -> the key's place."""


def automaton(
    grammar: Grammar,
    specials: Mapping[str, int],
    max_states: int,
    find: Find,
    free: Free = NO_TOKENS,
) -> ByteDfa:
    """The minimal automaton of a grammar without recursion.

    Args:
        free: special tokens that free text may hold besides those of the grammar.
        find: asked where a key comes from that takes too many states.

    Raises:
        TargetError: code ``unsupported-feature`` (states): more than `max_states`.
    """
    with uncollected():
        try:
            return minimal(determinise(grammar, specials, max_states, free))
        except TooManyStates as error:
            share = error.share
        raise too_many(max_states, share, find)


def too_many(limit: int, share: Share | None, find: Find) -> TargetError:
    """The refusal of an automaton of more than `limit` states."""
    return too_large(f"states: the automaton has more than {limit:,} states", share, find)


def too_large(message: str, share: Share | None, find: Find) -> TargetError:
    """A refusal that names the part of the grammar that takes most states."""
    if share is None:
        return TargetError.at("unsupported-feature", message, Origin(), HINT)
    message += f", {share.states:,} of them inside {share.what}"
    origin = share.origin if share.key is None else find(share.origin, share.key)
    return TargetError.at("unsupported-feature", message, origin, HINT)


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile: nothing is thrown away here, and looking at all that is
    made takes longer than making it."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
