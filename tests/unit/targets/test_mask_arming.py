"""Arming under tool_choice auto: free text is free, and from a call's beginning on all is enforced.

Judged by the text alone: by the trigger's patterns, and by the grammar of calls that are required.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Literal

import numpy as np
import pytest

import calligram
from calligram.compiler.automaton.recogniser import DEAD
from calligram.targets import mask
from tests.unit.targets.test_mask import in_tokens

TOOLS = [
    {
        "name": name,
        "parameters": {
            "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "yy"]}},
            "required": ["a"],
            "additionalProperties": False,
        },
    }
    for name in ("get_time", "get_it")
]
CALL = {"name": "get_time", "arguments": {"a": 12}}
DIALECTS = calligram.dialects()


@dataclass(frozen=True)
class Case:
    """A dialect, its call and where the call counts as one.

    Attributes:
        trigger: the beginning of `call` that arms.
        before: texts behind which the trigger counts.
    """

    auto: calligram.CompiledGrammar
    required: calligram.CompiledGrammar
    call: str
    trigger: str
    before: tuple[str, ...]


def case(dialect: str, *, key_order: Literal["schema", "any"] = "schema") -> Case:
    auto, required = (
        calligram.compile_tools(TOOLS, dialect, tool_choice=choice, key_order=key_order)
        for choice in ("auto", "required")
    )
    call = auto.render([CALL])
    size = next(
        n
        for n in range(1, len(call) + 1)
        if any(re.search(p, call[:n]) for p in auto.trigger.patterns)
    )
    assert auto.dialect is not None
    content, prefill = auto.dialect.content, auto.dialect.prefill
    mixed = content.with_calls in ("before", "any")
    anywhere = any(p == "anywhere" for p in auto.trigger.positions)
    prose = ("Hi, <b>. ", "é\n") if mixed and anywhere else ()
    opener = content.open.removeprefix(prefill)
    before = ("", *(opener + text + content.close + prefill for text in prose))
    return Case(auto, required, call, call[:size], before)


def viable(grammar: calligram.CompiledGrammar, text: bytes) -> bool:
    """Can a text be continued to one of the grammar?"""
    config, read = grammar.recogniser.walk(text)
    return read == len(text) and config != DEAD


def vocabulary(found: Case, random: Random) -> calligram.Vocabulary:
    """All bytes, and tokens that lie across every edge there is."""
    call, trigger = found.call, found.trigger
    wrong = call.replace("get_time", "get_tiny")
    typed = call.replace("12", '"q"') if '"' in call else call.replace("12", "q")
    texts = {trigger, call, wrong, typed, "Hi", ", ", "<", "</", "\n", "\n\n", "!!", "0", "(", "é"}
    for text in (call, wrong, typed, trigger + "!", trigger + " to be"):
        texts |= {lead + text[:n] for lead in ("", "Hi ", "<", "\n") for n in range(1, len(text))
                  if random.random() < 0.15}  # fmt: skip
        for _ in range(40):
            start = random.randrange(len(text))
            texts.add(text[start : start + random.randint(2, 24)])
    texts |= {trigger + c for c in "!x{ \n\"'1"} | {trigger[:n] + "!" for n in range(len(trigger))}
    pieces = sorted(t.encode() for t in texts if len(t.encode()) > 1)
    tokens = [bytes([b]) for b in range(256)] + pieces
    return calligram.Vocabulary([*tokens, b"<end>", b"[PAD]"], eos_ids=[len(tokens)],
                                padding_ids=[len(tokens) + 1])  # fmt: skip


def taken(automaton: mask.MaskAutomaton, text: bytes) -> mask.Matcher:
    """A matcher that has read a text in single bytes."""
    matcher = automaton.matcher()
    for byte in text:
        assert matcher.accept_token(byte), text
    return matcher


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("key_order", ["schema", "any"])
def test_every_mask_says_what_the_texts_say(
    dialect: str, key_order: Literal["schema", "any"]
) -> None:
    found = case(dialect, key_order=key_order)
    random = Random(dialect)
    known = vocabulary(found, random)
    automaton = mask.compile(found.auto, known)
    end = known.eos_ids[0]
    for turn in range(6):
        matcher, text = automaton.matcher(), b""
        for _ in range(14):
            allowed = set(matcher.allowed_tokens())
            for token, data in enumerate(known.tokens[:end]):
                assert (token in allowed) == viable(found.auto, text + data), (text, data)
            assert (end in allowed) == found.auto.check(text).accepted
            assert matcher.fill_next_token_bitmask(np.zeros(known.words, dtype=np.int32))
            longest = sorted(allowed - {end}, key=lambda t: len(known.tokens[t]))[-12:]
            some = longest if turn % 2 else sorted(allowed - {end})
            if not some:
                break
            token = random.choice(some)
            assert matcher.accept_token(token)
            text += known.tokens[token]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_from_the_trigger_on_all_is_enforced(dialect: str) -> None:
    found = case(dialect)
    known = vocabulary(found, Random(dialect))
    automaton = mask.compile(found.auto, known)
    for before in found.before:
        matcher = taken(automaton, before.encode() + found.trigger.encode())
        allowed = set(matcher.allowed_tokens())
        assert allowed
        for token, data in enumerate(known.tokens[: known.eos_ids[0]]):
            # What a call that must be made allows.
            right = viable(found.required, found.trigger.encode() + data)
            assert (token in allowed) == right, (before, data)
        assert known.eos_ids[0] not in allowed


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_token_that_begins_a_wrong_call_is_refused_and_a_right_one_is_not(dialect: str) -> None:
    found = case(dialect)
    call, trigger = found.call, found.trigger
    at = call.index("12")
    right = [trigger, call, call[: at + 1], call[: len(trigger) + 1]]
    wrong = [call[:at] + "q", call[: at + 2] + "\x00"]
    if "get_time" not in trigger:
        # Where the name is part of the trigger, another name is prose.
        wrong += [call.replace("get_time", "get_tiny"), trigger + "\x00", trigger + "nope"]
    for before in found.before:
        for cut in range(0, len(before) + 1, 3):
            tokens = [bytes([b]) for b in range(256)]
            tokens += [(before[cut:] + text).encode() for text in (*right, *wrong)]
            known = calligram.Vocabulary([*tokens, b"<end>"], eos_ids=[len(tokens)])
            matcher = taken(mask.compile(found.auto, known), before[:cut].encode())
            allowed = matcher.allowed_tokens()
            for token in range(256, len(tokens)):
                assert (token in allowed) == (token < 256 + len(right)), tokens[token]
                assert matcher.fork().accept_token(token) == (token in allowed)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_trigger_that_comes_to_nothing_is_released(dialect: str) -> None:
    found = case(dialect)
    assert found.auto.dialect is not None
    if found.auto.dialect.content.open:
        pytest.skip("what comes before free text is not free")
    known = vocabulary(found, Random(dialect))
    automaton = mask.compile(found.auto, known)
    data = found.trigger.encode()
    for before in found.before:
        free = taken(automaton, before.encode() + b"so what. ").allowed_tokens()
        for cut in range(1, len(data)):
            matcher = taken(automaton, before.encode() + data[:cut])
            if data[cut] & 0xC0 == 0x80:
                continue  # Inside a character.
            if data[:cut].rstrip() == data.rstrip():
                continue  # White space aside it is the whole, and is read as such.
            assert matcher.is_completed(), data[:cut]
            assert matcher.accept_string("! so what. ")
            assert matcher.allowed_tokens() == free
    # The whole of it in single bytes arms.
    matcher = taken(automaton, data)
    assert not matcher.is_completed()
    assert not matcher.accept_string("\x00")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_thoughts_arm_nothing_unless_the_dialect_says_so(dialect: str) -> None:
    found = case(dialect)
    assert found.auto.dialect is not None
    reasoning = found.auto.dialect.reasoning
    if reasoning is None:
        pytest.skip("the dialect has no block of reasoning")
    if reasoning.close in found.call:
        pytest.skip("a call would close the block")
    known = vocabulary(found, Random(dialect))
    automaton = mask.compile(found.auto, known)
    matcher = taken(automaton, (reasoning.open + "hm, ").encode())
    arming = any(found.call.startswith(text) for text in reasoning.implicit_close)
    for text in (found.trigger + "\x00", found.call.replace("get_time", "get_tiny")):
        assert matcher.fork().accept_string(text) is not arming
    assert matcher.accept_string(found.call) is True
    assert matcher.is_completed() is arming
    if not arming:
        assert matcher.accept_string(reasoning.close + reasoning.after)
        if not found.auto.dialect.content.open:
            assert matcher.is_completed()
        assert not matcher.fork().accept_string(found.trigger + "\x00")
        assert matcher.accept_string(found.call)
        assert matcher.is_completed()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_markers_arm_by_their_ids(dialect: str) -> None:
    found = case(dialect)
    assert found.auto.dialect is not None
    markers = [t.text for t in found.auto.dialect.tokens]
    tokens = [bytes([b]) for b in range(256)]
    first = len(tokens)
    tokens += [m.encode() for m in markers] + [b"<end>"]
    known = calligram.Vocabulary(
        tokens, special_ids=range(first, len(tokens)), eos_ids=[len(tokens) - 1]
    )
    automaton = mask.compile(found.auto, known)
    needed = mask.compile(found.required, known)
    for before in found.before:
        matcher, other = automaton.matcher(), needed.matcher()
        for token in in_tokens(known, before):
            assert matcher.accept_token(token), (before, known.tokens[token])
        for token in in_tokens(known, found.call):
            assert matcher.accept_token(token), (before, known.tokens[token])
            assert other.accept_token(token)
            # From the marker on the mask is that of a call that must be made.
            if found.auto.trigger.tokens and not other.is_completed():
                assert matcher.allowed_tokens() == other.allowed_tokens()
        assert matcher.is_completed()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_after_the_call_the_dialect_decides(dialect: str) -> None:
    found = case(dialect)
    known = vocabulary(found, Random(dialect))
    automaton, needed = mask.compile(found.auto, known), mask.compile(found.required, known)
    matcher, other = taken(automaton, found.call.encode()), taken(needed, found.call.encode())
    assert matcher.is_completed()
    assert matcher.allowed_tokens() == other.allowed_tokens()
    assert not matcher.fork().accept_string(" So much for that.")
    assert matcher.accept_token(known.eos_ids[0]) and matcher.is_terminated()


def test_a_marker_of_the_message_start_is_prose_behind_text() -> None:
    found = case("llama3-json")
    known = vocabulary(found, Random(1))
    automaton = mask.compile(found.auto, known)
    assert not automaton.matcher().accept_string('{"name": "nope')
    assert automaton.matcher().accept_string('Say {"name": "nope')
    assert automaton.matcher().accept_string(' {"nam')


def test_calls_anywhere_of_none_are_refused() -> None:
    for dialect in DIALECTS:
        found = case(dialect)
        nothing = calligram.compile_tools(TOOLS, dialect, tool_choice="none")
        automaton = mask.compile(nothing, vocabulary(found, Random(dialect)))
        for before in found.before:
            assert not automaton.matcher().accept_string(before + found.trigger)


# Special tokens in free text --------------------------------------------------------------------


def special_vocabulary(*specials: str) -> calligram.Vocabulary:
    texts = [bytes([b]) for b in range(256)] + [b"Hello", b" there"]
    first = len(texts)
    texts += [s.encode() for s in specials] + [b"", b"\xff\xfe", b"<end>", b"[PAD0]"]
    size = len(texts)
    return calligram.Vocabulary(
        texts, special_ids=range(first, size - 1), eos_ids=[size - 2], padding_ids=[size - 1]
    )


def names(known: calligram.Vocabulary, ids: list[int]) -> set[str]:
    return {known.tokens[i].decode() for i in ids if i in known.special_ids}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_special_tokens_that_mean_nothing_to_the_dialect_are_free(dialect: str) -> None:
    found = case(dialect)
    spec = found.auto.dialect
    assert spec is not None
    markers = [t.text for t in spec.tokens]
    ends = [end for end in spec.turn_end.tokens if not any(m in end for m in markers)]
    known = special_vocabulary("<|box|>", "<|fim|>", *markers, *ends)
    box = known.specials["<|box|>"]
    automaton = mask.compile(found.auto, known)
    matcher = automaton.matcher()
    for token in in_tokens(known, spec.content.open.removeprefix(spec.prefill)):
        assert matcher.accept_token(token)
    assert matcher.accept_token(known.tokens.index(b"Hello"))
    here = matcher.allowed_tokens()
    free = names(known, here)
    assert {"<|box|>", "<|fim|>", "<end>"} <= free
    # Markers stand only where the grammar has them; ends may stand at any end.
    closing = {m for m in (*markers, *ends) if m in spec.content.close or m in ends}
    assert free & set(markers) <= {
        *found.auto.trigger.tokens, *markers[:1], *closing, *spec.turn_end.tokens, "<tool_call>"
    }  # fmt: skip
    assert {*ends} <= free
    assert len(known) - 1 not in here
    assert matcher.accept_token(box)
    assert matcher.allowed_tokens() == here
    # Not in calls, nor around them.
    needed = mask.compile(found.required, known).matcher()
    for token in in_tokens(known, found.call):
        assert box not in needed.allowed_tokens() and not needed.accept_token(box)
        assert needed.accept_token(token)
    assert box not in needed.allowed_tokens()


@pytest.mark.parametrize("tool_choice", ["auto", "none", "required"])
def test_special_tokens_in_thoughts_are_free_where_no_call_is_owed(tool_choice: str) -> None:
    grammar = calligram.compile_tools(TOOLS, "hermes-json", tool_choice=tool_choice)
    free = set() if tool_choice == "required" else {"<|box|>"}
    known = special_vocabulary("<|box|>", "<think>", "</think>", "<tool_call>")
    matcher = mask.compile(grammar, known).matcher()
    assert matcher.accept_token(known.specials["<think>"])
    assert names(known, matcher.allowed_tokens()) == {"</think>", *free}
    assert matcher.accept_token(known.specials["<|box|>"]) is bool(free)
    assert matcher.accept_token(known.specials["</think>"])
    assert names(known, matcher.allowed_tokens()) >= free
    assert matcher.accept_token(known.specials["<|box|>"]) is bool(free)


def test_a_special_token_does_not_arm_by_its_text() -> None:
    # As it would, were it read with the text before it: "<tool_" + "call>\n".
    grammar = calligram.compile_tools(TOOLS, "hermes-json", tool_choice="auto")
    known = special_vocabulary("call>\n", "call>")
    matcher = mask.compile(grammar, known).matcher()
    assert matcher.accept_string("<tool_")
    assert names(known, matcher.allowed_tokens()) == {"call>", "<end>"}
    assert matcher.accept_token(known.specials["call>"])
    assert matcher.is_completed()


def test_special_tokens_mean_nothing_in_a_schema() -> None:
    known = special_vocabulary("<|box|>", "a")
    matcher = mask.compile(calligram.compile_schema({"type": "string"}), known).matcher()
    assert matcher.accept_string('"')
    assert names(known, matcher.allowed_tokens()) == set()


# Nothing to apply -------------------------------------------------------------------------------


def test_a_mask_that_allows_all_says_so_and_is_written() -> None:
    grammar = calligram.compile_tools(TOOLS, "paren-json", tool_choice="auto")
    texts = [b"a", b"b ", b" get_", b"it", b"(", b'{"a": 1})', b"<end>", b"[PAD0]", b"<|fim|>"]
    known = calligram.Vocabulary(texts, special_ids=[8], eos_ids=[6], padding_ids=[7])
    matcher = mask.compile(grammar, known).matcher()
    wide = np.full((2, 3), -1, dtype=np.int32)
    assert matcher.fill_next_token_bitmask(wide, 1) is False
    assert wide.tolist() == [[-1, -1, -1], [0b101111111, 0, 0]]
    for token, masked in ((0, False), (2, False), (3, False), (4, True), (5, True)):
        assert matcher.accept_token(token)
        assert matcher.fill_next_token_bitmask(wide) is masked
    assert matcher.allowed_tokens() == [6]
    matcher.rollback(3)
    assert matcher.fork().fill_next_token_bitmask(wide) is False
    assert matcher.accept_token(6)
    assert matcher.fill_next_token_bitmask(wide) is True
