"""Bytes of the shortest and the longest text: by hand, and against enumeration."""

from __future__ import annotations

import os
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import calligram
from calligram.compiler.grammar import (
    EMPTY,
    Capture,
    Chars,
    Choice,
    Cut,
    Expr,
    Grammar,
    Literal,
    Machine,
    Member,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Slot,
    Token,
)
from calligram.compiler.origin import Origin
from calligram.compiler.passes.longest_text import extent, longest_text
from calligram.compiler.passes.machine_extent import longest_bytes, shortest_bytes
from tests import naive

FUZZ = float(os.environ.get("CALLIGRAM_FUZZ", "1"))
A, LONG = Literal("a"), Literal("long")
ANY = Chars(((0, 0xD7FF), (0xE000, 0x10FFFF)))
TEXT = Machine(
    (((32, 33, 0, 1), (92, 92, 1, 0), (93, 0x10FFFF, 0, 1)), ((110, 117, 0, 1),)), frozenset({0})
)
TWO_BYTES_EACH = Machine((((0x80, 0x7FF, 1, 1),), ((97, 97, 0, 1),)), frozenset({0}))
FREE_LOOP = Machine((((97, 97, 0, 0), (98, 98, 1, 1)), ()), frozenset({1}))


def member(name: str, body: str, required: bool = False) -> Member:
    return Member(name, Literal(body), required)


THREE = (member("a", "aaaa"), member("b", "bb", True), member("c", "c"))

CASES: list[tuple[Expr, int, int | None]] = [
    (Literal("é\U0001f600"), 6, 6),
    (Token("<t>"), 3, 3),
    (Cut(), 0, 0),
    (ANY, 1, 4),
    (Chars(((0x7F, 0x80),)), 1, 2),
    (Sequence((A, LONG)), 5, 5),
    (Choice((A, LONG, EMPTY)), 0, 4),
    (Capture(Slot("value"), LONG), 4, 4),
    (Repeat(ANY, 3, 8192), 3, 4 * 8192),
    (Repeat(Repeat(ANY, 0, 10**12), 0, 10**12), 0, 4 * 10**24),
    (Repeat(A, 2, None), 2, None),
    (Repeat(EMPTY, 0, None), 0, 0),
    (Repeat(Repeat(A, 0, None), 0, 0), 0, 0),
    (Regular(TEXT, 2, 8192), 2, 4 * 8192),
    (Regular(TEXT, 2, None), 2, None),
    (Regular(TWO_BYTES_EACH, 0, 8192), 0, 3 * 4096),
    (Regular(TWO_BYTES_EACH, 5, 10**12), 9, 3 * 5 * 10**11),
    (Regular(FREE_LOOP, 0, 5), 1, None),
    (Members(THREE, Literal(", ")), 2, 4 + 2 + 1 + 4),
    (Members(THREE, Literal(", "), max_count=2), 2, 4 + 2 + 2),
    (Members(THREE, Literal(", "), min_count=2), 2 + 1 + 2, 4 + 2 + 1 + 4),
    (Members(THREE, Literal(","), (Literal("dd"),), 3), 2, 7 + 6 + 5),
    (Members(THREE, Literal(","), (Literal("dd"),), 3, max_count=3), 2, 4 + 2 + 2 + 2),
    (Members(THREE, Literal(","), (Literal("dd"),), None, max_count=9), 2, 4 + 2 + 7 * 2 + 8),
    (Members(THREE, Literal(","), (Literal("dd"),), None), 2, None),
    (Members(THREE, Literal(","), (Literal("dd"),), 2, "any", 5), 7 + 4 + 4, 7 + 4 + 4),
    (
        Members(THREE, Literal(","), (Literal("dd"),), None, "any", 10**30),
        2 + 1 + 2 * (10**30 - 2) + (10**30 - 1),
        None,
    ),
    (Members((), Literal(","), (), None), 0, 0),
    (RuleRef("tree"), 2, None),
    (RuleRef("twice"), 8, 8),
]


def rules() -> Rules:
    made = Rules()
    made.define("tree", Sequence((Literal("["), Repeat(RuleRef("tree"), 0, 2), Literal("]"))))
    made.define("twice", Sequence((RuleRef("once"), RuleRef("once"))))
    made.define("once", LONG)
    made.define("endless", Sequence((A, RuleRef("endless"))))
    return made


@pytest.mark.parametrize(("expr", "shortest", "longest"), CASES)
def test_extent(expr: Expr, shortest: int, longest: int | None) -> None:
    found = extent(rules(), expr)
    assert (found.shortest, found.longest) == (shortest, longest)
    assert (found.because is None) == (longest is not None)


def test_the_reason_for_having_no_bound_is_told_with_its_place() -> None:
    place = Origin("/properties/note")
    text = Regular(TEXT, 0, None, "a note", place)
    found = longest_text(Grammar(Rules(), Sequence((A, Repeat(Choice((A, text)), 0, 4)))))
    assert (found.because, found.origin) == ("a note has no bound", place)
    assert longest_text(Grammar(rules(), RuleRef("tree"))).because == "rule `tree` is recursive"


def test_options_that_never_end_do_not_count() -> None:
    assert extent(rules(), Choice((LONG, RuleRef("endless")))).longest == 4
    assert extent(rules(), Choice((LONG, RuleRef("endless")))).shortest == 4


def test_the_armed_start_is_measured_where_asked_for() -> None:
    grammar = Grammar(Rules(), LONG, A)
    assert longest_text(grammar).longest == 4
    assert longest_text(grammar, armed=True).longest == 1


def test_sharing_is_measured_in_linear_time() -> None:
    made = Rules()
    made.define("r0", A)
    for n in range(1, 3_000):
        made.define(f"r{n}", Sequence((RuleRef(f"r{n - 1}"), RuleRef(f"r{n - 1}"))))
    assert extent(made, RuleRef("r2999")).longest == 2**2999


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """A machine over a (one byte) and é (two), in which every state may end."""
    size = draw(st.integers(1, 4))
    step = st.one_of(st.none(), st.tuples(st.integers(0, size - 1), st.just(1)))
    moves = [{code: draw(step) for code in (97, 233)} for _ in range(size)]
    return Machine(
        tuple(tuple((c, c, *m) for c, m in move.items() if m) for move in moves),
        frozenset(draw(st.sets(st.integers(0, size - 1), min_size=1))),
    )


@pytest.mark.fuzz
@settings(max_examples=int(200 * FUZZ), deadline=None)
@given(machine=machines(), low=st.integers(0, 4), spread=st.integers(0, 5))
def test_machines_against_enumeration(machine: Machine, low: int, spread: int) -> None:
    high = low + spread
    grammar = Grammar(Rules(), Regular(machine, low, high))
    sizes = [
        len(text.encode())
        for size in range(low, min(high, 7) + 1)
        for text in map("".join, product("aé", repeat=size))
        if naive.accepts(grammar, text)
    ]
    assume(sizes and high <= 7)
    assert shortest_bytes(machine, low, high) == min(sizes)
    assert longest_bytes(machine, low, high) == max(sizes)


@pytest.mark.fuzz
@settings(max_examples=int(100 * FUZZ), deadline=None)
@given(machine=machines(), low=st.integers(0, 40), spread=st.integers(0, 40))
def test_large_bounds_against_counting_step_by_step(
    machine: Machine, low: int, spread: int
) -> None:
    best: dict[int, tuple[int, int]] = {0: (0, 0)}
    sizes: list[int] = []
    for count in range(low + spread + 1):
        if count >= low:
            sizes += [n for q in best if q in machine.accepting for n in best[q]]
        following: dict[int, tuple[int, int]] = {}
        for state, (least, most) in best.items():
            for code, _, target, _ in machine.transitions[state]:
                size = 1 if code == 97 else 2
                old = following.get(target, (1 << 30, -1))
                following[target] = (min(old[0], least + size), max(old[1], most + size))
        best = following
    if sizes:
        assert shortest_bytes(machine, low, low + spread) == min(sizes)
        assert longest_bytes(machine, low, low + spread) == max(sizes)
    else:
        assert shortest_bytes(machine, low, low + spread) is None


@pytest.mark.fuzz
@settings(max_examples=int(200 * FUZZ), deadline=None)
@given(machine=machines(), low=st.integers(0, 9))
def test_the_fewest_bytes_without_a_most(machine: Machine, low: int) -> None:
    # Three states at most: what is accepted at all is accepted within so many more counts.
    bounded = shortest_bytes(machine, low, low + 3)
    assert shortest_bytes(machine, low, None) == (
        bounded if bounded is not None else shortest_bytes(machine, low, low + 40)
    )


@pytest.mark.parametrize(
    ("schema", "fewest"),
    [({"pattern": "."}, 1), ({"pattern": ".{3}"}, 3), ({"pattern": ".", "minLength": 900}, 900)],
)
def test_states_that_drift_apart_have_a_shortest_text(
    schema: dict[str, object], fewest: int
) -> None:
    # Line breaks, which take two bytes each, lead to no match and on without end.
    grammar = calligram.compile_schema({"type": "string", **schema}, bounds=None)
    assert grammar.report.longest_call is None
    assert grammar.check('"' + "a" * fewest + '"')
    assert not grammar.check('"' + "a" * (fewest - 1) + '"')


def test_too_many_counts_to_tell_give_an_upper_bound() -> None:
    schema = {"type": "string", "pattern": ".", "maxLength": 300_000}
    longest = calligram.compile_schema(schema, bounds=None).report.longest_call
    assert longest is not None and longest >= 2 + 4 * 300_000
