"""Answers: read in pieces, told as OpenAI's chunks and Anthropic's events, added up again."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram import constrain_request
from calligram.proxy import Answer, Policy
from calligram.proxy.answer import Closed
from calligram.proxy.anthropic_answer import AnthropicAnswer, message_of
from calligram.proxy.chat_answer import ChatAnswer, completion_of
from calligram.proxy.pieces import Ending
from calligram.proxy.reports import Report
from calligram.targets.parser import Delta
from tests.proxy.tools import CALL, request

ENDING = Ending("end", None, 40, 12, 30, {"predicted_ms": 1.5}, "m")
ROME = {"name": "get_weather", "arguments": {"location": "Róme ☃", "days": 3}}
BAD = '<tool_call>\n{"name": "set_timer", "arguments": {"minutes": 0}}\n</tool_call>'
DIALECTS = ["hermes-json", "qwen3-coder-xml"]


def made(dialect: str = "hermes-json", choice: str = "auto") -> Any:
    return constrain_request(request(tool_choice=choice), dialect)


MADE = {(d, c): made(d, c) for d in DIALECTS for c in ("auto", "required")}


def turn(dialect: str, *calls: dict[str, Any], content: str = "", reasoning: str = "") -> str:
    grammar = MADE[dialect, "auto"].grammar
    text: str = grammar.render_turn(calls, content=content, reasoning=reasoning)
    return text


def read(
    pieces: list[str], dialect: str = "hermes-json", choice: str = "auto",
    stop: Literal["end", "limit", "word"] = "end",
) -> tuple[list[Delta], Closed]:  # fmt: skip
    answer: Answer = MADE[dialect, choice].answer("x")
    told = [d for p in pieces for d in answer.feed(p)]
    closed = answer.close(stop)
    return told + closed.deltas, closed


def completion(deltas: list[Delta], closed: Closed) -> dict[str, Any]:
    chat = ChatAnswer("chatcmpl-1", 0, "m")
    chunks = [chat.first(), *chat.chunks(deltas), chat.last(closed, Report(closed.problems))]
    return completion_of([*chunks, chat.usage(ENDING)], closed.broken)


def message(deltas: list[Delta], closed: Closed, ending: Ending = ENDING) -> dict[str, Any]:
    told = AnthropicAnswer("msg_1", "m")
    events = [told.first(40), *told.events(deltas)]
    events += told.last(closed, ending, Report(closed.problems))
    return message_of(events, told.blocks_of(closed.broken))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(cuts=st.lists(st.integers(0, 400), max_size=12))
def test_however_it_is_cut_it_says_the_same(dialect: str, cuts: list[int]) -> None:
    text = turn(dialect, CALL, ROME, content="Gladly: ☃", reasoning="Two calls.")
    edges = [0, *sorted(c for c in cuts if c < len(text)), len(text)]
    pieces = [text[a:b] for a, b in zip(edges, edges[1:], strict=False)]
    whole, cut = completion(*read([text], dialect)), completion(*read(pieces, dialect))
    assert whole == cut
    said = whole["choices"][0]["message"]
    assert (said["content"], said["reasoning_content"]) == ("Gladly: ☃", "Two calls.")
    calls = [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in
             said["tool_calls"]]  # fmt: skip
    assert calls == [(c["name"], c["arguments"]) for c in (CALL, ROME)]
    assert whole["choices"][0]["finish_reason"] == "tool_calls"
    assert whole["usage"] == {
        "prompt_tokens": 40,
        "completion_tokens": 12,
        "total_tokens": 52,
        "prompt_tokens_details": {"cached_tokens": 30},
    }
    assert message(*read(pieces, dialect)) == message(*read([text], dialect))


def test_ids_differ_between_calls_and_answers() -> None:
    text = turn("hermes-json", CALL, ROME)
    ids = [c["id"] for c in completion(*read([text]))["choices"][0]["message"]["tool_calls"]]
    assert ids == ["call_x0", "call_x1"]


@pytest.mark.parametrize(
    ("dialect", "given", "told"),
    [("mistral-args-callid", "abcdef123", "abcdef123"), ("kimi-k2", "0", "call_x0")],
)
def test_ids_that_the_model_invents_stay_and_numbers_do_not(
    dialect: str, given: str, told: str
) -> None:
    made = constrain_request(request(), dialect)
    assert made.grammar is not None
    answer = made.answer("x")
    deltas = answer.feed(made.grammar.render([{**CALL, "id": given}]))
    deltas += answer.close("end").deltas
    assert [d.id for d in deltas if d.kind == "call"] == [told]


@pytest.mark.parametrize(
    ("text", "choice", "stop", "finish", "codes"),
    [
        ("Hello.", "auto", "end", "stop", []),
        ("Hello.", "auto", "limit", "length", []),
        ("", "auto", "end", "stop", []),
        ("Hello.", "required", "end", "stop", ["proxy-no-call", "not-accepted"]),
        ("Hello.", "required", "limit", "length", ["not-accepted"]),
        (BAD, "required", "end", "tool_calls", ["invalid-arguments"]),
        (BAD.replace("0}", '10, "x": 1}'), "auto", "end", "tool_calls",
         ["invalid-arguments", "unknown-key"]),
        (BAD.replace("0}", "10}")[:-13], "required", "word", "stop",
         ["proxy-no-call", "incomplete"]),
        (BAD.replace("<tool_call>", "").replace("</tool_call>", ""), "required", "end", "stop",
         ["proxy-no-call", "not-accepted"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer_is_said(
    text: str, choice: str, stop: Any, finish: str, codes: list[str]
) -> None:
    deltas, closed = read([text], choice=choice, stop=stop)
    assert closed.finish == finish
    assert [p.code for p in closed.problems] == codes
    assert closed.is_faulty == (bool(codes) and stop != "limit")
    whole = completion(deltas, closed)
    told = [p["code"] for p in whole.get("calligram", {}).get("problems", [])]
    assert told == [p.code for p in closed.problems]


def test_a_call_cut_off_at_the_limit_is_told_as_far_as_it_came() -> None:
    text = turn("hermes-json", ROME)
    deltas, closed = read([text[:70]], stop="limit")
    choice = completion(deltas, closed)["choices"][0]
    assert choice["finish_reason"] == "length"
    (call,) = choice["message"]["tool_calls"]
    assert call["function"]["name"] == "get_weather"
    with pytest.raises(ValueError):
        json.loads(call["function"]["arguments"])
    told = message(deltas, closed)
    assert (told["stop_reason"], told["content"]) == ("max_tokens", [])
    assert told["calligram"]["problems"]


def test_a_call_that_breaks_off_is_no_call_of_the_whole_answer() -> None:
    text = '<tool_call>\n{"name": "set_timer", "arguments": {"minutes": oops}}\n</tool_call>'
    deltas, closed = read([text[:50], text[50:]])
    assert any(d.kind == "broken" for d in deltas) and closed.is_faulty
    assert "tool_calls" not in completion(deltas, closed)["choices"][0]["message"]
    assert all(b["type"] == "text" for b in message(deltas, closed)["content"])


def test_relaxed_keywords_are_checked_afterwards() -> None:
    tool = {"name": "odd", "parameters": {"properties": {"a": {"pattern": r"^(a|b)\1$"}}}}
    body = request(tools=[tool], tool_choice="required")
    relaxed = constrain_request(body, "hermes-json", policy=Policy(on_unsupported="relax"))
    for value, codes in (("aa", []), ("ab", ["invalid-arguments"])):
        assert relaxed.grammar is not None
        answer = relaxed.answer()
        answer.feed(relaxed.grammar.render([{"name": "odd", "arguments": {"a": value}}]))
        assert [p.code for p in answer.close("end").problems] == codes


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(("tail", "left"), [("<|im_end|>", ""), ("<|im_e", "<|im_e"), ("", "")])
def test_an_end_token_that_the_server_shows_is_taken_off(size: int, tail: str, left: str) -> None:
    answer = Answer(
        MADE["hermes-json", "auto"].prepared.reader, "auto", ends=("<|im_end|>", "</s>")
    )
    text = "I like <|im_start|>." + tail
    told = [d for i in range(0, len(text), size) for d in answer.feed(text[i : i + size])]
    told += answer.close("end").deltas
    assert "".join(d.text for d in told) == "I like <|im_start|>." + left


# -- Anthropic's events


def test_blocks_come_one_after_the_other_as_the_api_documents() -> None:
    deltas, closed = read([turn("hermes-json", CALL, ROME, content="Yes.", reasoning="Hm.")])
    told = AnthropicAnswer("msg_1", "m")
    events = [told.first(40), *told.events(deltas), *told.last(closed, ENDING, Report())]
    kinds = [e["type"] for e in events]
    assert kinds[0] == "message_start" and kinds[-2:] == ["message_delta", "message_stop"]
    open_block: int | None = None
    seen: list[str] = []
    for event in events[1:-2]:
        match event["type"]:
            case "content_block_start":
                assert open_block is None and event["index"] == len(seen)
                open_block = event["index"]
                seen.append(event["content_block"]["type"])
            case "content_block_stop":
                assert event["index"] == open_block
                open_block = None
            case kind:
                assert kind == "content_block_delta" and event["index"] == open_block
    assert open_block is None
    assert seen == ["thinking", "text", "tool_use", "tool_use"]


@pytest.mark.parametrize(
    ("stop", "word", "reason", "sequence"),
    [
        ("end", None, "end_turn", None),
        ("word", "END", "stop_sequence", "END"),
        ("limit", None, "max_tokens", None),
    ],
)
def test_stop_reasons(stop: Any, word: str | None, reason: str, sequence: str | None) -> None:
    ending = Ending(stop, word, 40, 12, None, None, "m")
    told = message(*read(["Hello."], stop=stop), ending)
    assert (told["stop_reason"], told["stop_sequence"]) == (reason, sequence)
    assert told["usage"] == {"input_tokens": 40, "output_tokens": 12}
    assert told["content"] == [{"type": "text", "text": "Hello."}]


def test_calls_are_blocks_with_their_input() -> None:
    told = message(*read([turn("qwen3-coder-xml", ROME)], "qwen3-coder-xml"))
    assert told["stop_reason"] == "tool_use"
    assert told["content"] == [
        {"type": "tool_use", "id": "call_x0", "name": "get_weather", "input": ROME["arguments"]}
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_a_call_in_which_a_stop_word_fell_is_in_no_whole_answer(dialect: str, choice: str) -> None:
    text = turn(dialect, CALL, ROME)
    for cut in range(1, len(text)):
        whole = completion(*read([text[:cut]], dialect, choice, "word"))
        calls = whole["choices"][0]["message"].get("tool_calls", [])
        told = [json.loads(c["function"]["arguments"]) for c in calls]
        assert told == [c["arguments"] for c in (CALL, ROME)][: len(told)]
        assert whole["choices"][0]["finish_reason"] == ("tool_calls" if calls else "stop")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_beginning_of_a_marker_is_no_content_where_a_call_is_required(dialect: str) -> None:
    text = turn(dialect, CALL)
    for cut in range(1, len(text)):
        whole = completion(*read([text[:cut]], dialect, "required", "limit"))
        assert not whole["choices"][0]["message"]["content"]
    told, _ = read(["a <tool"], dialect, "auto", "limit")
    assert "".join(d.text for d in told if d.kind == "content") == "a <tool"
