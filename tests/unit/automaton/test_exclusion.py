"""Texts of a machine but for some words: beside the automaton, and as the automaton of both."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import calligram
from calligram import Vocabulary
from calligram.compiler.automaton.exclusion import GONE, Exclusion
from calligram.compiler.automaton.recogniser import Recogniser
from calligram.compiler.grammar import (
    ButMachine,
    Expr,
    Grammar,
    Literal,
    Regular,
    Rules,
    Sequence,
    children,
)
from calligram.compiler.lower.spelling import escapes, spell
from calligram.compiler.origin import Origin
from calligram.compiler.regular.language import Language
from calligram.targets import mask
from tests.token_by_token import TokenByToken

LETTERS = st.text(alphabet='ab"\\\né😀', max_size=5)
TOKENS = [
    b'a"', b'ab"', b'b":', b'"a"', b'ab', b'ba', b'aab', b'\\"', b'\\"b', b'a\\', b'\\\\', b'\\n"',
    b'\xc3', b'\xa9', b'\xc3\xa9"', b'\xf0\x9f', b'\x98\x80', b'a\xf0\x9f\x98', b'":', b'b\\"":',
]  # fmt: skip
VOCABULARY = Vocabulary(
    [*(bytes([b]) for b in range(256)), *TOKENS, b"<end>"], eos_ids=[256 + len(TOKENS)]
)


def machine(base: Language, words: list[str]) -> ButMachine:
    table = escapes("json", '"')
    spelled = ["".join(table.get(c, c) for c in w) for w in words]
    whole = base - Language.words(words)
    return ButMachine(spell(base.dfa, "json", '"'), spelled, lambda: spell(whole.dfa, "json", '"'))


def key(name: Expr) -> Expr:
    return Sequence((Literal('"'), name, Literal('":')))


@given(st.lists(LETTERS, min_size=1, max_size=6), st.lists(LETTERS, max_size=12))
def test_it_is_the_automaton_of_both(words: list[str], others: list[str]) -> None:
    made = machine(Language.any(), words)
    apart = Recogniser(Rules(), Regular(made))
    built = Recogniser(Rules(), Regular(made.built))
    for text in (*words, *others, *(w + "a" for w in words), *(w[:-1] for w in words)):
        spelled = json.dumps(text, ensure_ascii=False)[1:-1].encode()
        assert apart.accepts(spelled) is (text not in words), text
        assert built.accepts(spelled) is (text not in words), text


@given(st.lists(LETTERS, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_masks_are_those_of_the_automaton_of_both(words: list[str], random: object) -> None:
    made = machine(Language.any(), words)
    oracle = TokenByToken(Grammar(Rules(), key(Regular(made.built))), VOCABULARY)
    automaton = mask.MaskAutomaton(Grammar(Rules(), key(Regular(made))), VOCABULARY)
    for word in words:
        matcher, state = automaton.matcher(), oracle.start
        rest = json.dumps(word, ensure_ascii=False).encode() + b":"
        while True:
            allowed = matcher.allowed_tokens()
            assert allowed == oracle.allowed(state), (word, rest)
            fits = [t for t in allowed if rest.startswith(VOCABULARY.tokens[t])]
            if not fits:
                break
            token = random.choice(fits)  # type: ignore[attr-defined]
            assert matcher.accept_token(token)
            state = oracle.step(state, token)
            rest = rest[len(VOCABULARY.tokens[token]) :]
        assert rest, "an excluded word was read"


@pytest.mark.parametrize("high", [2, 3, 4, None])
def test_a_window_never_leads_into_an_excluded_word_with_no_way_on(high: int | None) -> None:
    grammar = calligram.compile_schema(
        {
            "type": "object",
            "properties": {"aa": {"type": "null"}, "aab": {"type": "null"}},
            "propertyNames": {"maxLength": high} if high else True,
            "additionalProperties": {"type": "integer"},
        }
    )
    for name in ("a", "ab", "aa", "aab", "aaba", "b", ""):
        value = {name: None if name in ("aa", "aab") else 1}
        wanted = high is None or len(name) <= high
        assert grammar.check(json.dumps(value)).accepted is wanted, name
        wrong = {name: 1 if name in ("aa", "aab") else None}
        assert not grammar.check(json.dumps(wrong)).accepted, name


def test_an_object_of_many_keys_builds_no_automaton_of_them() -> None:
    names = [f"property number {i}" for i in range(3000)]
    grammar = calligram.compile_schema(
        {"type": "object", "properties": {n: {"type": "null"} for n in names}}
    )
    machines = [e.machine for e in _expressions(grammar.enforced) if isinstance(e, Regular)]
    watched = [m for m in machines if isinstance(m, ButMachine)]
    assert watched and len(watched[0].words) == 3000
    assert grammar.check('{"property number 30001": 5}').accepted
    assert not grammar.check('{"property number 2999": 5}').accepted
    assert all(m._built is None for m in watched)


def _expressions(grammar: Grammar) -> list[Expr]:
    todo = [grammar.start, *(body for _, body in grammar.rules.reachable(grammar.start))]
    found = []
    seen: set[int] = set()
    while todo:
        expr = todo.pop()
        if id(expr) not in seen:
            seen.add(id(expr))
            found.append(expr)
            todo += children(expr)
    return found


def test_the_trie_of_words() -> None:
    trie = Exclusion(["ab", "abc", "b"])
    a = trie.after(0, "a")
    assert trie.rests(0) == (b"ab", b"abc", b"b") and trie.rests(a) == (b"b", b"bc")
    assert trie.after(0, "ba") == GONE and trie.after(0, "") == 0
    b = trie.after(a, "b")
    assert trie.whole[b] and trie.rests(b) == (b"c",)
    assert trie.split(0, 0x60, 0x63) == [
        (0x60, 0x60, GONE), (0x61, 0x61, a), (0x62, 0x62, trie.after(0, "b")), (0x63, 0x63, GONE),
    ]  # fmt: skip


def test_languages_tell_their_words() -> None:
    pattern = Language.pattern("^a", origin=Origin())
    whole, words = (pattern - Language.words(["a", "ab"])).split_words()
    assert whole == pattern and words == ("a", "ab")
    assert not (Language.any() - Language.words(["a"])).is_any
    assert not (pattern - Language.words(["a"])).is_empty
    assert (Language.pattern("^ab?$", origin=Origin()) - Language.words(["a", "ab"])).is_empty
    assert (Language.any() - Language.words(["\ud800"])).is_any


def test_a_word_that_could_only_grow_too_long_is_no_way() -> None:
    # Of "ax", "axbx", "axbxbx": "ax" is excluded, and the next longer one does not fit.
    grammar = calligram.compile_schema(
        {
            "type": "object",
            "properties": {"ax": {"type": "null"}},
            "patternProperties": {"^ax(?:bx)*$|^b": {"type": "null"}},
            "propertyNames": {"maxLength": 3},
            "additionalProperties": False,
        }
    )
    automaton = mask.compile(grammar, VOCABULARY)
    matcher = automaton.matcher()
    assert all(matcher.accept_token(byte) for byte in b'{"ax": null, "')
    assert not matcher.accept_token(ord("a"))
    assert matcher.accept_token(ord("b"))


def test_a_class_of_keys_that_do_not_fit_is_no_way() -> None:
    grammar = calligram.compile_schema(
        {
            "type": "object",
            "properties": {"x": {"type": "null"}},
            "patternProperties": {"^abc": {"type": "integer"}},
            "additionalProperties": {"type": "null"},
            "propertyNames": {"maxLength": 2},
        },
        bounds=calligram.Bounds(string=2),
    )
    matcher = mask.compile(grammar, VOCABULARY).matcher()
    assert all(matcher.accept_token(byte) for byte in b'{"ab')
    assert not matcher.accept_token(ord("c"))
