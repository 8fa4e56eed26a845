"""Laws of matchers: going back is as if one had not gone on; who goes does not matter."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calligram
from calligram.targets import mask
from tests.sampling import dice, fuzzed
from tests.token_by_token import TokenByToken
from tests.unit.targets.test_mask import vocabulary

TOOLS: list[dict[str, Any]] = json.loads(
    Path(__file__, "../../../mcp_style_tools.json").resolve().read_text(encoding="utf-8")
)
KNOWN = vocabulary([json.dumps(TOOLS[:12]), '["a", "ab", 1]'], ["<tool_call>", "</tool_call>"])
GRAMMARS = {
    "a required call": calligram.compile_tools(TOOLS[3:6], "hermes-json"),
    "a turn": calligram.compile_tools(TOOLS[9:12], "hermes-json", tool_choice="auto"),
    "any order": calligram.compile_tools(TOOLS[18:20], "glm45-xml", key_order="any"),
    "distinct items": calligram.compile_schema(
        {"type": "array", "items": {"enum": ["a", "ab", 1, 11]}, "uniqueItems": True}
    ),
}
AUTOMATA = {name: mask.compile(grammar, KNOWN) for name, grammar in GRAMMARS.items()}

steps = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.integers(0, 10**6)),
        st.tuples(st.just("take"), st.integers(0, 10**6)),
        st.tuples(st.just("try"), st.integers(0, len(KNOWN) - 1)),
        st.tuples(st.just("back"), st.integers(0, 5)),
        st.tuples(st.just("text"), st.sampled_from(["", '"', "a", "<tool_call>\n", "Hi", "\n"])),
        st.tuples(st.just("fork"), st.integers(0, 10**6)),
        st.tuples(st.just("reset"), st.just(0)),
    ),
    max_size=25,
)


@pytest.mark.fuzz
@given(st.sampled_from(sorted(GRAMMARS)), steps)
def test_a_matcher_is_where_its_tokens_lead(name: str, steps: list[tuple[str, Any]]) -> None:
    automaton = AUTOMATA[name]
    matcher = automaton.matcher()
    taken: list[int | str] = []
    for what, which in steps:
        if what == "take":
            allowed = matcher.allowed_tokens()
            assert allowed
            token = allowed[which % len(allowed)]
            assert matcher.accept_token(token)
            taken.append(token)
        elif what == "try":
            before = matcher.allowed_tokens()
            took = matcher.accept_token(which)
            assert took == (which in before)
            if took:
                taken.append(which)
            else:
                assert matcher.allowed_tokens() == before
        elif what == "text":
            if matcher.accept_string(which):
                taken.append(which)
        elif what == "back":
            back = min(which, len(taken))
            matcher.rollback(back)
            del taken[len(taken) - back :]
        elif what == "fork":
            other = matcher.fork()
            here = matcher.allowed_tokens()
            other.accept_token(here[which % len(here)])
            other.rollback(0)
            assert matcher.allowed_tokens() == here
        else:
            matcher.reset()
            taken.clear()
        fresh = automaton.matcher()
        for step in taken:
            assert fresh.accept_string(step) if isinstance(step, str) else fresh.accept_token(step)
        assert fresh.allowed_tokens() == matcher.allowed_tokens()
        assert fresh.is_completed() == matcher.is_completed()
        assert fresh.is_terminated() == matcher.is_terminated()


@pytest.mark.fuzz
@given(st.sampled_from(sorted(GRAMMARS)), st.lists(st.integers(0, 10**6), max_size=12), st.data())
def test_all_the_way_back_is_the_start(name: str, picks: list[int], data: st.DataObject) -> None:
    matcher = AUTOMATA[name].matcher()
    masks = [matcher.allowed_tokens()]
    for pick in picks:
        assert matcher.accept_token(masks[-1][pick % len(masks[-1])])
        masks.append(matcher.allowed_tokens())
    forks = [matcher.fork() for _ in masks]
    for back, fork in enumerate(forks):
        fork.rollback(back)
        assert fork.allowed_tokens() == masks[len(masks) - 1 - back]
        with pytest.raises(ValueError, match="tokens were taken"):
            fork.rollback(len(masks) - back)
    assert matcher.allowed_tokens() == masks[-1]


# Threads ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["hermes-json", "qwen3-coder-xml", "llama3-json"])
def test_threads_that_ask_for_the_same_first_masks(dialect: str) -> None:
    """Several automata over one vocabulary, and one automaton, all at once and for the first
    time."""
    texts = [json.dumps(TOOLS[:9]), "<tool_call>\n"]
    options: Any = {"tool_choice": "auto", "key_order": "any"}
    sets = (TOOLS[:2], TOOLS[2:4], TOOLS[:2])
    grammars = [calligram.compile_tools(tools, dialect, **options) for tools in sets]

    def walk(automaton: mask.MaskAutomaton, seed: int) -> list[bytes]:
        random = Random(seed)
        out = []
        for _ in range(3):
            matcher = automaton.matcher()
            matcher.accept_string("<tool_call>\n")
            for _ in range(25):
                row = matcher.mask_row()
                out.append(row.tobytes())
                allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
                if not matcher.accept_token(int(random.choice(allowed))):
                    raise AssertionError("a token that is allowed was not taken")
        return out

    alone = []
    for grammar in grammars:
        alone.append([walk(mask.compile(grammar, vocabulary(texts, [])), seed) for seed in (1, 2)])
    shared = vocabulary(texts, [])
    automata = [mask.compile(grammar, shared) for grammar in grammars]
    start = threading.Barrier(6)
    found: dict[tuple[int, int], list[bytes]] = {}

    def run(which: int, seed: int) -> None:
        start.wait()
        found[which, seed] = walk(automata[which], seed)

    threads = [threading.Thread(target=run, args=(w, s)) for w in range(3) for s in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for which in range(3):
        for seed in (1, 2):
            assert found[which, seed] == alone[which][seed - 1]


# Vocabularies that are odd ----------------------------------------------------------------------

CALL = '<tool_call>\n{"name": "no_arguments", "arguments": {}}\n</tool_call>'
ODD: dict[str, Any] = {
    "duplicates": [b'"', b'"', b"{", b"{", b'{"', b'{"', b'{"'],
    "empty tokens": [b"", b"", b'"', b""],
    "long tokens": [
        CALL.encode() + b"!" * 300, CALL.encode() * 6, b" " * 300, b'"' + b"a" * 300,
        b'"' + b"a" * 300 + b'"', b"\xc3\xa9" * 150, b"\xc3\xa9" * 150 + b"\xc3", b"\\u00e9" * 60,
    ],
    "pieces of characters": [b"\xf0", b"\x9f\x98", b"\x80", b"\xf0\x9f", b"\xed\xa0", b"\xc0\x80"],
    "zero bytes": [b"\0", b"\0\0", b'"\0', b"a\0"],
    "no single bytes": None,
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("padding", [0, 1, 70])
def test_odd_vocabularies(name: str, padding: int) -> None:
    single = [bytes([b]) for b in range(256)]
    tokens = [b"<tool_call>\n", b'{"name"', b': "'] if ODD[name] is None else [*single, *ODD[name]]
    if ODD[name] is None:
        tokens += [CALL[n : n + 3].encode() for n in range(len(CALL))]
    size = len(tokens)
    known = calligram.Vocabulary(
        [*tokens, b"<|x|>", b"<|x|>", b"", b"<end>", b"<end>", *[b"[PAD]"] * padding],
        special_ids=range(size, size + 5),
        eos_ids=[size + 3, size + 4],
        padding_ids=range(size + 5, size + 5 + padding),
    )
    options: Any = {"bounds": calligram.Bounds(string=400)}
    for grammar in (
        calligram.compile_tools(TOOLS[24:25], "hermes-json", tool_choice="none", reasoning="none"),
        calligram.compile_tools(TOOLS[24:25], "hermes-json", reasoning="none"),
        calligram.compile_schema({"type": "string", "maxLength": 150}),
        calligram.compile_schema({"items": {"type": "string"}, "uniqueItems": True}, **options),
    ):
        automaton, oracle = mask.compile(grammar, known), TokenByToken(grammar.enforced, known)
        free = {size, size + 1} if grammar.tool_choice == "none" else set()
        random = dice("odd", name, padding)
        for _ in range(fuzzed(2)):
            matcher, state = automaton.matcher(), oracle.start
            for _ in range(15):
                allowed = matcher.allowed_tokens()
                # What free text makes of special tokens the oracle does not know.
                assert set(allowed) - free == set(oracle.allowed(state)) - free
                assert len(set(allowed) & free) in (0, len(free))
                assert not set(allowed) & {size + 2, *known.padding_ids}
                rest = [t for t in allowed if t not in known.special_ids]
                if not rest:
                    break
                token = random.choice(rest if random.random() < 0.5 else rest[-9:])
                assert matcher.accept_token(token)
                state = oracle.step(state, token)


def test_a_vocabulary_that_lacks_bytes_says_so() -> None:
    known = calligram.Vocabulary([b"a", b'"', b'"a', b"<end>"], eos_ids=[3])
    grammar = calligram.compile_schema({"enum": ["a", "ab"]}, whitespace="exact")
    assert mask.lacking_bytes(grammar, known) == [ord("b")]
    matcher = mask.compile(grammar, known).matcher()
    assert matcher.accept_token(2)
    assert matcher.allowed_tokens() == [1]


def test_nothing_but_an_end() -> None:
    known = calligram.Vocabulary([b"<end>"], eos_ids=[0])
    matcher = mask.compile(calligram.compile_schema({"enum": ["a"]}), known).matcher()
    assert matcher.allowed_tokens() == []
    assert not matcher.accept_token(0) and not matcher.accept_token(5)
    assert not matcher.accept_token(-1)


def test_ids_that_no_vocabulary_has_are_refused() -> None:
    matcher = AUTOMATA["a turn"].matcher()
    for token in (-1, -(2**40), len(KNOWN), 2**40):
        assert not matcher.accept_token(token)
    # Hosts pass the numbers that their arrays hold.
    number: Any = np.int64(65)
    assert matcher.accept_token(number)
