"""Rules that end in each other -> places and what is written between them.

What default bounds make of a pattern are rules a state, and one state is led to from many places.
To write each rule where it is referred to would write it once for every way to it, and with it all
that follows it. Rules that several others end in are places instead, see :mod:`.joining`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ...compiler.grammar import Capture, Choice, Expr, RuleRef, Sequence
from .fragments import Fragment, sequence
from .joining import Joined

Place = tuple[str, int]
"""A rule, and how many steps into it: 0 is its beginning."""

END: Final[Place] = ("", 0)
_ENTRY: Final[Place] = ("", 1)


@dataclass(frozen=True, slots=True)
class Step:
    """From a place to another, with what is written between them."""

    source: Place
    parts: tuple[Expr, ...]
    target: Place


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps of a rule and of all that it ends in, in order; ``start`` is its name."""

    start: str
    steps: tuple[Step, ...]

    @property
    def parts(self) -> tuple[Expr, ...]:
        """All that is written on the way, step by step."""
        return tuple(part for step in self.steps for part in step.parts)

    def joined(self, spelled: list[Fragment], checked: Callable[[Fragment], None]) -> Fragment:
        """The fragment of the rule, out of those of its `parts`."""
        graph: Joined[Place] = Joined(checked)
        graph.join(_ENTRY, (self.start, 0), sequence([]))
        at = 0
        places: dict[Place, None] = {(self.start, 0): None}
        for step in self.steps:
            found = sequence(spelled[at : at + len(step.parts)])
            at += len(step.parts)
            graph.join(step.source, step.target, found)
            places |= dict.fromkeys(p for p in (step.source, step.target) if p != END)
        graph.take_out(list(places))
        return graph.out[_ENTRY][END]


class Chains:
    """The chains of a grammar.

    Args:
        body: what a rule says.
    """

    def __init__(self, body: Callable[[str], Expr]) -> None:
        self._body = body
        self._known: dict[str, Chain | None] = {}

    def of(self, name: str) -> Chain | None:
        """The chain of a rule; None where nothing that it ends in is ended in twice."""
        if name not in self._known:
            steps: list[Step] = []
            rules = [name]
            ended: dict[str, int] = {}
            for rule in rules:  # Which grows meanwhile.
                for step in _steps(rule, self._body(rule)):
                    steps.append(step)
                    target, at = step.target
                    if target and not at:
                        if target not in ended:
                            rules.append(target)
                        ended[target] = ended.get(target, 0) + 1
            if max(ended.values(), default=0) > 1:
                self._known[name] = Chain(name, tuple(steps))
            else:  # Nor then in what they end in.
                self._known |= dict.fromkeys(rules)
        return self._known[name]


def _steps(name: str, body: Expr) -> Iterator[Step]:
    """The steps of one rule, to rules that it ends in or to the end."""
    used = 0
    todo: list[tuple[Place, Expr]] = [((name, 0), body)]
    while todo:
        source, expr = todo.pop()
        match expr:
            case RuleRef(other):
                yield Step(source, (), (other, 0))
            case Capture(item=item):
                todo.append((source, item))
            case Choice(options):
                todo += [(source, option) for option in reversed(options)]
            case Sequence(items) if len(items) > 1:
                if isinstance(items[-1], RuleRef):
                    yield Step(source, items[:-1], (items[-1].name, 0))
                    continue
                used += 1
                yield Step(source, items[:-1], (name, used))
                todo.append(((name, used), items[-1]))
            case Sequence(items) if items:
                todo.append((source, items[0]))
            case _:
                yield Step(source, (expr,), END)
