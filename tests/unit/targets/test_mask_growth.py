"""Thousands of grammars in one process: what is kept from one to the next has a limit."""

from __future__ import annotations

import functools
import gc
import tracemalloc
from random import Random
from typing import Any

import numpy as np
import pytest

import calligram
from calligram.bench import vocabularies
from calligram.compiler.vocabulary import loop_table, vocabulary
from calligram.targets import mask
from calligram.targets.mask import results
from tests.sampling import dice, fuzzed
from tests.unit.json_schema import wide_schemas
from tests.unit.json_schema.oracle import URIS


def name(random: Random) -> str:
    return "".join(random.choice("abcdefghijklmnop_") for _ in range(random.randint(2, 9)))


def grammar(random: Random) -> calligram.CompiledGrammar:
    """One of endlessly many grammars."""
    if random.random() < 0.3:
        schema, draft = wide_schemas.schema(random)
        return calligram.compile_schema(
            {**schema, "$schema": URIS[draft]}, on_unsupported="relax", whitespace="flexible"
        )
    properties: dict[str, Any] = {
        name(random): random.choice(
            [
                {"type": "string"},
                {"type": "integer", "minimum": random.randint(0, 99), "maximum": 5000},
                {"type": "string", "maxLength": random.randint(1, 200)},
                {"enum": [name(random) for _ in range(4)]},
                {"type": "string", "pattern": f"^{name(random)}[a-z]{{{random.randint(1, 9)},}}$"},
                {"type": "array", "items": {"type": "number"}, "maxItems": random.randint(1, 9)},
                {"type": "object", "additionalProperties": {"type": "string"}},
            ]
        )
        for _ in range(random.randint(1, 6))
    }
    parameters = {"type": "object", "properties": properties, "required": list(properties)[:2]}
    return calligram.compile_tools(
        [{"name": name(random), "parameters": parameters}],
        random.choice(calligram.dialects()),
        tool_choice=random.choice(["required", "auto"]),
    )


def use(known: calligram.Vocabulary, random: Random) -> int:
    """Some masks of another grammar; -> how many."""
    try:
        made = grammar(random)
    except calligram.CalligramError:
        return 0
    matcher = mask.compile(made, known).matcher()
    for count in range(12):
        bits = np.unpackbits(matcher.mask_row().view(np.uint8), bitorder="little")
        allowed = np.flatnonzero(bits)
        if not matcher.accept_token(int(random.choice(allowed))) or matcher.is_terminated():
            return count + 1
    return 12


def bytes_of_tables(known: calligram.Vocabulary) -> int:
    found = (table for table in known.tables._known.values() if table is not None)
    return sum(table.table.nbytes + table.gain.nbytes for table in found)


def emptied(known: calligram.Vocabulary) -> int:
    """Bytes in use when all that is kept on purpose is forgotten."""
    known.forget()
    results.Results.of(known).trim(known)
    known.tables = loop_table.Tables()
    for held in gc.get_objects():
        if isinstance(held, functools._lru_cache_wrapper):
            held.cache_clear()
    gc.collect()  # The interpreter's own free lists.
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.fuzz
def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """With caches of a fraction of their size; nothing is kept but what is in them."""
    monkeypatch.setattr(vocabulary, "MAX_PATHS", 300)
    monkeypatch.setattr(vocabulary, "MAX_NODES", 1000)
    monkeypatch.setattr(vocabulary, "MAX_SLICE_BYTES", 200 * 1024)
    monkeypatch.setattr(loop_table, "MAX_TABLE_BYTES", 512 * 1024)
    monkeypatch.setattr(results, "MAX_RESULTS", 3000)
    monkeypatch.setattr(results, "MAX_ROW_BYTES", 100 * 1024)
    known = vocabularies.made_up(4000)
    random = dice("growth")
    tracemalloc.start()
    try:
        # What is made once a process.
        for _ in range(40):
            use(known, random)
        before = emptied(known)
        masks = 0
        for _ in range(fuzzed(100)):
            masks += use(known, random)
            # A mask may add some before it is noticed that there are too many.
            assert len(known.forest) < 1000 + 4000
            assert known.slices.size < 2 * 1024 * 1024
            assert len(known._paths) <= 300
            assert bytes_of_tables(known) < 1024 * 1024
            kept = results.Results.of(known)
            assert len(kept.steps) < 3000 + 4000
            assert sum(row.nbytes for row in kept._rows.values()) < 101 * 1024
        assert masks > 300 and known.generation > 0
        left = emptied(known) - before
    finally:
        tracemalloc.stop()
    assert left < 256 * 1024, left
