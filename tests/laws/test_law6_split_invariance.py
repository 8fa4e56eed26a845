"""Law 6, split invariance: however a text is cut, the stream gives what parse gives of the whole,
and what it tells on the way adds up to the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

import calligram
from calligram.targets import parser
from calligram.targets.parser import build, stream
from tests.corpus_format import CorpusCase, corpus_dialects, corpus_tools, load_corpus
from tests.laws.test_law1_one_language import report
from tests.sampling import FUZZ, dice, fuzzed
from tests.test_corpus import same

RANDOM_CUTS = fuzzed(4)
WHOLE_SWEEPS = 1 if FUZZ > 1 else 4
"""One corpus text in so many is cut at every single byte."""


def violations(reading: parser.Reader, text: str, cuts: list[tuple[int, ...]]) -> list[str]:
    """Cuts (byte offsets) after which result or deltas are not those of the whole text."""
    data = text.encode()
    expected = reading.parse(text)
    wanted = Told(reading, data, ())
    out = [f"whole: {line}" for line in wanted.wrong(text)]
    for cut in cuts:
        told = Told(reading, data, cut)
        where = f"cut at {cut[:8]}{'...' if len(cut) > 8 else ''} of {text!r}"
        if told.result != expected or not same(told.result.calls, expected.calls):
            out.append(f"{where}: {told.result} instead of {expected}")
        if told.sums() != wanted.sums():
            out.append(f"{where}: {told.sums()} instead of {wanted.sums()}")
    return out


class Told:
    """What a stream tells of a text cut in places."""

    def __init__(self, reading: parser.Reader, data: bytes, cuts: tuple[int, ...]) -> None:
        stream = reading.stream()
        told: list[parser.Delta] = []
        for start, end in zip((0, *cuts), (*cuts, len(data)), strict=True):
            told += stream.feed(data[start:end])
        spec = reading.grammar.dialect
        assert spec is not None
        self.literal = spec.args.notation == "json"
        # A raw body is in no JSON: its arguments are made.
        self.raw = {name for kind in spec.tool_kinds.values() for name in kind.names}
        self.result = stream.close()
        self.deltas = [*told, *stream.rest]

    def sums(self) -> dict[str, str]:
        """Each kind of text put together."""
        out: dict[str, str] = {}
        for delta in self.deltas:
            key: str = delta.kind
            if key in ("call", "arguments", "broken"):
                key = f"{key} {delta.index}"
            out[key] = out.get(key, "") + (delta.text if delta.kind != "call" else f"{delta.name}")
        return out

    def wrong(self, text: str) -> list[str]:
        """Sums that are not what the result says."""
        sums, result, out = self.sums(), self.result, []
        if sums.get("content", "") != result.content:
            out.append(f"content {sums.get('content')!r}, not {result.content!r}")
        if sums.get("reasoning", "").strip() != result.reasoning:
            out.append(f"reasoning {sums.get('reasoning')!r}, not {result.reasoning!r}")
        broken = {d.index for d in self.deltas if d.kind == "broken"}
        announced = [d.index for d in self.deltas if d.kind == "call"]
        if announced != list(range(len(announced))):
            out.append(f"calls are numbered {announced}")
        kept = [index for index in announced if index not in broken]
        cut_off = result.incomplete is not None and result.incomplete.name is not None
        if not len(result.calls) <= len(kept) <= len(result.calls) + cut_off:
            out.append(f"{len(kept)} calls are told, not {len(result.calls)}")
        for index, call in zip(kept, result.calls, strict=False):
            if sums.get(f"call {index}") != call["name"]:
                out.append(f"call {index} is told as {sums.get(f'call {index}')}")
            arguments = sums.get(f"arguments {index}", "")
            unreadable = any(p.code == "invalid-json" for p in result.problems)
            if not unreadable and not same(_json(arguments), call["arguments"]):
                out.append(f"arguments {arguments!r}, not {call['arguments']}")
            literal = self.literal and call["name"] not in self.raw
            if literal and arguments not in text and call["arguments"]:
                out.append(f"arguments {arguments!r} are no slice of the text")
            whole = json.dumps(call["arguments"], ensure_ascii=False)
            twice = any(p.code == "duplicate-key" for p in result.problems)
            if not self.literal and not unreadable and not twice and arguments != whole:
                out.append(f"arguments {arguments!r} are not the JSON text {whole!r}")
        return out


def _json(text: str) -> Any:
    """The value; line breaks in strings, which are read with a problem, are let through."""
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return None


def cuts_of(text: str, random: Random, sweep: bool) -> Iterator[tuple[int, ...]]:
    """Byte by byte, in random pieces, and perhaps at every single place."""
    size = len(text.encode())
    yield tuple(range(1, size))
    for _ in range(RANDOM_CUTS):
        pieces = random.randint(1, 4)
        yield tuple(sorted(random.randint(0, size) for _ in range(pieces)))
    if sweep:
        yield from ((at,) for at in range(1, size))


def reader_of(case: CorpusCase) -> parser.Reader:
    choice = case.tool_choice
    return parser.compile(calligram.compile_tools(corpus_tools(), case.dialect, tool_choice=choice))


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", corpus_dialects())
def test_every_cut_gives_the_same(dialect: str) -> None:
    readers: dict[str, parser.Reader] = {}
    random = dice("law 6", dialect)
    wrong: list[str] = []
    for index, case in enumerate(load_corpus(dialect)):
        key = json.dumps(case.tool_choice)
        if key not in readers:
            readers[key] = reader_of(case)
        cuts = list(cuts_of(case.text, random, index % WHOLE_SWEEPS == 0))
        found = violations(readers[key], case.text, cuts)
        wrong += [f"{dialect}.txt:{case.line}: {line}" for line in found]
    assert not wrong, report(wrong)


# The law can be broken --------------------------------------------------------------------------


def first_case(name: str) -> tuple[parser.Reader, str]:
    case = next(c for c in load_corpus("hermes-json") if c.name == name)
    return reader_of(case), case.text


def every_cut(text: str) -> list[tuple[int, ...]]:
    return [(at,) for at in range(1, len(text.encode()))]


def test_a_stream_that_tells_what_it_is_not_sure_of_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, text = first_case("content before the call")
    assert not violations(reading, text, every_cut(text))
    original = build.Builder.told
    monkeypatch.setattr(build.Builder, "told", lambda self, sure: original(self, len(self._text)))
    assert violations(reading, text, every_cut(text))


def test_a_stream_that_cuts_characters_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, text = first_case("nested objects and arrays")

    def read(self: stream.TextStream, data: bytes) -> None:
        self._catch_up()
        self._take(data.decode("utf-8", "replace"))

    assert not violations(reading, text, every_cut(text))
    monkeypatch.setattr(stream.TextStream, "read", read)
    assert violations(reading, text, every_cut(text))
