"""Can a grammar be written in a vocabulary without getting stuck?

Every byte that a grammar can ask for is a way on if some ordinary token is that byte alone. Where a
vocabulary lacks one, a token may end in front of it and nothing follow.
"""

from __future__ import annotations

from ...compiler.automaton.utf8 import byte_sequences
from ...compiler.grammar import (
    ButMachine,
    Chars,
    Expr,
    Grammar,
    Literal,
    Machine,
    Regular,
    RuleRef,
    Token,
    children,
)
from ...compiler.vocabulary.vocabulary import Vocabulary


def lacking_bytes(grammar: Grammar, vocabulary: Vocabulary) -> list[int]:
    """The bytes that the grammar's texts can hold and that are no token by themselves, ascending.

    None: no reachable place is a dead end. Vocabularies with all 256 bytes never lack any. Builds
    every rule of the grammar.
    """
    single = {
        vocabulary.tokens[token][0]
        for token in vocabulary.ordinary
        if len(vocabulary.tokens[token]) == 1
    }
    missing = set(range(256)) - single
    if not missing:
        return []
    return sorted(missing & needed_bytes(grammar, frozenset(vocabulary.specials)))


def named_tokens(grammar: Grammar) -> list[Token]:
    """The markers that the grammar's rules name, each once, in order of first use."""
    found: dict[Token, None] = {}
    todo: list[Expr] = [
        grammar.start,
        *(expr for _, expr in grammar.rules.reachable(grammar.start)),
    ]
    while todo:
        expr = todo.pop()
        if isinstance(expr, Token):
            found[expr] = None
        todo += children(expr)
    return list(found)


def needed_bytes(grammar: Grammar, specials: frozenset[str] = frozenset()) -> set[int]:
    """The bytes that the grammar's texts can hold, but for special tokens read by their ids."""
    found: set[int] = set()
    ranges: set[tuple[int, int]] = set()
    machines: set[Machine] = set()
    todo: list[Expr] = [grammar.start]
    seen: set[str] = set()
    while todo:
        expr = todo.pop()
        match expr:
            case RuleRef(name):
                if name not in seen:
                    seen.add(name)
                    todo.append(grammar.rules[name])
                continue
            case Token(text, match):
                if text not in specials or match == "either":
                    found.update(text.encode("utf-8"))
            case Literal(text):
                found.update(text.encode("utf-8"))
            case Chars(own):
                ranges.update(own)
            case Regular(machine):
                if isinstance(machine, ButMachine):
                    machine = machine.base
                machines.add(machine if machine.known is None else machine.known.plain)
        todo += children(expr)
    for machine in machines:
        ranges.update((low, high) for row in machine.transitions for low, high, _, _ in row)
    for low, high in ranges:
        for sequence in byte_sequences(((low, high),)):
            for first, last in sequence:
                found.update(range(first, last + 1))
    return found
