"""Distinct items and keys in the automaton: the language of the definition, and no dead ends."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calligram.compiler.automaton.recogniser import DEAD, Recogniser
from calligram.compiler.errors import LimitExceeded
from calligram.compiler.grammar import (
    Chars,
    Choice,
    Distinct,
    Expr,
    Grammar,
    Literal,
    Member,
    Members,
    Repeat,
    Rules,
    Sequence,
)
from calligram.compiler.origin import Origin
from tests import naive
from tests.unit.automaton.random_grammars import (
    distinct_items,
    keys_that_hold,
    remembered_keys,
    texts,
)

COMMA = Literal(",")
AB = Chars(((0x61, 0x62),))


def language(expr: Expr, letters: str, longest: int) -> set[str]:
    """The texts by the definition."""
    grammar = Grammar(Rules(), expr)
    return {
        text
        for length in range(longest + 1)
        for text in map("".join, itertools.product(letters, repeat=length))
        if naive.accepts(grammar, text)
    }


def walked(expr: Expr, longest: int) -> tuple[set[str], set[str]]:
    """The texts that the automaton accepts, and the beginnings of `longest` bytes it lets stand."""
    recogniser = Recogniser(Rules(), expr)
    found, open_ = set(), set()
    level = {"": recogniser.start}
    for length in range(longest + 1):
        found |= {text for text, config in level.items() if recogniser.accepting(config)}
        if length == longest:
            open_ = set(level)
            break
        level = {
            text + chr(byte): after
            for text, config in level.items()
            for low, high in recogniser.next_bytes(config)
            for byte in range(low, high + 1)
            if (after := recogniser.step(config, byte)) != DEAD
        }
    return found, open_


def agree(expr: Expr, letters: str, longest: int, shown: int) -> None:
    """The same texts up to `longest`; no beginning of `shown` letters but of one of them."""
    right = language(expr, letters, longest)
    found, _ = walked(expr, longest)
    assert found == right
    _, begun = walked(expr, shown)
    assert begun <= {text[:shown] for text in right}


@given(distinct_items)
@settings(max_examples=60)
def test_items_have_the_language_of_the_definition(expr: Expr) -> None:
    found, _ = walked(expr, 6)
    assert found == language(expr, "ab,", 6)


@given(remembered_keys)
@settings(max_examples=50)
def test_keys_have_the_language_of_the_definition(expr: Expr) -> None:
    found, _ = walked(expr, 5)
    assert found == language(expr, "ab,:01", 5)


@given(keys_that_hold)
@settings(max_examples=50)
def test_keys_of_which_some_must_hold_something_too(expr: Expr) -> None:
    found, _ = walked(expr, 5)
    assert found == language(expr, "ab,:01", 5)


@given(st.lists(st.sampled_from(["a", "b", "aa", "ab", "ba"]).map(Literal).flatmap(
    lambda x: st.lists(st.just(x) | texts, min_size=1, max_size=2).map(
        lambda items: Choice(tuple(items)))), min_size=1, max_size=3),
    st.none() | st.sampled_from(["a", "b"]).map(Literal),
    st.integers(0, 3))  # fmt: skip
@settings(max_examples=60)
def test_no_place_is_a_dead_end(prefix: list[Expr], rest: Expr | None, low: int) -> None:
    high = len(prefix) if rest is None else None
    low = low if high is None else min(low, high)
    recogniser = Recogniser(Rules(), Distinct(tuple(prefix), rest, COMMA, low, high))
    configs = [recogniser.start]
    if not recogniser.next_bytes(recogniser.start) and low:
        return  # There is no such array at all.
    seen = {recogniser.start}
    for _ in range(6):
        following = []
        for config in configs:
            ways = recogniser.next_bytes(config)
            assert ways or recogniser.accepting(config)
            for a, b in ways:
                for byte in range(a, b + 1):
                    after = recogniser.step(config, byte)
                    assert after != DEAD
                    if after not in seen:
                        seen.add(after)
                        following.append(after)
        configs = following


CASES: dict[str, Expr] = {
    "two_values": Distinct((), Choice((Literal("a"), Literal("b"))), COMMA, 0, None),
    "one_begins_the_other": Distinct((), Choice((Literal("a"), Literal("aa"))), COMMA, 1, None),
    "second_needs_the_first_free": Distinct(
        (Choice((Literal("a"), Literal("b"))), Literal("a")), None, COMMA, 2, 2
    ),
    "free_text_beside_a_constant": Distinct((Repeat(AB, 1, 3), Literal("ab")), None, COMMA, 2, 2),
    "three_places_two_kinds": Distinct(
        (Repeat(AB, 1, 1), Choice((Literal("a"), Literal("ab"))), Literal("ab")), None, COMMA, 3, 3
    ),
    "all_used_up": Distinct((), Repeat(AB, 1, 1), COMMA, 2, None),
    "nested": Distinct(
        (),
        Sequence((Literal("a"), Distinct((), AB, Literal("b"), 0, None), Literal("a"))),
        COMMA, 1, 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str) -> None:
    agree(CASES[name], "ab,", 9, 4)


def test_more_items_than_values_is_nothing() -> None:
    recogniser = Recogniser(Rules(), Distinct((), AB, COMMA, 3, None))
    assert not recogniser.next_bytes(recogniser.start)
    assert not recogniser.accepting(recogniser.start)


def test_many_items_are_counted_not_listed() -> None:
    digits = Repeat(Chars(((0x30, 0x39),)), 1, 3)
    assert Recogniser(Rules(), Distinct((), digits, COMMA, 1110, None)).next_bytes(1)
    assert not Recogniser(Rules(), Distinct((), digits, COMMA, 1111, None)).next_bytes(1)


def test_the_last_value_left_is_the_only_one_offered() -> None:
    recogniser = Recogniser(Rules(), Distinct((), Repeat(AB, 2, 2), COMMA, 4, None))
    config, read = recogniser.walk(b"ab,ba,aa,")
    assert read == 9
    assert recogniser.next_bytes(config) == [(0x62, 0x62)]
    config = recogniser.step(config, 0x62)
    assert recogniser.next_bytes(config) == [(0x62, 0x62)]


def test_keys_are_distinct_and_enough() -> None:
    keys = (Member("k", Literal("k:"), False),)
    three = Members(keys, COMMA, (Literal(":"),), min_count=3, names=(AB,))
    # Without `k` only two are left: it must come.
    found, _ = walked(three, 9)
    assert found == {"k:,a:,b:", "k:,b:,a:"}
    for order in ("schema", "any"):
        node = Members(keys, COMMA, (Literal(":"),), None, order, 2, names=(AB,))
        agree(node, "abk:,", 6, 2)


def test_ascending_keys() -> None:
    node = Members((), COMMA, (Literal(":"),), names=(Repeat(AB, 0, 2),), memory="ascending")
    recogniser = Recogniser(Rules(), node)
    for text, right in {
        ":,a:,aa:,ab:,b:,ba:,bb:": True,
        "a:,a:": False,
        "a:,:": False,
        "ab:,aa:": False,
        "ab:,b:": True,
    }.items():
        assert recogniser.accepts(text.encode()) is right
    config, _ = recogniser.walk(b"bb:")
    assert not recogniser.next_bytes(config)  # Nothing comes behind bb.
    config, _ = recogniser.walk(b"ab:,")
    assert recogniser.next_bytes(config) == [(0x62, 0x62)]


def test_too_much_to_remember_is_a_located_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calligram.compiler.automaton.distinct.MAX_REMEMBERED", 3)
    node = Distinct((), Repeat(AB, 1, None), COMMA, origin=Origin("/x"))
    recogniser = Recogniser(Rules(), node)
    assert recogniser.accepts(b"a,b,ab")
    with pytest.raises(LimitExceeded) as caught:
        recogniser.accepts(b"a,b,ab,aab,")
    assert (caught.value.problems[0].code, caught.value.problems[0].origin.pointer) == (
        "automaton-too-large",
        "/x",
    )
