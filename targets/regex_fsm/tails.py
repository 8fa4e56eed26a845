"""Rules at whose end others stand -> ways between them, where several end in the same one.

Rules stand where they are referred to, so that one that two refer to is written twice, and its own
last one four times: chains of such rules, as machines make them, double at each. Written as ways
between rules they can be joined as those of a machine, see `joining`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

from ...compiler.grammar import Capture, Choice, Expr, RuleRef, Sequence, sequence
from .joining import END

Body = Callable[[str], Expr]
"""The body of a rule."""


class Way(NamedTuple):
    """What leads from a place to another."""

    source: Hashable
    target: Hashable
    label: Expr


def shared_tails(name: str, body: Body) -> tuple[Way, ...]:
    """The ways from a rule to END, from rule to rule; none if no rule is the end of several ways.

    Rules that lead to no such one are in labels.
    """
    ends: dict[str, Counter[str]] = {}
    order = [name]
    for rule in order:
        if rule not in ends:
            ends[rule] = Counter(_last_rules(body(rule)))
            order += ends[rule]
    met: Counter[str] = Counter()
    for found in ends.values():
        met.update(found)
    wanted = {rule for rule, times in met.items() if times > 1}
    # Those that lead to them, the last first: nothing leads back.
    for rule in _from_the_last(name, ends):
        if any(last in wanted for last in ends[rule]):
            wanted.add(rule)
    if name not in wanted:
        return ()
    return _Ways(wanted, body).of(name)


def _from_the_last(name: str, ends: Mapping[str, Counter[str]]) -> list[str]:
    """Rules, each behind those that stand at its end."""
    found: dict[str, None] = {}
    stack = [name]
    while stack:
        rule = stack[-1]
        waiting = [last for last in ends[rule] if last not in found]
        if waiting and rule not in found:
            stack += waiting
        else:
            found[rule] = None
            stack.pop()
    return list(found)


def _last_rules(expr: Expr) -> list[str]:
    """The rules at the end of an expression, as often as they stand there."""
    found = []
    todo = [expr]
    while todo:
        match todo.pop():
            case RuleRef(name):
                found.append(name)
            case Choice(options):
                todo += options[::-1]
            case Sequence(items) if items:
                todo.append(items[-1])
            case Capture(_, item):
                todo.append(item)
            case _:
                pass
    return found


class _Ways:
    def __init__(self, wanted: set[str], body: Body) -> None:
        self.wanted = wanted
        self.body = body
        self.found: list[Way] = []
        self.places = 0

    def of(self, name: str) -> tuple[Way, ...]:
        order = {name: None}
        todo = [name]
        while todo:
            rule = todo.pop()
            begin = len(self.found)
            self._add(rule, self.body(rule))
            for way in self.found[begin:]:
                if isinstance(way.target, str) and way.target not in order:
                    order[way.target] = None
                    todo.append(way.target)
        return tuple(self.found)

    def _add(self, rule: str, body: Expr) -> None:
        """The ways that a rule's body has."""
        todo: list[tuple[Hashable, tuple[Expr, ...], Expr]] = [(rule, (), body)]
        while todo:
            source, before, last = todo.pop()
            match last:
                case RuleRef(name) if name in self.wanted:
                    self.found.append(Way(source, name, sequence(*before)))
                case Choice(options) if self._leads_on(last):
                    if before:
                        # A place of its own, lest what is before is said for each option.
                        self.places += 1
                        self.found.append(Way(source, self.places, sequence(*before)))
                        source = self.places
                    todo += [(source, (), option) for option in reversed(options)]
                case Sequence(items) if self._leads_on(last):
                    todo.append((source, (*before, *items[:-1]), items[-1]))
                case Capture(_, item) if self._leads_on(last):
                    todo.append((source, before, item))
                case _:
                    self.found.append(Way(source, END, sequence(*before, last)))

    def _leads_on(self, expr: Expr) -> bool:
        return any(name in self.wanted for name in _last_rules(expr))
