"""What the proxy costs: the same requests to a server, straight and through a proxy in between."""

from __future__ import annotations

import collections
import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

import httpx

from ..compiler.errors import CalligramError

CHAT: Final = "/v1/chat/completions"
TOOL: Final = {
    "type": "function",
    "function": {
        "name": "set_timer",
        "parameters": {
            "type": "object",
            "properties": {"minutes": {"type": "integer", "minimum": 1, "maximum": 600}},
            "required": ["minutes"],
        },
    },
}
WAYS: Final = {
    "bare": "the server alone",
    "passed": "through the proxy, a chat without tools",
    "auto": "through the proxy, calls constrained when they begin",
}


class OverheadError(CalligramError):
    """The measure cannot be taken."""


@dataclass
class Figures:
    """The times of one way, in seconds: to the first byte of the body, and between tokens."""

    first_byte: list[float] = field(default_factory=list)
    a_token: list[float] = field(default_factory=list)

    def to_json(self) -> dict[str, float]:
        """Medians."""
        return {
            "first_byte_ms": round(1e3 * median(self.first_byte), 3),
            "tokens_per_second": round(1 / median(self.a_token), 2),
        }


@contextlib.contextmanager
def running_proxy(upstream: str, dialect: str) -> Iterator[str]:
    """The address of a proxy in a process of its own.

    Raises:
        OverheadError: it did not come up; what it said is in the message.
    """
    program = f"import sys; sys.path[:] = {sys.path!r}; from calligram.cli import main; main()"
    arguments = ["serve", "--upstream", upstream, "--dialect", dialect, "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments, "--log", "json"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        try:
            address: str = json.loads(line)["address"]
        except (ValueError, LookupError):
            rest = line + process.stderr.read()
            raise OverheadError.at("bench-proxy", f"the proxy did not start: {rest}") from None
        # What it logs is read and forgotten: a pipe that is full would hold it up.
        logged = threading.Thread(target=lambda: collections.deque(process.stderr or (), 0))
        logged.start()
        try:
            yield address
        finally:
            process.terminate()
            logged.join()
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


def requests(tokens: int) -> dict[str, dict[str, Any]]:
    """The request of each way. The bare server gets the same prompt, and writes the same."""
    chat: dict[str, Any] = {
        "messages": [{"role": "user", "content": "Tell me a story about the sea."}],
        "max_tokens": tokens,
        "temperature": 0,
        "stream": True,
    }
    return {"bare": chat, "passed": chat, "auto": {**chat, "tools": [TOOL]}}


def measure(
    upstream: str, proxy: str, count: int, tokens: int, told: Callable[[int], None]
) -> dict[str, Figures]:
    """Ask in turn, so that all ways meet the same load.

    Args:
        count: requests a way.
        tokens: the most tokens of each answer.
        told: is told how many rounds are done.

    Raises:
        OverheadError: a request fails.
    """
    found = {name: Figures() for name in WAYS}
    bodies = requests(tokens)
    with httpx.Client(timeout=120, trust_env=False) as client:
        for number in range(count + 1):
            for name in WAYS:
                url = upstream if name == "bare" else proxy
                first, each = _ask(client, url + CHAT, bodies[name])
                if number:  # The first round makes the grammar, and fills the server's cache.
                    found[name].first_byte.append(first)
                    found[name].a_token.append(each)
            told(number)
    return found


def _ask(client: httpx.Client, url: str, body: dict[str, Any]) -> tuple[float, float]:
    """Seconds to the first byte, and seconds a token behind it."""
    start = time.perf_counter()
    first, pieces = 0.0, 0
    try:
        # A connection that is kept takes one of the server's few threads.
        with client.stream("POST", url, json=body, headers={"Connection": "close"}) as response:
            for line in response.iter_lines():
                if not line.startswith("data: "):
                    continue
                first = first or time.perf_counter()
                pieces += '"content":"' in line
            if response.status_code != 200:
                raise OverheadError.at("bench-proxy", f"{url} answers {response.status_code}")
    except httpx.HTTPError as error:
        raise OverheadError.at("bench-proxy", f"{url}: {type(error).__name__}") from None
    end = time.perf_counter()
    if not first or pieces < 2:
        raise OverheadError.at("bench-proxy", f"{url} sends no stream of tokens")
    return first - start, (end - first) / (pieces - 1)
