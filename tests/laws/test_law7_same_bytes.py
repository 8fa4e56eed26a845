"""Law 7, same input same bytes: artefacts do not depend on hash seeds, runs, or earlier use."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

import calligram
from calligram.compiler.compiled import CompiledGrammar
from calligram.targets import gbnf
from tests.laws.tools import BOOK, TOOLS
from tests.sampling import Sampler, spread

ROOT = Path(__file__).parents[2]
SEEDS = ("1", "2024")
PROGRAM = """
import json, sys
from tests.laws.test_law7_same_bytes import digests
print(json.dumps(digests()))
"""


def artefacts(grammar: CompiledGrammar) -> list[str]:
    """Everything that is written out."""
    return [
        gbnf.emit(grammar),
        json.dumps(grammar.report.to_json()),
        json.dumps(grammar.trigger.to_json()),
    ]


def digests(
    tools: list[dict[str, Any]] | None = None, dialects: list[str] | None = None
) -> dict[str, str]:
    """One digest for each dialect, key order and choice."""
    out = {}
    for dialect in dialects or spread(calligram.dialects(), "digests", most=24):
        for order, choice, used in (("schema", "required", TOOLS), ("any", "auto", [BOOK])):
            grammar = calligram.compile_tools(
                tools or used, dialect, key_order=order, tool_choice=choice  # type: ignore[arg-type]
            )  # fmt: skip
            joined = "\0".join(artefacts(grammar))
            out[f"{dialect} {order}"] = hashlib.sha256(joined.encode()).hexdigest()
    return out


def violations(program: str) -> list[str]:
    """The grammars that come out otherwise under another hash seed."""
    results = []
    for seed in SEEDS:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        results.append(json.loads(run.stdout))
    first = results[0]
    return [key for key in first if any(result[key] != first[key] for result in results)]


def test_artefacts_do_not_depend_on_the_hash_seed() -> None:
    assert not violations(PROGRAM)


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_artefacts_do_not_depend_on_what_was_done_before(dialect: str) -> None:
    fresh = artefacts(calligram.compile_tools(TOOLS, dialect, tool_choice="auto"))
    used = calligram.compile_tools(TOOLS, dialect, tool_choice="auto")
    sampler = Sampler(used.enforced.rules, Random(5))
    for text in sampler.texts(used.enforced.start, 10):
        used.check(text)
    assert used.report.longest_call
    assert artefacts(used) == fresh
    assert artefacts(used) == fresh


# The law can be broken --------------------------------------------------------------------------

UNORDERED = """
import json
import calligram.targets.gbnf.emitter as emitter
original = emitter.factor
def unordered(options):
    return original(tuple(sorted(options, key=lambda option: hash(repr(option)))))
emitter.factor = unordered
from tests.laws.tools import SEARCH
from tests.laws.test_law7_same_bytes import digests
print(json.dumps(digests([SEARCH], ["hermes-json"])))
"""


def test_an_order_that_depends_on_hashes_is_noticed() -> None:
    assert violations(UNORDERED)
