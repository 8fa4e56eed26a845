"""What all the lowerings of one grammar share: rules, names, and what has been built already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..grammar import Expr, Machine, RuleRef, Rules
from ..ir import Bounds
from ..origin import Problem
from .names import Names


@dataclass(eq=False)
class Shared:
    """What all the value lowerings of one grammar share.

    ``problems`` collects what the notation cannot carry; the caller raises them together.
    ``unbuilt``: the first rule of each recursive definition.
    """

    rules: Rules
    bounds: Bounds | None
    order: str
    names: Names = field(default_factory=Names)
    memo: dict[object, RuleRef] = field(default_factory=dict)
    machines: dict[object, Machine] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unbuilt: list[RuleRef] = field(default_factory=list)

    def find_problems(self) -> None:
        """Build each recursive definition once, for the problems that building it finds."""
        while self.unbuilt:
            self.rules[self.unbuilt.pop().name]

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
