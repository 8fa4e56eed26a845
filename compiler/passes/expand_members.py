"""Grammar -> Grammar. `Members` spelled out in rules, for targets that have no such node.

Order "schema": after the members so far, one rule says what may follow. The keys up to the next
required one are alternatives there, and they are factored on the key's text; in long runs of
optional keys they are tried one after the other instead, so that the size stays linear. Order
"any": one rule for each set of keys used. Numbers of members are counted only where they matter,
by one rule for each number.
"""

from __future__ import annotations

from ..errors import GrammarError, TargetError
from ..grammar import (
    EMPTY,
    Expr,
    Grammar,
    Members,
    Repeat,
    RuleRef,
)
from .expand_conditions import conditional_members
from .factor import factor
from .member_parts import short, split
from .rewrite import RuleMaker, flatten, rewrite_grammar

FACTORED_RUN = 24
"""Optional keys in a row whose alternatives are factored; longer runs are a chain."""
ANY_ORDER_KEYS = 8
"""Declared keys of one object that may come in any order."""
MEMBERS_RULES = 10_000
"""Rules that the counts of one object may take."""
ANY_ORDER_RULES = 2_048
"""Rules that one object in any order may take."""


def expand_members(grammar: Grammar) -> Grammar:
    """The same language without `Members`.

    Raises :class:`TargetError` (``unsupported-feature``: any-order, member-count) above the limits
    and :class:`GrammarError` (``unproductive-rule``) for an object that no members can make.
    """
    return rewrite_grammar(grammar, expand_members_node)


def expand_members_node(expr: Expr, maker: RuleMaker) -> Expr:
    """One node, its children done."""
    return members_expr(expr, maker) if isinstance(expr, Members) else expr


def members_expr(members: Members, maker: RuleMaker) -> Expr:
    """What `members` matches, over new rules of `maker`."""
    if members.conditions:
        return conditional_members(members, maker)
    if members.order == "any" and len(members.keys) + bool(members.open) > 1:
        return _AnyOrder(members, maker).start()
    return _SchemaOrder(members, maker).start()


class _Expansion:
    """What both orders share: bodies cut into key text and a short rest, counts, open members."""

    def __init__(self, members: Members, maker: RuleMaker) -> None:
        self.members = members
        self.maker = maker
        self.size = len(members.keys)
        self.separator = short(members.separator, maker)
        self.heads: list[tuple[Expr, Expr]] = [split(key.body, maker) for key in members.keys]
        self.open = maker.define(factor(members.open)) if members.open else None
        self.max_open = members.max_open if members.open else 0
        self.required_after = [0] * (self.size + 1)
        for at in reversed(range(self.size)):
            self.required_after[at] = self.required_after[at + 1] + members.keys[at].required
        self.max_count = members.max_count
        most = None if self.max_open is None else self.size + self.max_open
        if self.max_count is not None and most is not None and self.max_count >= most:
            self.max_count = None
        self.min_count = members.min_count
        if self.min_count <= self.required_after[0]:
            self.min_count = 0
        if members.max_count is not None and members.max_count < members.min_count:
            raise self.nothing()

    def counts(self) -> bool:
        """Whether the number of members matters beyond which keys are required."""
        return self.min_count > 0 or self.max_count is not None

    def member(self, at: int, rest: Expr) -> Expr:
        """The member of key `at`, then `rest`."""
        return flatten((*self.heads[at], rest))

    def nothing(self) -> GrammarError:
        members = self.members
        bound = f"{members.min_count}..{'' if members.max_count is None else members.max_count}"
        return GrammarError.at(
            "unproductive-rule", f"no choice of members makes {bound} of them", members.origin
        )

    def too_many(self, feature: str, what: str, limit: str, hint: str) -> TargetError:
        return TargetError.at(
            "unsupported-feature",
            f"{feature}: {what}, above the limit of {limit}",
            self.members.origin,
            hint,
        )


class _SchemaOrder(_Expansion):
    """State: the next key, and the number of members so far where numbers matter."""

    def __init__(self, members: Members, maker: RuleMaker) -> None:
        super().__init__(members, maker)
        self.rules: dict[tuple[int, int], Expr] = {}
        self.run_ends = self._run_ends()
        # Counts beyond these make no difference.
        self.top = self.size if self.max_count is not None else min(self.min_count, self.size)
        if self.counts() and (self.size + 1) * (self.top + 1) > MEMBERS_RULES:
            raise self.too_many(
                "member-count",
                f"counting the members of an object of {self.size} keys",
                f"{MEMBERS_RULES} rules",
                "lift minProperties or maxProperties",
            )

    def start(self) -> Expr:
        if not self.feasible(0, 0):
            raise self.nothing()
        # Rules are made from the last key back: what follows exists before it is referred to, and
        # no recursion is needed however many keys there are.
        for at in range(self.size, 0, -1):
            for count in range(self.top + 1) if self.counts() else (0,):
                if count <= at and self.feasible(at, count):
                    self.rules[at, count] = short(self.after(at, count), self.maker)
        options = self.next_options(0, 0)
        if self.may_end(0, 0):
            options.append(EMPTY)
        if self.open is not None:
            options.extend(self.open_first())
        return factor(tuple(options))

    def feasible(self, at: int, count: int) -> bool:
        """Whether some choice among the keys from `at` on and open ones meets the bounds."""
        if self.max_count is not None and count + self.required_after[at] > self.max_count:
            return False
        if self.max_open is None:
            return True
        return count + self.size - at + self.max_open >= self.min_count

    def may_end(self, at: int, count: int) -> bool:
        return not self.required_after[at] and count >= self.min_count

    def counted(self, count: int) -> int:
        return min(count + 1, self.top) if self.counts() else 0

    def _run_ends(self) -> list[int]:
        """For each key the end of those that may come next: past the first required one."""
        ends = [self.size] * (self.size + 1)
        for at in reversed(range(self.size)):
            ends[at] = at + 1 if self.members.keys[at].required else ends[at + 1]
        return ends

    def next_options(self, at: int, count: int) -> list[Expr]:
        """The declared members that may be next, each with what follows it."""
        count = self.counted(count)
        return [
            self.member(key, self.rules[key + 1, count])
            for key in range(at, self.run_ends[at])
            if (key + 1, count) in self.rules
        ]

    def open_range(self, count: int) -> tuple[int, int | None] | None:
        """How many open members may follow `count` declared ones."""
        low = max(0, self.min_count - count)
        high = self.max_open
        if self.max_count is not None:
            left = self.max_count - count
            high = left if high is None else min(left, high)
        return None if high is not None and low > high else (low, high)

    def open_first(self) -> list[Expr]:
        """Open members with no declared one before them; the empty text is not among them."""
        bounds = self.open_range(0) if not self.required_after[0] else None
        if bounds is None or bounds[1] == 0:
            return []
        assert self.open is not None
        low, high = max(0, bounds[0] - 1), None if bounds[1] is None else bounds[1] - 1
        return [flatten((self.open, self.open_tail(low, high)))]

    def open_tail(self, low: int, high: int | None) -> Expr:
        """`low` to `high` more open members, a separator before each."""
        if high == 0:
            return EMPTY
        assert self.open is not None
        return Repeat(self.maker.define(flatten((self.separator, self.open))), low, high)

    def after(self, at: int, count: int) -> Expr:
        """What may follow when the keys before `at` are settled and a member has been written."""
        if at == self.size:
            bounds = self.open_range(count)
            # Feasible, so there is a range.
            assert bounds is not None
            return self.open_tail(*bounds) if self.open is not None else EMPTY
        if self.run_ends[at] - at > FACTORED_RUN:
            new = self.counted(count)
            options = []
            if (at + 1, new) in self.rules:
                options.append(flatten((self.separator, self.member(at, self.rules[at + 1, new]))))
            if not self.members.keys[at].required and (at + 1, count) in self.rules:
                options.append(self.rules[at + 1, count])
            return factor(tuple(options))
        options = self.next_options(at, count)
        result = [flatten((self.separator, factor(tuple(options))))] if options else []
        if not self.required_after[at]:
            if (self.size, count) in self.rules and self.open is not None:
                result.append(self.rules[self.size, count])
            elif self.may_end(at, count):
                result.append(EMPTY)
        return factor(tuple(result))


class _AnyOrder(_Expansion):
    """State: the set of keys used, and the number of open members where it matters."""

    def __init__(self, members: Members, maker: RuleMaker) -> None:
        super().__init__(members, maker)
        if self.size > ANY_ORDER_KEYS:
            raise self.too_many(
                "any-order",
                f"{self.size} keys of one object in any order",
                f"{ANY_ORDER_KEYS} keys",
                'compile with key_order="schema"',
            )
        self.required = sum(1 << at for at, key in enumerate(members.keys) if key.required)
        self.counts_open = self.open is not None and (self.max_open is not None or self.counts())
        self.top = self._open_top()
        if (self.top + 1) << self.size > ANY_ORDER_RULES:
            raise self.too_many(
                "any-order",
                f"{self.size} declared keys and up to {self.top} others in any order",
                f"{ANY_ORDER_RULES} combinations",
                'compile with key_order="schema", close the object or lower the bound on its keys',
            )
        self.rules: dict[tuple[int, int], RuleRef] = {}

    def _open_top(self) -> int:
        """The number of open members beyond which nothing changes."""
        if not self.counts_open:
            return 0
        bounds = [b for b in (self.max_open, self.max_count) if b is not None]
        return min(bounds) if bounds else self.min_count

    def start(self) -> Expr:
        states = [(used, count) for used in range(1 << self.size) for count in range(self.top + 1)]
        names = {}
        for state in states:
            if state != (0, 0) and self.feasible(*state):
                names[state] = self.maker.fresh()
                self.rules[state] = RuleRef(names[state])
        if not self.feasible(0, 0):
            raise self.nothing()
        if not self.counts_open and self.open is not None:
            # Open members leave the state as it is; only the very first one leaves the beginning.
            names[0, 0] = self.maker.fresh()
            self.rules[0, 0] = RuleRef(names[0, 0])
        for state, name in names.items():
            options = self.next_options(*state)
            result = [flatten((self.separator, factor(tuple(options))))] if options else []
            if self.may_end(*state):
                result.append(EMPTY)
            self.maker.made.define(name, factor(tuple(result)))
        options = self.next_options(0, 0)
        if self.may_end(0, 0):
            options.append(EMPTY)
        return factor(tuple(options))

    def feasible(self, used: int, count: int) -> bool:
        """Whether the bounds can still be met."""
        so_far = used.bit_count() + count
        missing = (self.required & ~used).bit_count()
        if self.max_count is not None and so_far + missing > self.max_count:
            return False
        if self.max_open is None:
            return True
        return self.size + self.max_open >= self.min_count

    def may_end(self, used: int, count: int) -> bool:
        return not self.required & ~used and used.bit_count() + count >= self.min_count

    def next_options(self, used: int, count: int) -> list[Expr]:
        options = []
        for at in range(self.size):
            state = (used | 1 << at, count)
            if not used >> at & 1 and state in self.rules:
                options.append(self.member(at, self.rules[state]))
        if self.open is not None:
            more = count + 1 if self.counts_open else 0
            if self.max_open is None and self.max_count is None:
                more = min(more, self.top)
            state = (used, more)
            if state in self.rules:
                options.append(flatten((self.open, self.rules[state])))
        return options
