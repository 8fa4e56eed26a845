"""A server that answers as it is told, byte by byte, and the proxy in front of it, on real sockets.

The server speaks as much HTTP as the tests need. What it answers is a list of steps: bytes to send,
a number of seconds to wait, or what becomes of the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

from calligram.proxy.app import make_app
from calligram.proxy.compile_pool import Compiler
from calligram.proxy.log import Log
from calligram.proxy.prepared import Order, packed, prepare
from calligram.proxy.serve import listen, server_of
from calligram.proxy.service import Service, make_service
from calligram.proxy.settings import Settings

Step = bytes | float | Literal["abort", "close", "hang"]
PROPS = {
    "chat_template": "{{ messages }}<tool_call>",
    "eos_token": "<|im_end|>",
    "bos_token": "",
    "model_alias": "fake",
}


@dataclass
class Asked:
    """A request as the server got it."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


Handler = Callable[[Asked], "Sequence[Step] | Awaitable[Sequence[Step]]"]


def plain(body: bytes, status: str = "200 OK", kind: str = "application/json") -> list[Step]:
    """A whole answer."""
    head = f"HTTP/1.1 {status}\r\nServer: llama.cpp\r\nContent-Type: {kind}\r\n"
    return [f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body]


def as_json(value: Any, status: str = "200 OK") -> list[Step]:
    """A JSON answer."""
    return plain(json.dumps(value).encode(), status)


def chunk(data: bytes) -> bytes:
    """A chunk of a body without a length."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


EVENTS = (
    b"HTTP/1.1 200 OK\r\nServer: llama.cpp\r\nContent-Type: text/event-stream\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)


def piece(text: str, **more: Any) -> bytes:
    """A chunk with one event of `/completion`."""
    value = {"content": text, "stop": False, "tokens_evaluated": 7, **more}
    return chunk(b"data: " + json.dumps(value).encode() + b"\n\n")


def ending(stop: str = "eos", tokens: int = 5, **more: Any) -> bytes:
    """The chunk with the last event."""
    timings = {"cache_n": 2, "predicted_ms": 1.0}
    counts = {"tokens_predicted": tokens, "timings": timings, "model": "fake"}
    return piece("", **{"stop": True, "stop_type": stop, **counts, **more})


def completion(*texts: str, stop: str = "eos") -> list[Step]:
    """A whole stream of `/completion`."""
    return [EVENTS, *map(piece, texts), ending(stop), b"0\r\n\r\n"]


@dataclass
class Fake:
    """The server. Paths not in `answers` are answered as llama-server would."""

    answers: dict[str, Handler] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    gone: int = 0
    connections: int = 0
    url: str = ""
    ended: bool = False
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def paths(self, *but: str) -> list[str]:
        """The targets asked for, in order, those of the proxy's own curiosity left out."""
        curious = ("/props", "/tokenize", *but)
        return [a.target for a in self.asked if a.target not in curious]

    def last(self, path: str) -> Asked:
        """The last request for a path."""
        return next(a for a in reversed(self.asked) if a.target == path)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.writers.add(writer)
        self.connections += 1
        try:
            while (asked := await read_request(reader)) is not None:
                self.asked.append(asked)
                steps = self._answer(asked)
                found = steps if isinstance(steps, Sequence) else await steps
                if not await self._play(found, reader, writer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone += 1
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            self.writers.discard(writer)

    def _answer(self, asked: Asked) -> Sequence[Step] | Awaitable[Sequence[Step]]:
        path = asked.target.partition("?")[0]
        if path in self.answers:
            return self.answers[path](asked)
        match path:
            case "/props":
                return as_json(PROPS)
            case "/tokenize":
                return as_json({"tokens": [7]})
            case "/apply-template":
                texts = [m["content"] for m in asked.json["messages"]]
                return as_json({"prompt": "".join(map(str, texts)) + "<assistant>"})
            case "/health":
                return as_json({"status": "ok"})
            case _:
                return as_json(
                    {"error": {"code": 404, "message": "File Not Found"}}, "404 Not Found"
                )

    async def _play(
        self,
        steps: Sequence[Step],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """Do the steps; -> whether the connection stays."""
        for step in steps:
            match step:
                case bytes():
                    writer.write(step)
                    await writer.drain()
                case "hang":
                    if not await reader.read(1):
                        self.gone += 1
                    return False
                case "abort":
                    writer.transport.abort()
                    return False
                case "close":
                    return False
                case seconds:
                    assert not isinstance(seconds, str)
                    end = asyncio.get_running_loop().time() + seconds
                    while not self.ended and asyncio.get_running_loop().time() < end:
                        await asyncio.sleep(min(seconds, 0.05))
        return True


async def read_request(reader: asyncio.StreamReader) -> Asked | None:
    """One request; None when the connection is closed."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = b""
    if "content-length" in headers:
        body = await reader.readexactly(int(headers["content-length"]))
    elif headers.get("transfer-encoding") == "chunked":
        while size := int((await reader.readline()).strip(), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    return Asked(method, target, headers, body)


@contextlib.asynccontextmanager
async def running(fake: Fake, tls: ssl.SSLContext | None = None) -> AsyncIterator[Fake]:
    """The server, listening."""
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0, backlog=1024, ssl=tls)
    fake.url = f"http{'s' if tls else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield fake
    finally:
        server.close()
        fake.ended = True
        for writer in list(fake.writers):
            writer.transport.abort()
        while fake.writers:
            await asyncio.sleep(0.01)


@dataclass
class Proxy:
    """The proxy, and a client of it."""

    client: httpx.AsyncClient
    service: Service
    log: io.StringIO
    url: str

    async def records(self, count: int) -> list[dict[str, Any]]:
        """What was logged of so many requests: a line comes behind the answer's last byte."""
        while True:
            found = [json.loads(line) for line in self.log.getvalue().splitlines()]
            found = [r for r in found if r["event"] == "request"]
            if len(found) >= count:
                return found
            await asyncio.sleep(0.01)

    async def chat(
        self, body: Any, path: str = "/v1/chat/completions", **more: Any
    ) -> httpx.Response:
        """Post a request."""
        return await self.client.post(path, json=body, **more)


class Here:
    """Compiles without a process, which takes a second to start."""

    async def start(self) -> None:
        """Nothing to start."""

    async def compile(self, order: Order) -> bytes:
        """As the processes do."""
        return packed(prepare(order))

    async def close(self) -> None:
        """Nothing to end."""


HERE = Here()


@contextlib.asynccontextmanager
async def proxied(url: str, pool: Compiler | None = HERE, **settings: Any) -> AsyncIterator[Proxy]:
    """The proxy in front of a server; `pool` None: with processes that compile."""
    given = {"dialect": "hermes-json", "upstream": url, "compile_workers": 1, **settings}
    log = io.StringIO()
    service = make_service(Settings(**given), Log(log), pool=pool)
    listening = listen("127.0.0.1", 0)
    server = server_of(make_app(service))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    own = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        while not server.started:
            await asyncio.sleep(0.01)
            assert not task.done()
        async with httpx.AsyncClient(base_url=own, timeout=60, trust_env=False) as client:
            yield Proxy(client, service, log, own)
    finally:
        server.should_exit = True
        await task
        listening.close()


@contextlib.asynccontextmanager
async def proxied_fake(
    answers: dict[str, Handler] | None = None, **settings: Any
) -> AsyncIterator[tuple[Fake, Proxy]]:
    """Both."""
    async with running(Fake(answers or {})) as fake, proxied(fake.url, **settings) as proxy:
        yield fake, proxy


def events(data: bytes) -> list[Any]:
    """The JSON of a stream's events; "[DONE]" as it is."""
    found = []
    for line in data.decode().splitlines():
        if line.startswith("data: "):
            text = line.removeprefix("data: ")
            found.append(text if text == "[DONE]" else json.loads(text))
    return found
