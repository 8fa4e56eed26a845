"""Law 6, split invariance: however a text is cut, the stream gives what parse gives of the whole,
and what it tells on the way adds up to the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    """What a stream tells of a text cut in places: bytes, or characters."""

    def __init__(self, reading: parser.Reader, data: bytes | str, cuts: tuple[int, ...]) -> None:
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
            if not same(as_json(arguments), call["arguments"]):
                out.append(f"arguments {arguments!r}, not {call['arguments']}")
            literal = self.literal and call["name"] not in self.raw
            # What is not as the grammar has it may be no JSON as it stands; what is beyond a float
            # is written out.
            literal = literal and not result.problems and not re.search("[0-9]{300}", arguments)
            if literal and arguments not in text and call["arguments"]:
                out.append(f"arguments {arguments!r} are no slice of the text")
            whole = json.dumps(call["arguments"], ensure_ascii=False)
            if not self.literal and arguments != whole and not repeats(arguments):
                out.append(f"arguments {arguments!r} are not the JSON text {whole!r}")
        return out


def repeats(text: str) -> bool:
    """Does an object of a JSON text have a key twice? They are told as they come."""
    sizes: list[bool] = []
    json.loads(text, object_pairs_hook=lambda pairs: sizes.append(len(dict(pairs)) < len(pairs)))
    return any(sizes)


def as_json(text: str) -> Any:
    """The value of a JSON text as RFC 8259 has it, which has no word for infinity; a text that says
    why, if it is none."""
    try:
        return json.loads(text, parse_constant=lambda word: f"no JSON: {word}")
    except ValueError as error:
        return f"no JSON: {error}"


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


# Values that are no JSON -------------------------------------------------------------------------

ANYTHING: list[dict[str, Any]] = [
    {
        "name": "write",
        "parameters": {
            "properties": {
                "text": {"type": "string"},
                "n": {"type": "number"},
                "any": {},
                "list": {"type": "array", "items": {"type": "string"}},
            }
        },
    }
]
IN_STRINGS = [
    "a", "\n", "\t", "\x00", "\x1f", "\x7f", "\u2028", "\\n", "\\\\", '\\"', "\\'", "\\u0041",
    "\\ud83d", "\\ude00", "\\ud83d\\ude00", "\\u00e9", "\\u12", "\\U", "\\x41", "\\7", "\\q", "\\/",
    "&amp;", "&", "<b>", "é", "\U0001f600", "'", '"',
]  # fmt: skip
NUMBERS = [
    "1e999", "-1e400", "1e5000", "1.5e309", "1E+2", "-0", "-0.0", "1e-999", "007", "1.", ".5", "-",
    "NaN", "Infinity", "-Infinity", "nan", "1" * 400, "9" * 5000, "0x1f", "1_000", "12",
    "1" * 310 + ".5",
]  # fmt: skip
VALUES = [
    *NUMBERS, "True", "None", "null", "{}", "[1e999, NaN]", "[1e999, -1e400]", '{"a": 1, "a": [2]}',
    "{'a': 1, 'a': True}", "['x', None]", '"\\ud800"', '{"\\udc00": "\n"}', '"\\q"',
    "[" * 130 + "]" * 130, '{"a": {"b": "\t", "b": 1e400}}', "(1,)", "",
]  # fmt: skip


@lru_cache(maxsize=1)
def written(dialect: str) -> tuple[parser.Reader, str]:
    """The reader of a dialect, and a call with marks in place of its values."""
    grammar = calligram.compile_tools(ANYTHING, dialect, tool_choice="auto", bounds=None)
    arguments = {"text": "TEXT", "n": 12345, "any": 67890, "list": ["LIST", "b"]}
    return parser.compile(grammar), grammar.render([{"name": "write", "arguments": arguments}])


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", calligram.dialects())
def test_what_is_told_is_JSON_and_says_what_the_result_says(dialect: str) -> None:
    reading, call = written(dialect)
    strings = st.lists(st.sampled_from(IN_STRINGS), max_size=4).map("".join)

    @settings(max_examples=fuzzed(12), deadline=None, database=None)
    @given(
        strings, strings, st.sampled_from(NUMBERS), st.sampled_from(VALUES), st.randoms(),
        st.sampled_from(["TEXT", "LIST", "12345", "67890", ""]),
    )  # fmt: skip
    def check(text: str, item: str, number: str, value: str, random: Random, only: str) -> None:
        values = {"TEXT": text, "LIST": item, "12345": number, "67890": value}
        whole = call
        for mark, new in values.items():
            if only in ("", mark):
                whole = whole.replace(mark, new)
        size = len(whole.encode())
        cuts = [tuple(range(1, size)), tuple(sorted(random.choices(range(1, size), k=4)))]
        wrong = violations(reading, whole, cuts)
        assert not wrong, report(wrong)

    check()


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


# Long texts, in pieces as models write them -------------------------------------------------------

LONG = [
    "Some prose, as there is much of it; with commas. ",
    "".join(map(chr, range(0x20, 0x7F))),
    'a line\n  and "another", \\ and \t & &amp; <b>\u00e9\U0001f600</b> \x7f ',
]


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_long_texts_in_small_pieces(dialect: str) -> None:
    """Pieces that change nothing are told by a shorter way, which must be the same way."""
    reading, call = written(dialect)
    grammar = reading.grammar
    wrong: list[str] = []
    texts = [f"{text * 3}\n" for text in LONG]
    for text in LONG:
        arguments = {"text": text * 4, "n": 1, "any": {"a": [text]}, "list": [text, text * 2]}
        try:
            texts.append(grammar.render([{"name": "write", "arguments": arguments}]))
        except calligram.CalligramError:
            texts.append(call.replace("TEXT", text * 4))
    # Prose with line breaks and what only begins like a call; and then one.
    begun = [call[:n] for n in (1, 2, 3, 5, 8)]
    lines = "".join(f"- a line\n\n{b} and\n  {b}\n{b}{b}<b> {b[-1]}\u00e9\r\n\t{b}" for b in begun)
    texts += [lines, f"Some lines.\nOf prose.\n\n{call}", f"{lines}\n{call}\n{lines}"]
    for text in texts:
        data = text.encode()
        wanted = Told(reading, data, ())
        wrong += [f"whole: {line}" for line in wanted.wrong(text)]
        for step in (1, 2, 3, 4, 7):
            for whole in (data, text):
                told = Told(reading, whole, tuple(range(step, len(whole), step)))
                if told.sums() != wanted.sums() or told.result != wanted.result:
                    kind = type(whole).__name__
                    wrong.append(f"{kind} by {step}: {told.sums()} instead of {wanted.sums()}")
    assert not wrong, report(wrong)


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_as_much_is_told_however_it_came(dialect: str) -> None:
    """After any beginning of a text, in one piece or in many: nothing is held back longer."""
    reading, call = written(dialect)
    text = f"Prose.\n\n- a <b>b</b>\n  {call[:4]} [c] {{d}}\n\n\n> e `f`\n"
    wrong: list[str] = []
    streams = {step: reading.stream() for step in (1, 3, 5)}
    sums = dict.fromkeys(streams, 0)
    for end in range(1, len(text) + 1):
        whole = sum(len(delta.text) for delta in reading.stream().feed(text[:end]))
        for step, each in streams.items():
            if end % step == 0:
                sums[step] += sum(len(delta.text) for delta in each.feed(text[end - step : end]))
                if sums[step] != whole:
                    wrong.append(f"{text[:end]!r} by {step}: {sums[step]} instead of {whole}")
    assert not wrong, report(wrong)
