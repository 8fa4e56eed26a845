"""The order and count logic of an object's members, one state at a time.

States are small tuples, so that they can be part of an interned continuation: no order of keys is
ever spelled out. The same plan serves every consumer of :class:`~..grammar.Members`.
"""

from __future__ import annotations

from ..grammar import Expr, Members

State = tuple[int, int, int]
"""``(keys, opens, total)``: with order "schema" `keys` is the next key's index, with "any" the bit
set of keys seen; `opens` counts open members; `total` counts members as far as it matters."""


class MembersPlan:
    """What may come next in each state of one :class:`Members` node."""

    start: State = (0, 0, 0)

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

    def needs_separator(self, state: State) -> bool:
        """Is there a member before the next one?"""
        return state[2] > 0

    def may_end(self, state: State) -> bool:
        """May the object end here?"""
        return self._owed(state) == 0 and state[2] >= self.node.min_count

    def _owed(self, state: State) -> int:
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
        if self.node.max_open is not None:
            most = self.node.max_open - state[1]
            left = most if left is None else min(left, most)
        return None if left is None else keys + left

    def feasible(self, state: State, left: int | None = None) -> bool:
        """Can the object still end well from here, with at most `left` open members?"""
        node = self.node
        if node.max_count is not None and state[2] + self._owed(state) > node.max_count:
            return False
        if state[2] < node.min_count:
            room = self._room(state, left)
            if room is not None and state[2] + room < node.min_count:
                return False
        return True

    def _total(self, state: State) -> int:
        total = state[2] + 1
        return total if self._enough is None else min(total, self._enough)

    def candidates(self, state: State) -> list[tuple[Expr, State]]:
        """The members that may come next, in the order of the schema, with the state after each."""
        out = self.declared(state)
        after = self.after_open(state)
        if after is not None:
            out.extend((body, after) for body in self.node.open)
        return [(body, nxt) for body, nxt in out if self.feasible(nxt)]

    def declared(self, state: State) -> list[tuple[Expr, State]]:
        """The declared keys that may come next as far as order goes."""
        keys, opens, _ = state
        node = self.node
        total = self._total(state)
        out: list[tuple[Expr, State]] = []
        if self._ordered:
            for at in range(keys, len(node.keys)):
                out.append((node.keys[at].body, (at + 1, opens, total)))
                if node.keys[at].required:
                    break
        else:
            for i, key in enumerate(node.keys):
                if not keys >> i & 1:
                    out.append((key.body, (keys | 1 << i, opens, total)))
        return out

    def after_open(self, state: State) -> State | None:
        """The state after an open member, None if none may come as far as order goes."""
        keys, opens, _ = state
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
            keys = len(node.keys)
        return keys, opens, self._total(state)
