"""Tokens run through loops: all at once as one by one."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest

from calligram import Vocabulary
from calligram.compiler.grammar import Machine
from calligram.compiler.lower.spelling import Escape, spell
from calligram.compiler.origin import Origin
from calligram.compiler.regular.language import Language
from calligram.compiler.vocabulary import loop_tokens
from calligram.compiler.vocabulary.loop_run import Run, run_few, run_many, run_narrow
from calligram.compiler.vocabulary.loop_table import machine_table
from calligram.compiler.vocabulary.loop_tokens import pack
from calligram.compiler.vocabulary.trie import ROOT, Forest, TokenTrie

PATTERNS = [
    "^.*$", "^[a-z]+$", "^[a-z0-9_-]*$", "^[^x]+$", "^[à-ÿ]+$", "^(ab|[c-z])*$", "^[a-z]+@[a-z.]+$",
    "^[a-z\\u1000-\\u17ff]*$",
    "^[^\\u2028]*$", "^.+@.+$", "^x*$", "^[^é]*$", "^[0-9]{2,}$", "^(?:[a-m]|[é-ü])*$",
]  # fmt: skip


def _vocabulary() -> Vocabulary:
    random = Random(11)
    tokens = {bytes([b]) for b in range(256)}
    alphabet = 'abcxyz09 _-@."\\\n\u2028éüÿß中文😀'
    while len(tokens) < 6000:
        data = "".join(random.choices(alphabet, k=random.randint(1, 7))).encode()
        if random.random() < 0.2:
            data = data[random.randrange(3) : len(data) - random.randrange(3)]
        if random.random() < 0.05:
            data += bytes([random.randrange(128, 256)])
        if data:
            tokens.add(data)
    return Vocabulary([*sorted(tokens), b"<end>"], eos_ids=[len(tokens)])


VOCABULARY = _vocabulary()


def told(run: Run, trie: TokenTrie) -> tuple[object, ...]:
    """Who stays inside at what cost, and who leaves after how many bytes and items."""
    assert run.inside is not None and run.costs is not None
    inside = sorted(zip(run.inside.tolist(), run.costs.tolist(), strict=True))
    outside = []
    for byte, first, high, stop, count in run.exits.tolist():
        assert all(s[stop] == byte for s in trie.strings[first:high])
        outside += [(index, stop, count) for index in range(first, high)]
    return inside, sorted(outside)


def machine(pattern: str, escape: Escape) -> Machine:
    dfa = Language.pattern(pattern, origin=Origin()).dfa
    return spell(dfa, escape, '"' if escape == "json" else "")


@pytest.mark.parametrize("dense", [0, 1_000_000])
@pytest.mark.parametrize("escape", ["json", "none"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_at_once_as_one_by_one(
    pattern: str, escape: Escape, dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop_tokens, "_DENSE", dense)
    table = machine_table(machine(pattern, escape))
    assert table is not None
    forest = VOCABULARY.forest
    children = forest.children(ROOT)
    nodes = [ROOT, *(children[b] for b in (ord("a"), ord('"'), 0xC3, 0xE4))]
    for start in range(min(len(table.short), 12)):
        for node, also in itertools.product(nodes, (0, 1 << ord("a") | 1 << ord("@") | 1 << 0xC3)):
            wanted = told(run_few(forest, node, table, start, also), VOCABULARY.trie)
            words = VOCABULARY.words
            made = run_many(forest, node, table, start, words, also, costs=True)
            assert told(made, VOCABULARY.trie) == wanted, start
            narrow = run_narrow(forest, node, table, start, also)
            assert told(narrow, VOCABULARY.trie) == wanted, start
            fewer = run_many(forest, node, table, start, words, also, costs=False)
            assert fewer.mask is not None and made.inside is not None
            assert np.array_equal(fewer.mask, pack(made.inside, words))
            assert len(set(made.inside.tolist())) == len(made.inside)
            assert np.array_equal(fewer.exits[:, :4], made.exits[:, :4])


def test_levels_hold_every_beginning_of_a_token_once() -> None:
    trie = TokenTrie(*zip(*sorted(zip(STRINGS, range(len(STRINGS)), strict=True)), strict=True))
    tree = trie.levels
    met: list[bytes] = []
    for depth, level in enumerate(tree.levels):
        for node, (first, low, high) in enumerate(
            zip(level.first.tolist(), level.low.tolist(), level.high.tolist(), strict=True)
        ):
            beginning = trie.strings[first][:depth]
            met.append(beginning)
            own = [i for i, s in enumerate(trie.strings) if s == beginning]
            below = [i for i, s in enumerate(trie.strings) if s.startswith(beginning)]
            assert own == list(range(first, low)) and below == list(range(first, high))
            number = tree.starts[depth] + node
            assert (tree.first[number], tree.low[number]) == (first, low)
            assert all(tree.node_of[i] == number for i in own)
            begin, end = level.children[node : node + 2].tolist()
            if begin < end:
                following = tree.levels[depth + 1]
                assert following.parent[begin:end].tolist() == [node] * (end - begin)
                assert all(
                    trie.strings[f][: depth + 1] == beginning + bytes([byte])
                    for f, byte in zip(
                        following.first[begin:end].tolist(),
                        following.byte[begin:end].tolist(),
                        strict=True,
                    )
                )
    assert tree.repeats
    assert len(met) == tree.size == len(set(met))
    assert set(met) == {s[:i] for s in STRINGS for i in range(len(s) + 1)}


STRINGS = [b"", b"a", b"a", b"ab", b"abc", b"b", b"bcd", b"bce", b"\xff\x00", b"bc", b"zzzz"]


@pytest.mark.parametrize("dense", [0, 1_000_000])
def test_tokens_that_are_alike_run_alike(dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_tokens, "_DENSE", dense)
    strings = sorted(w for w in (b"", b"a", b"ab", b"ba", b"aab", b"abab") for _ in range(20))
    trie = TokenTrie(strings, range(len(strings)))
    table = machine_table(machine("^a*b?$", "none"))
    assert table is not None
    forest = Forest(trie)
    wanted = told(run_few(forest, ROOT, table, 0, 0), trie)
    made = run_many(forest, ROOT, table, 0, 4, 0, costs=True)
    assert told(made, trie) == wanted
    plain = run_many(forest, ROOT, table, 0, 4, 0, costs=False)
    assert plain.mask is not None and made.inside is not None
    assert np.array_equal(plain.mask, pack(made.inside, 4))


def test_characters_of_which_some_break_off_do_not_go_around() -> None:
    table = machine_table(machine("^[a-z\\u1000-\\u17ff]*$", "none"))
    assert table is not None
    _, _, others = table.circle(0).tolist()
    around = {byte + 192 for byte in range(64) if others >> byte & 1}
    # E1 begins U+1000 to U+1FFF, of which half are not in the class.
    assert around == set()
