"""The order and count logic of an object's members, one state at a time.

States are small tuples, so that they can be part of an interned continuation: no order of keys is
ever spelled out. The same plan serves every consumer of :class:`~..grammar.Members`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..conditions import Slot, can_meet
from ..grammar import Expr, Members, Variant

State = tuple[int, int, int, int]
"""``(keys, opens, total, met)``: with order "schema" `keys` is the next key's index, with "any" the
bit set of keys seen; `opens` counts open members; `total` counts members as far as it matters;
`met` has the conditions that are met, in "any" but for those that keys still to come meet by their
absence."""


class MembersPlan:
    """What may come next in each state of one :class:`Members` node."""

    start: State = (0, 0, 0, 0)

    def __init__(self, node: Members) -> None:
        self.node = node
        self._ordered = node.order == "schema"
        self._required = sum(1 << i for i, k in enumerate(node.keys) if k.required)
        # Above this many members the total no longer matters.
        self._enough = max(1, node.min_count) if node.max_count is None else None
        after = [0] * (len(node.keys) + 1)
        for i in range(len(node.keys) - 1, -1, -1):
            after[i] = after[i + 1] + node.keys[i].required
        self._required_from = after
        self._all_met = (1 << len(node.conditions)) - 1
        self._absent = [
            sum(1 << c for c, keys in enumerate(node.conditions) if keys >> i & 1)
            for i in range(len(node.keys))
        ]
        self._open_ways = tuple(w for i in range(len(node.open)) for w in self._open_meets(i))
        self._possible: dict[tuple[State, int | None], bool] = {}

    def needs_separator(self, state: State) -> bool:
        """Is there a member before the next one?"""
        return state[2] > 0

    def may_end(self, state: State) -> bool:
        """May the object end here?"""
        if self.owed(state) or state[2] < self.node.min_count:
            return False
        return not self._all_met or self._with_absent(state) == self._all_met

    def _with_absent(self, state: State) -> int:
        """The conditions that are met if no more key comes."""
        met = state[3]
        for i in self._to_come(state[0]):
            met |= self._absent[i]
        return met

    def _to_come(self, keys: int) -> Iterator[int]:
        """The keys that have been neither written nor passed by."""
        if self._ordered:
            yield from range(keys, len(self.node.keys))
        else:
            yield from (i for i in range(len(self.node.keys)) if not keys >> i & 1)

    def owed(self, state: State) -> int:
        """How many required keys are still to come."""
        if self._ordered:
            return self._required_from[state[0]]
        return (self._required & ~state[0]).bit_count()

    def _room(self, state: State, left: int | None) -> int | None:
        """How many more members could follow (None: without bound), ``max_count`` aside."""
        if self._ordered:
            keys = len(self.node.keys) - state[0]
        else:
            keys = len(self.node.keys) - state[0].bit_count()
        if not self.node.open:
            return keys
        left = self._open_left(state, left)
        return None if left is None else keys + left

    def _open_left(self, state: State, left: int | None) -> int | None:
        """How many open members may follow, at most `left`."""
        if self.node.max_open is not None:
            most = self.node.max_open - state[1]
            left = most if left is None else min(left, most)
        return left

    def feasible(self, state: State, left: int | None = None) -> bool:
        """Can the object still end well from here, with at most `left` open members?"""
        node = self.node
        if node.max_count is not None and state[2] + self.owed(state) > node.max_count:
            return False
        if state[2] < node.min_count:
            room = self._room(state, left)
            if room is not None and state[2] + room < node.min_count:
                return False
        return state[3] == self._all_met or self._can_meet(state, left)

    def _can_meet(self, state: State, left: int | None) -> bool:
        """Can the conditions that are left still be met?"""
        key = (state, left)
        found = self._possible.get(key)
        if found is None:
            node, total = self.node, state[2]
            slots = (
                Slot(
                    None if node.keys[i].required else self._absent[i],
                    (node.keys[i].meets, *(v.meets for v in node.keys[i].variants)),
                )
                for i in self._to_come(state[0])
            )
            found = self._possible[key] = can_meet(
                slots,
                self._open_ways,
                self._all_met & ~state[3],
                max(0, node.min_count - total),
                None if node.max_count is None else node.max_count - total,
                self._open_left(state, left),
            )
        return found

    def _total(self, state: State) -> int:
        total = state[2] + 1
        return total if self._enough is None else min(total, self._enough)

    def candidates(self, state: State) -> list[tuple[Expr, State]]:
        """The members that may come next, in the order of the schema, with the state after each."""
        out = self.declared(state)
        after = self.after_open(state)
        if after is not None:
            for which, body in enumerate(self.node.open):
                out.extend(self.opened(after, which, body))
        return [(body, nxt) for body, nxt in out if self.feasible(nxt)]

    def declared(self, state: State) -> list[tuple[Expr, State]]:
        """The declared keys that may come next as far as order goes."""
        keys, opens, _, met = state
        node = self.node
        total = self._total(state)
        out: list[tuple[Expr, State]] = []
        if self._ordered:
            for at in range(keys, len(node.keys)):
                key = node.keys[at]
                after = (at + 1, opens, total, met)
                out.extend(_ways(after, key.body, key.meets, key.variants))
                if key.required:
                    break
                met |= self._absent[at]
        else:
            for i, key in enumerate(node.keys):
                if not keys >> i & 1:
                    after = (keys | 1 << i, opens, total, met)
                    out.extend(_ways(after, key.body, key.meets, key.variants))
        return out

    def after_open(self, state: State) -> State | None:
        """The state after an open member, what it meets aside; None if none may come as far as
        order goes."""
        keys, opens, _, met = state
        node = self.node
        if not node.open:
            return None
        if node.max_open is not None:
            if opens >= node.max_open:
                return None
            opens += 1
        if self._ordered:
            if self._required_from[keys]:
                return None
            for i in range(keys, len(node.keys)):
                met |= self._absent[i]
            keys = len(node.keys)
        return keys, opens, self._total(state), met

    def opened(self, after: State, which: int, body: Expr) -> list[tuple[Expr, State]]:
        """The ways of writing an open member, with the state that each leads to."""
        node = self.node
        if not node.open_meets:
            return [(body, after)]
        return _ways(after, body, node.open_meets[which], node.open_variants[which])

    def _open_meets(self, which: int) -> tuple[int, ...]:
        node = self.node
        if not node.open_meets:
            return (0,)
        return (node.open_meets[which], *(v.meets for v in node.open_variants[which]))


def _ways(
    after: State, body: Expr, meets: int, variants: tuple[Variant, ...]
) -> list[tuple[Expr, State]]:
    """A member as it is, and by each variant that meets something more."""
    keys, opens, total, met = after
    met |= meets
    out = [(body, (keys, opens, total, met))]
    for variant in variants:
        if variant.meets & ~met:
            out.append((variant.body, (keys, opens, total, met | variant.meets)))
    return out
