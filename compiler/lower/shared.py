"""What all the lowerings of one grammar share: rules, names, and what has been built already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..automaton.core import Core
from ..grammar import Distinct, Expr, Machine, RuleRef, Rules
from ..ir import Bounds
from ..origin import Problem
from ..owners import back_to
from .distinct import has_items, too_few_items
from .names import Names


@dataclass(eq=False)
class Shared:
    """What all the value lowerings of one grammar share.

    ``rules`` are the grammar's, who must keep them: rules that are not built yet hold what is
    shared, and are not held by it. ``problems`` collects what the notation cannot carry; the caller
    raises them together.
    ``unbuilt``: the first rule of each recursive definition. ``owed``: arrays of which it is to
    be seen whether there are as many different items as they need. ``kept``: what rules are known
    by the identity of.
    """

    rules: Rules
    bounds: Bounds | None
    order: str
    names: Names = field(default_factory=Names)
    memo: dict[object, RuleRef] = field(default_factory=dict)
    machines: dict[object, Machine] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unbuilt: list[RuleRef] = field(default_factory=list)
    owed: list[Distinct] = field(default_factory=list)
    kept: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rules = back_to(self.rules)

    def find_problems(self) -> None:
        """Build each recursive definition once, for the problems that building it finds."""
        while self.unbuilt:
            self.rules[self.unbuilt.pop().name]
        self.find_owed()

    def find_owed(self) -> None:
        """Find the arrays that need more different items than there are."""
        if self.owed:
            core = Core(self.rules)
            while self.owed:
                node = self.owed.pop()
                if not has_items(node, core):
                    self.problems.append(too_few_items(node))

    def named(self, key: object, hint: str, build: Callable[[], Expr]) -> RuleRef:
        """The rule built for `key`, defined on first use."""
        found = self.memo.get(key)
        if found is None:
            found = self.memo[key] = self.rules.define(self.names.fresh(hint), build)
        return found

    def machine(self, key: object, build: Callable[[], Machine]) -> Machine:
        """The machine built for `key`, built on first use."""
        found = self.machines.get(key)
        if found is None:
            found = self.machines[key] = build()
        return found
