"""Loops bounded one by one: a finite part of the machine's language, whole below the bound."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calligram.compiler.automaton.recogniser import Recogniser
from calligram.compiler.grammar import Grammar, Machine, Regular, Rules
from calligram.compiler.lower.loops import RESTARTS, bounded_loops
from calligram.compiler.lower.names import Names
from calligram.compiler.lower.spelling import spell
from calligram.compiler.origin import Origin
from calligram.compiler.passes.longest_text import longest_text
from calligram.compiler.regular.language import Language

Rows = tuple[tuple[tuple[int, int, int, int], ...], ...]
WORDS = ["".join(w) for n in range(8) for w in product("ab", repeat=n)]


def bounded(machine: Machine, most: int) -> tuple[Grammar, Recogniser]:
    rules = Rules()
    start = bounded_loops(machine, most, rules, Names(), "t", Origin())
    return Grammar(rules, start), Recogniser(rules, start)


def whole(machine: Machine) -> Recogniser:
    return Recogniser(Rules(), Regular(machine))


def machine(pattern: str) -> Machine:
    return spell(Language.pattern(pattern, origin=Origin()).dfa, "none", "")


@settings(max_examples=200)
@given(st.integers(1, 5), st.randoms(use_true_random=False), st.integers(1, 3))
def test_it_is_a_finite_part_of_the_language(size: int, random: Random, most: int) -> None:
    made = random_machine(size, random)
    grammar, part = bounded(made, most)
    full = whole(made)
    for word in WORDS:
        if part.accepts(word.encode()):
            assert full.accepts(word.encode()), word
    assert longest_text(grammar).longest is not None


@settings(max_examples=200)
@given(st.integers(1, 4), st.randoms(use_true_random=False))
def test_short_words_are_all_there(size: int, random: Random) -> None:
    # A word of at most RESTARTS characters can take no more steps back than are allowed.
    made = random_machine(size, random)
    _, part = bounded(made, 50)
    full = whole(made)
    for word in WORDS:
        if len(word) <= RESTARTS:
            assert part.accepts(word.encode()) == full.accepts(word.encode()), word


def random_machine(size: int, random: Random) -> Machine:
    """A machine over two letters in which every state is live."""
    draw = random
    while True:
        rows = []
        for _ in range(size):
            targets = [draw.choice([None, *range(size)]) for _ in "ab"]
            rows.append(
                tuple((ord(c), ord(c), t, 1) for c, t in zip("ab", targets, strict=True)
                      if t is not None)
            )  # fmt: skip
        accepting = {s for s in range(size) if draw.random() < 0.5}
        trimmed = _trimmed(tuple(rows), accepting)
        if trimmed is not None:
            return trimmed


def _trimmed(rows: Rows, accepting: set[int]) -> Machine | None:
    """Only the states from the start to an end; None if there are none."""
    forward = {0}
    while more := {t for s in forward for *_, t, _ in rows[s]} - forward:
        forward |= more
    live = set(accepting)
    while more := {s for s in range(len(rows)) if any(t in live for *_, t, _ in rows[s])} - live:
        live |= more
    kept = sorted(forward & live)
    if 0 not in kept:
        return None
    number = {s: i for i, s in enumerate(kept)}
    return Machine(
        tuple(tuple((a, b, number[t], c) for a, b, t, c in rows[s] if t in number) for s in kept),
        frozenset(number[s] for s in accepting if s in number),
    )


@pytest.mark.parametrize(
    ("pattern", "most", "accept", "reject"),
    [
        ("^a*$", 3, ["", "a", "aaa"], ["aaaa", "b"]),
        ("^a*b*$", 2, ["", "aabb", "b", "abbb"], ["aaab", "abbbb", "ba"]),
        ("^(?:ab)*$", 2, ["", "ab", "abab"], ["a", "ababab"]),
        ("^abc$", 1, ["abc"], ["ab", "abcc"]),
        ("^(?:a|b)+$", 4, ["a", "abab"], ["", "abababab"]),
    ],
)
def test_bounds_hold(pattern: str, most: int, accept: list[str], reject: list[str]) -> None:
    _, part = bounded(machine(pattern), most)
    for word in accept:
        assert part.accepts(word.encode()), word
    for word in reject:
        assert not part.accepts(word.encode()), word


def test_text_without_a_closer_has_every_text_up_to_the_bound() -> None:
    free = Language.avoiding(("</x>",)).dfa
    grammar, part = bounded(spell(free, "none", ""), 30)
    longest = longest_text(grammar).longest
    assert longest is not None
    for text in ("", "a" * 30, "<" * RESTARTS, "a</b>", "</", "x<</x", "<" * 20):
        assert part.accepts(text.encode()), text
    for text in ("</x>", "a</x>b", "<</x>"):
        assert not part.accepts(text.encode()), text
    assert not part.accepts(b"a" * (longest + 1))


def test_a_few_rules_a_state() -> None:
    rules = Rules()
    made = spell(Language.avoiding(("</parameter>",)).dfa, "none", "")
    start = bounded_loops(made, 8192, rules, Names(), "t", Origin())
    names = [name for name, _ in rules.reachable(start)]
    assert len(names) <= 2 * (RESTARTS + 1) * len(made.transitions)
