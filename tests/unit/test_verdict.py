"""The reference verdict: where, what was expected, in whole characters."""

from __future__ import annotations

import pytest

from calligram.compiler.automaton.recogniser import Recogniser
from calligram.compiler.grammar import Choice, Expr, Literal, Repeat, Rules, Sequence
from calligram.compiler.verdict import Verdict, check

WORD: Expr = Choice((Literal("né"), Literal("nö"), Literal("no")))


def verdict(start: Expr, text: str | bytes) -> Verdict:
    return check(Recogniser(Rules(), start), text)


@pytest.mark.parametrize(
    ("text", "position", "expected", "message"),
    [
        ("nx", 1, ("`é`", "`ö`", "`o`"), "expected `é`, `ö` or `o`, found 'x'"),
        # The first byte of the character was good, its last was not.
        ("nà", 1, ("`é`", "`ö`", "`o`"), "expected `é`, `ö` or `o`, found 'à'"),
        ("n", 1, ("`é`", "`ö`", "`o`"), "expected `é`, `ö` or `o`, found the end of the text"),
        ("née", 3, ("the end of the text",), "expected the end of the text, found 'e'"),
        ("n\ud800", 1, ("`é`", "`ö`", "`o`"), "expected `é`, `ö` or `o`, found '\ufffd'"),
        (b"n\xff", 1, ("`é`", "`ö`", "`o`"), "expected `é`, `ö` or `o`, found '\ufffd'"),
    ],
)
def test_refused(text: str | bytes, position: int, expected: tuple[str, ...], message: str) -> None:
    found = verdict(WORD, text)
    assert found == Verdict(False, position, expected, message)
    assert not found


@pytest.mark.parametrize("text", ["né", "no", "né".encode()])
def test_accepted(text: str | bytes) -> None:
    found = verdict(WORD, text)
    assert found and found.position == len(text if isinstance(text, bytes) else text.encode())
    assert found.message == "accepted" and found.expected == ()


def test_where_the_text_could_have_ended_it_says_so() -> None:
    found = verdict(Repeat(Literal("ab"), 1, 2), "abx")
    assert found.expected == ("`ab`", "the end of the text")
    assert found.position == 2


def test_long_lists_are_cut_in_the_sentence_only() -> None:
    found = verdict(Choice(tuple(Literal(c) for c in "abcdefghij")), "x")
    assert len(found.expected) == 10
    assert found.message == "expected `a`, `b`, `c`, `d`, `e`, `f` or 4 more, found 'x'"


def test_a_text_cut_inside_a_character_is_at_its_end() -> None:
    found = verdict(Sequence((Literal("a"), Literal("é"))), b"a\xc3")
    assert (found.accepted, found.position) == (False, 2)
    assert found.message.endswith("found the end of the text")
