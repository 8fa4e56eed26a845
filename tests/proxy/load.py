"""Many streaming clients at once through the proxy, against a server that replays streams.

    python -m tests.proxy.load --clients 200 --seconds 60 [--faults] [--seed 1]

The server replays streams of a call and of prose, paced; with ``--faults`` a third of them break in
one of several ways. Each client knows what its answer must be, as every request names its own. The
proxy runs in a process of its own, whose memory is watched. Prints one JSON document; its exit code
is 1 if an answer was lost or mixed up.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

import calligram
from tests.proxy.fakes import EVENTS, Asked, Fake, Step, chunk, ending, events, piece, running
from tests.proxy.tools import ROOT, TOOLS

PIECES = 24
PACE = 0.1
FAULTS = ("none", "none", "close", "abort", "garbage", "dead-end", "hang", "500")
"""How a server with faults answers; a third and more of it is broken."""
SILENCE = 5.0
"""Seconds after which the proxy gives up a server that is silent."""


@dataclass
class Outcome:
    """What came of all requests."""

    counts: Counter[str] = field(default_factory=Counter)
    first: list[float] = field(default_factory=list)
    why: Counter[str] = field(default_factory=Counter)

    def lost(self, why: str) -> str:
        """Note why an answer was lost."""
        self.why[why[:200]] += 1
        return "lost"

    def to_json(self) -> dict[str, Any]:
        """Counts, and the median time to the first byte."""
        times = sorted(self.first)
        middle = round(1e3 * times[len(times) // 2], 1) if times else None
        return {**self.counts, "median_first_byte_ms": middle}


CALL = {"name": "send_message", "arguments": {"to": "NAME", "text": "NAME " * 10}}
TEXT = "For NAME.\n" + calligram.compile_tools(TOOLS, "hermes-json").render([CALL])


def text_for(name: str) -> str:
    """The answer to the request of this name."""
    return TEXT.replace("NAME", name)


def answer_for(name: str) -> tuple[str, list[Any]]:
    """What is to be read from it: content and calls."""
    return f"For {name}.", [json.loads(json.dumps(CALL).replace("NAME", name))]


def replay(asked: Asked, faults: bool) -> list[Step]:
    """A paced stream; broken in the middle, as the request's number says."""
    prompt = asked.json["prompt"].removesuffix("<assistant>")
    name, number = prompt, int(prompt.rpartition("-")[2])
    text = text_for(name)
    size = -(-len(text) // PIECES)
    parts = [text[i : i + size] for i in range(0, len(text), size)]
    steps: list[Step] = [EVENTS]
    for part in parts:
        steps += [piece(part), PACE]
    whole = [*steps, ending(tokens=len(parts)), b"0\r\n\r\n"]
    if not faults:
        return whole
    half = steps[: len(steps) // 2]
    error = json.dumps({"error": {"code": 500, "message": "Unexpected empty grammar stack"}})
    match FAULTS[number % len(FAULTS)]:
        case "close":
            return [*half, "close"]
        case "abort":
            return [*half, "abort"]
        case "hang":
            return [*half, "hang"]
        case "garbage":
            return [*half, chunk(b"<html>\n\n"), "hang"]
        case "dead-end":
            return [*half, chunk(b"data: " + error.encode() + b"\n\n"), b"0\r\n\r\n"]
        case "500":
            head = b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\n"
            return [head + f"Content-Length: {len(error)}\r\n\r\n{error}".encode()]
        case _:
            return whole


async def one_client(
    client: httpx.AsyncClient, number: int, until: float, found: Outcome, faults: bool
) -> None:
    """Ask until the time is up."""
    dice = random.Random(number)
    count = 0
    while time.monotonic() < until:
        name = f"c{number}-{number * 1001 + count}"
        count += 1
        await asyncio.sleep(dice.random() * PACE)
        found.counts[await ask(client, name, found, faults)] += 1


async def ask(client: httpx.AsyncClient, name: str, found: Outcome, faults: bool) -> str:
    """One request; -> what came of it."""
    body = {"messages": [{"role": "user", "content": name}], "tools": TOOLS, "stream": True}
    start = time.monotonic()
    data = b""
    try:
        async with client.stream("POST", "/v1/chat/completions", json=body) as response:
            async for part in response.aiter_raw():
                if not data:
                    found.first.append(time.monotonic() - start)
                data += part
    except httpx.HTTPError as error:
        return found.lost(type(error).__name__)
    if response.status_code != 200:
        clear = faults and "error" in json.loads(data)
        return "clear error" if clear else found.lost(data.decode())
    told = events(data)
    if told and isinstance(told[-1], dict) and "error" in told[-1]:
        return "clear error" if faults else found.lost(str(told[-1]))
    if not told or told[-1] != "[DONE]":
        return found.lost("no end")
    return "right" if said(told[:-1]) == answer_for(name) else "mixed up"


def said(chunks: list[Any]) -> tuple[str, list[Any]]:
    """Content and calls of the chunks."""
    content, arguments, names = "", "", []
    for one in chunks:
        delta = one["choices"][0]["delta"]
        content += delta.get("content") or ""
        for call in delta.get("tool_calls", ()):
            names += [call["function"]["name"]] if "name" in call["function"] else []
            arguments += call["function"]["arguments"]
    return content, [{"name": n, "arguments": json.loads(arguments)} for n in names]


def resident(pid: int) -> float:
    """Mebibytes of memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def cpu_seconds(pid: int) -> float:
    """Seconds that a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def load(clients: int, seconds: float, faults: bool) -> dict[str, Any]:
    """The whole run."""
    fake = Fake({"/completion": lambda asked: replay(asked, faults)})
    async with running(fake):
        program = f"import sys; sys.path[:] = {sys.path!r}; from calligram.cli import main; main()"
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, "serve", "--upstream", fake.url, "--port", "0",
            "--dialect", "hermes-json", "--log", "json", "--read-seconds",
            str(SILENCE if faults else 60.0),
            stderr=asyncio.subprocess.PIPE, cwd=ROOT, limit=2**24,
        )  # fmt: skip
        assert process.stderr is not None
        address = json.loads(await process.stderr.readline())["address"]
        logged = asyncio.create_task(process.stderr.read())
        found = Outcome()
        try:
            limits = httpx.Limits(max_connections=None)
            async with httpx.AsyncClient(
                base_url=address, timeout=60, trust_env=False, limits=limits
            ) as client:
                await ask(client, "warm-0", Outcome(), faults)
                until = time.monotonic() + seconds
                asks = [
                    asyncio.create_task(one_client(client, n, until, found, faults))
                    for n in range(clients)
                ]
                sizes = []
                while not all(a.done() for a in asks):
                    await asyncio.sleep(min(1.0, seconds / 10))
                    sizes.append(round(resident(process.pid), 1))
                await asyncio.gather(*asks)
                computed = cpu_seconds(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            await logged
            await process.wait()
    third = max(1, len(sizes) // 3)
    return {
        "clients": clients, "seconds": seconds, "faults": faults, **found.to_json(),
        "cpu_seconds": {"proxy": round(computed, 1), "others": round(time.process_time(), 1)},
        "why": dict(found.why),
        "memory_mib": {"early": sizes[third], "late": sizes[-1], "most": max(sizes)},
        "exit_code": process.returncode,
    }  # fmt: skip


def main() -> int:
    """Run from the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--clients", type=int, default=200)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--faults", action="store_true")
    given = options.parse_args()
    found = asyncio.run(load(given.clients, given.seconds, given.faults))
    print(json.dumps(found, indent=2))
    return int(bool(found.get("lost") or found.get("mixed up")))


if __name__ == "__main__":
    raise SystemExit(main())
