"""Captures: events, preference, cuts, and the sharing of steps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.automaton.capturing import DEAD, CapturingAutomaton
from calligram.compiler.automaton.recogniser import Recogniser
from calligram.compiler.grammar import (
    EMPTY,
    Capture,
    Chars,
    Choice,
    Cut,
    Expr,
    Literal,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Slot,
    children,
)
from tests.unit.automaton.random_grammars import grammars

VALUE, NAME, KEY = Slot("value", "raw"), Slot("name", "raw"), Slot("key", "raw")
LETTER = Chars(((0x61, 0x7A),))
WORD = Repeat(LETTER, 1, None)


def captured(start: Expr, text: str, rules: Rules | None = None) -> list[tuple[str, str]] | None:
    """(kind, text) of each capture in the order of their ends; None if the text is refused."""
    automaton = CapturingAutomaton(rules or Rules(), start)
    return walked(automaton, text)


def walked(automaton: CapturingAutomaton, text: str) -> list[tuple[str, str]] | None:
    config = automaton.start
    histories: list[list[tuple[int, int]]] = [[]]
    data = text.encode()
    for at, byte in enumerate(data):
        target, moves, _ = automaton.step(config, byte)
        if target == DEAD:
            return None
        if moves is not None:
            histories = [histories[s] + [(e, at) for e in events] for s, events in moves]
        config = target
    final = automaton.final(config)
    if final is None:
        return None
    index, events = final
    out: list[tuple[str, str]] = []
    stack: list[tuple[int, int]] = []
    for event, at in histories[index] + [(e, len(data)) for e in events]:
        if event > 0:
            stack.append((event, at))
        else:
            opened, start = stack.pop()
            assert opened == -event, "captures nest"
            slot = automaton.core.slots[opened - 1]
            out.append((slot.kind, data[start:at].decode()))
    assert not stack
    return out


def test_captures_hold_their_text() -> None:
    call = Sequence((Capture(NAME, WORD), Literal("("), Capture(VALUE, WORD), Literal(")")))
    assert captured(call, "ab(c)") == [("name", "ab"), ("value", "c")]
    assert captured(call, "ab(c") is None
    assert captured(call, "ab()") is None


def test_captures_nest_and_repeat() -> None:
    item = Capture(VALUE, LETTER)
    whole = Capture(NAME, Repeat(item, 0, None))
    assert captured(whole, "ab") == [("value", "a"), ("value", "b"), ("name", "ab")]
    assert captured(whole, "") == [("name", "")]


def test_the_first_option_is_preferred() -> None:
    one, other = Capture(NAME, Literal("a")), Capture(KEY, Literal("a"))
    assert captured(Choice((one, other)), "a") == [("name", "a")]
    assert captured(Choice((other, one)), "a") == [("key", "a")]
    both = Choice((Sequence((one, Literal("b"))), Sequence((other, Literal("c")))))
    assert captured(both, "ab") == [("name", "a")]
    assert captured(both, "ac") == [("key", "a")]


def test_one_more_turn_is_preferred_to_going_on() -> None:
    greedy = Sequence(
        (Capture(NAME, Repeat(LETTER, 0, None)), Capture(KEY, Repeat(LETTER, 0, None)))
    )
    assert captured(greedy, "abc") == [("name", "abc"), ("key", "")]


def test_an_optional_capture_is_preferred_at_the_end_too() -> None:
    # The continuation behind the capture is known from the first branch when the second is tried.
    start = Choice(
        (
            Sequence((Literal("z"), Capture(NAME, Literal("a")))),
            Sequence((Literal("b"), Choice((Capture(NAME, EMPTY), EMPTY)))),
        )
    )
    automaton = CapturingAutomaton(Rules(), start)
    assert walked(automaton, "za") == [("name", "a")]
    assert walked(automaton, "b") == [("name", "")]


def test_a_cut_gives_up_the_readings_without_one() -> None:
    prose = Capture(VALUE, WORD)
    call = Sequence((Literal("call"), Cut(), Capture(NAME, Literal("x"))))
    start = Choice((prose, call))
    assert captured(start, "cal") == [("value", "cal")]
    assert captured(start, "call") == [("value", "call")]
    assert captured(start, "callx") == [("name", "x")]
    # The `x` behind the marker decided for the call: the text is no prose any more.
    assert captured(start, "callxy") is None
    assert captured(start, "cally") == [("value", "cally")]


def test_cuts_tells_where_reading_commits() -> None:
    start = Sequence((Literal("a"), Cut(), Literal("b")))
    automaton = CapturingAutomaton(Rules(), start)
    assert not automaton.cuts(automaton.start, ord("a"))
    after = automaton.step(automaton.start, ord("a")).target
    assert automaton.cuts(after, ord("b"))
    assert not automaton.cuts(after, ord("c"))


def test_a_step_is_made_once_and_says_when_nothing_happens() -> None:
    automaton = CapturingAutomaton(Rules(), Capture(VALUE, WORD))
    first = automaton.step(automaton.start, ord("a"))
    assert first.moves is not None and first.moves[0].events
    second = automaton.step(first.target, ord("b"))
    assert second.moves is None and second.target == first.target
    assert automaton.step(automaton.start, ord("a")) is first
    assert automaton.step(automaton.start, ord("(")).target == DEAD


def test_it_goes_on_from_where_it_is_told() -> None:
    automaton = CapturingAutomaton(Rules(), Literal("a"), resume=Literal("b"))
    assert automaton.step(automaton.resume, ord("b")).target != DEAD
    assert automaton.step(automaton.start, ord("b")).target == DEAD
    plain = CapturingAutomaton(Rules(), Literal("a"))
    assert plain.resume == plain.start


def test_slots_are_shared_by_equal_captures() -> None:
    start = Sequence((Capture(VALUE, Literal("a")), Capture(Slot("value", "raw"), Literal("b"))))
    automaton = CapturingAutomaton(Rules(), start)
    assert walked(automaton, "ab") == [("value", "a"), ("value", "b")]
    assert automaton.core.slots == [VALUE]


def without_cuts(expr: Expr) -> bool:
    return not isinstance(expr, Cut) and all(map(without_cuts, children(expr)))


@given(grammars(), st.text(alphabet="ab", max_size=5))
def test_without_cuts_captures_do_not_change_the_language(
    made: tuple[Rules, Expr], text: str
) -> None:
    rules, start = made
    if not without_cuts(start):
        return
    plain = Recogniser(rules, start).accepts(text.encode())
    assert (captured(start, text, rules) is not None) == plain


def test_recursion_is_captured_level_by_level() -> None:
    rules = Rules()
    inner = Sequence((Literal("("), Repeat(RuleRef("pair"), 0, None), Literal(")")))
    rules.define("pair", Capture(VALUE, inner))
    assert captured(RuleRef("pair"), "(()())", rules) == [
        ("value", "()"), ("value", "()"), ("value", "(()())")
    ]  # fmt: skip
