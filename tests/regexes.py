"""Engines that read one syntax: Python's `re`, interegular and Rust's `regex`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import interegular
from interegular.fsm import anything_else

Accepts = Callable[[str], bool]

llguidance: Any = import_module("llguidance") if find_spec("llguidance") else None
outlines_core: Any = import_module("outlines_core") if find_spec("outlines_core") else None
# There are platforms without wheels of these.


def python(pattern: str) -> Accepts:
    """Python's own; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


def by_interegular(pattern: str) -> Accepts:
    """The automaton that interegular makes of it."""
    fsm: Any = interegular.parse_pattern(pattern).to_fsm()

    def accepts(text: str) -> bool:
        state = fsm.initial
        for char in text:
            symbol = char if char in fsm.alphabet else anything_else
            row = fsm.map.get(state, {})
            key = fsm.alphabet[symbol]
            if key not in row:
                return False
            state = row[key]
        return state in fsm.finals

    return accepts


def rust(pattern: str) -> Accepts:
    """The syntax of Rust's `regex`, read by its parser, with the derivatives of llguidance."""
    tokenizer = llguidance.LLTokenizer("byte")
    source = llguidance.LLMatcher.grammar_from_regex(pattern)

    def accepts(text: str) -> bool:
        matcher = llguidance.LLMatcher(tokenizer, source)
        assert not matcher.is_error(), (matcher.get_error(), pattern)
        tokens = tokenizer.tokenize_bytes(text.encode())
        return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())

    return accepts


def outlines(pattern: str) -> Accepts:
    """Rust's own automaton, as outlines-core walks it byte by byte.

    It stops at the first way to match, and leaves out bytes that lead from where the text may end
    to where it may not, so that not every expression is read in full.
    """
    every = {bytes([byte]): [byte] for byte in range(256)}
    index = outlines_core.Index(pattern, outlines_core.Vocabulary(256, every))
    finals = index.get_final_states()

    def accepts(text: str) -> bool:
        state = index.get_initial_state()
        for byte in text.encode():
            state = index.get_next_state(state, byte)
            if state is None:
                return False
        return state in finals

    return accepts


ENGINES: dict[str, Callable[[str], Accepts]] = {
    "re": python,
    "interegular": by_interegular,
    **({"rust": rust} if llguidance is not None else {}),
}
CLOSED = {**ENGINES, **({"outlines": outlines} if outlines_core is not None else {})}
"""Also those that read expressions after whose texts nothing can follow."""
