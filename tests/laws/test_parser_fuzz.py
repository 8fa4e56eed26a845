"""Parser and stream on texts that nobody meant: no crash, no quadratic time, one result."""

from __future__ import annotations

import json
import time
from functools import lru_cache
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram.targets import parser
from tests.corpus_format import corpus_dialects, corpus_tools, load_corpus
from tests.laws.test_law6_split_invariance import as_json
from tests.sampling import fuzzed
from tests.test_corpus import same

BIG = 1_000_000
AS_JSON = '{"name": "write", "arguments": {"text": "x"}}\n'
TOOL = {
    "name": "write",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}, "n": {}}},
}


@lru_cache(maxsize=2)
def reader(dialect: str) -> parser.Reader:
    return parser.compile(
        calligram.compile_tools(corpus_tools(), dialect, tool_choice="auto", key_order="any")
    )


@lru_cache(maxsize=2)
def pieces(dialect: str) -> list[str]:
    """What texts of a dialect are made of: its markers, its corpus texts cut up, and junk."""
    spec = reader(dialect).dialect
    texts = [case.text for case in load_corpus(dialect)]
    parts = [t.text for t in spec.tokens] + list(spec.turn_end.tokens)
    parts += [spec.call[:9], spec.section.open, spec.section.close, spec.content.open]
    for text in texts[:40]:
        parts += [text, text[: len(text) // 2], text[len(text) // 3 :], text[5:25], text[-12:]]
    return [
        *parts, "\n", " ", '"', "'", "{", "}", "[", "]", "<", ">", "\\", "\\u12", "\\ud83d", "&am",
        "é", "😀", "\x00", "\ud800", "```json\n", "True", "1e5", ",", ":", "(", ")", "=", "and so",
        "<think>", "</think>", "city", "weather",
    ]  # fmt: skip


def agreed(reading: parser.Reader, data: bytes, cuts: list[int], lenient: bool) -> None:
    """Parse and stream give one result, and what is told adds up to it."""
    expected = reading.parse(data, lenient=lenient)
    stream = reading.stream(lenient=lenient)
    told = []
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        told += stream.feed(data[start:end])
    result = stream.close()
    told += stream.rest
    assert json.dumps(result.openai()) == json.dumps(expected.openai())
    assert result == expected
    assert "".join(d.text for d in told if d.kind == "content") == result.content
    assert "".join(d.text for d in told if d.kind == "reasoning") == result.reasoning
    gone = {d.index for d in told if d.kind == "broken"}
    kept = [d.index for d in told if d.kind == "call" and d.index not in gone]
    assert len(result.calls) <= len(kept) <= len(result.calls) + (result.incomplete is not None)
    for index, call in zip(kept, result.calls, strict=False):
        text = "".join(d.text for d in told if d.kind == "arguments" and d.index == index)
        assert same(as_json(text), call["arguments"])
    if not lenient:
        accepted = reading.grammar.check(data).accepted
        assert (result.problems == ()) == accepted
        return
    assert all(0 <= r.start <= r.end <= len(data) for r in result.recoveries)
    assert {c["name"] for c in result.calls} <= set(reading.tools) | {
        c["name"] for c in reading.parse(data).calls
    }


def search(dialect: str, examples: int) -> None:
    reading = reader(dialect)

    @settings(max_examples=examples, deadline=None, database=None)
    @given(
        st.lists(st.sampled_from(pieces(dialect)) | st.text(max_size=4), max_size=10),
        st.randoms(use_true_random=False),
        st.booleans(),
    )
    def check(parts: list[str], random: Random, lenient: bool) -> None:
        data = bytearray("".join(parts).encode("utf-8", "surrogatepass"))
        for _ in range(random.randint(0, 2) if data else 0):
            at = random.randrange(len(data) + 1)
            data[at : at + random.randint(0, 3)] = random.randbytes(random.randint(0, 2))
        cuts = sorted(random.randint(0, len(data)) for _ in range(random.randint(0, 6)))
        agreed(reading, bytes(data), cuts, lenient)

    check()


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", corpus_dialects())
def test_any_text_has_one_result(dialect: str) -> None:
    search(dialect, fuzzed(15))


@pytest.mark.slow
@pytest.mark.parametrize("dialect", corpus_dialects()[:: max(1, len(corpus_dialects()) // 6)])
def test_many_texts_have_one_result(dialect: str) -> None:
    search(dialect, fuzzed(150))


# Long texts -------------------------------------------------------------------------------------


def long_texts(reading: parser.Reader, size: int) -> dict[str, bytes]:
    """Texts of a size that are hard in one way each."""
    one = reading.grammar.render([{"name": "write", "arguments": {"text": "@"}}])
    head, tail = one.split("@")
    opener = one[: one.index("write")] or head
    triggers = reading.grammar.trigger.texts

    def filled(piece: str, before: str = "", after: str = "") -> bytes:
        return (before + piece * (size // len(piece.encode()) + 1) + after).encode()

    return {
        "prose": filled("Some prose, with words.\nAnd < lines { of [ it.\n"),
        "one huge string": filled("words and\nlines ", head, tail),
        "many calls": filled(one + "\n"),
        "openers": filled(opener),
        "triggers": filled(triggers[0] if triggers else opener),
        "heads": filled(head),
        "broken calls": filled(head + "\x00\n"),
        "closers": filled(tail),
        "quotes": filled('"', head),
        "backslashes": filled("\\", head),
        "white space": filled(" \n"),
        "other script": filled("北京", head, tail),
        "half calls": filled(one[: 2 * len(one) // 3] + "\n"),
        "half heads": filled(head[: 2 * len(head) // 3] + " "),
        # Read leniently, each is a call behind a call that breaks off.
        "calls in JSON": filled((triggers[0] if triggers else opener) + AS_JSON),
        "nothing but nesting": filled('{"a":[', head),
    }


def seconds(
    reading: parser.Reader, data: bytes, lenient: bool, *, enough: float = 0, piece: int = 0
) -> float:
    """Processor time of a parse, the better of two; of one, if that is good enough.

    Args:
        piece: fed to a stream in pieces of so many bytes, if any.
    """
    best = float("inf")
    for _ in range(2):
        began = time.thread_time()
        if piece:
            stream = reading.stream(lenient=lenient)
            for at in range(0, len(data), piece):
                stream.feed(data[at : at + piece])
            stream.close()
        else:
            reading.parse(data, lenient=lenient)
        best = min(best, time.thread_time() - began)
        if best < enough:
            break
    return best


@lru_cache(maxsize=1)
def writer(dialect: str) -> parser.Reader:
    return parser.compile(calligram.compile_tools([TOOL], dialect, tool_choice="auto"))


@pytest.mark.parametrize("dialect", corpus_dialects()[:: max(1, len(corpus_dialects()) // 6)])
def test_time_grows_with_the_text_and_no_faster(dialect: str) -> None:
    reading = writer(dialect)
    small, large = long_texts(reading, 8_000), long_texts(reading, 64_000)
    for name, text in large.items():
        for lenient in (False, True):
            most = 24 * seconds(reading, small[name], lenient) + 0.1
            assert seconds(reading, text, lenient, enough=most) < most, (name, lenient)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", corpus_dialects()[:: max(1, len(corpus_dialects()) // 6)])
def test_a_megabyte_takes_seconds(dialect: str) -> None:
    reading = writer(dialect)
    for name, text in long_texts(reading, BIG).items():
        # Two seconds on a machine that does nothing else. A lenient stream does all that others do.
        for lenient, piece in ((False, 0), (True, 1_000)):
            taken = seconds(reading, text, lenient, enough=6, piece=piece)
            assert taken < 6, (name, lenient, piece)


def test_feeding_is_as_linear_as_parsing() -> None:
    reading = writer("hermes-json")
    for text in long_texts(reading, 60_000).values():
        times: list[float] = []
        for part in (text[: len(text) // 8], text):
            stream = reading.stream()
            began = time.thread_time()
            told: list[Any] = []
            for at in range(0, len(part), 64):
                told += stream.feed(part[at : at + 64])
            times.append(time.thread_time() - began)
        assert times[1] < 24 * times[0] + 0.1
