"""Is a grammar regular? What stands in the way is refused, recursion is cut where it may be."""

from __future__ import annotations

from ...compiler.errors import TargetError
from ...compiler.findings import RELAX_HINT
from ...compiler.grammar import Distinct, Expr, Grammar, Members, children
from ...compiler.origin import Origin, Problem
from ...compiler.passes.cut_recursion import RecursionCut, cut_recursion, recursive_rules
from ...compiler.passes.rewrite import built_rules

MAX_DEPTH = 3
"""How often a rule may be inside itself unless the caller says otherwise."""


MAX_COPIES = 50_000
"""Copies of rules that are inside themselves; more take many seconds to make."""


def regular(
    grammar: Grammar, max_depth: int | None, max_states: int | None = None
) -> tuple[Grammar, tuple[RecursionCut, ...]]:
    """The same grammar from its start without recursion, and what was cut of it.

    Args:
        max_depth: how often a rule may be inside itself; None: a rule that is inside itself is
            refused.
        max_states: states that an automaton of it may have, if one is to be made.

    Raises:
        TargetError: code ``unsupported-feature``, a problem for each thing that is not regular, or
            for each rule that is inside itself too often.
        ValueError: a negative depth.
    """
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth is at least 0, not {max_depth}")
    whole = Grammar(grammar.rules, grammar.start, None, grammar.markers, grammar.free)
    problems = _memories(whole)
    if max_depth is None:
        problems += [_recursion(origin) for _, origin in recursive_rules(whole)]
    elif max_depth > MAX_DEPTH:
        # Every level of a text is a character at least, and so a state.
        levels = MAX_COPIES if max_states is None else min(MAX_COPIES, max_states)
        problems += [
            _too_deep(max_depth, max(levels // len(rules) - 1, 0), origin)
            for rules, origin in recursive_rules(whole)
            if (max_depth + 1) * len(rules) > max(levels, len(rules))
        ]
    if problems:
        raise TargetError(problems)
    if max_depth is None:
        return whole, ()
    cut, cuts = cut_recursion(whole, max_depth)
    return cut, tuple(cuts)


def _memories(grammar: Grammar) -> list[Problem]:
    """What must be remembered without bound, by place in the schema."""
    found: dict[tuple[str, Origin], None] = {}
    todo: list[Expr] = [grammar.start, *built_rules(grammar).values()]
    for node in todo:
        match node:
            case Distinct():
                what = "distinct-items: the items that `uniqueItems` keeps apart must be remembered"
                found[what, node.origin] = None
            case Members() if node.names:
                what = "distinct-keys: keys that are counted or ordered must be remembered"
                found[what, node.origin] = None
        todo += children(node)
    return [
        Problem(
            "unsupported-feature", f"{what}, which no finite automaton does", origin, RELAX_HINT
        )
        for what, origin in found
    ]


def _too_deep(depth: int, most: int, origin: Origin) -> Problem:
    return Problem(
        "unsupported-feature",
        f"recursion: {depth:,} levels are too many; there is room for {most:,} of what is here",
        origin,
        "lower `max_depth`",
    )


def _recursion(origin: Origin) -> Problem:
    return Problem(
        "unsupported-feature",
        "recursion: values nest without bound, which no finite automaton follows",
        origin,
        "give `max_depth`, or compile with bounds",
    )
