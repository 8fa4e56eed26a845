"""Grammar -> Grammar. Large counts become small ones, and what was taken off each is told.

What may follow a character of a string of at most 1,000 is the same whether 900 or 800 are left. An
automaton of the shortened grammar has all the places that the whole one has, each at fewer counts.
Every shortened repeat has an item of its own, and a twin: the same with which a walk can be begun
in the middle, told apart from those that it enters on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from ..automaton.liveness import searched
from ..grammar import (
    ButMachine,
    Capture,
    Chars,
    Expr,
    Grammar,
    Machine,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
)
from .rewrite import RuleMaker, rewrite_grammar

LARGEST_NEED: Final = 32
"""Counts that must be reached are kept as they are, up to so many; with more, nothing is taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A count that may be shortened.

    Attributes:
        number: its place among all of them, the same however many of them are shortened.
        most: the count of the grammar.
        kept: what is left of it; all of it if it is not shortened.
        margin: with so many left the next count is like all before it.
        node: what is counted: the text itself, or the item of its repeat.
        twin: another one of the same.
    """

    number: int
    most: int
    kept: int
    margin: int
    node: Expr
    twin: Expr

    @property
    def taken(self) -> int:
        """How much of the count was taken off."""
        return self.most - self.kept


def shorten_counts(
    grammar: Grammar, kept: Mapping[int, int], usual: int, longest: int
) -> tuple[Grammar, tuple[Loop, ...]]:
    """The same grammar with shorter counts, and those that were shortened.

    Args:
        kept: counts behind the margin to be left, by the number of the loop; others have `usual`,
            or `longest` if each count may be a single character.
    """
    found: list[Loop | None] = []

    def change(node: Expr, maker: RuleMaker) -> Expr:
        if not isinstance(node, (Regular, Repeat)) or node.max is None:
            return node
        margin = _margin(node)
        number = len(found)
        found.append(None)
        if margin is None:
            return node
        single = isinstance(node, Regular) or _is_character(node.item, grammar.rules)
        left = margin + kept.get(number, longest if single else usual)
        if left >= node.max:
            return node
        if isinstance(node, Regular):
            short: Expr = replace(node, max=left)
            twin: Expr = replace(node, max=left)
            found[number] = Loop(number, node.max, left, margin, short, twin)
            return short
        # Repeats are told apart by their items.
        item, other = Sequence((node.item,)), Sequence((node.item,))
        found[number] = Loop(number, node.max, left, margin, item, other)
        return Repeat(item, node.min, left)

    # Texts that are not counted, those of free text among them, are what they were.
    made = replace(rewrite_grammar(grammar, change), markers=grammar.markers, free=grammar.free)
    return made, tuple(loop for loop in found if loop is not None)


def _margin(node: Regular | Repeat) -> int | None:
    """The counts from which on it makes no difference how many are left; None if that is not
    known."""
    if node.min > LARGEST_NEED:
        return None
    if isinstance(node, Repeat):
        return node.min + 2
    machine: Machine = node.machine
    if isinstance(machine, ButMachine) or machine.known is not None:
        return None
    live = searched(machine)
    if node.min and not live.is_dense:
        return None
    step = max((counts for row in machine.transitions for *_, counts in row), default=0)
    return node.min + live.farthest + step + 1


def _is_character(expr: Expr, rules: Rules) -> bool:
    """May an expression be one character, as far as can be seen at once?"""
    todo, seen = [expr], set[str]()
    while todo:
        match todo.pop():
            case Chars():
                return True
            case RuleRef(name) if name not in seen:
                seen.add(name)
                todo.append(rules[name])
            case Capture(item=item):
                todo.append(item)
            case Sequence((item,)):
                todo.append(item)
            case node if hasattr(node, "options"):
                todo += node.options
            case _:
                pass
    return False
