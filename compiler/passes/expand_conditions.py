"""`Members` with conditions spelled out in rules: one for each state of their plan."""

from __future__ import annotations

from ..automaton.members import MembersPlan, State
from ..errors import GrammarError, TargetError
from ..grammar import EMPTY, Expr, Members, Repeat, RuleRef
from .factor import factor
from .member_parts import short, split
from .rewrite import RuleMaker, flatten

CONDITION_RULES = 4_096
"""Rules that the keys, counts and conditions of one object may take."""


def conditional_members(members: Members, maker: RuleMaker) -> Expr:
    """What `members` matches, over new rules of `maker`.

    Raises :class:`TargetError` (``unsupported-feature``: key-conditions) above the limit and
    :class:`GrammarError` (``unproductive-rule``) for an object that no members can make.
    """
    plan = MembersPlan(members)
    if not plan.feasible(plan.start):
        raise GrammarError.at(
            "unproductive-rule", "no choice of members meets all conditions", members.origin
        )
    return _Expansion(members, plan, maker).start()


class _Expansion:
    def __init__(self, members: Members, plan: MembersPlan, maker: RuleMaker) -> None:
        self.members = members
        self.plan = plan
        self.maker = maker
        self.separator = short(members.separator, maker)
        self.parts: dict[int, tuple[Expr, Expr]] = {}
        self.names: dict[State, str] = {}
        self.todo: list[State] = []
        self.last: RuleRef | None = None

    def start(self) -> Expr:
        first = self.options(self.plan.start, EMPTY)
        for state in self.todo:
            more = self.open_only(state)
            body = self.options(state, self.separator) if more is None else more
            self.maker.made.define(self.names[state], body)
        return first

    def options(self, state: State, before: Expr) -> Expr:
        """The members that may come next, each with what follows it."""
        ways: list[Expr] = [
            flatten((before, *self.split(body), self.after(behind)))
            for body, behind in self.plan.candidates(state)
        ]
        if self.plan.may_end(state):
            ways.append(EMPTY)
        return factor(tuple(ways))

    def split(self, body: Expr) -> tuple[Expr, Expr]:
        found = self.parts.get(id(body))
        if found is None:
            found = self.parts[id(body)] = split(body, self.maker)
        return found

    def after(self, state: State) -> RuleRef:
        if state not in self.names:
            if len(self.names) >= CONDITION_RULES:
                raise TargetError.at(
                    "unsupported-feature",
                    "key-conditions: what the keys of one object must meet takes more than "
                    f"{CONDITION_RULES} rules",
                    self.members.origin,
                    'compile with key_order="schema", or with on_unsupported="relax"',
                )
            self.names[state] = self.maker.fresh()
            self.todo.append(state)
        return RuleRef(self.names[state])

    def open_only(self, state: State) -> Expr | None:
        """Open members, as many as there may be, where nothing else is left to tell."""
        node = self.members
        keys, opens, total, met = state
        told = met == (1 << len(node.conditions)) - 1 and node.max_count is None
        if node.order != "schema" or keys < len(node.keys) or not told or not node.open:
            return None
        if self.last is None:
            choice = factor(tuple(flatten(self.split(body)) for body in node.open))
            self.last = self.maker.define(flatten((self.separator, choice)))
        most = None if node.max_open is None else node.max_open - opens
        least = max(0, node.min_count - total)
        return Repeat(self.last, least, most)
