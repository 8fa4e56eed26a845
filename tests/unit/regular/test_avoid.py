"""Raw text without its closer."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.regular.language import Language

WORDS = ["".join(w) for n in range(7) for w in itertools.product("abc", repeat=n)]
STOPS = st.lists(st.text("ab", min_size=1, max_size=4), max_size=3)


def naive(text: str, stops: list[str], closer: str) -> bool:
    for stop in (*stops, closer):
        at = (text + closer).find(stop) if stop else -1
        if 0 <= at < len(text):
            return False
    return True


@given(STOPS, st.text("ab", max_size=4))
def test_no_stop_begins_before_the_closer(stops: list[str], closer: str) -> None:
    found = Language.avoiding(stops, closer)
    for word in WORDS:
        assert found.accepts(word) == naive(word, stops, closer), word


@pytest.mark.parametrize(
    ("stops", "closer", "accepts", "rejects"),
    [
        ([], "</x>", ["", "a", "<", "</x", "</", "a<b"], ["</x>", "a</x>b"]),
        # "<" before "<<" would make the closer come one earlier.
        ([], "<<", ["", "a"], ["<", "a<", "<<"]),
        ([], "aab", ["", "a", "aa", "b"], ["aab", "xaaby"]),
        (["<|im_end|>"], "\n", ["a", "<|im_end|"], ["a\nb", "x<|im_end|>"]),
        (["a"], "", ["", "b"], ["a", "ba"]),
        # The stop would begin in the text and end in the closer.
        (["x</"], "</v>", ["y"], ["x", "yx"]),
        ([], "", ["", "anything\n"], []),
        (["é", "\U0001f600"], "漢", ["e"], ["é", "\U0001f600", "漢"]),
    ],
)
def test_stops(stops: list[str], closer: str, accepts: list[str], rejects: list[str]) -> None:
    found = Language.avoiding(stops, closer)
    assert [text for text in accepts if not found.accepts(text)] == []
    assert [text for text in rejects if found.accepts(text)] == []


def test_a_stop_that_is_no_text_forbids_nothing() -> None:
    assert Language.avoiding(["\ud83d"]).dfa == Language.any().dfa


def test_many_stops_share_one_automaton() -> None:
    stops = [f"<|reserved_special_token_{i}|>" for i in range(250)]
    found = Language.avoiding(stops, "</parameter>")
    assert found.accepts("<|reserved_special_token_250|>") and found.accepts("x" * 100_000)
    assert not found.accepts("a<|reserved_special_token_7|>")
