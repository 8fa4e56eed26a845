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

    def _room(self, state: State) -> int | None:
        """How many more members could follow (None: without bound), ``max_count`` aside."""
        if self._ordered:
            keys = len(self.node.keys) - state[0]
        else:
            keys = len(self.node.keys) - state[0].bit_count()
        if not self.node.open:
            return keys
        if self.node.max_open is None:
            return None
        return keys + self.node.max_open - state[1]

    def _feasible(self, state: State) -> bool:
        """Can the object still end well from here?"""
        node = self.node
        if node.max_count is not None and state[2] + self._owed(state) > node.max_count:
            return False
        if state[2] < node.min_count:
            room = self._room(state)
            if room is not None and state[2] + room < node.min_count:
                return False
        return True

    def _total(self, state: State) -> int:
        total = state[2] + 1
        return total if self._enough is None else min(total, self._enough)

    def candidates(self, state: State) -> list[tuple[Expr, State]]:
        """The members that may come next, in the order of the schema, with the state after each."""
        keys, opens, _ = state
        node = self.node
        total = self._total(state)
        out: list[tuple[Expr, State]] = []
        if self._ordered:
            at = keys
            while at < len(node.keys):
                out.append((node.keys[at].body, (at + 1, opens, total)))
                if node.keys[at].required:
                    break
                at += 1
            else:
                self._add_open(out, (len(node.keys), opens, total))
        else:
            for i, key in enumerate(node.keys):
                if not keys >> i & 1:
                    out.append((key.body, (keys | 1 << i, opens, total)))
            self._add_open(out, (keys, opens, total))
        return [(body, nxt) for body, nxt in out if self._feasible(nxt)]

    def _add_open(self, out: list[tuple[Expr, State]], after: State) -> None:
        keys, opens, total = after
        if self.node.max_open is not None:
            if opens >= self.node.max_open:
                return
            opens += 1
        out.extend((body, (keys, opens, total)) for body in self.node.open)
