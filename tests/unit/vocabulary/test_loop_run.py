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
from calligram.compiler.vocabulary.loop_run import _BULK, Run, _Many, _run_few
from calligram.compiler.vocabulary.loop_table import machine_table
from calligram.compiler.vocabulary.trie import ROOT

PATTERNS = [
    "^.*$", "^[a-z]+$", "^[a-z0-9_-]*$", "^[^x]+$", "^[à-ÿ]+$", "^(ab|[c-z])*$", "^[a-z]+@[a-z.]+$",
    "^[^\\u2028]*$", "^.+@.+$", "^x*$", "^[^é]*$", "^[0-9]{2,}$", "^(?:[a-m]|[é-ü])*$",
]  # fmt: skip


def _vocabulary() -> Vocabulary:
    random = Random(11)
    tokens = {bytes([b]) for b in range(256)}
    alphabet = 'abcxyz09 _-@."\\\n\u2028éüÿß中文😀'
    while len(tokens) < _BULK + 2000:
        data = "".join(random.choices(alphabet, k=random.randint(1, 7))).encode()
        if random.random() < 0.2:
            data = data[random.randrange(3) : len(data) - random.randrange(3)]
        if random.random() < 0.05:
            data += bytes([random.randrange(128, 256)])
        if data:
            tokens.add(data)
    return Vocabulary([*sorted(tokens), b"<end>"], eos_ids=[len(tokens)])


VOCABULARY = _vocabulary()


def told(run: Run) -> tuple[object, ...]:
    assert run.costs is not None
    inside = sorted(zip(run.inside.tolist(), run.costs.tolist(), strict=True))
    outside = zip(run.outside.tolist(), run.stops.tolist(), run.counts.tolist(), strict=True)
    return inside, sorted(outside)


def machine(pattern: str, escape: Escape) -> Machine:
    dfa = Language.pattern(pattern, origin=Origin()).dfa
    return spell(dfa, escape, '"' if escape == "json" else "")


@pytest.mark.parametrize("escape", ["json", "none"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_at_once_as_one_by_one(pattern: str, escape: Escape) -> None:
    table = machine_table(machine(pattern, escape))
    assert table is not None
    forest = VOCABULARY.forest
    children = forest.children(ROOT)
    nodes = [ROOT, *(children[b] for b in (ord("a"), ord('"'), 0xC3, 0xE4))]
    for start in range(min(len(table.table), 12)):
        for node, also in itertools.product(nodes, (0, 1 << ord("a") | 1 << ord("@") | 1 << 0xC3)):
            wanted = told(_run_few(forest, node, table, start, also))
            assert told(_Many(forest, node, table, start, also, True).run()) == wanted, start
            fewer = _Many(forest, node, table, start, also, False).run()
            assert fewer.costs is None
            assert sorted(fewer.inside.tolist()) == [token for token, _ in wanted[0]]  # type: ignore[attr-defined]


def test_what_bytes_tokens_hold() -> None:
    known = VOCABULARY.trie.bytes
    strings = VOCABULARY.trie.strings
    letters = sum(1 << b for b in b"abc")
    # All characters that begin with C3, U+00C0 to U+00FF: of those here é, ü and ß.
    for characters, others in ((letters, False), (letters | 1 << 0xC3, True)):
        found = known.within(0, len(strings), characters)
        for index in range(0, len(strings), 7):
            try:
                text = strings[index].decode()
            except UnicodeDecodeError:
                assert not found[index]
            else:
                allowed = "abc" + "".join(map(chr, range(0xC0, 0x100))) * others
                assert found[index] == all(c in allowed for c in text), text
    assert np.count_nonzero(~known.whole) > 100


def test_characters_that_lead_back() -> None:
    table = machine_table(machine("^[^\\u2028é]*$", "none"))
    assert table is not None
    characters, counts = table.circle(0)
    assert counts
    wanted = set(range(0x80)) | set(range(0xC2, 0xF5)) - {0xC3, 0xE2}
    assert {b for b in range(256) if characters >> b & 1} == wanted
