"""Members of an object in the order of the schema -> fragment, without saying a key over and over.

After a member each further one is ``(?:, key)?`` or ``, key``, so that all that follow are one
sequence. Which is the first is the only question: up to the first required key each one is
``(?:key, )?``. Without a required key the first is in one half of the keys or in the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...compiler.grammar import Members
from .fragments import EMPTY, Fragment, choice, repeat, sequence


def is_plain(node: Members) -> bool:
    """Do nothing but the order and what is required matter?"""
    required = sum(key.required for key in node.keys)
    most = len(node.keys) if not node.open else None
    if most is None and node.max_open is not None:
        most = len(node.keys) + node.max_open
    counted = node.max_count is not None and (most is None or node.max_count < most)
    return (
        (node.order == "schema" or len(node.keys) + bool(node.open) <= 1)
        and not node.conditions
        and not counted
        and node.min_count <= max(required, 1 if most is None or most > 0 else 0)
    )


def members_fragment(
    node: Members, bodies: Sequence[Fragment], separator: Fragment, kinds: Sequence[Fragment]
) -> Fragment:
    """The members of a plain object; `kinds` are those of open members."""
    required = [at for at, key in enumerate(node.keys) if key.required]
    another = _Rest(node, bodies, separator, kinds)
    if required:
        first = required[0]
        before = [repeat(sequence([body, separator]), 0, 1) for body in bodies[:first]]
        return sequence(
            [*before, bodies[first], another.keys(first + 1, len(bodies)), another.open]
        )
    options = []
    if bodies:
        options.append(sequence([another.some(0, len(bodies)), another.open]))
    if kinds and node.max_open != 0:
        more = None if node.max_open is None else node.max_open - 1
        options.append(sequence([another.kind, repeat(another.member, 0, more)]))
    if not node.min_count:
        options.append(EMPTY)
    return choice(options)


class _Rest:
    """What follows a member."""

    def __init__(
        self,
        node: Members,
        bodies: Sequence[Fragment],
        separator: Fragment,
        kinds: Sequence[Fragment],
    ) -> None:
        self.node = node
        self.bodies = bodies
        self.separator = separator
        self.kind = choice(kinds)
        self.member = sequence([separator, self.kind])
        self.open = repeat(self.member, 0, node.max_open) if kinds else EMPTY

    def keys(self, low: int, high: int) -> Fragment:
        """The keys of a range, a separator before each."""
        return sequence(
            [
                repeat(
                    sequence([self.separator, self.bodies[at]]), int(self.node.keys[at].required), 1
                )
                for at in range(low, high)
            ]
        )

    def some(self, low: int, high: int) -> Fragment:
        """One or more of a range of keys none of which is required."""
        if high - low == 1:
            return self.bodies[low]
        half = (low + high) // 2
        left = sequence([self.some(low, half), self.keys(half, high)])
        return choice([left, self.some(half, high)])
