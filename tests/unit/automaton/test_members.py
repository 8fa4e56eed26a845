"""The plan of an object's members, against brute force over arrangements."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.automaton.members import MembersPlan, State
from calligram.compiler.automaton.recogniser import Recogniser
from calligram.compiler.grammar import Literal, Member, Members, Rules, Variant

NAMES = "abcd"
COMMA = Literal(",")


def node(
    required: str = "",
    optional: str = "",
    open: str = "",
    *,
    order: str = "schema",
    most_open: int | None = None,
    low: int = 0,
    high: int | None = None,
) -> Members:
    """Keys named by single letters in the order of the alphabet; open members likewise."""
    keys = tuple(Member(n, Literal(n), n in required) for n in sorted(required + optional))
    opened = tuple(Literal(n) for n in open)
    return Members(keys, COMMA, opened, most_open, order, low, high)  # type: ignore[arg-type]


def allowed(members: Members, word: str) -> bool:
    """By the definition of :class:`Members`; a variant of a member is its letter in capitals."""
    if not all_met(members, word):
        return False
    word = word.lower()
    keys = [k.name for k in members.keys]
    found = [c for c in word if c in keys]
    opened = len(word) - len(found)
    if len(set(found)) < len(found) or any(k.required and k.name not in word for k in members.keys):
        return False
    in_order = word[: len(found)] == "".join(sorted(found))
    if members.order == "schema" and not in_order:
        return False
    if members.max_open is not None and opened > members.max_open:
        return False
    return members.min_count <= len(word) and (
        members.max_count is None or len(word) <= members.max_count
    )


def all_met(members: Members, word: str) -> bool:
    meets = {k.name: k.meets for k in members.keys}
    meets |= {k.name.upper(): k.meets | v.meets for k in members.keys for v in k.variants}
    if members.open_meets:
        for body, bits, variants in zip(
            members.open, members.open_meets, members.open_variants, strict=True
        ):
            meets[body.text] = bits  # type: ignore[union-attr]
            meets |= {v.body.text: bits | v.meets for v in variants}  # type: ignore[union-attr]
    met = 0
    for letter in word:
        met |= meets.get(letter, 0)
    gone = sum(1 << i for i, k in enumerate(members.keys) if k.name not in word.lower())
    return all(met >> c & 1 or keys & gone for c, keys in enumerate(members.conditions))


def all_words(members: Members, longest: int) -> set[str]:
    letters = [k.name for k in members.keys] + [o.text for o in members.open]  # type: ignore[union-attr]
    letters += [v.body.text for k in members.keys for v in k.variants]  # type: ignore[union-attr]
    letters += [v.body.text for kind in members.open_variants for v in kind]  # type: ignore[union-attr]
    words = ("".join(w) for n in range(longest + 1) for w in product(letters, repeat=n))
    return {w for w in words if allowed(members, w)}


def planned(members: Members, longest: int) -> set[str]:
    """The words of the plan; every state on the way must be able to end."""
    plan = MembersPlan(members)
    found: set[str] = set()
    todo: list[tuple[str, State]] = [("", plan.start)]
    while todo:
        word, state = todo.pop()
        assert plan.needs_separator(state) == (word != "")
        if plan.may_end(state):
            found.add(word)
        ways = plan.candidates(state)
        assert ways or plan.may_end(state) or not word, word
        if len(word) < longest:
            todo += [(word + body.text, after) for body, after in ways]  # type: ignore[union-attr]
    return found


@pytest.mark.parametrize(
    ("members", "accept", "reject"),
    [
        (node("b", "ac"), ["b", "ab", "bc", "abc"], ["", "a", "ac", "ba", "bb", "cb"]),
        (node("b", "ac", order="any"), ["b", "ab", "ba", "cb", "cab"], ["", "ac", "bb", "aba"]),
        (node("a", "", "x"), ["a", "ax", "axx"], ["", "x", "xa"]),
        (node("a", "", "x", order="any"), ["a", "xa", "axx", "xxa"], ["", "x", "aa"]),
        (node("", "ab", "x", most_open=1), ["", "x", "abx"], ["xx", "axx", "xa"]),
        (node("", "abc", low=2), ["ab", "ac", "bc", "abc"], ["", "a", "c"]),
        (node("", "abc", high=1), ["", "a", "b", "c"], ["ab", "bc"]),
        (node("c", "ab", high=2), ["c", "ac", "bc"], ["abc", "ab", ""]),
        (node("c", "ab", low=2, high=2, order="any"), ["ca", "bc"], ["c", "abc", "ab"]),
        (node("", "", "xy", low=2, high=3, most_open=3), ["xy", "yyy"], ["", "x", "xyxy"]),
        (node(), [""], ["a"]),
    ],
)  # fmt: skip
def test_words(members: Members, accept: list[str], reject: list[str]) -> None:
    words = planned(members, 4)
    for word in accept:
        assert word in words, word
    for word in reject:
        assert word not in words, word


@st.composite
def some_members(draw: st.DrawFn) -> Members:
    keys = draw(st.text(alphabet=NAMES, max_size=4).map(lambda t: "".join(sorted(set(t)))))
    required = "".join(k for k in keys if draw(st.booleans()))
    low = draw(st.integers(0, 3))
    return node(
        required,
        "".join(k for k in keys if k not in required),
        draw(st.sampled_from(["", "x", "xy"])),
        order=draw(st.sampled_from(["schema", "any"])),
        most_open=draw(st.none() | st.integers(1, 3)),
        low=low,
        high=draw(st.none() | st.integers(max(low, len(required)), 5)),
    )


@given(some_members())
def test_the_plan_has_the_words_of_the_definition(members: Members) -> None:
    assert planned(members, 5) == all_words(members, 5)


@st.composite
def conditional_members(draw: st.DrawFn) -> Members:
    """Some members with one to three conditions, met by keys, by variants and by absence."""
    members = draw(some_members())
    bits = st.integers(0, (1 << draw(st.integers(1, 3))) - 1)
    count = draw(st.integers(1, 3))

    def variants(name: str) -> tuple[Variant, ...]:
        meets = draw(bits)
        return (Variant(Literal(name.upper()), meets),) if meets else ()

    keys = tuple(replace(k, meets=draw(bits), variants=variants(k.name)) for k in members.keys)
    conditions = tuple(draw(st.integers(0, (1 << len(keys)) - 1)) for _ in range(count))
    kept = (1 << count) - 1
    return replace(
        members,
        keys=tuple(
            replace(
                k, meets=k.meets & kept,
                variants=tuple(Variant(v.body, v.meets & kept) for v in k.variants),
            )
            for k in keys
        ),
        conditions=conditions,
        open_meets=tuple(draw(bits) & kept for _ in members.open),
        open_variants=tuple(
            tuple(Variant(v.body, v.meets & kept) for v in variants(o.text))  # type: ignore[union-attr]
            for o in members.open
        ),
    )  # fmt: skip


@given(conditional_members())
def test_a_plan_with_conditions_has_the_words_of_the_definition(members: Members) -> None:
    # A variant says less than its member, and is only told apart where it meets something more.
    plain = {word.lower() for word in all_words(members, 4)}
    assert {word.lower() for word in planned(members, 4)} == plain


def test_twenty_keys_in_any_order_are_not_spelled_out() -> None:
    letters = "abcdefghijklmnopqrst"
    automaton = Recogniser(Rules(), node("at", letters[1:-1], order="any"))
    assert automaton.accepts(",".join(reversed(letters)).encode())
    assert automaton.accepts(b"t,a")
    assert not automaton.accepts(b"t,b")
    assert not automaton.accepts(b"a,t,a")
    assert automaton.core.size < 1000
