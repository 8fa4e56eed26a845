"""The algebra of languages: laws, laziness, words for messages."""

from __future__ import annotations

import itertools
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calligram.compiler.errors import LimitExceeded
from calligram.compiler.origin import Origin
from calligram.compiler.regular.language import Language

WORDS = ["".join(w) for n in range(5) for w in itertools.product("ab", repeat=n)]


def pattern(source: str) -> Language:
    return Language.pattern(source, origin=Origin())


LEAVES = st.one_of(
    st.sampled_from(["^a", "b$", "ab", "^(?:ab)*$", "^[^a]*$", "^.{2,3}$", "a.*a"]).map(pattern),
    st.lists(st.sampled_from(WORDS), max_size=4).map(Language.words),
    st.lists(st.text("ab", min_size=1, max_size=2), max_size=2).map(Language.avoiding),
    st.just(Language.any()),
    st.just(Language.none()),
)
LANGUAGES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] & p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] | p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] - p[1]),
        inner.map(lambda x: ~x),
    ),
    max_leaves=5,
)


@settings(deadline=None)
@given(LANGUAGES, LANGUAGES)
def test_laws(one: Language, other: Language) -> None:
    for word in WORDS:
        left, right = one.accepts(word), other.accepts(word)
        assert (one & other).accepts(word) == (left and right)
        assert (one | other).accepts(word) == (left or right)
        assert (one - other).accepts(word) == (left and not right)
        assert (~one).accepts(word) == (not left)
    assert (~(one & other)).dfa == (~one | ~other).dfa
    assert (~~one).dfa == one.dfa
    assert (one & ~one).is_empty
    assert (one | ~one).is_any
    assert (one - other).is_empty == ((one & other).dfa == one.dfa)


def test_combining_determinises_nothing() -> None:
    hostile = pattern("^.{0,1000}x.{0,1000}$")
    combined = ~(hostile & pattern("a") | Language.words(["x"]))
    assert "(text matching /^.{0,1000}x.{0,1000}$/ and text matching /a/)" in combined.what
    with pytest.raises(LimitExceeded):
        _ = combined.dfa


def test_units_are_recognised_without_an_automaton() -> None:
    hostile = pattern("^.{0,1000}x.{0,1000}$")
    assert hostile & Language.any() is hostile
    assert hostile | Language.none() is hostile
    assert (hostile & Language.none()).is_empty
    assert (hostile | Language.any()).is_any
    assert ~~hostile is hostile
    assert hostile & hostile is hostile


def test_equality_and_hash_follow_the_description() -> None:
    here, there = Origin("/a"), Origin("/b")
    one = Language.pattern("^a", origin=here) & Language.words(["a", "b"])
    same = Language.pattern("^a", origin=there) & Language.words(["a", "b", "a"])
    assert one == same and hash(one) == hash(same)
    assert one != Language.words(["a"]) and one.dfa == Language.words(["a"]).dfa


def test_a_long_chain_of_operations_does_not_recurse() -> None:
    found = Language.words(["a"])
    for i in range(2000):
        found = ~(found | Language.words([f"w{i}"]))
    assert found.what
    assert found.accepts("w1999") is False and found.accepts("w1998") is True
    wide = Language.none()
    for i in range(300):
        wide = wide | Language.words([f"w{i}"])
    assert wide.dfa == Language.words([f"w{i}" for i in range(300)]).dfa


@pytest.mark.parametrize(
    ("found", "what"),
    [
        (pattern("^a"), "text matching /^a/"),
        (Language.format("date"), "a date (YYYY-MM-DD)"),
        (Language.words(["x", "y", "z"]), "one of 3 words"),
        (Language.words(["x"]), 'the text "x"'),
        (Language.none(), "no text"),
        (Language.any(), "any text"),
        (Language.avoiding(["<|x|>"], "</v>"), "text without '</v>' or '<|x|>'"),
        (pattern("^a") & ~pattern("b"), "text matching /^a/ and not text matching /b/"),
        (pattern("a") | pattern("b"), "text matching /a/ or text matching /b/"),
    ],
)
def test_what(found: Language, what: str) -> None:
    assert found.what == what


def test_words_with_a_surrogate_are_left_out() -> None:
    assert Language.words(["\ud83d"]).is_empty
    assert Language.words(["", "\U0001f600", "\ud83d"]).dfa.words(9) == ["", "\U0001f600"]


def test_many_words() -> None:
    words = [f"item-{i:05}" for i in range(5000)]
    found = Language.words(words)
    assert found.dfa.words(6000) == sorted(words)
    assert len(found.dfa.transitions) == 11


def test_languages_pickle() -> None:
    found = pattern("^a") & Language.words(["a"]) | Language.avoiding(["x"])
    copy = pickle.loads(pickle.dumps(found))
    assert copy == found and copy.dfa == found.dfa
