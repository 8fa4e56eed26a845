"""Tables that count against tables that are written out, and against the masks."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram import Vocabulary
from calligram.compiler.automaton.byte_dfa import minimal
from calligram.compiler.automaton.determinise import TooManyStates, determinise
from calligram.compiler.errors import TargetError
from calligram.compiler.grammar import (
    Chars,
    Choice,
    Expr,
    Grammar,
    Literal,
    Machine,
    Regular,
    Repeat,
    Rules,
    Sequence,
)
from calligram.targets import mask, regex_fsm
from calligram.targets.regex_fsm import CountedTable, TokenTable, build
from calligram.targets.regex_fsm.counted import counted_from
from calligram.targets.regex_fsm.regular import regular
from tests.unit.targets.test_fsm_table import bits, vocabularies

A, B = ord("a"), ord("b")
PIECES = [
    b'"', b'", "', b'", "a', b'"]', b"aa", b"aaa", b"ab", b"0, 0", b", ", b'{"k": "', b'"}, {"',
    b"\xc3", b"\xa9a", b"\\u00", b"aaaaaaaaaaaa", b"]}]", b"0, 0, 0, 0, 0, 0, 0, 0",
]  # fmt: skip
TOKENS = [*(bytes([b]) for b in range(256)), *PIECES, b"</s>"]
JSON = Vocabulary(TOKENS, eos_ids=[len(TOKENS) - 1])


def nothing(digest: str, states: int) -> dict[str, Any]:
    return {"grammar": digest, "states": states}


def both(
    grammar: Grammar, vocabulary: Vocabulary, most: int = 3_000, usual: int = 1, longest: int = 1
) -> tuple[TokenTable, CountedTable] | None:
    """The two tables of a grammar; None if it is too large, or nothing of it can be shortened."""
    try:
        dfa = minimal(determinise(grammar, vocabulary.specials, most))
    except TooManyStates:
        return None
    counted = counted_from(
        grammar, vocabulary, nothing, most, 2**28, None, usual=usual, longest=longest
    )
    return None if counted is None else (build.token_table(dfa, vocabulary, {}), counted)


def same(written: TokenTable, counted: TokenTable) -> int:
    """Both allow the same wherever the same tokens lead; how many pairs of states there are."""
    tokens = np.arange(len(written.vocabulary))
    pairs = {(written.start, counted.start)}
    queue = list(pairs)
    for one, other in queue:
        after = written.next_states(np.full(len(tokens), one), tokens)
        behind = counted.next_states(np.full(len(tokens), other), tokens)
        assert ((after == 0) == (behind == 0)).all() and ((after == 1) == (behind == 1)).all()
        assert written.may_end(one) == counted.may_end(other)
        new = dict.fromkeys(zip(after.tolist(), behind.tolist(), strict=True))
        queue += [pair for pair in new if pair not in pairs]
        pairs |= set(new)
    return len(pairs)


EVEN = Machine((((A, A, 1, 1),), ((A, A, 0, 1),)), frozenset({0}))
TURNS = Machine((((A, A, 1, 1),), ((B, B, 2, 0),), ((A, A, 1, 1), (B, B, 2, 1))), frozenset({1, 2}))
SPELT = Machine((((A, A, 0, 1), (B, B, 1, 0)), ((A, A, 0, 1), (B, B, 0, 1))), frozenset({0}))

wide = st.tuples(st.sampled_from([0, 0, 0, 1, 2, 5]), st.integers(8, 24))
texts = st.one_of(
    st.sampled_from(["a", "b", "ab", "x", "é"]).map(Literal),
    st.builds(
        lambda ranges, window: Repeat(Chars(ranges), window[0], sum(window)),
        st.sampled_from([((A, A),), ((A, B),), ((B, B), (0xE9, 0x20AC))]),
        wide,
    ),
    st.builds(
        lambda machine, window: Regular(machine, window[0], sum(window)),
        st.sampled_from([EVEN, TURNS, SPELT]),
        wide,
    ),
)


def around(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(
            lambda item, low, more: Repeat(Sequence((item, Literal("x"))), low, low + more),
            inner, st.integers(0, 2), st.integers(2, 12),
        ),
        st.builds(lambda item, end: Sequence((item, end)), inner, inner),
        st.builds(lambda one, other: Choice((one, Sequence((Literal("x"), other)))), inner, inner),
        st.builds(lambda item: Repeat(Sequence((item, Literal("x"))), 0, None), inner),
    )  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.recursive(texts, around, max_leaves=4), vocabularies(), st.integers(1, 3),
    st.sampled_from([1, 2, 6]),
)  # fmt: skip
def test_counted_tables_are_those_that_are_written_out(
    start: Expr, vocabulary: Vocabulary, usual: int, longest: int
) -> None:
    found = both(Grammar(Rules(), start), vocabulary, 1_500, usual, longest)
    if found is not None:
        same(*found)
        assert (found[0].dead_ends() == []) == (found[1].dead_ends() == [])


CHAR = Chars(((A, B),))
WORD = Repeat(CHAR, 0, 90)
QUOTED = Sequence((Literal('"'), WORD, Literal('"')))
LISTED = Sequence((QUOTED, Repeat(Sequence((Literal(", "), QUOTED)), 0, 30)))


@pytest.mark.parametrize(
    "start",
    [
        WORD,
        QUOTED,
        LISTED,
        Sequence((Literal("["), LISTED, Literal("]"), Repeat(Literal("a"), 0, 40))),
        # One count is gone on with and entered anew by the same text.
        Repeat(WORD, 0, None),
        Repeat(Repeat(CHAR, 1, 50), 0, 6),
        # Two counts of which either may be meant, of one item or of two.
        Choice((Sequence((WORD, Literal("x"))), Sequence((Repeat(CHAR, 2, 60), Literal("0"))))),
        Sequence((WORD, WORD)),
        Sequence((Repeat(CHAR, 0, 70), Literal("b"))),
        # What is counted is not the same all along.
        Regular(Machine(tuple(((A, A, i + 1, 1),) for i in range(40)) + (((B, B, 40, 1),),),
                        frozenset({40})), 0, 90),
        Regular(EVEN, 0, 81),
        Regular(EVEN, 3, 90),
        Regular(TURNS, 2, 90),
        Repeat(Sequence((Regular(TURNS, 1, 30), Literal("x"))), 2, 9),
        # Counts that must be reached.
        Repeat(CHAR, 20, 90),
        Repeat(CHAR, 80, 90),
        Repeat(Sequence((Literal('"'), Repeat(CHAR, 1, 30), Literal('"'))), 1, 30),
        # The same repeat in two places, and one item in two repeats.
        Sequence((QUOTED, Literal("0"), QUOTED)),
        Choice((Sequence((Repeat(QUOTED, 0, 20), Literal("x"))),
                Sequence((Literal("0"), Repeat(QUOTED, 0, 9), Literal("x"))))),
    ],
)  # fmt: skip
def test_counts_of_every_kind(start: Expr) -> None:
    for usual, longest in ((1, 1), (2, 13), (5, 4)):
        found = both(Grammar(Rules(), start), JSON, 20_000, usual, longest)
        if found is not None:
            same(*found)


def test_rows_are_few_where_counts_are_many() -> None:
    found = both(Grammar(Rules(), LISTED), JSON, 20_000, 2, 13)
    assert found is not None
    written, counted = found
    assert len(counted) > 2_700 and len(counted.next) < 140
    assert counted.nbytes < written.nbytes / 3


def test_tokens_through_many_items_leave_more_of_the_count() -> None:
    """Eight items at once are more than a token is first thought to get through."""
    grammar = calligram.compile_schema(
        {"type": "array", "items": {"const": 0}, "maxItems": 60}, whitespace="exact"
    )
    found = both(regular(grammar.enforced, None)[0], JSON, 20_000, 2, 2)
    assert found is not None and len(found[1]) > 60
    same(*found)


ITEM = {
    "type": "object",
    "properties": {
        "k": {"type": "string", "minLength": 1, "maxLength": 40},
        "n": {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 12},
    },
    "required": ["k"],
    "additionalProperties": False,
}


def test_objects_in_arrays() -> None:
    schema = {"type": "array", "items": ITEM, "maxItems": 9}
    grammar = calligram.compile_schema(schema, whitespace="exact", bounds=None)
    found = both(regular(grammar.enforced, None)[0], JSON, 40_000, 2, 13)
    assert found is not None
    assert same(*found) > 5_000
    assert found[1].dead_ends() == []


LARGE = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "k": {"type": "string", "minLength": 1, "maxLength": 200},
            "t": {"type": "string", "maxLength": 2_000},
        },
        "required": ["k"],
        "additionalProperties": False,
    },
    "maxItems": 50,
}


@pytest.fixture(scope="module")
def large() -> TokenTable:
    return regex_fsm.compile(calligram.compile_schema(LARGE, whitespace="exact"), JSON)


def test_millions_of_states_are_a_few_rows(large: TokenTable) -> None:
    assert isinstance(large, CountedTable)
    assert len(large) > 1_000_000 and len(large.next) < 4_000
    assert large.nbytes < 30 * 2**20
    assert "states in" in repr(large) and large.header["states"] == len(large)


def test_its_masks_are_those_of_the_other_target(large: TokenTable) -> None:
    automaton = mask.compile(calligram.compile_schema(LARGE, whitespace="exact"), JSON)
    row = np.zeros(large.words, dtype=np.int32)
    ends = 0
    texts = [
        [{"k": "a" * 200, "t": "\u20ac" * 1_990}] * 2,
        [{"k": "a"}] * 50,
        [{"k": "\u20ac" * 199, "t": "ab"}] * 3,
    ]
    ways = [list(json.dumps(text, ensure_ascii=False).encode()) for text in texts]
    for seed in range(20):
        random, matcher, state = Random(seed), automaton.matcher(), large.start
        way = ways[seed] if seed < len(ways) else None
        for step in range(300 if way is None else len(way)):
            if way is None or step % 50 == 0 or len(way) - step < 9:
                matcher.fill_next_token_bitmask(row)
                assert (row == large.mask(state)).all()
            token = random.choice(large.allowed_tokens(state)) if way is None else way[step]
            if token in JSON.eos_ids:
                break
            assert matcher.accept_token(token)
            state = large.next_state(state, token)
        ends += large.may_end(state)
    assert ends >= len(ways)


def test_counts_end_where_the_schema_says(large: TokenTable) -> None:
    def accepted(value: Any) -> bool:
        text = json.dumps(value, ensure_ascii=False).encode()
        return large.may_end(large.walk(list(text)))

    assert accepted([{"k": "a" * 200, "t": "\u20ac" * 2_000}] * 50)
    assert not accepted([{"k": "a"}] * 51)
    assert not accepted([{"k": "a"}] * 49 + [{"k": "a" * 201}])
    assert not accepted([{"k": "a", "t": "a" * 2_001}])
    assert not accepted([{"k": ""}])


def test_steps_one_by_one_are_steps_at_once(large: TokenTable) -> None:
    random = Random(5)
    states = np.array([random.randrange(len(large)) for _ in range(500)])
    tokens = np.array([random.choice([*range(32, 127), 256 + n % 18]) for n in range(500)])
    wanted = [large.next_state(s, t) for s, t in zip(states.tolist(), tokens.tolist(), strict=True)]
    assert large.next_states(states, tokens).tolist() == wanted
    assert large.next_state(large.start, -1) == large.next_state(large.start, len(JSON)) == 0
    for state in states[:40].tolist():
        assert large.row(state)[large.class_of].tolist() == [
            large.next_state(state, token) for token in range(len(JSON))
        ]
    rows = np.zeros((500, large.words), dtype=np.int32)
    large.fill_bitmask_batch(states, rows)
    assert all((rows[i] == large.mask(s)).all() for i, s in enumerate(states.tolist()))
    assert bits(rows[7], len(JSON)) == large.allowed_tokens(int(states[7]))
    with pytest.raises(IndexError):
        large.mask(len(large))
    with pytest.raises(IndexError):
        large.next_states([len(large)], [0])


def test_a_guide_walks_it(large: TokenTable) -> None:
    guide = large.guide(4)
    for token in b'[{"k": "a':
        guide.advance(token, return_tokens=False)
    assert not guide.is_finished() and guide.accepts_tokens(list(b'a"}]'))
    guide.rollback_state(2)
    assert guide.get_tokens() == large.allowed_tokens(large.walk(list(b'[{"k": ')))


def test_what_is_too_large_is_refused_with_its_place() -> None:
    deep: dict[str, Any] = {"type": "array", "items": LARGE, "maxItems": 400}
    grammar = calligram.compile_schema(
        {"type": "object", "properties": {"x": deep}, "additionalProperties": False},
        whitespace="exact",
    )
    with pytest.raises(TargetError) as error:
        regex_fsm.compile(grammar, JSON)
    [problem] = error.value.problems
    assert problem.message.startswith("table: ")
    assert "states take more than 1,073,741,824 bytes" in problem.message
    assert problem.origin.pointer == "/properties/x/items/items/properties/t"
    with pytest.raises(TargetError, match="states take more than 100,000 bytes"):
        regex_fsm.compile(
            calligram.compile_schema(LARGE, whitespace="exact"), JSON, max_bytes=100_000
        )
    with pytest.raises(TargetError, match="more than 2,000 states"):
        regex_fsm.compile(
            calligram.compile_schema(LARGE, whitespace="exact"), JSON, max_states=2_000
        )


def test_what_cannot_be_shortened_is_written_out() -> None:
    """A long enum has no counts, and more states than are written out at once."""
    words = ["".join(Random(n).choices("abcdefghij", k=40)) for n in range(700)]
    grammar = calligram.compile_schema({"enum": words}, whitespace="exact")
    found = regex_fsm.compile(grammar, JSON)
    assert not isinstance(found, CountedTable) and len(found) > 20_000
    assert found.may_end(found.walk(list(f'"{words[5]}"'.encode())))
