"""Masks against brute force: every token tried byte by byte on the recogniser."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

import numpy as np
import pytest

import calligram
from calligram.compiler.spec_loader import shipped_ids
from calligram.targets import mask, regex_fsm
from tests.token_by_token import TokenByToken

TOOLS: list[dict[str, Any]] = [
    {
        "name": "book",
        "input_schema": {
            "type": "object",
            "properties": {
                "place": {"type": "string"},
                "nights": {"type": "integer", "minimum": 1, "maximum": 30},
                "class": {"enum": ["first", "fir", "second"]},
                "notes": {"type": "array", "items": {"type": "string", "maxLength": 3}},
                "code": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
            },
            "required": ["place"],
        },
    },
    {"name": "book_now", "input_schema": {"type": "object", "properties": {}}},
]
CALL = {
    "name": "book",
    "arguments": {
        "place": 'São "X"\\',
        "nights": 12,
        "class": "fir",
        "notes": ["ab", "é😀"],
        "code": "AB12",
    },
}


def vocabulary(texts: list[str], specials: list[str]) -> calligram.Vocabulary:
    """Single bytes, all short pieces of the texts, some that span boundaries, special tokens."""
    rng = random.Random(5)
    tokens = [bytes([b]) for b in range(256)]
    pieces = {b"", b'": "', b'"}', b"}}", b"\xc3", b"\xa9\xf0", b"  ", b"zzzz", b"</", b"1234567"}
    for text in texts:
        data = text.encode()
        for _ in range(150):
            start = rng.randrange(len(data))
            pieces.add(data[start : start + rng.randint(2, 9)])
    tokens += sorted(pieces) + sorted(pieces)[:5]
    first = len(tokens)
    tokens += [s.encode() for s in specials] + [b"<end>"]
    special = range(first, len(tokens))
    return calligram.Vocabulary(tokens, special_ids=special, eos_ids=[len(tokens) - 1])


def filled(matcher: mask.Matcher, words: int) -> list[int]:
    row = np.full(words, -1, dtype=np.int32)
    matcher.fill_next_token_bitmask(row)
    return [int(i) for i in np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))]


@pytest.mark.parametrize("dialect", shipped_ids())
@pytest.mark.parametrize("bounds", [calligram.Bounds(), None])
def test_masks_are_what_every_token_alone_says(
    dialect: str, bounds: calligram.Bounds | None
) -> None:
    grammar = calligram.compile_tools(TOOLS, dialect, bounds=bounds)
    assert grammar.dialect is not None
    text = grammar.render([CALL])
    known = vocabulary([text], [t.text for t in grammar.dialect.tokens])
    automaton = mask.compile(grammar, known)
    oracle = TokenByToken(grammar.enforced, known)
    rng = random.Random(dialect)
    for _ in range(3):
        matcher = automaton.matcher()
        state = oracle.start
        for _ in range(25):
            allowed = oracle.allowed(state)
            assert filled(matcher, known.words) == allowed == matcher.allowed_tokens()
            assert [t for t in range(len(known)) if matcher.fork().accept_token(t)] == allowed
            assert allowed, "a dead end"
            if matcher.is_terminated():
                break
            token = rng.choice(allowed)
            state = oracle.step(state, token)
            assert matcher.accept_token(token)


def test_a_call_is_read_in_any_tokenisation_and_ends_with_the_end_token() -> None:
    grammar = calligram.compile_tools(TOOLS, "hermes-json")
    text = grammar.render([CALL]).encode()
    known = vocabulary([text.decode()], [])
    matcher = mask.compile(grammar, known).matcher()
    rest = text
    while rest:
        fits = [
            i
            for i in matcher.allowed_tokens()
            if known.tokens[i] and rest.startswith(known.tokens[i])
        ]
        token = max(fits, key=lambda i: len(known.tokens[i]))
        assert matcher.accept_token(token)
        rest = rest[len(known.tokens[token]) :]
    assert matcher.is_completed() and not matcher.is_terminated()
    assert matcher.accept_token(known.eos_ids[0])
    assert matcher.is_terminated()
    assert matcher.allowed_tokens() == list(known.eos_ids)
    assert not matcher.accept_token(0)
    matcher.rollback(1)
    assert matcher.is_completed() and not matcher.is_terminated()


def in_tokens(known: calligram.Vocabulary, text: str) -> list[int]:
    """A text as a tokenizer reads it: special tokens first, then the longest pieces."""
    pieces = re.split("(" + "|".join(map(re.escape, known.specials)) + ")", text)
    by_text = {t: i for i, t in enumerate(known.tokens) if i not in known.special_ids}
    found: list[int] = []
    for piece in pieces:
        if piece in known.specials:
            found.append(known.specials[piece])
            continue
        rest = piece.encode()
        while rest:
            size = next(n for n in range(min(len(rest), 9), 0, -1) if rest[:n] in by_text)
            found.append(by_text[rest[:size]])
            rest = rest[size:]
    return found


MARKED = {
    "name": "book",
    "arguments": {"place": "Ü <|", "class": "fir", "notes": ["a", "", "bc"], "code": "AB12"},
}


@pytest.mark.parametrize("dialect", shipped_ids())
@pytest.mark.parametrize("distinct", [False, True])
def test_a_call_is_read_with_its_special_tokens_as_ids(dialect: str, distinct: bool) -> None:
    tools = copy.deepcopy(TOOLS)
    tools[0]["input_schema"]["properties"]["notes"]["uniqueItems"] = distinct
    grammar = calligram.compile_tools(tools, dialect)
    assert grammar.dialect is not None
    text = grammar.render([MARKED])
    known = vocabulary([text], [t.text for t in grammar.dialect.tokens])
    automaton = mask.compile(grammar, known)
    matcher = automaton.matcher()
    ids = in_tokens(known, text)
    for at, token in enumerate(ids):
        assert token in matcher.allowed_tokens(), (text, at)
        assert matcher.accept_token(token)
    assert matcher.is_completed()
    # A token that is matched by its id cannot be spelled.
    required = [t.text for t in grammar.dialect.tokens if t.match == "require"]
    if required:
        spelled = [known.specials[t] for t in required]
        first = next(i for i, token in enumerate(ids) if token in spelled)
        matcher.rollback(len(ids) - first)
        assert not matcher.accept_string(known.tokens[ids[first]])


def test_special_tokens_are_ids_not_text() -> None:
    grammar = calligram.compile_tools(TOOLS, "deepseek-v31")
    assert grammar.dialect is not None
    opener = grammar.dialect.tokens[0].text
    known = vocabulary(["x"], [t.text for t in grammar.dialect.tokens])
    matcher = mask.compile(grammar, known).matcher()
    assert known.specials[opener] in matcher.allowed_tokens()
    assert not matcher.accept_token(opener.encode()[0])
    assert matcher.accept_token(known.specials[opener])


def test_rollback_and_fork_agree_with_replay() -> None:
    grammar = calligram.compile_schema({"type": "array", "items": {"enum": ["a", "ab", 1]}})
    known = vocabulary(['["a","ab",1]'], [])
    automaton = mask.compile(grammar, known)
    rng = random.Random(3)
    matcher = automaton.matcher()
    taken: list[int] = []
    for _ in range(200):
        if taken and rng.random() < 0.4:
            back = rng.randint(1, len(taken))
            matcher.rollback(back)
            del taken[-back:]
        token = rng.choice(matcher.allowed_tokens())
        assert matcher.accept_token(token)
        taken.append(token)
        fresh = automaton.matcher()
        assert all(fresh.accept_token(t) for t in taken)
        assert fresh.allowed_tokens() == matcher.allowed_tokens() == matcher.fork().allowed_tokens()
    with pytest.raises(ValueError, match="tokens were taken"):
        matcher.rollback(len(taken) + 1)


def test_what_must_come_is_known() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"name": {"const": "é"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    grammar = calligram.compile_schema(schema, whitespace="exact")
    matcher = mask.compile(grammar, vocabulary(["x"], [])).matcher()
    assert matcher.find_jump_forward_string() == json.dumps({"name": "é"}, ensure_ascii=False)
    assert matcher.accept_token(ord("{"))
    assert matcher.find_jump_forward_bytes() == '"name": "é"}'.encode()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tokens": []}, "no tokens"),
        ({"tokens": [b"a"], "eos_ids": [1]}, "eos_ids holds 1"),
        ({"tokens": [b"a"], "special_ids": [-1]}, "special_ids holds -1"),
        ({"tokens": ["a"]}, "tokens are bytes"),
    ],
)
def test_vocabularies_that_make_no_sense(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(calligram.CalligramError, match=message):
        calligram.Vocabulary(**arguments)


def test_members_of_nested_arrays_are_not_taken_for_characters() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(40):
        schema = {"type": "array", "items": schema}
    text = "[" * 40 + '"a", "b"' + "]" * 40
    known = vocabulary([text], [])
    automaton = mask.compile(calligram.compile_schema(schema), known)
    matcher = automaton.matcher()
    for byte in text.encode():
        assert byte in matcher.allowed_tokens()
        assert matcher.accept_token(byte)
    assert matcher.is_completed()
    # Places inside the items were not listed: there are thousands of them.
    assert automaton.core.size < 6000


def test_an_end_token_that_models_pad_with_ends_texts() -> None:
    tokens = [bytes([b]) for b in range(256)] + [b"<end>", b"<pad>"]
    known = calligram.Vocabulary(tokens, [256, 257], eos_ids=[256], padding_ids=[256, 257])
    grammar = calligram.compile_schema({"const": True}, whitespace="exact")
    matcher = mask.compile(grammar, known).matcher()
    assert all(map(matcher.accept_token, b"true"))
    assert matcher.allowed_tokens() == [256]
    assert not matcher.accept_token(257)
    assert matcher.accept_token(256) and matcher.is_terminated()
    table = regex_fsm.compile(grammar, known)
    state = table.walk(list(b"true"))
    assert table.allowed_tokens(state) == [256]
