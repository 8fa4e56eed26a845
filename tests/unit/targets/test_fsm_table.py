"""Token tables against the automaton byte by byte, and against the masks."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram import Vocabulary
from calligram.compiler.automaton.byte_dfa import ByteDfa, minimal
from calligram.compiler.automaton.core import TOKEN_BASE
from calligram.compiler.automaton.determinise import determinise
from calligram.compiler.errors import GrammarError, TargetError
from calligram.compiler.grammar import Expr, Grammar, Rules
from calligram.compiler.passes.cut_recursion import cut_recursion
from calligram.targets import mask, regex_fsm
from calligram.targets.regex_fsm import DEAD, ENDED, START, build, table
from tests.laws.tools import BOOK, LABEL, MEASURE
from tests.sampling import dice
from tests.unit.automaton.random_grammars import grammars

SMALL = calligram.Bounds(
    string=5, items=2, keys=2, depth=2, recursion=2, digits=3, exponent=1, calls=2
)

pieces = st.lists(
    st.sampled_from([b"", b"a", b"b", b"ab", b"ba", b"aa", b"aab", b"\xc3", b"\xa9", b"\xa9a",
                     b"\xe2\x82\xac", b"abab", b"x"]),
    min_size=1, max_size=10,
)  # fmt: skip


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    """A few tokens, one text twice now and then, special ones, ends and padding among them."""
    tokens = [*draw(pieces), b"ab", b"ba", b"<e>", b"<p>"]
    size = len(tokens)
    special = {size - 4, *draw(st.sets(st.integers(0, size - 1), max_size=2))}
    ends = {size - 2, *draw(st.sets(st.integers(0, size - 1), max_size=2))}
    padding = {size - 1, *draw(st.sets(st.integers(0, size - 1), max_size=1))} - ends
    return Vocabulary(tokens, special, sorted(ends), padding)


def expected(dfa: ByteDfa, vocabulary: Vocabulary, state: int, token: int) -> int:
    """The state after a token, by its definition."""
    if token in vocabulary.padding_ids:
        return DEAD
    if state == ENDED:
        return ENDED if token in vocabulary.eos_ids else DEAD
    if state == DEAD:
        return DEAD
    here = state - START
    if token in vocabulary.eos_ids and dfa.accepting[here]:
        return ENDED
    if token in vocabulary.special_ids:
        after = dfa.step(here, TOKEN_BASE + token)
    elif token in vocabulary.eos_ids or not vocabulary.tokens[token]:
        after = -1
    else:
        after = dfa.walk(vocabulary.tokens[token], here)
    return DEAD if after < 0 else after + START


def bits(row: np.ndarray[Any, Any], size: int) -> list[int]:
    flags = np.unpackbits(row.view(np.uint8), bitorder="little")
    assert not flags[size:].any()
    return np.flatnonzero(flags[:size]).tolist()


@settings(max_examples=200)
@given(grammars(), vocabularies())
def test_tables_are_the_automaton_and_the_masks(
    made: tuple[Rules, Expr], vocabulary: Vocabulary
) -> None:
    try:
        grammar, _ = cut_recursion(Grammar(*made), 2)
    except GrammarError:
        return
    dfa = minimal(determinise(grammar, vocabulary.specials, 20_000))
    found = build.token_table(dfa, vocabulary, {})
    states, ids = range(len(found)), range(len(vocabulary))
    wanted = np.array([[expected(dfa, vocabulary, s, t) for t in ids] for s in states])
    # One by one, and all at once.
    assert [[found.next_state(s, t) for t in ids] for s in states] == wanted.tolist()
    every = np.meshgrid(np.arange(len(found)), np.arange(len(vocabulary)), indexing="ij")
    assert (found.next_states(*every) == wanted).all()
    rows = np.full((len(found), found.words), -1, dtype=np.int32)
    found.fill_bitmask_batch(list(states), rows)
    for state in states:
        allowed = np.flatnonzero(wanted[state] != DEAD).tolist()
        assert bits(found.mask(state), len(vocabulary)) == allowed
        assert bits(rows[state], len(vocabulary)) == found.allowed_tokens(state) == allowed
    # Classes are as few as can be: no two of them are alike, and class 0 is never allowed.
    columns = [found.next[:, c].tobytes() for c in range(found.next.shape[1])]
    assert len(set(columns)) == len(columns)
    assert set(range(1, len(columns))) <= set(found.class_of.tolist())
    assert not found.next[:, 0].any() and not found.next[DEAD].any()
    # The masks of the other target, along the ways that they share.
    automaton = mask.MaskAutomaton(grammar, vocabulary)
    pairs = {found.start: automaton.start}
    queue = [found.start]
    for state in queue:
        assert bits(automaton.row(pairs[state]), len(vocabulary)) == found.allowed_tokens(state)
        for token in found.allowed_tokens(state):
            after = found.next_state(state, token)
            if after not in pairs and after != ENDED:
                pairs[after] = automaton.accept(pairs[state], token)
                queue.append(after)


def small_vocabulary(texts: list[str], specials: list[str]) -> Vocabulary:
    random = dice("fsm", *texts)
    tokens = [bytes([b]) for b in range(256)]
    found = {b'": "', b'"}', b"}}", b"\xc3", b"\xa9\xf0", b"zz", b"</"}
    for text in texts:
        data = text.encode()
        starts = [random.randrange(len(data)) for _ in range(100)]
        found |= {data[at : at + random.randint(2, 9)] for at in starts}
    tokens += sorted(found) + [s.encode() for s in specials] + [b"<end>"]
    end = len(tokens) - 1
    return Vocabulary(tokens, range(end - len(specials), end + 1), [end])


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_every_dialect_has_the_table_of_its_masks(dialect: str) -> None:
    grammar = calligram.compile_tools([BOOK, MEASURE, LABEL], dialect, bounds=SMALL, max_calls=1)
    texts = [
        grammar.render([{"name": "book", "arguments": {"class": "eco", "bags": None, "note": "é"}}])
    ]
    specials = [] if grammar.dialect is None else [t.text for t in grammar.dialect.tokens]
    vocabulary = small_vocabulary(texts, list(dict.fromkeys(specials)))
    found = regex_fsm.compile(grammar, vocabulary)
    automaton = mask.compile(grammar, vocabulary)
    random = dice("fsm", dialect)
    for _ in range(12):
        state, other = found.start, automaton.start
        for _ in range(150):
            assert (found.mask(state) == automaton.row(other)).all()
            token = random.choice(found.allowed_tokens(state))
            if token in vocabulary.eos_ids:
                break
            state, other = found.next_state(state, token), automaton.accept(other, token)


SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 6}, "n": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
VOCABULARY = Vocabulary(
    [*(bytes([b]) for b in range(256)), b'"city', b'": "', b'"}', b"<end>", b"<pad>"],
    eos_ids=[259],
    padding_ids=[260],
)


def compiled(**more: Any) -> regex_fsm.TokenTable:
    grammar = calligram.compile_schema(SCHEMA, whitespace="exact", bounds=SMALL)
    return regex_fsm.compile(grammar, VOCABULARY, **more)


@cache
def compiled_to_count() -> regex_fsm.TokenTable:
    schema = {"type": "string", "maxLength": 25_000}
    found = regex_fsm.compile(calligram.compile_schema(schema, bounds=None), VOCABULARY)
    assert isinstance(found, regex_fsm.CountedTable)
    return found


def test_a_text_is_walked_to_its_end() -> None:
    found = compiled()
    tokens = [ord("{"), 256, 257, ord("O"), ord("s"), 258]
    state = found.walk(tokens)
    assert found.may_end(state) and found.allowed_tokens(state) == [259]
    assert found.next_state(state, 259) == ENDED and found.may_end(ENDED)
    assert found.allowed_tokens(ENDED) == [259] and found.allowed_tokens(DEAD) == []
    assert found.walk([*tokens, 0]) == DEAD
    assert "states and" in repr(found) and len(found) == len(found.accepting)


@pytest.mark.parametrize("token", [-1, -300, 261, 2**40])
def test_what_is_no_token_leads_nowhere(token: int) -> None:
    found = compiled()
    assert found.next_state(found.start, token) == DEAD
    assert found.next_states([found.start], [token]).tolist() == [DEAD]


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("state", [-1, -(10**6), 10**6, 2**63, -(2**70)])
def test_what_is_no_state_is_refused_by_all_alike(state: int, counted: bool) -> None:
    found = compiled_to_count() if counted else compiled()
    rows = np.zeros((1, found.words), dtype=np.int32)
    calls: list[Callable[[], Any]] = [
        lambda: found.mask(state),
        lambda: found.fill_bitmask(state, rows),
        lambda: found.row(state),
        lambda: found.allowed_tokens(state),
        lambda: found.may_end(state),
        lambda: found.next_state(state, 0),
        lambda: found.next_state(state, -1),
        lambda: found.walk([0], state),
    ]
    if -(2**63) <= state < 2**64:
        calls += [
            lambda: found.fill_bitmask_batch([state], rows),
            lambda: found.kept_rows([state]),
            lambda: found.next_states([state], [0]),
            lambda: found.next_states([state], [-1]),
        ]
    for call in calls:
        with pytest.raises(IndexError) as error:
            call()
        assert str(error.value) == f"states go from 0 to {len(found) - 1}, not {state}"


@pytest.mark.parametrize("counted", [False, True])
def test_batches_are_of_integers_of_one_shape(counted: bool) -> None:
    found = compiled_to_count() if counted else compiled()
    none: Any
    for none in ([], np.zeros((0, 3)), np.zeros(0, dtype=bool)):
        assert found.next_states(none, none).shape == np.shape(none)
    kinds = (np.uint8, np.int16, np.uint64)
    assert all(
        found.next_states(np.array([2], kind), np.array([34], kind)) == found.next_state(2, 34)
        for kind in kinds
    )
    rows = np.zeros((1, found.words), dtype=np.int32)
    wrong: Any
    for wrong in ([2.0], [2.7], [True], ["2"], [2**70], [None]):
        for call in (
            lambda: found.next_states(wrong, [0]),  # noqa: B023
            lambda: found.next_states([2], wrong),  # noqa: B023
            lambda: found.fill_bitmask_batch(wrong, rows),  # noqa: B023
        ):
            with pytest.raises(TypeError, match="are integers, not"):
                call()
    for states, tokens in (([2, 2], [1]), ([2], [1, 1]), (2, [1, 1]), ([[2], [2]], [1, 1])):
        with pytest.raises(ValueError, match="as many states as tokens"):
            found.next_states(states, tokens)


def test_masks_are_written_where_they_are_wanted() -> None:
    found = compiled()
    rows = np.full((3, found.words), -1, dtype=np.int32)
    found.fill_bitmask(found.start, rows, 1)
    assert (rows[1] == found.mask(found.start)).all() and (rows[[0, 2]] == -1).all()
    found.fill_bitmask(found.start, rows[0])
    assert (rows[0] == rows[1]).all()
    wrong: Any
    for wrong in (rows[:2], rows.astype(np.int64), np.zeros((3, 1), dtype=np.int32)):
        with pytest.raises(ValueError, match="is wanted"):
            found.fill_bitmask_batch([found.start] * 3, wrong)
        with pytest.raises(ValueError, match="is wanted"):
            found.fill_bitmask(found.start, wrong[:, :1])
    for wrong in (
        rows.astype(np.int64), rows.astype(np.float64), rows.astype(np.uint32), rows[None],
        rows.reshape(-1), np.zeros((3, found.words + 1), dtype=np.int32), np.int32(0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="is wanted"):
            found.fill_bitmask(found.start, wrong)
    with pytest.raises(IndexError):
        found.fill_bitmask(found.start, rows, 3)
    found.fill_bitmask_batch([], rows[:0])
    with pytest.raises(ValueError, match="read-only"):
        found.mask(found.start)[0] = 1
    for array in (found.next, found.class_of, found.accepting):
        assert not array.flags.writeable


def test_masks_beyond_the_room_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = compiled()
    every = list(range(len(reference)))
    wanted = np.stack([reference.mask(state) for state in every])
    monkeypatch.setattr(table, "MAX_ROW_BYTES", 5 * reference.words * 4)
    found = compiled()
    rows = np.zeros_like(wanted)
    for _ in range(2):
        assert all((found.mask(state) == wanted[state]).all() for state in every)
        found.fill_bitmask_batch(every, rows)
        assert (rows == wanted).all()
        found.fill_bitmask_batch(every[:3], rows[:3])
        assert (rows[:3] == wanted[:3]).all()
        assert found._rows.nbytes <= 2 * 16 * reference.words * 4
        found.prepare()


def test_masks_of_equal_states_are_one_row() -> None:
    found = compiled()
    found.prepare()
    rows = {found.mask(s).tobytes() for s in range(len(found))}
    assert found._used == len(rows) < len(found)


def test_threads_share_a_table() -> None:
    reference, found = compiled(), compiled()
    every = list(range(len(found)))
    wrong: list[int] = []

    def read() -> None:
        rows = np.zeros((len(every), found.words), dtype=np.int32)
        found.fill_bitmask_batch(every, rows)
        wrong.extend(s for s in every if (found.mask(s) != reference.mask(s)).any())
        wrong.extend(s for s in every if (rows[s] != reference.mask(s)).any())

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_progress_comes_to_its_end() -> None:
    told: list[float] = []
    compiled(progress=told.append)
    assert told[0] == 0 and told[-1] == 1 and told == sorted(told)


def test_wide_tables_have_wide_numbers() -> None:
    schema = {"type": "string", "minLength": 40_000, "maxLength": 40_000, "pattern": "^a*$"}
    grammar = calligram.compile_schema(schema, bounds=None)
    found = regex_fsm.compile(grammar, Vocabulary([b'"', b"a" * 7, b"a", b"<e>"], eos_ids=[3]))
    assert found.next.dtype == np.int32
    state = found.walk([0, *[1] * 5714, 2, 2])
    assert found.allowed_tokens(state) == [0]


def test_where_a_vocabulary_gets_stuck_is_told() -> None:
    assert compiled().dead_ends() == []
    grammar = calligram.compile_schema({"enum": ["ab", "ac"]}, whitespace="exact")
    found = regex_fsm.compile(grammar, Vocabulary([b'"a', b"b", b'"', b"ac", b"<e>"], eos_ids=[4]))
    # After `"ac` only the quote, after `"a` only the letter b.
    assert found.dead_ends() == []
    found = regex_fsm.compile(grammar, Vocabulary([b'"a', b'b"', b'"', b"<e>"], eos_ids=[3]))
    assert found.dead_ends() == [found.next_state(found.start, 2)]
    found = regex_fsm.compile(grammar, Vocabulary([b'"a', b"c", b"<e>"], eos_ids=[2]))
    first = found.next_state(found.start, 0)
    assert found.dead_ends() == [found.start, first, found.next_state(first, 1)]


# What is refused -------------------------------------------------------------------------------


def refusal(schema: dict[str, Any], **more: Any) -> tuple[str, str]:
    grammar = calligram.compile_schema(schema, bounds=more.pop("bounds", None), whitespace="exact")
    with pytest.raises(TargetError) as refused:
        regex_fsm.compile(grammar, VOCABULARY, **more)
    [problem] = refused.value.problems
    assert problem.code == "unsupported-feature" and problem.hint
    return problem.origin.pointer, problem.message


def test_what_must_be_remembered_is_refused_at_its_place() -> None:
    items = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    pointer, message = refusal({"type": "object", "properties": {"tags": items}})
    assert pointer.startswith("/properties/tags") and "distinct-items" in message
    keys = {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 2}
    _, message = refusal(keys)
    assert "distinct-keys" in message


def test_too_many_states_are_refused_at_their_place() -> None:
    schema = {
        "type": "object",
        "properties": {
            "short": {"type": "string", "maxLength": 5},
            "long": {"type": "string", "maxLength": 8000},
        },
        "additionalProperties": False,
    }
    pointer, message = refusal(schema, max_states=100)
    assert pointer.startswith("/properties/long") and "100 states" in message
    # The automaton over bytes has no way to count.
    grammar = calligram.compile_schema(schema, bounds=None, whitespace="exact")
    with pytest.raises(TargetError, match="2,000 states") as refused:
        regex_fsm.dfa(grammar, max_states=2000)
    assert refused.value.problems[0].origin.pointer.startswith("/properties/long")
    assert regex_fsm.compile(grammar, VOCABULARY, max_states=2000).dead_ends() == []


TREE: dict[str, Any] = {
    "$defs": {
        "n": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "v": {"type": "string"},
                "kids": {"type": "array", "items": {"$ref": "#/$defs/n"}},
            },
        }
    },
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/n"}},
}


@pytest.mark.parametrize(
    ("properties", "said", "bounds"),
    [
        ({"x": {}}, "`depth` (8), `keys` (64), `items` (256)", None),
        (TREE["properties"], "`recursion` (8)", calligram.Bounds(recursion=2, items=8)),
        (
            {"x": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}},
            "bounds `items` (256) and `string` (8,192)",
            calligram.Bounds(items=4, string=50),
        ),
        ({"x": {"type": "string", "maxLength": 9000, "pattern": "^(ab?){0,4000}$"}},
         "give the schema smaller bounds there", None),
    ],
)  # fmt: skip
def test_what_takes_too_many_states_names_the_bounds_that_help(
    properties: dict[str, Any], said: str, bounds: calligram.Bounds | None
) -> None:
    schema = {**TREE, "properties": properties, "additionalProperties": False}

    def made(given: calligram.Bounds | None) -> regex_fsm.TokenTable:
        grammar = calligram.compile_schema(schema, bounds=given, whitespace="exact")
        return regex_fsm.compile(grammar, VOCABULARY, max_states=4000, max_depth=1)

    with pytest.raises(TargetError) as refused:
        made(calligram.Bounds())
    [problem] = refused.value.problems
    assert said in (problem.hint or "") and "masks" in (problem.hint or "")
    if "default bound" in (problem.hint or ""):
        assert len(made(bounds)) > 10  # It helps.


def test_too_large_a_table_is_refused() -> None:
    _, message = refusal(SCHEMA, max_bytes=1000)
    assert "1,000 bytes" in message
    _, message = refusal(SCHEMA, max_bytes=10_000)
    assert "classes of tokens take more than 10,000 bytes" in message


def test_recursion_is_cut_and_told_or_refused() -> None:
    schema = {"type": "object", "properties": {"any": {}}, "additionalProperties": False}
    pointer, message = refusal(schema, max_depth=None)
    assert "recursion" in message
    grammar = calligram.compile_schema(schema, bounds=None, whitespace="exact")
    found = regex_fsm.compile(grammar, VOCABULARY, max_depth=1)
    [cut] = found.header["cuts"]
    assert cut["depth"] == 1 and [c.depth for c in regex_fsm.cuts(grammar, max_depth=1)] == [1]

    def accepts(value: object) -> bool:
        text = json.dumps(value, separators=(", ", ": "))
        return found.may_end(found.walk(list(text.encode())))

    assert accepts({"any": [1]}) and not accepts({"any": [[1]]})
    bounded = calligram.compile_schema(schema, bounds=SMALL, whitespace="exact")
    assert regex_fsm.compile(bounded, VOCABULARY, max_depth=None).header["cuts"] == []
    with pytest.raises(ValueError, match="at least 0"):
        regex_fsm.compile(grammar, VOCABULARY, max_depth=-1)


@pytest.mark.parametrize("arguments", [(None, VOCABULARY), (SCHEMA, VOCABULARY)])
def test_other_things_are_not_compiled(arguments: Any) -> None:
    with pytest.raises(TypeError, match="compiled grammar"):
        regex_fsm.compile(*arguments)
