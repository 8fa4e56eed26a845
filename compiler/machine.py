"""Deterministic machines over code points, the automata inside a grammar."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Sequence as Seq
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Row: TypeAlias = "tuple[tuple[int, int, int, int], ...]"


class Known(Protocol):
    """What is known of a machine of too many states to be looked at one by one."""

    @property
    def plain(self) -> Machine:
        """A machine of few states that reads the same texts and more, of as many bytes."""

    def live(self, state: int, low: int, high: int | None) -> bool:
        """Whether acceptance follows with `low` to `high` (None: no bound) more counts."""

    def longest(self, state: int) -> int | None:
        """The most counts to acceptance, None if there is no most."""

    def fewest(self, state: int) -> int:
        """The fewest bytes of a text from a state on; all its characters are ASCII."""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Machine:
    """A deterministic machine over code points whose transitions may count.

    ``transitions[q]``: sorted, disjoint ``(low, high, target, counts)``; `counts` is 1 where the
    transition completes one character of the value (a value's spelling may take several). State 0
    is the start; every state lies on a path from the start to an accepting one. Equality is
    identity.

    With `known`, there are very many states, few of which can be reached or are ever walked: rows
    are made when they are asked for, and nobody should ask for all.
    """

    transitions: Seq[Row]
    accepting: frozenset[int]
    known: Known | None = None

    @property
    def may_be_empty(self) -> bool:
        """Is the empty text one of its own?"""
        return 0 in self.accepting


class ButMachine(Machine):
    """The texts of `base` but for `words`, each of which is shorter than a text may be.

    From every state of `base` there are texts longer than all of them, within the bounds of the
    node, so that leaving them out leaves no place without a way on. Whoever reads the base and
    keeps an eye on the words is spared the automaton of both, which has a state for each letter of
    each word: it is made when first asked for.
    """

    __slots__ = ("_build", "_built", "base", "words")

    base: Machine
    words: frozenset[str]
    _build: Callable[[], Machine]
    _built: Machine | None

    def __init__(self, base: Machine, words: Iterable[str], build: Callable[[], Machine]) -> None:
        # The class is frozen for everyone else.
        for name, value in (
            ("base", base), ("words", frozenset(words)), ("known", None),
            ("_build", build), ("_built", None),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    @property
    def built(self) -> Machine:
        """The automaton of both."""
        if self._built is None:
            object.__setattr__(self, "_built", self._build())
        assert self._built is not None
        return self._built

    @property
    def transitions(self) -> Seq[Row]:
        return self.built.transitions

    @property
    def accepting(self) -> frozenset[int]:
        return self.built.accepting

    @property
    def may_be_empty(self) -> bool:
        return self.base.may_be_empty and "" not in self.words
