"""Saved automata: whatever a text does, a loaded one says what a new one says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram.compiler.spec_loader import shipped_ids
from calligram.targets import mask
from calligram.targets.mask import automaton as automaton_module
from tests.laws.tools import TOOLS as LAW_TOOLS
from tests.unit.targets.test_mask import CALL, TOOLS, vocabulary

ROOT = Path(__file__).resolve().parents[3]
PIECES = [b'": "', b'", "', b'"}', b"true", b"12", b'["', b'"]', b'"a', b'", ', b": ", b'{"', b"}}",
          b"ab", b"name", b"aa", b'"b"', b"}\n</", b"\xc3", b"\xa9\xf0", b", ", b"0."]  # fmt: skip
BYTES = [bytes([b]) for b in range(256)]
END = 256
VOCABULARY = calligram.Vocabulary([*BYTES, b"<end>", *PIECES], special_ids=[END], eos_ids=[END])

SCHEMAS: dict[str, Any] = {
    "distinct items": {
        "type": "object",
        "properties": {
            "x": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
            "y": {"type": "array", "items": {"enum": ["a", "ab", 1]}, "uniqueItems": True},
        },
        "required": ["x"],
    },
    "keys that differ": {
        "type": "object",
        "additionalProperties": {"type": "boolean"},
        "minProperties": 3,
    },
    "any key but these": {
        "type": "object",
        "properties": {"name": {"type": "integer"}, "nama": {}, "né": {"type": "null"}},
        "additionalProperties": {"type": "boolean"},
    },
    "recursion": {
        "$defs": {"tree": {"properties": {"sub": {"$ref": "#/$defs/tree"}}, "type": "object"}},
        "$ref": "#/$defs/tree",
    },
    "counts": {
        "type": "array",
        "items": {"type": "string", "maxLength": 4, "pattern": "^[a-e]*$"},
        "maxItems": 5,
    },
    "multiples": {"type": "integer", "multipleOf": 1234567},
}


def reload(
    made: mask.MaskAutomaton, folder: Path, states: int, samples: Sequence[Any] = ()
) -> mask.LoadedAutomaton:
    path = folder / "saved.cgm"
    made.save(path, budget=mask.SaveBudget(states=states), samples=samples)
    return mask.load(path, made.vocabulary)


def same(one: mask.Matcher, other: mask.Matcher) -> None:
    assert (one.mask_row() == other.mask_row()).all()
    assert one.is_completed() == other.is_completed()
    assert one.is_terminated() == other.is_terminated()


def walk(made: mask.MaskAutomaton, loaded: mask.MaskAutomaton, random: Random, steps: int) -> None:
    """One random text through both, with steps back, forks and refused tokens."""
    one, other = made.matcher(), loaded.matcher()
    taken = 0
    for _ in range(steps):
        same(one, other)
        if one.is_terminated():
            break
        if not random.randrange(4):
            assert one.find_jump_forward_bytes() == other.find_jump_forward_bytes()
        if not random.randrange(4):
            token = random.randrange(len(made.vocabulary))
            before = other.state
            taking = one.fork().accept_token(token)
            assert other.fork().accept_token(token) == taking and other.state == before
        if taken and not random.randrange(8):
            back = random.randint(1, min(taken, 4))
            one.rollback(back)
            other.rollback(back)
            taken -= back
            continue
        allowed = one.allowed_tokens()
        if not allowed:
            assert not one.is_completed()
            break
        token = random.choice(allowed)
        assert one.accept_token(token) and other.accept_token(token)
        taken += 1
        if not random.randrange(6):
            one, other = one.fork(), other.fork()


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("dialect", shipped_ids())
def test_a_loaded_automaton_is_as_good_as_a_new_one(
    dialect: str, order: Any, tmp_path: Path
) -> None:
    grammar = calligram.compile_tools(TOOLS, dialect, key_order=order, tool_choice="auto")
    assert grammar.dialect is not None
    text = grammar.render([CALL])
    known = vocabulary([text], [t.text for t in grammar.dialect.tokens])
    made = mask.compile(grammar, known)
    loaded = reload(made, tmp_path, 150, [text])
    random = Random(f"{dialect} {order}")
    for _ in range(12):
        walk(made, loaded, random, 40)
    assert loaded.is_compiled


@pytest.mark.parametrize("name", SCHEMAS)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), states=st.sampled_from([1, 2, 30, 400]))
def test_texts_may_leave_what_a_file_covers_and_come_back(
    name: str, seed: int, states: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    grammar = calligram.compile_schema(SCHEMAS[name], whitespace="exact")
    made = mask.compile(grammar, VOCABULARY)
    loaded = reload(made, tmp_path_factory.mktemp("saved"), states)
    for turn in range(4):
        walk(made, loaded, Random(f"{seed} {turn}"), 30)


def test_a_text_that_comes_back_is_at_a_state_of_the_file(tmp_path: Path) -> None:
    properties = {"a": {"type": "string", "maxLength": 500}, "b": {"type": "boolean"}}
    schema = {"properties": properties, "required": ["a", "b"], "additionalProperties": False}
    grammar = calligram.compile_schema({"type": "object", **schema}, whitespace="exact")
    made = mask.compile(grammar, VOCABULARY)
    loaded = reload(made, tmp_path, 20_000, ['{"a": "x", "b": true}'])
    matcher = loaded.matcher()
    count = loaded.report.states
    for text, inside in [('{"a": "', True), ("yes", False), ('"', True), (', "b": t', True)]:
        assert all(matcher.accept_token(token) for token in text.encode())
        # The string may be 500 characters long, and its places are not all looked at.
        assert (matcher.state <= count) == inside
    assert loaded.is_compiled


def test_what_a_sample_covers_needs_no_compiling_however_it_is_cut(tmp_path: Path) -> None:
    grammar = calligram.compile_tools(LAW_TOOLS, "hermes-json", reasoning="none")
    text = grammar.render([{"name": "book", "arguments": {"class": "economy", "bags": 2}}])
    specials = ["<tool_call>", "</tool_call>"]
    known = vocabulary([text], specials)
    made = mask.compile(grammar, known)
    loaded = reload(made, tmp_path, 1, [text])
    assert loaded.report.samples == (mask.SampleCoverage(len(text), len(text), True),)
    random = Random(3)
    for _ in range(20):
        one, other, rest = made.matcher(), loaded.matcher(), text.encode()
        while rest:
            same(one, other)
            fits = [
                t for t in other.allowed_tokens() if known.tokens[t] and
                rest.startswith(known.tokens[t])
            ]  # fmt: skip
            token = random.choice(fits)
            assert one.accept_token(token) and other.accept_token(token)
            rest = rest[len(known.tokens[token]) :]
        same(one, other)
        assert other.is_completed() and other.accept_token(known.eos_ids[0])
        assert other.is_terminated()
    assert not loaded.is_compiled
    assert made.matcher().accept_token(known.specials["<tool_call>"])


def test_samples_may_be_tokens_or_not_of_the_grammar(tmp_path: Path) -> None:
    grammar = calligram.compile_schema({"enum": ["aa", "ab"]}, whitespace="exact")
    made = mask.compile(grammar, VOCABULARY)
    aa = 257 + PIECES.index(b"aa")
    samples: list[Any] = [[34, aa, 34], [34, aa, 34, END], [34, aa], [34, 0], b'"ax', "", '"ab"']
    report = made.save(tmp_path / "a", budget=mask.SaveBudget(states=1), samples=samples)
    assert [(s.size, s.covered, s.complete) for s in report.samples] == [
        (3, 3, True), (4, 4, True), (2, 2, False), (2, 1, False), (3, 2, False), (0, 0, False),
        (4, 4, True),
    ]  # fmt: skip
    loaded = mask.load(tmp_path / "a", VOCABULARY)
    matcher = loaded.matcher()
    assert all(matcher.accept_token(t) for t in [34, aa, 34, END])
    assert not loaded.is_compiled
    assert loaded.report == report


def test_a_grammar_without_loops_is_covered_in_full(tmp_path: Path) -> None:
    grammar = calligram.compile_schema({"enum": ["aa", "ab", "name"]}, whitespace="exact")
    made = mask.compile(grammar, VOCABULARY)
    loaded = reload(made, tmp_path, 1000)
    report = loaded.report
    assert not report.cut and report.bytes == (tmp_path / "saved.cgm").stat().st_size
    assert report.as_ids + report.as_words + report.as_changes == report.rows
    todo, seen = [loaded.matcher()], 0
    while todo:
        matcher = todo.pop()
        seen += 1
        for token in matcher.allowed_tokens():
            after = matcher.fork()
            assert after.accept_token(token)
            if not after.is_terminated():
                todo.append(after)
    assert seen > report.states and not loaded.is_compiled


def test_a_budget_cuts_the_search_and_says_where(tmp_path: Path) -> None:
    made = mask.compile(calligram.compile_tools(TOOLS, "hermes-json"), VOCABULARY)
    reports = [
        made.save(tmp_path / "a", budget=mask.SaveBudget(**budget))
        for budget in ({"states": 1}, {"states": 100}, {"states": 400}, {"bytes": 2000})
    ]
    assert [r.states for r in reports[:3]] == [1, 100, 400]
    assert all(r.cut for r in reports)
    assert 0 == reports[0].depth < reports[1].depth < reports[2].depth
    assert 1 < reports[3].states < 100
    wrongs: list[dict[str, Any]] = [{"states": 0}, {"states": True}, {"bytes": 1.5}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="whole number"):
            mask.SaveBudget(**wrong)


def test_a_loaded_automaton_is_saved_to_the_same_bytes(tmp_path: Path) -> None:
    made = mask.compile(calligram.compile_tools(TOOLS, "hermes-json"), VOCABULARY)
    loaded = reload(made, tmp_path, 60)
    random = Random(1)
    for _ in range(5):
        walk(made, loaded, random, 30)
    for number, automaton in enumerate((made, loaded)):
        automaton.save(tmp_path / str(number), budget=mask.SaveBudget(states=60))
        assert (tmp_path / str(number)).read_bytes() == (tmp_path / "saved.cgm").read_bytes()


PROGRAM = """
import hashlib, sys
from pathlib import Path
import calligram
from calligram.targets import mask
from tests.unit.targets.test_mask_saved import LAW_TOOLS, SCHEMAS, VOCABULARY
made = [calligram.compile_schema(schema) for schema in SCHEMAS.values()]
made += [calligram.compile_tools(LAW_TOOLS, "hermes-json", key_order="any")]
for grammar in made:
    path = Path(sys.argv[1])
    mask.compile(grammar, VOCABULARY).save(path, budget=mask.SaveBudget(states=200))
    print(hashlib.sha256(path.read_bytes()).hexdigest())
"""


def other_process(program: str, *arguments: str, seed: str = "0") -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_bytes_of_a_file_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    found = [other_process(PROGRAM, str(tmp_path / "a"), seed=seed) for seed in ("1", "2024")]
    assert found[0] == found[1] and len(set(found[0])) == len(SCHEMAS) + 1


READER = """
import json, sys
from calligram.targets import mask
from tests.unit.targets.test_mask_saved import VOCABULARY
matcher = mask.load(sys.argv[1], VOCABULARY).matcher()
rows = []
for token in json.loads(sys.argv[2]):
    rows.append(matcher.mask_row().tobytes().hex())
    assert matcher.accept_token(token)
print(*rows)
"""


def test_processes_share_a_file_and_outlive_its_replacement(tmp_path: Path) -> None:
    """Under another hash seed too: keys of one process mean the same in another."""
    schema = SCHEMAS["any key but these"]
    made = mask.compile(calligram.compile_schema(schema, whitespace="exact"), VOCABULARY)
    loaded = reload(made, tmp_path, 60)
    text = list(b'{"nam": true, "other": false, "nume": true}')
    path = str(tmp_path / "saved.cgm")
    rows = [other_process(READER, path, json.dumps(text), seed=seed) for seed in ("1", "2024")]
    made.save(path, budget=mask.SaveBudget(states=1))
    for rows_of_process in rows:
        one, other = made.matcher(), loaded.matcher()
        for token, row in zip(text, rows_of_process, strict=True):
            assert one.mask_row().tobytes().hex() == row == other.mask_row().tobytes().hex()
            assert one.accept_token(token) and other.accept_token(token)


def test_threads_share_a_loaded_automaton(tmp_path: Path) -> None:
    grammar = calligram.compile_tools(LAW_TOOLS, "hermes-json")
    made = mask.compile(grammar, VOCABULARY)
    loaded = reload(made, tmp_path, 200)
    wrong: list[BaseException] = []

    def run(number: int) -> None:
        try:
            for turn in range(3):
                walk(made, loaded, Random(f"{number % 3} {turn}"), 40)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(6)]
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert wrong == []


def test_rows_may_be_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = mask.compile(calligram.compile_tools(TOOLS, "hermes-json"), VOCABULARY)
    loaded = reload(made, tmp_path, 200)
    monkeypatch.setattr(automaton_module, "MAX_ROW_BYTES", 5 * 4 * VOCABULARY.words)
    for turn in range(4):
        walk(made, loaded, Random(turn), 40)
    assert len(loaded.known_rows) <= 6


def test_rows_take_the_form_that_is_smallest(tmp_path: Path) -> None:
    tokens = [*BYTES, b"<end>", *(f"{n:05}".encode() for n in range(20_000))]
    wide = calligram.Vocabulary(tokens, special_ids=[END], eos_ids=[END])
    schema = {"type": "array", "items": {"type": "string"}}
    made = mask.compile(calligram.compile_schema(schema, whitespace="exact"), wide)
    loaded = reload(made, tmp_path, 300)
    report = loaded.report
    assert report.as_ids and report.as_words and report.as_changes
    assert report.bytes < report.rows * 4 * wide.words
    for turn in range(5):
        walk(made, loaded, Random(turn), 20)
    # Rows that are kept whole are views of the file.
    row = loaded.matcher().mask_row()
    assert not row.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        row[0] = np.int32(0)


def test_preparing_compiles_ahead_of_the_first_text(tmp_path: Path) -> None:
    made = mask.compile(calligram.compile_tools(TOOLS, "hermes-json"), VOCABULARY)
    loaded = reload(made, tmp_path, 20)
    assert not loaded.is_compiled and not hasattr(loaded, "nothing_of_the_kind")
    loaded.prepare()
    assert loaded.is_compiled
    walk(made, loaded, Random(2), 30)
