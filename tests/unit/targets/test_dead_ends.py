"""Bytes that a grammar needs and a vocabulary lacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram.compiler.grammar import Expr, Grammar, Rules
from calligram.compiler.spec_loader import shipped_ids
from calligram.targets import mask
from calligram.targets.mask.stuck import find_dead_ends
from tests.cli_runner import run
from tests.token_by_token import ENDED, TokenByToken
from tests.unit.automaton.random_grammars import grammars

TOOL = {"name": "f", "input_schema": {"properties": {"a": {"enum": ["é", "x"]}}}}


def vocabulary(without: bytes = b"", more: tuple[bytes, ...] = ()) -> calligram.Vocabulary:
    single = [bytes([b]) for b in range(256) if b not in without]
    return calligram.Vocabulary([*single, *more, b"<end>"], eos_ids=[len(single) + len(more)])


def test_a_vocabulary_of_all_bytes_lacks_none() -> None:
    grammar = calligram.compile_schema({})
    assert mask.lacking_bytes(grammar, vocabulary()) == []


@pytest.mark.parametrize("dialect", shipped_ids())
def test_bytes_that_are_needed_and_missing_are_told(dialect: str) -> None:
    grammar = calligram.compile_tools([TOOL], dialect)
    # "é" is C3 A9; FF is in no text.
    known = vocabulary(b"\xa9\xc3f\xff")
    assert mask.lacking_bytes(grammar, known) == sorted(b"\xa9\xc3f")


def test_a_byte_that_is_lacking_is_a_dead_end() -> None:
    grammar = calligram.compile_schema({"enum": ["é", "x"]})
    known = vocabulary(b"\xa9")
    assert mask.lacking_bytes(grammar, known) == [0xA9]
    matcher = mask.compile(grammar, known).matcher()
    assert all(matcher.accept_token(known.tokens.index(bytes([b]))) for b in b'"\xc3')
    assert matcher.allowed_tokens() == []
    # Another token that begins with it is a way on, if the end fits.
    known = vocabulary(b"\xa9", (b'\xa9"',))
    matcher = mask.compile(grammar, known).matcher()
    assert all(matcher.accept_token(known.tokens.index(bytes([b]))) for b in b'"\xc3')
    assert matcher.allowed_tokens() == [known.tokens.index(b'\xa9"')]


def test_excluded_keys_and_special_tokens_need_no_bytes_of_their_own() -> None:
    grammar = calligram.compile_schema(
        {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": False}
    )
    lacking = mask.lacking_bytes(grammar, vocabulary(bytes(range(0x80, 0x100)) + b"Z"))
    assert lacking == []


# Dead ends --------------------------------------------------------------------------------------


def test_no_byte_lacking_no_dead_end() -> None:
    found = mask.dead_ends(calligram.compile_schema({}), vocabulary())
    assert found == mask.DeadEnds(True) and not found


def test_a_dead_end_has_a_witness_and_what_is_wanted_there() -> None:
    grammar = calligram.compile_schema({"enum": ["é", "x"]})
    known = vocabulary(b"\xa9")
    found = mask.dead_ends(grammar, known)
    assert found and found.decided and found.lacking_bytes == (0xA9,)
    (end,) = found.found
    assert end.text == b'"\xc3' and not end.leads_on and end.next_bytes == b"\xa9"
    assert [known.tokens[t] for t in end.tokens] == [b'"', b"\xc3"]
    # A token that holds the byte is enough, and no place is a dead end then.
    found = mask.dead_ends(grammar, vocabulary(b"\xa9", (b'\xa9"',)))
    assert not found and found.decided and found.places > 3


def test_a_circle_without_an_end_is_a_dead_end() -> None:
    grammar = calligram.compile_schema({"type": "string", "pattern": "^a*$"}, whitespace="exact")
    known = vocabulary(b'"', (b'"a', b'"aa'))
    found = mask.dead_ends(grammar, known)
    assert found.found[0].text == b"" and found.found[0].leads_on
    assert found.hopeless
    assert not mask.dead_ends(grammar, vocabulary(b'"', (b'"a', b'a"')))


def test_what_the_limit_leaves_out_is_not_decided() -> None:
    grammar = calligram.compile_schema({"type": "string", "maxLength": 3000})
    found = mask.dead_ends(grammar, vocabulary(b"z"), limit=50)
    assert found and not found.decided and not found.found and "more than 50" in found.reason
    # What is found is a dead end all the same.
    schema = {"anyOf": [{"type": "string", "maxLength": 3000}, {"const": {"zz": 1}}]}
    found = mask.dead_ends(calligram.compile_schema(schema), vocabulary(b"z"), limit=50)
    assert found.decided and found.found[0].text.endswith(b'{"')


def test_places_near_a_bound_are_looked_at() -> None:
    grammar = calligram.compile_schema({"type": "string", "maxLength": 9, "pattern": "^a*$"})
    # Tokens of two letters: the end is reached by those that hold the quote.
    found = mask.dead_ends(grammar, vocabulary(b'a"', (b'"a', b"aa", b'aa"')))
    assert found.decided and [len(e.text) for e in found.found] == [10]


def test_remembered_texts_are_not_decided() -> None:
    schema = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    found = mask.dead_ends(calligram.compile_schema(schema), vocabulary(b"b"))
    assert not found.decided and "remembered" in found.reason


def test_special_tokens_that_are_required_and_missing_are_named() -> None:
    grammar = calligram.compile_tools([TOOL], "gemma4")
    assert grammar.dialect is not None
    wanted = {t.text for t in grammar.dialect.tokens if t.match == "require"}
    found = mask.dead_ends(grammar, vocabulary())
    assert set(found.lacking_tokens) <= wanted and found.lacking_tokens and not found
    tokens = [bytes([b]) for b in range(256)] + [t.encode() for t in sorted(wanted)]
    known = calligram.Vocabulary(tokens, special_ids=range(256, len(tokens)))
    assert mask.dead_ends(grammar, known).lacking_tokens == ()


@given(grammars(), st.sets(st.sampled_from([b"a", b"b", b"ab", b"ba", b"aab", b"\xc3", b"\xa9"])))
@settings(max_examples=80)
def test_dead_ends_are_those_of_every_token_tried(
    grammar: tuple[Rules, Expr], tokens: set[bytes]
) -> None:
    rules, start = grammar
    known = calligram.Vocabulary([*sorted(tokens), b"<end>"], eos_ids=[len(tokens)])
    whole = Grammar(rules, start)
    oracle = TokenByToken(whole, known)
    before: dict[int, list[int]] = {}
    todo, seen = [oracle.start], {oracle.start}
    for state in todo:
        for token in oracle.allowed(state):
            after = oracle.step(state, token)
            before.setdefault(after, []).append(state)
            if after not in seen:
                seen.add(after)
                todo.append(after)
        if len(seen) > 60:
            return
    alive, todo = {ENDED} & seen, [ENDED]
    for state in todo:
        for earlier in before.get(state, ()):
            if earlier not in alive:
                alive.add(earlier)
                todo.append(earlier)
    found = find_dead_ends(whole, known)
    for end in found.found:
        state = oracle.start
        for token in end.tokens:
            state = oracle.step(state, token)
        assert state in seen and state not in alive
        assert end.leads_on == bool(oracle.allowed(state))
    if found.decided:
        assert bool(found.found) == bool(seen - alive)


# The command ------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    """Tools, a vocabulary of all bytes, one that lacks some."""
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([TOOL]), "utf-8")
    return str(tools), _tokenizer(tmp_path / "all.json"), _tokenizer(tmp_path / "few.json", "f")


def _tokenizer(path: Path, without: str = "") -> str:
    """A tokenizer.json of single bytes."""
    plain = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    names = {b: chr(b) for b in plain}
    names |= {b: chr(256 + n) for n, b in enumerate(b for b in range(256) if b not in names)}
    listed = [names[b] for b in range(256) if chr(b) not in without]
    vocab = {name: number for number, name in enumerate(listed)}
    end = {"id": len(vocab), "content": "</s>", "special": True, "normalized": False}
    document = {
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
        "decoder": {"type": "ByteLevel"},
        "added_tokens": [end],
    }
    path.write_text(json.dumps(document), "utf-8")
    return str(path)


def test_the_command_says_where(files: tuple[str, str, str]) -> None:
    tools, whole, few = files
    base = ("dead-ends", "-t", tools, "-d", "hermes-json", "-v")
    done = run(*base, whole)
    assert (done.code, done.out) == (0, "no dead ends\n")
    done = run(*base, few)
    assert done.code == 1
    assert "bytes that are no token by themselves: 66" in done.out
    assert "no token leads on" in done.out and "begin with: 66" in done.out


def test_the_command_for_programs(files: tuple[str, str, str]) -> None:
    tools, _, few = files
    done = run("dead-ends", "-t", tools, "-d", "hermes-json", "-v", few, "--json")
    document = json.loads(done.out)
    assert done.code == 1 and document["decided"] and document["lacking_bytes"] == [0x66]
    (end, *_) = document["dead_ends"]
    assert bytes.fromhex(end["bytes"]).endswith(b'"name": "') and end["next_bytes"] == [0x66]
    done = run("dead-ends", "-t", tools, "-d", "hermes-json", "-v", tools)
    assert done.code == 2 and "error[vocabulary-" in done.err
