"""The load script for a few seconds, and the measure of what the proxy costs."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

from calligram.demo_client import find_model, running_server
from tests.proxy.load import load
from tests.proxy.tools import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("faults", [False, True])
def test_nothing_is_lost_or_mixed_up(faults: bool) -> None:
    found = asyncio.run(load(40, 4.0, faults))
    assert "lost" not in found and "mixed up" not in found
    assert found["right"] >= 10 and ("clear error" in found) == faults
    assert found["memory_mib"]["late"] - found["memory_mib"]["early"] < 20


@pytest.mark.slow
def test_the_measure_has_figures_for_each_way() -> None:
    pytest.importorskip("xllamacpp")
    with running_server(find_model()) as address:
        command = [sys.executable, "-m", "calligram", "bench", "proxy", "--upstream", address]
        done = subprocess.run(
            [*command, "--requests", "2", "--tokens", "8", "--dialect", "hermes-json", "--json"],
            capture_output=True, text=True, cwd=ROOT, timeout=120,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    ways = json.loads(done.stdout)["ways"]
    assert list(ways) == ["bare", "passed", "auto"]
    assert all(w["first_byte_ms"] > 0 and w["tokens_per_second"] > 0 for w in ways.values())


def test_a_server_that_is_not_there_is_an_error() -> None:
    command = [sys.executable, "-m", "calligram", "bench", "proxy", "--upstream"]
    done = subprocess.run(
        [*command, "http://127.0.0.1:9"], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert done.returncode != 0 and "error[bench-proxy]" in done.stderr
