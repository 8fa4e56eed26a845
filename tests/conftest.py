"""Fixtures that several folders of tests share."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.engine import Engine

# A run of the suite tries the same examples each time, whatever the machine's load. `make fuzz`
# sets CALLIGRAM_FUZZ, tries others, and that many times more.
FUZZ = float(os.environ.get("CALLIGRAM_FUZZ", "1"))
slow = [HealthCheck.too_slow]
settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=slow)
settings.register_profile(
    "search", deadline=None, max_examples=int(100 * FUZZ), suppress_health_check=slow
)
settings.load_profile("search" if "CALLIGRAM_FUZZ" in os.environ else "steady")

# `make test-torch` brings what these need, into an environment of its own.
collect_ignore = [] if importlib.util.find_spec("transformers") else ["with_torch"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of this suite."""
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite golden/ instead of comparing with it"
    )
    parser.addoption(
        "--update-baseline",
        action="store_true",
        help="record what each schema of tests/baseline/ comes to now",
    )


@pytest.fixture(scope="session", autouse=True)
def no_cache() -> Iterator[None]:
    """Nothing is kept in the home of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CALLIGRAM_CACHE_DIR", "")
        yield


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """llama.cpp's own grammar engine, in a child process."""
    pytest.importorskip("xllamacpp", reason="the engine comes out of the xllamacpp wheel")
    found = Engine()
    yield found
    found.close()
