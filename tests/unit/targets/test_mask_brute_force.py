"""Masks against brute force, on many grammars: the IR's plain meaning, and token by token."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import calligram
from calligram.compiler.automaton.core import Core
from calligram.compiler.automaton.word_choices import MIN_OPTIONS, WordChoices
from calligram.compiler.grammar import (
    EMPTY,
    Choice,
    Expr,
    Grammar,
    Literal,
    Repeat,
    Rules,
    sequence,
)
from calligram.compiler.lower.trie import trie
from calligram.targets import mask
from tests import naive
from tests.adversary import WANTS, Adversary, written
from tests.sampling import dice, fuzzed
from tests.token_by_token import TokenByToken
from tests.unit.automaton.random_grammars import grammars
from tests.unit.targets.test_mask import vocabulary

LETTERS = "abé"
WORDS = ["".join(w) for n in (1, 2, 3) for w in itertools.product(LETTERS, repeat=n)]
PIECES = [*(w.encode() for w in WORDS), b"\xc3", b"\xa9", b"\xa9a", b"b\xc3"]
SMALL = calligram.Vocabulary([*PIECES, b"<end>"], eos_ids=[len(PIECES)])
TEXTS = ["".join(w) for n in range(6) for w in itertools.product(LETTERS, repeat=n)]


@pytest.mark.fuzz
@given(grammars())
def test_small_grammars_are_what_the_nodes_mean(made: tuple[Rules, Expr]) -> None:
    grammar = Grammar(*made)
    accepted = [text for text in TEXTS if naive.accepts(grammar, text)]
    wanted = {text.encode()[:n] for text in accepted for n in range(len(text.encode()) + 1)}
    automaton = mask.MaskAutomaton(grammar, SMALL)
    oracle = TokenByToken(grammar, SMALL)
    end = len(PIECES)
    for prefix in ("", *TEXTS[1:13]):
        if prefix.encode() not in wanted:
            continue
        matcher, state = automaton.matcher(), oracle.start
        for byte in prefix:
            token = PIECES.index(byte.encode())
            assert matcher.accept_token(token)
            state = oracle.step(state, token)
        allowed = matcher.allowed_tokens()
        assert allowed == oracle.allowed(state)
        assert (end in allowed) == (prefix in accepted)
        needed = {t for t, piece in enumerate(PIECES) if prefix.encode() + piece in wanted}
        assert needed <= set(allowed), prefix
        for token in set(allowed) - {end}:
            after = matcher.fork()
            assert after.accept_token(token)
            data = prefix.encode() + PIECES[token]
            if len(data) < 5 and _is_text(data):
                assert after.is_completed() == (data.decode() in accepted), data


_WORDS = st.lists(
    st.text(LETTERS, min_size=1, max_size=4), min_size=MIN_OPTIONS, max_size=40, unique=True
)
_BEHIND: st.SearchStrategy[Expr] = st.sampled_from(
    [EMPTY, Literal("b"), Repeat(Literal("a"), 0, 2), Choice((Literal("ab"), EMPTY))]
)


@pytest.mark.fuzz
@given(
    _WORDS,
    st.lists(_BEHIND, min_size=1, max_size=3),
    st.sampled_from(["", "a", "é"]),
    _BEHIND,
    st.booleans(),
)
def test_choices_of_many_texts(
    words: list[str], rests: list[Expr], before: str, behind: Expr, twice: bool
) -> None:
    """Prefixes of one another among them, each with its own behind it, and inside a choice."""
    choice = trie([(word, rest) for word, rest in zip(words, itertools.cycle(rests))])
    start = sequence(Literal(before), choice, choice if twice else EMPTY, behind)
    grammar = Grammar(Rules(), start)
    automaton, oracle = mask.MaskAutomaton(grammar, SMALL), TokenByToken(grammar, SMALL)
    for word in words[:6]:
        matcher, state = automaton.matcher(), oracle.start
        for letter in before + word:
            assert matcher.allowed_tokens() == oracle.allowed(state)
            token = PIECES.index(letter.encode())
            assert matcher.accept_token(token)
            state = oracle.step(state, token)
        assert matcher.allowed_tokens() == oracle.allowed(state)


def test_choices_of_many_beginnings_are_walked_as_they_are() -> None:
    words = [f"{a}{b}" for a in LETTERS for b in LETTERS]
    core = Core(Rules(), specials={})
    tail = core.continuation(Literal("b"))

    def found(options: list[tuple[str, Expr]]) -> bool:
        choice = trie(options)
        return WordChoices(core).of(core.continuation(choice, tail)) == (choice, tail)

    assert found([(word, EMPTY) for word in words])
    assert found([(word, Repeat(Literal("a"), 0, 2)) for word in words])
    assert not found([(word, EMPTY) for word in words[: MIN_OPTIONS - 1]])
    assert not found([(word, EMPTY) for word in ["", *words]])
    assert not found([*((word, EMPTY) for word in words), ("", Repeat(Literal("a"), 1, 2))])


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


TOOLS: list[dict[str, Any]] = json.loads(
    Path(__file__, "../../../mcp_style_tools.json").resolve().read_text(encoding="utf-8")
)
BOUNDS = (
    calligram.Bounds(string=6, items=3, keys=2, depth=2, recursion=2, digits=4, whitespace=1),
    calligram.Bounds(),
    None,
)
SPECIAL: list[dict[str, Any]] = [
    {
        "name": name,
        "inputSchema": {"type": "object", "properties": {"a": schema}, "required": ["a"]},
    }
    for name, schema in {
        "unique": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "recursive": {"$ref": "#/properties/a/$defs/n", "$defs": {
            "n": {"type": "object", "properties": {"n": {"$ref": "#/properties/a/$defs/n"},
                                                   "x": {"type": "integer"}}}}},
        "pattern": {"type": "string", "pattern": "^(ab|a)*c{2,9}$"},
        "counted": {"type": "string", "minLength": 3, "maxLength": 5},
        "many": {"type": "object", "minProperties": 2,
                 "additionalProperties": {"type": "integer"}},
    }.items()
]  # fmt: skip


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", calligram.dialects())
@pytest.mark.parametrize("tool_choice", ["required", "auto"])
def test_dialects_are_what_every_token_alone_says(dialect: str, tool_choice: str) -> None:
    random = dice("brute force", dialect, tool_choice)
    for _ in range(fuzzed(2)):
        tools = random.sample([*TOOLS, *SPECIAL, *SPECIAL], 2)
        if tools[0]["name"] == tools[1]["name"]:
            tools.pop()
        try:
            grammar = calligram.compile_tools(
                tools, dialect, tool_choice=tool_choice, bounds=random.choice(BOUNDS),
                key_order=random.choice(("schema", "any")),
            )  # fmt: skip
        except calligram.CalligramError as error:
            assert {p.code for p in error.problems} <= {"not-carryable", "unsupported-keyword"}
            continue
        spec = grammar.dialect
        assert spec is not None
        texts = [
            json.dumps(tools),
            '": "',
            '", "',
            ' ["a", "b", ',
            '1, "x": 2}',
            *grammar.trigger.texts,
        ]
        known = vocabulary([t for t in texts if len(t) > 1], [t.text for t in spec.tokens])
        automaton = mask.compile(grammar, known)
        oracle = TokenByToken(grammar.enforced, known)
        for want in random.sample(WANTS, 2):
            matcher, state = automaton.matcher(), oracle.start
            adversary = Adversary(known, want, random)
            armed = random.choice(grammar.trigger.texts) if tool_choice == "auto" else ""
            for byte in armed.encode() if not spec.tokens and matcher.accept_string(armed) else b"":
                state = oracle.step(state, byte)
            for _ in range(8):
                allowed = matcher.allowed_tokens()
                assert allowed == oracle.allowed(state), want
                token = adversary.draw(matcher)
                assert token is not None, "a dead end"
                # A few tokens on, so that calls are reached at all.
                for _ in range(random.randint(1, 6)):
                    state = oracle.step(state, token)
                    assert matcher.accept_token(token)
                    token = adversary.draw(matcher)
                    assert token is not None, "a dead end"
                if matcher.is_terminated():
                    break


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", calligram.dialects())
def test_what_is_written_is_what_the_nodes_mean(dialect: str) -> None:
    random = dice("meaning", dialect)
    for _ in range(fuzzed(1)):
        tool = random.choice(TOOLS)
        try:
            grammar = calligram.compile_tools([tool], dialect, bounds=BOUNDS[0], reasoning="none")
        except calligram.CalligramError:
            continue
        known = vocabulary([json.dumps(tool, ensure_ascii=False)], [])
        matcher = mask.compile(grammar, known).matcher()
        longest = grammar.report.longest_call
        assert longest is not None
        want = random.choice(WANTS)
        text = written(matcher, Adversary(known, want, random), known, min(longest, 150))
        assert naive.accepts(grammar.enforced, text.decode())
