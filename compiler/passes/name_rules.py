"""Grammar -> Grammar. Every reachable rule is built, and named by its order of first use.

Rules are built when first asked for, and number their names then; so the same grammar can have
other names after a text was checked. What is written out must not tell the difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..grammar import Expr, Grammar, RuleRef, Rules
from .rewrite import built_rules, rewrite

_NUMBERS = re.compile(r"(?:-[0-9]+)+$")


def name_rules(grammar: Grammar) -> Grammar:
    """The same grammar, its rules named by their place in it."""
    bodies = built_rules(grammar)
    names = rule_names(bodies)
    memo: dict[int, tuple[Expr, Expr]] = {}

    def change(node: Expr) -> Expr:
        return RuleRef(names.get(node.name, node.name)) if isinstance(node, RuleRef) else node

    def renamed(expr: Expr) -> Expr:
        return rewrite(expr, change, memo)

    rules = Rules()
    for name, body in bodies.items():
        rules.define(names[name], renamed(body))
    armed = None if grammar.armed is None else renamed(grammar.armed)
    return Grammar(rules, renamed(grammar.start), armed)


def rule_names(bodies: Iterable[str]) -> dict[str, str]:
    """New names for rules given in order of first use."""
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name in bodies:
        base = _NUMBERS.sub("", name)
        counts[base] = counts.get(base, 0) + 1
        names[name] = base if counts[base] == 1 else f"{base}-{counts[base]}"
    return names
