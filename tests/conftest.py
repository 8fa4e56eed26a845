"""Fixtures that several folders of tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engine import Engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """llama.cpp's own grammar engine, in a child process."""
    pytest.importorskip("xllamacpp", reason="the engine comes out of the xllamacpp wheel")
    found = Engine()
    yield found
    found.close()
