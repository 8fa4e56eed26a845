"""One grammar for many threads: checks and readings are those of one thread."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import pytest

import calligram
from calligram.targets import parser
from tests.laws.tools import TOOLS

THREADS = 8


@pytest.fixture(autouse=True)
def _often() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[], Any]) -> list[Any]:
    """What the work gives in each of several threads that begin at once."""
    ready = Barrier(THREADS)

    def one(_: int) -> Any:
        ready.wait()
        return work()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def map_all(work: Callable[[str], Any], given: list[str]) -> list[Any]:
    return [work(text) for text in given]


def texts(grammar: calligram.CompiledGrammar) -> list[str]:
    """Turns that are accepted, and what is left of each when it is cut or spoiled."""
    found = []
    for arguments in ({"class": "eco", "bags": 1}, {"class": "eco", "note": "x" * 40}):
        text = grammar.render([{"name": "book", "arguments": arguments}], validate=False)
        found += [text, text[: len(text) // 2], text.replace("eco", "ecö"), text + text]
    return found


@pytest.mark.parametrize("dialect", ["hermes-json", "qwen3-coder-xml", "llama4-pythonic"])
@pytest.mark.parametrize("order", ["schema", "any"])
def test_threads_share_a_grammar(dialect: str, order: Any) -> None:
    def made() -> calligram.CompiledGrammar:
        return calligram.compile_tools(TOOLS, dialect, tool_choice="auto", key_order=order)

    alone, reader = made(), parser.compile(made())
    given = texts(alone)
    checked, read = [alone.check(t) for t in given], [reader.parse(t) for t in given]
    for _ in range(5):
        grammar = made()
        shared = parser.compile(grammar)
        assert together(partial(map_all, grammar.check, given)) == [checked] * THREADS
        assert together(partial(map_all, shared.parse, given)) == [read] * THREADS
