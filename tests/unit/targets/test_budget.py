"""Masks within a budget: whatever is taken, the text comes to its end in time."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram import Vocabulary
from calligram.compiler.errors import VocabularyError
from calligram.compiler.grammar import Expr, Grammar, Rules
from calligram.compiler.spec_loader import shipped_ids
from calligram.targets import mask
from tests.unit.automaton.random_grammars import (
    distinct_items,
    grammars,
    keys_that_hold,
    remembered_keys,
)
from tests.unit.targets.test_mask import TOOLS

END = "<end>"


def vocabulary(more: list[str], specials: tuple[str, ...] = (), without: bytes = b"") -> Vocabulary:
    """Single bytes, longer tokens, special ones."""
    tokens = [bytes([b]) for b in range(256) if b not in without]
    tokens += [m.encode() for m in more]
    first = len(tokens)
    tokens += [s.encode() for s in (*specials, END)]
    return Vocabulary(tokens, range(first, len(tokens)), [len(tokens) - 1])


WORDS = [
    '{"', '":', '": ', '", "', '"}', '"}}', "[[", "[[[[[[[[", "]]", "],", '"]', "a" * 16, "  ",
    "    ", "12", "123", "true", "null", "é", "日本", "\\u", '\\"', '{"a": {"a": {', '[{"', "}]",
    '[["', '"a', '"ab', 'b"', '", ', "aa", "ba", "ab", "abab", "name", "x" * 5, '"x', "0",
]  # fmt: skip
LONG = vocabulary(WORDS)
SINGLE = vocabulary([])


def adversary(name: str, seed: int) -> Callable[[mask.Matcher, list[int], Vocabulary], int]:
    """Who chooses the tokens."""
    rng = random.Random(seed)

    def choose(matcher: mask.Matcher, allowed: list[int], known: Vocabulary) -> int:
        ends = set(known.eos_ids)
        going = [t for t in allowed if t not in ends] or allowed
        if name == "random":
            return rng.choice(going)
        sampled = rng.sample(going, min(len(going), 24))
        if name == "longest":
            return max(sampled, key=lambda t: len(known.tokens[t]))
        if name == "shortest":
            return min(sampled, key=lambda t: len(known.tokens[t]))

        def distance(token: int) -> int:
            after = matcher.fork()
            assert after.accept_token(token)
            return after.tokens_to_end()

        return max(sampled, key=distance)

    return choose


ADVERSARIES = ["random", "longest", "shortest", "farthest"]


def come_to_the_end(
    automaton: mask.MaskAutomaton, budget: int, name: str, seed: int = 1
) -> mask.Matcher:
    """Take tokens until the end, and see that the budget was enough."""
    matcher = automaton.matcher()
    choose = adversary(name, seed)
    known = automaton.vocabulary
    while not matcher.is_terminated():
        least = matcher.tokens_to_end()
        assert 0 < least <= budget
        allowed = matcher.allowed_tokens(budget)
        assert allowed and set(allowed) <= set(matcher.allowed_tokens())
        assert matcher.accept_token(choose(matcher, allowed, known))
        budget -= 1
    return matcher


SCHEMAS: dict[str, Any] = {
    "nested": {
        "type": "object", "additionalProperties": False, "required": ["a"],
        "properties": {"a": {
            "type": "object", "required": ["a", "b"], "additionalProperties": False,
            "properties": {"a": {"type": "string", "minLength": 3}, "b": {"enum": ["aa", "ab", 1]},
                           "c": {"type": "number"}}}},
    },
    "long": {"type": "string", "minLength": 1000},
    "window": {"type": "array", "items": {"type": "string", "minLength": 2, "maxLength": 4},
               "minItems": 3, "maxItems": 4},
    "recursive": {
        "$defs": {"n": {"type": "object", "required": ["v", "kids"], "additionalProperties": False,
            "properties": {"v": {"type": "boolean"},
                           "kids": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}},
        "$ref": "#/$defs/n",
    },
    "anything": {},
    "unique": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 3},
    "unique, few": {"type": "array", "items": {"enum": ["a", "aa", "ab", 1, 12, 123]},
                    "uniqueItems": True, "minItems": 5},
    "unique pairs": {"type": "array", "uniqueItems": True, "minItems": 2, "maxItems": 3,
                     "items": {"type": "array", "items": {"enum": [1, 12]}, "maxItems": 2}},
    "unique tuple": {"type": "array", "uniqueItems": True, "minItems": 4,
                     "prefixItems": [{"enum": ["a", "b"]}, {"enum": ["b", "ab"]}, {}]},
    "open keys": {"type": "object", "minProperties": 2, "patternProperties": {"^a": {"const": 1}},
                  "properties": {"ab": {"type": "null"}}},
    "but": {"type": "object", "properties": {"a": {"const": "x" * 30}, "ab": {"const": 1}}},
    "pattern": {"type": "string", "pattern": "^(ab|é)+x{5,7}$", "maxLength": 20},
    "multiple": {"type": "integer", "multipleOf": 1237, "minimum": 1},
    "huge beside small": {"anyOf": [{"const": 1}, {"const": {"a": "x" * 300}},
                                    {"type": "array", "minItems": 100, "items": {"const": 12}}]},
    "conditions": {"type": "object", "properties": {"a": {}, "b": {"type": "string"}},
                   "not": {"properties": {"a": {"type": "string"}, "b": {"maxLength": 3}}}},
}  # fmt: skip
_MADE: dict[tuple[str, str, str], mask.MaskAutomaton] = {}


def made(name: str, tokens: str, key_order: Any = "schema") -> mask.MaskAutomaton:
    key = (name, tokens, key_order)
    if key not in _MADE:
        grammar = calligram.compile_schema(
            SCHEMAS[name], whitespace="exact", key_order=key_order,
            bounds=calligram.Bounds(depth=4, string=2000, items=120, digits=6, keys=6),
        )  # fmt: skip
        _MADE[key] = mask.compile(grammar, LONG if tokens == "long" else SINGLE)
    return _MADE[key]


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("tokens", ["long", "single"])
def test_the_end_is_reached_in_time(name: str, tokens: str) -> None:
    for key_order in ("schema", "any"):
        automaton = made(name, tokens, key_order)
        least = automaton.matcher().tokens_to_end()
        for seed, who in enumerate(ADVERSARIES):
            for extra in (0, 1, 2, 5, 17):
                slow = least > 500 or name in ("unique", "unique tuple", "open keys")
                if slow and (extra in (1, 5) or who == "farthest"):
                    continue
                come_to_the_end(automaton, least + extra, who, seed + extra)


RANDOM = vocabulary(["ab", "ba", "aab", "a:", ":,", ",a", ",b", "b,a", "é", "a" * 5, "b:,a:"])


@given(
    st.one_of(
        grammars(),
        st.one_of(distinct_items, remembered_keys, keys_that_hold).map(lambda e: (Rules(), e)),
    ),
    st.integers(0, 6),
    st.sampled_from(["random", "farthest"]),
)
@settings(max_examples=60, deadline=None)
def test_the_end_is_reached_in_time_in_random_grammars(
    grammar: tuple[Rules, Expr], extra: int, who: str
) -> None:
    automaton = mask.MaskAutomaton(Grammar(*grammar), RANDOM)
    try:
        least = automaton.matcher().tokens_to_end()
    except VocabularyError:
        return  # There is no text.
    come_to_the_end(automaton, least + extra, who, extra)


@pytest.mark.parametrize("dialect", shipped_ids())
@pytest.mark.parametrize("choice", ["required", "auto"])
def test_calls_end_in_time_in_every_dialect(dialect: str, choice: Any) -> None:
    grammar = calligram.compile_tools(TOOLS, dialect, tool_choice=choice)
    assert grammar.dialect is not None
    known = vocabulary(WORDS, tuple(t.text for t in grammar.dialect.tokens))
    automaton = mask.compile(grammar, known)
    least = automaton.matcher().tokens_to_end()
    for seed, who in enumerate(ADVERSARIES):
        for extra in (0, 3, 20):
            come_to_the_end(automaton, least + extra, who, seed)


@pytest.mark.parametrize("name", SCHEMAS)
def test_with_single_bytes_masks_are_those_of_the_distance(name: str) -> None:
    """A token is allowed exactly if what comes behind it fits, as the place behind it says."""
    automaton = made(name, "single")
    rng = random.Random(3)
    matcher = automaton.matcher()
    for _ in range(30):
        allowed = matcher.allowed_tokens()
        if matcher.is_terminated():
            break
        distances = {}
        for token in allowed:
            after = matcher.fork()
            assert after.accept_token(token)
            distances[token] = after.tokens_to_end()
            if name not in ("unique", "unique, few", "unique pairs", "unique tuple", "open keys"):
                assert distances[token] == after.bytes_to_end() + (not after.is_terminated())
        least = matcher.tokens_to_end()
        if not name.startswith("unique"):
            assert least == 1 + min(distances.values())
        budgets = sorted(b for b in {least, *(1 + d for d in distances.values())} if b >= least)
        for budget in budgets[:12]:
            fits = [t for t, d in distances.items() if d < budget]
            if name in ("unique", "unique tuple", "unique pairs", "open keys"):
                assert set(matcher.allowed_tokens(budget)) <= set(fits)
            else:
                assert matcher.allowed_tokens(budget) == fits
        assert matcher.accept_token(rng.choice(allowed))


@pytest.mark.parametrize("name", [n for n in SCHEMAS if not n.startswith(("unique", "open"))])
def test_masks_of_longer_tokens_are_those_of_the_distance(name: str) -> None:
    automaton = made(name, "long")
    rng = random.Random(4)
    matcher = automaton.matcher()
    for _ in range(20):
        allowed = matcher.allowed_tokens()
        if matcher.is_terminated():
            break
        distances = {}
        for token in allowed:
            after = matcher.fork()
            assert after.accept_token(token)
            distances[token] = after.tokens_to_end()
        least = matcher.tokens_to_end()
        # Texts that are not the shortest may take fewer tokens.
        assert least <= min(matcher.bytes_to_end() + 1, 2 * (1 + min(distances.values())))
        budgets = sorted(b for b in {least, *(1 + d for d in distances.values())} if b >= least)
        for budget in budgets[:12]:
            fits = [t for t, d in distances.items() if d < budget]
            assert matcher.allowed_tokens(budget) == fits
        assert matcher.accept_token(rng.choice(allowed))


def test_a_budget_that_is_too_small_leaves_the_shortest_way() -> None:
    matcher = made("nested", "long").matcher()
    least = matcher.tokens_to_end()
    shortest = matcher.allowed_tokens(least)
    for budget in (least - 1, 1, 0, -3):
        assert matcher.allowed_tokens(budget) == shortest != []
    count = 0
    while not matcher.is_terminated():
        assert matcher.accept_token(matcher.allowed_tokens(0)[0])
        count += 1
    assert count == least


def test_a_large_budget_is_the_mask_itself() -> None:
    matcher = made("nested", "long").matcher()
    assert matcher.mask_row(10**6) is matcher.mask_row()
    assert matcher.mask_row(10**6) is matcher.mask_row(budget=None)


TUPLE = {
    "type": "array", "uniqueItems": True, "minItems": 3,
    "prefixItems": [{"type": "string"}, {"type": "string", "maxLength": 5}, {}],
}  # fmt: skip


@pytest.mark.parametrize("key_order", ["schema", "any"])
@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (TUPLE, '["ab'),
        (TUPLE, '["ab", '),
        (SCHEMAS["unique"], '["a", "b'),
        ({**SCHEMAS["open keys"], "minProperties": 3}, '{"xq'),
    ],
)
def test_a_large_budget_refuses_nothing_where_texts_must_differ(
    schema: Any, text: str, key_order: Any
) -> None:
    grammar = calligram.compile_schema(
        schema, whitespace="exact", key_order=key_order, bounds=calligram.Bounds()
    )
    matcher = mask.compile(grammar, LONG).matcher()
    assert matcher.accept_string(text)
    assert matcher.allowed_tokens(200) == matcher.allowed_tokens()
    assert set(matcher.allowed_tokens(1)) < set(matcher.allowed_tokens())


def test_budgets_in_all_the_calls() -> None:
    automaton = made("huge beside small", "long")
    one, two = automaton.matcher(), automaton.matcher()
    rows = mask.allocate_token_bitmask(2, len(LONG) + 40)
    mask.fill_next_token_bitmask_batch([one, two], rows, budgets=[2, None])
    tight, free = one.allowed_tokens(2), two.allowed_tokens()
    assert [LONG.tokens[t] for t in tight] == [b"1"]
    assert _ids(rows[0]) == tight and _ids(rows[1]) == free and len(free) > 3
    mask.fill_next_token_bitmask_batch([one, two], rows, [1, 0], budgets=[2, None])
    assert _ids(rows[1]) == tight and _ids(rows[0]) == free
    with pytest.raises(ValueError):
        mask.fill_next_token_bitmask_batch([one, two], rows, budgets=[2])
    assert one.fill_next_token_bitmask(rows, 0, budget=2) and _ids(rows[0]) == tight
    with pytest.raises(ValueError):
        one.fill_next_token_bitmask(np.zeros(3, dtype=np.int32), budget=2)
    logits = np.zeros(len(LONG), dtype=np.float32)
    one.mask_logits(logits, budget=2)
    assert np.flatnonzero(np.isfinite(logits)).tolist() == tight


def _ids(row: Any) -> list[int]:
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    return [int(i) for i in np.flatnonzero(bits)]


def test_distances_at_the_end() -> None:
    grammar = calligram.compile_schema({"const": "aa"}, whitespace="exact")
    matcher = mask.compile(grammar, LONG).matcher()
    assert (matcher.bytes_to_end(), matcher.tokens_to_end()) == (4, 4)
    assert matcher.accept_string('"aa"')
    assert (matcher.bytes_to_end(), matcher.tokens_to_end()) == (0, 1)
    assert matcher.accept_token(LONG.eos_ids[0])
    assert (matcher.bytes_to_end(), matcher.tokens_to_end()) == (0, 0)
    assert matcher.allowed_tokens(5) == list(LONG.eos_ids)
    # Without end tokens the text just stops.
    bare = Vocabulary(LONG.tokens[:-1])
    matcher = mask.compile(grammar, bare).matcher()
    assert matcher.tokens_to_end() == 3
    assert matcher.accept_string('"aa"') and matcher.tokens_to_end() == 0


def test_the_longest_tokens_fill_what_must_be_long() -> None:
    matcher = made("long", "long").matcher()
    assert matcher.bytes_to_end() == 1002
    assert matcher.tokens_to_end() <= 1000 // 16 + 8


def test_lengths_that_cannot_be_walked_are_arithmetic() -> None:
    grammar = calligram.compile_schema(
        {"type": "array", "items": {"type": "string", "minLength": 10**6}, "minItems": 10**6},
        whitespace="exact",
    )
    matcher = mask.compile(grammar, LONG).matcher()
    assert matcher.bytes_to_end() == 10**12 + 4 * 10**6
    assert matcher.tokens_to_end() == matcher.bytes_to_end() + 1
    assert [LONG.tokens[t] for t in matcher.allowed_tokens(7)] == [b"["]


def test_a_vocabulary_without_a_way_says_so() -> None:
    grammar = calligram.compile_schema({"enum": ["zz", "zzzzz"]}, whitespace="exact")
    matcher = mask.compile(grammar, vocabulary([], without=b"z")).matcher()
    for ask in (matcher.tokens_to_end, lambda: matcher.mask_row(9)):
        with pytest.raises(VocabularyError) as caught:
            ask()
        assert caught.value.problems[0].code == "vocabulary-dead-end"
    assert matcher.bytes_to_end() == 4
    # A token that holds what is missing is a way.
    known = vocabulary(["zz"], without=b"z")
    matcher = mask.compile(grammar, known).matcher()
    assert matcher.tokens_to_end() == 4
    assert [known.tokens[t] for t in matcher.allowed_tokens(9)] == [b'"']


def test_special_tokens_are_one_token_and_as_long_as_their_text() -> None:
    grammar = calligram.compile_tools(TOOLS[1:], "mistral-args")
    assert grammar.dialect is not None
    known = vocabulary([], tuple(t.text for t in grammar.dialect.tokens))
    plain = mask.compile(grammar, vocabulary([])).matcher()
    matcher = mask.compile(grammar, known).matcher()
    assert matcher.bytes_to_end() == plain.bytes_to_end() == len(grammar.render([CALL]).encode())
    assert matcher.tokens_to_end() < plain.tokens_to_end()


CALL = {"name": "book_now", "arguments": {}}


def test_texts_within_a_budget_are_in_the_grammar() -> None:
    automaton = made("nested", "long")
    for seed in range(5):
        matcher, text = automaton.matcher(), b""
        budget = 24 + seed
        rng = random.Random(seed)
        while not matcher.is_terminated():
            token = rng.choice(matcher.allowed_tokens(budget))
            assert matcher.accept_token(token)
            text += LONG.tokens[token]
            budget -= 1
        assert budget >= 0
        assert json.loads(text.removesuffix(END.encode()))["a"]["a"]
