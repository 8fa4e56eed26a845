"""Server-sent events and the server's two streams."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.proxy.pieces import ChatPieces, CompletionPieces, PieceReader, UpstreamFault
from calligram.proxy.sse import MAX_EVENT, Event, EventReader, NoEvents, data_event, named_event

STREAM = (
    b": a comment\n\n"
    b'data: {"a": "\xe2\x98\x83"}\n\n'
    b"event: x\r\ndata: 1\r\ndata: 2\r\nid: 7\r\n\r\n"
    b'error: {"code": 500}\n\n'
    b"data\n\n"
    b"event: ping\n\n"
    b"data: [DONE]\n\n"
)
EVENTS = [
    Event("", '{"a": "☃"}'),
    Event("x", "1\n2"),
    Event("", '{"error": {"code": 500}}'),
    Event("", ""),
    Event("", "[DONE]"),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_events_are_read_however_they_are_cut(cuts: list[int]) -> None:
    reader = EventReader()
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[a:b] for a, b in zip(edges, edges[1:], strict=False)]
    assert [e for p in pieces for e in reader.feed(p)] == EVENTS


@pytest.mark.parametrize("data", [b"<html>\n", b"data: \xff\n", b'{"a": 1}\n'])
def test_what_is_no_event_is_refused(data: bytes) -> None:
    with pytest.raises(NoEvents):
        EventReader().feed(data)


@pytest.mark.parametrize("piece", [b"x" * 2**20, b"data: " + b"x" * 2**20 + b"\n"])
def test_an_event_without_end_is_refused(piece: bytes) -> None:
    reader = EventReader()
    with pytest.raises(NoEvents):
        for _ in range(MAX_EVENT // 2**20 + 1):
            reader.feed(piece)


@given(st.text())
def test_what_is_written_is_read(text: str) -> None:
    (event,) = EventReader().feed(data_event({"type": "t", "text": text}))
    assert json.loads(event.data) == {"type": "t", "text": text} and event.name == ""
    (event,) = EventReader().feed(named_event({"type": "t", "text": text}))
    assert json.loads(event.data)["text"] == text and event.name == "t"


def test_a_lone_surrogate_is_written_as_an_escape() -> None:
    assert data_event({"a": "\ud800"}) == b'data: {"a":"\\ud800"}\n\n'


def read(reader: PieceReader, *values: Any) -> list[Any]:
    texts = [v if isinstance(v, str) else json.dumps(v) for v in values]
    return [p for t in texts if (p := reader.read(Event("", t))) is not None]


def test_the_completion_stream() -> None:
    timings = {"cache_n": 3, "predicted_ms": 2.0}
    counts = {"tokens_predicted": 2, "tokens_evaluated": 11}
    end_of = {"stop": True, "stop_type": "word", "stopping_word": "END"}
    last = {"content": "", **end_of, **counts, "timings": timings, "model": "m"}
    said = {"content": "a", "stop": False, "tokens_evaluated": 11}
    first, end = read(CompletionPieces(), said, last)
    assert (first.text, first.prompt, first.ending) == ("a", 11, None)
    assert (end.ending.stop, end.ending.word, end.ending.cached) == ("word", "END", 3)
    assert (end.ending.prompt, end.ending.completion, end.ending.model) == (11, 2, "m")


@pytest.mark.parametrize(("finish", "stop"), [("stop", "end"), ("length", "limit")])
def test_the_chat_stream(finish: str, stop: str) -> None:
    def chunk(delta: Any, reason: str | None = None) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], "model": "m"}

    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    pieces = read(
        ChatPieces(), chunk({"role": "assistant", "content": None}), chunk({"content": "a"}),
        chunk({}, finish), {"choices": [], "usage": usage}, "[DONE]",
    )  # fmt: skip
    assert [p.text for p in pieces] == ["a", ""]
    ending = pieces[-1].ending
    assert (ending.stop, ending.prompt, ending.completion) == (stop, 5, 2)


DEAD_END = "Unexpected empty grammar stack after accepting piece: x"


@pytest.mark.parametrize(
    ("reader", "value", "kind"),
    [
        (CompletionPieces(), "<html>", "garbage"),
        (CompletionPieces(), "3", "garbage"),
        (CompletionPieces(), {"content": 3}, "garbage"),
        (CompletionPieces(), {"error": {"code": 500, "message": DEAD_END}}, "dead-end"),
        (CompletionPieces(), {"error": {"code": 400, "message": "no"}}, "refused"),
        (CompletionPieces(), {"error": "no"}, "refused"),
        (CompletionPieces(), "[" * 100_000, "garbage"),
        (ChatPieces(), {"choices": 3}, "garbage"),
        (ChatPieces(), {"choices": [3]}, "garbage"),
        (ChatPieces(), {"choices": [{"delta": 3}]}, "garbage"),
        (ChatPieces(), "[DONE]", "broke-off"),
    ],
)
def test_faults_of_the_server_are_told_apart(reader: PieceReader, value: Any, kind: str) -> None:
    with pytest.raises(UpstreamFault) as caught:
        read(reader, value)
    assert caught.value.kind == kind and caught.value.status in (500, 502)
