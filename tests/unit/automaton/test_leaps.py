"""Leaps over runs of counted characters end where single steps do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram.compiler.automaton.leaps import Leaps, run_of
from calligram.compiler.automaton.recogniser import Recogniser

SCHEMAS = [
    {"type": "string"},
    {"type": "string", "minLength": 12, "maxLength": 40},
    {"type": "string", "maxLength": 20},
    {"type": "string", "pattern": "^[a-zé]*$", "maxLength": 30},
    {"type": "string", "pattern": "^(ab|[0-9]{2})+$"},
    {"enum": ["aaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaab"]},
    {"anyOf": [{"type": "string", "maxLength": 15}, {"type": "string", "minLength": 18}]},
    {},
]
PIECES = st.sampled_from(
    ["a", "abababab", "0123456789", "é", "北京市海淀区", "\n", "\\n", '\\"', "\\u00e9",
     "\\ud83d\\ude00", "😀", "<", "</", '"', "</parameter>", "\n</parameter>\n", "\\", "x" * 12]
)  # fmt: skip


def stepped(automaton: Recogniser, data: bytes) -> tuple[int, int]:
    """The walk byte by byte."""
    here = automaton.start
    for position, byte in enumerate(data):
        after = automaton.step(here, byte)
        if not after:
            return here, position
        here = after
    return here, len(data)


@pytest.mark.parametrize(
    "dialect", ["hermes-json", "qwen3-coder-xml", "lfm2-pythonic", "deepseek-v32-dsml"]
)
@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_leaps_and_steps_end_in_one_configuration(dialect: str, schema: dict[str, object]) -> None:
    tool = {"name": "f", "parameters": {"properties": {"a": schema}}}
    grammar = calligram.compile_tools([tool], dialect, bounds=calligram.Bounds(string=50))
    empty = grammar.render([{"name": "f", "arguments": {"a": "@"}}], validate=False)
    before = empty[: empty.index("@")].encode()
    automaton = Recogniser(grammar.enforced.rules, grammar.enforced.start)
    seen = 0

    @settings(max_examples=20, deadline=None, database=None)
    @given(st.lists(PIECES, max_size=12))
    def check(pieces: list[str]) -> None:
        nonlocal seen
        data = before + "".join(pieces).encode()
        fresh = Recogniser(grammar.enforced.rules, grammar.enforced.start)
        leapt = fresh.walk(data)
        reached, read = stepped(automaton, data)
        assert leapt[1] == read
        assert fresh.accepting(leapt[0]) == automaton.accepting(reached)
        # The same continuations behind it: what follows is the same for both.
        assert fresh.next_bytes(leapt[0]) == automaton.next_bytes(reached)
        assert fresh.walk(data) == fresh.walk(data)
        assert stepped(fresh, data) == (leapt[0], read)
        seen += 1

    check()
    assert seen > 5


def test_a_long_string_is_read_without_its_places() -> None:
    tool = {"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}
    grammar = calligram.compile_tools([tool], "hermes-json")
    text = grammar.render([{"name": "f", "arguments": {"a": 'Zwölf "große" Bären\n' * 400}}])
    automaton = Recogniser(grammar.enforced.rules, grammar.enforced.start)
    assert automaton.accepts(text.encode())
    assert automaton.core.size < 2_000


def test_no_leap_where_there_is_no_loop() -> None:
    tool = {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}
    grammar = calligram.compile_tools([tool], "hermes-json")
    automaton = Recogniser(grammar.enforced.rules, grammar.enforced.start)
    assert Leaps(automaton.core).leap(automaton.threads(automaton.start), b"<tool_call>", 0) is None


def test_runs_are_whole_characters() -> None:
    run = run_of([(0x61, 0x7A)], [((0xC3, 0xC3), (0x80, 0xBF))])
    found = run.match("abcéd".encode() + b"\xc3")
    assert found is not None and found.end() == 6
