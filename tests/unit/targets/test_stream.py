"""Streams: what is told when, in which form, and how little is held back."""

from __future__ import annotations

import json
from typing import Any

import pytest

import calligram
from calligram.compiler.spec_loader import load_dialect
from calligram.targets import parser
from calligram.targets.parser import Delta, to_openai_chunks
from tests.laws.tools import named_by_keys

TOOLS: list[dict[str, Any]] = [
    {
        "name": "write",
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "text": {"type": "string"},
                "lines": {"type": "array", "items": {"type": "string"}},
                "mode": {"enum": ["w", "a", 1]},
                "deep": {"type": "object"},
                "any": {},
            },
        },
    }
]
TEXT = "def f(x):\n\treturn \"ä\" + '\\n'  # <b> & </c>\n" * 20
ARGUMENTS: dict[str, Any] = {
    "path": "a.py",
    "text": TEXT,
    "lines": ["one", "two", ""],
    "mode": "a",
    "deep": {"a": {"b": [1, 2.5, None, True, {}]}, "c": []},
    "any": 1,
}


# Told when the arguments end: elements, which are typed as a whole. When the string ends: JSON's
# escapes in quotes of the notation's own, since one that is none makes the text stand as it is.
TREES = [d for d in calligram.dialects() if load_dialect(d).args.notation == "tree"]
WHOLE = [
    d
    for d in calligram.dialects()
    if (a := load_dialect(d).args).string and a.string.escape == "json" and a.notation != "json"
]
IN_PIECES = [d for d in calligram.dialects() if d not in (*TREES, *WHOLE)]


def reader(dialect: str) -> parser.Reader:
    return parser.compile(calligram.compile_tools(TOOLS, dialect, tool_choice="auto"))


def streamed(reading: parser.Reader, data: bytes, size: int) -> list[tuple[int, Delta]]:
    """The deltas, each with the number of bytes fed when it came."""
    stream = reading.stream()
    out = []
    for at in range(0, len(data), size):
        out += [(min(at + size, len(data)), d) for d in stream.feed(data[at : at + size])]
    stream.close()
    return [*out, *((len(data), d) for d in stream.rest)]


@pytest.mark.parametrize("dialect", calligram.dialects())
@pytest.mark.parametrize("size", [1, 4, 10_000])
def test_argument_deltas_are_the_json_text_of_the_arguments(dialect: str, size: int) -> None:
    reading = reader(dialect)
    given = {k: v for k, v in ARGUMENTS.items() if k != "deep" or not named_by_keys(dialect)}
    text = reading.grammar.render([{"name": "write", "arguments": given}])
    deltas = [d for _, d in streamed(reading, text.encode(), size)]
    told = "".join(d.text for d in deltas if d.kind == "arguments")
    assert json.loads(told) == given == reading.parse(text).calls[0]["arguments"]
    if reading.dialect.args.notation == "json":
        assert told in text
    else:
        assert told == json.dumps(given, ensure_ascii=False)


@pytest.mark.parametrize("dialect", IN_PIECES)
def test_a_long_string_is_told_while_it_comes(dialect: str) -> None:
    """Constant look-ahead: no more is held back than what may yet end the string."""
    held: list[int] = []
    for length in (300, 3_000):
        reading = reader(dialect)
        value = "words < and lines\nof } text & more " * (length // 34)
        text = reading.grammar.render([{"name": "write", "arguments": {"text": value}}]).encode()
        told = ""
        most = 0
        stream = reading.stream()
        begin = text.index(b"words")
        for at in range(len(text)):
            told += "".join(d.text for d in stream.feed(text[at : at + 1]) if d.kind == "arguments")
            if begin + 50 < at < begin + len(value):
                inside = told[told.index("words") :] if "words" in told else ""
                # Escapes make the told text longer, never shorter, than what was read.
                most = max(most, at - begin - len(inside))
        held.append(most)
    assert held[0] == held[1] <= 64


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_prose_is_told_while_it_comes(dialect: str) -> None:
    reading = reader(dialect)
    prose = reading.dialect.content.open + "Some prose < with [ marks { and\nlines of it. " * 40
    stream = reading.stream()
    told, most = 0, 0
    for at, byte in enumerate(prose.encode()):
        told += sum(len(d.text) for d in stream.feed(bytes([byte])))
        most = max(most, at + 1 - told) if at > 100 else most
    assert most <= 64


@pytest.mark.parametrize(
    ("escape", "written", "read"),
    [
        ("python", r"\x41\u00e9\U0001f600\101\7x", "A\u00e9\U0001f600A\x07x"),
        ("python", r"\ud83d\ude00", "\U0001f600"),
        ("python", r"\ud83d and", "\ufffd and"),
        ("python", r"\xZZ\u12\q\\", "\\xZZ\\u12\\q\\"),
        ("python", r"\U0000d83d\ude00!", "\U0001f600!"),
    ],
)
def test_escapes_are_told_whole(escape: str, written: str, read: str) -> None:
    reading = reader("lfm2-pythonic")
    text = f'<|tool_call_start|>[write(text="{written * 3}")]<|tool_call_end|>'
    for size in (1, 2, 3, 1000):
        deltas = [d for _, d in streamed(reading, text.encode(), size)]
        told = json.loads("".join(d.text for d in deltas if d.kind == "arguments"))
        assert told == {"text": read * 3} == reading.parse(text).calls[0]["arguments"]
    assert escape == "python"


def test_a_cut_off_stream_says_what_is_known() -> None:
    for dialect in calligram.dialects():
        reading = reader(dialect)
        text = reading.grammar.render([{"name": "write", "arguments": {"text": "abc def"}}])
        stream = reading.stream()
        deltas = stream.feed(text[: text.index(" def")])
        result = stream.close()
        assert result.incomplete is not None and result.incomplete.name == "write"
        assert result.incomplete.arguments.endswith("abc")
        assert result.finish_reason == "length"
        told = "".join(d.text for d in [*deltas, *stream.rest] if d.kind == "arguments")
        if dialect not in TREES:
            assert told.startswith("{") and told.endswith("abc" if dialect in IN_PIECES else ": ")


HERMES = reader("hermes-json")
CALL = '<tool_call>\n{"name": "write", "arguments": {"path": "a"}}\n</tool_call>'


def test_openai_chunks() -> None:
    stream = HERMES.stream()
    base = {"id": "x", "created": 1, "model": "m"}
    deltas = [*stream.feed("<think>Hm.</think>Yes.\n" + CALL[:50]), *stream.feed(CALL[50:])]
    result = stream.close()
    chunks = to_openai_chunks([*deltas, *stream.rest], base, finish=result.finish_reason)
    assert all(c["object"] == "chat.completion.chunk" and c["id"] == "x" for c in chunks)
    said = [c["choices"][0]["delta"] for c in chunks]
    assert said[0] == {"reasoning_content": "Hm."}
    assert "".join(d["content"] for d in said if "content" in d) == "Yes."
    calls = [d["tool_calls"][0] for d in said if "tool_calls" in d]
    assert calls[0] == {
        "index": 0, "id": "call_0", "type": "function",
        "function": {"name": "write", "arguments": ""},
    }  # fmt: skip
    assert "".join(c["function"]["arguments"] for c in calls) == '{"path": "a"}'
    assert all(c["index"] == 0 and "id" not in c for c in calls[1:])
    assert (said[-1], chunks[-1]["choices"][0]["finish_reason"]) == ({}, "tool_calls")
    assert [c["choices"][0]["finish_reason"] for c in chunks[:-1]] == [None] * (len(chunks) - 1)


def test_a_broken_call_is_nothing_in_that_protocol() -> None:
    stream = HERMES.stream()
    deltas = stream.feed(CALL.replace('"a"', "a"))
    assert "broken" in [d.kind for d in deltas]
    assert to_openai_chunks([Delta("broken")]) == []
    assert stream.close().finish_reason == "stop"


def test_pieces_may_be_text_or_empty_or_cut_anywhere() -> None:
    stream = HERMES.stream()
    out = stream.feed("é") + stream.feed(b"") + stream.feed(b"\xc3") + stream.feed(b"\xa9\xff")
    assert "".join(d.text for d in out) == "éé\ufffd"
    assert stream.feed("") == []
    assert [p.code for p in stream.close().problems] == ["not-utf-8"]


# Where problems are -----------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", calligram.dialects())
@pytest.mark.parametrize(
    ("arguments", "pointer", "value"),
    [
        ({"path": "é", "mode": "zz"}, "/arguments/mode", "zz"),
        ({"lines": ["a", {"q": "é"}, 77]}, "/arguments/lines/2", "77"),
        ({"path": "a", "wrong": 12}, "/arguments/wrong", "12"),
    ],
)
def test_problems_say_where_the_value_stands(
    dialect: str, arguments: dict[str, Any], pointer: str, value: str
) -> None:
    reading = reader(dialect)
    try:
        text = reading.grammar.render([{"name": "write", "arguments": arguments}], validate=False)
    except calligram.RenderError as error:
        assert dialect in TREES and error.problems[0].code == "not-carryable"
        return
    problem = next(p for p in reading.parse(text).problems if p.origin.pointer == pointer)
    assert problem.origin.span is not None
    start, end = problem.origin.span
    assert text.encode()[start:end].decode().strip("\"'") == value
    assert problem.to_json()["span"] == [start, end]


def test_places_are_those_of_the_text_that_was_given() -> None:
    text = b"\xff\xfe " + CALL.replace('"a"', "7").encode() + b"\xff"
    problem = next(p for p in HERMES.parse(text).problems if p.code == "invalid-arguments")
    assert problem.origin.span is not None
    assert text[slice(*problem.origin.span)] == b"7"
    lenient = b"\xff <tool_call> write (path: 'a') </tool_call>"
    recovery = HERMES.parse(lenient, lenient=True).recoveries[0]
    assert lenient[recovery.start : recovery.end] == b"'a'"


def test_a_missing_key_is_missed_in_its_object() -> None:
    tools = [{"name": "f", "parameters": {"properties": {"a": {}}, "required": ["a"]}}]
    grammar = calligram.compile_tools(tools, "hermes-json")
    text = '<tool_call>\n{"name": "f", "arguments": { }}\n</tool_call>'
    (problem,) = parser.compile(grammar).parse(text).problems
    assert problem.origin.span == (text.index("{ }"), text.index("{ }") + 3)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "\n \u3000 So,\n\nwell \u3000 then. \n \n</think>\n\nHello.",
        " \n</think>Hello.",
        "\n A <tool_call> B \n</think>Say <tool_call> and stop.",
        " Cut off \n ",
    ],
    ids=range(4),
)
def test_the_reasoning_told_is_the_reasoning(text: str, size: int, lenient: bool) -> None:
    """White space around thoughts is no part of them; that within is, and comes when it is sure."""
    grammar = calligram.compile_tools(TOOLS, "hermes-json", tool_choice="auto", reasoning="opened")
    reading = parser.compile(grammar)
    data = text.encode()
    stream = reading.stream(lenient=lenient)
    told = [d for at in range(0, len(data), size) for d in stream.feed(data[at : at + size])]
    result = stream.close()
    told += stream.rest
    assert result == reading.parse(text, lenient=lenient)
    assert "".join(d.text for d in told if d.kind == "reasoning") == result.reasoning
    assert result.reasoning == text.partition("</think>")[0].strip()
    assert "".join(d.text for d in told if d.kind == "content") == result.content


def test_what_may_be_fed() -> None:
    text = reader("hermes-json").grammar.render([{"name": "write", "arguments": {"path": "ä"}}])
    results = []
    for kind in (bytes, bytearray, memoryview, bytes.decode):
        stream = reader("hermes-json").stream()
        for at in range(0, len(text), 5):
            stream.feed(kind(text[at : at + 5].encode()))
        results.append(stream.close())
        with pytest.raises(ValueError, match="closed"):
            stream.feed("more")
    assert results == [reader("hermes-json").parse(text)] * 4
    for nothing in (None, 1, ["a"]):
        with pytest.raises(TypeError, match="str or bytes"):
            reader("hermes-json").stream().feed(nothing)  # type: ignore[arg-type]
