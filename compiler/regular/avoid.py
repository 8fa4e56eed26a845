"""Raw text up to a closer, as an automaton (Aho and Corasick 1975)."""

from __future__ import annotations

from collections.abc import Sequence

from . import charset
from .table import Table, explore


def avoid(stops: Sequence[str], closer: str = "") -> Table:
    """The texts after which `closer` is told at once, and that hold no stop.

    A text t is in the language if neither a stop nor `closer` occurs in t, and none of them begins
    in t and ends within the appended closer: in t + closer the first closer is the appended one.
    Empty stops are no stops. Without a closer only the first condition is left.
    """
    patterns = sorted({p for p in (*stops, closer) if p})
    machine = _Matcher(patterns)
    characters = sorted({c for p in patterns for c in p})
    sets = [charset.of(c) for c in characters]
    sets.append(charset.complement(charset.of("".join(characters))))

    def step(state: int, i: int) -> int | None:
        target = machine.step(state, characters[i]) if i < len(characters) else 0
        return None if machine.longest[target] else target

    def accepts(state: int) -> bool:
        for fed, char in enumerate(closer, 1):
            state = machine.step(state, char)
            if machine.longest[state] > fed:
                return False
        return True

    # A lone surrogate is no character: a stop that holds one never occurs.
    usable = [(i, s) for i, s in enumerate(sets) if s]
    return explore(0, [s for _, s in usable], lambda q, i: step(q, usable[i][0]), accepts)


class _Matcher:
    """The goto and failure functions over several patterns; state 0 is the root.

    ``longest[q]`` is the length of the longest pattern that ends where state q is reached.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.children: list[dict[str, int]] = [{}]
        self.longest = [0]
        for pattern in patterns:
            state = 0
            for char in pattern:
                following = self.children[state].get(char)
                if following is None:
                    following = self.children[state][char] = len(self.children)
                    self.children.append({})
                    self.longest.append(0)
                state = following
            self.longest[state] = len(pattern)
        self.failure = [0] * len(self.children)
        queue = list(self.children[0].values())
        for state in queue:
            for char, child in self.children[state].items():
                queue.append(child)
                self.failure[child] = self.step(self.failure[state], char)
                # A shorter pattern may end inside a longer one.
                self.longest[child] = self.longest[child] or self.longest[self.failure[child]]

    def step(self, state: int, char: str) -> int:
        while char not in self.children[state]:
            if state == 0:
                return 0
            state = self.failure[state]
        return self.children[state][char]
