"""Literals that share prefixes, as a radix trie: one alternative a branch, not one a literal."""

from __future__ import annotations

from collections.abc import Sequence as Seq

from ..grammar import EMPTY, Choice, Expr, Literal, sequence


def trie(options: Seq[tuple[str, Expr]]) -> Expr:
    """An expression for "one of these texts, each followed by its own rest", common prefixes
    shared. The texts may be prefixes of one another; equal texts keep all their rests. Branches
    come in the order of their first text."""
    assert options
    # Worked off from an explicit stack: long chains of prefixes must not exhaust the interpreter's.
    root: list[Expr] = []
    todo: list[tuple[list[tuple[str, Expr]], list[Expr]]] = [(list(options), root)]
    joins: list[tuple[str, list[Expr], list[Expr], int]] = []
    while todo:
        group, out = todo.pop()
        branches: dict[str, list[tuple[str, Expr]]] = {}
        for text, rest in group:
            branches.setdefault(text[:1], []).append((text, rest))
        for first, members in branches.items():
            if not first:
                out.extend(rest for _, rest in members)
            elif len(members) == 1:
                text, rest = members[0]
                out.append(sequence(Literal(text), rest))
            else:
                shared = _common([text for text, _ in members])
                inner: list[Expr] = []
                joins.append((shared, inner, out, len(out)))
                out.append(EMPTY)  # Filled in below, innermost first.
                todo.append(([(text[len(shared) :], rest) for text, rest in members], inner))
    for shared, inner, out, at in reversed(joins):
        out[at] = sequence(Literal(shared), _either(inner))
    return _either(root)


def _either(options: list[Expr]) -> Expr:
    return options[0] if len(options) == 1 else Choice(tuple(options))


def _common(texts: list[str]) -> str:
    low, high = min(texts), max(texts)
    for i, char in enumerate(low):
        if char != high[i]:
            return low[:i]
    return low
