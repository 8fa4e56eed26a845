"""Switched off, the proxy is not there: fifty exchanges with llama.cpp's own server, straight and
through the proxy, are the same bytes both ways.

A relay in front of the server records what it receives. Left out of the comparison is only what
HTTP makes of each connection (Host, Connection, Via, how a body is framed; names of headers, whose
case means nothing, are compared in lower case), and what the server itself varies from one answer
to the next: ids, times and the rates that it works out from them. Sampling is greedy, and no
prompt is kept, so that all else is the same.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest

from calligram.demo_client import find_model, running_server
from tests.proxy.fakes import proxied
from tests.proxy.tools import TOOLS, allowed, named

pytest.importorskip("xllamacpp")
pytestmark = pytest.mark.slow

OF_A_CONNECTION = {"host", "connection", "via", "content-length", "transfer-encoding", "keep-alive"}
VARIES = re.compile(
    rb'"timings":\{[^{}]*\}|"(?:created|created_at|completed_at|timestamp|t_[a-z]+)":\d+'
    rb'|"(?:id|item_id|response_id|tool_call_id|generation_id)":"[^"]*"'
    rb'|"(?:generation_settings|prompt_progress)":\{[^{}]*\}|"id_slot":\d+|"id_task":\d+'
)
GREEDY = {"temperature": 0, "seed": 1, "cache_prompt": False}
USER = [{"role": "user", "content": "Say hello in one word."}]
CHAT = {"model": "m", "messages": USER, "max_tokens": 6, **GREEDY}
MESSAGES = {"model": "m", "messages": USER, "max_tokens": 5, **GREEDY}
JSON = "Content-Type: application/json"
HISTORY = [
    *USER,
    {"role": "assistant", "content": 'Hélló ☃ "quoted" \\ \n</s>'},
    {"role": "user", "content": "漢字 \u0000 \U0001f600"},
]


class Sent(NamedTuple):
    """One request, as a client writes it."""

    method: str
    target: str
    body: bytes | None = None
    headers: tuple[str, ...] = (JSON,)
    chunked: bool = False

    def wire(self) -> bytes:
        """Its bytes."""
        lines = [f"{self.method} {self.target} HTTP/1.1", "Host: localhost", *self.headers]
        data = self.body or b""
        if self.chunked:
            lines.append("Transfer-Encoding: chunked")
            half = len(data) // 2
            parts = [p for p in (data[:half], data[half:]) if p]
            data = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts) + b"0\r\n\r\n"
        elif self.body is not None:
            lines.append(f"Content-Length: {len(data)}")
        return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + data


def post(target: str, value: Any, *headers: str, chunked: bool = False, **how: Any) -> Sent:
    """A request with a JSON body, written in a way of its own."""
    data = json.dumps(value, **how).encode()
    return Sent("POST", target, data, (JSON, *headers), chunked)


def recorded() -> Iterator[Sent]:
    """The fifty."""
    chat, completion, messages = "/v1/chat/completions", "/completion", "/v1/messages"
    # Chats without tools.
    yield post(chat, CHAT)
    yield post(chat, CHAT, indent=3)
    yield post(chat, {**CHAT, "stream": True})
    yield post(chat, {**CHAT, "stream": True, "stream_options": {"include_usage": True}})
    yield post(chat, {**CHAT, "messages": HISTORY}, ensure_ascii=False)
    yield post(chat, {**CHAT, "messages": HISTORY, "stream": True})
    yield post(chat, {**CHAT, "logprobs": True, "top_logprobs": 2, "max_tokens": 3})
    yield post(chat, {**CHAT, "stop": ["o"]})
    yield post(chat, {**CHAT, "grammar": 'root ::= "yes" | "no"'})
    yield post(chat, {**CHAT, "response_format": {"type": "json_object"}})
    yield post("/chat/completions", CHAT)
    # With tools, which would be constrained.
    for choice in ("auto", "none", "required", named("set_timer"), allowed("auto", "set_timer")):
        yield post(chat, {**CHAT, "tools": TOOLS, "tool_choice": choice, "max_tokens": 4})
    yield post(chat, {**CHAT, "tools": TOOLS, "stream": True, "parallel_tool_calls": False})
    yield post(chat, {**CHAT, "tools": [{"type": "custom", "custom": {"name": "free"}}]})
    yield post(chat, {**CHAT, "tools": TOOLS, "tool_choice": named("nobody")})
    # Anthropic's and OpenAI's other APIs.
    yield post(messages, MESSAGES, "X-Api-Key: k", "Anthropic-Version: 2023-06-01")
    yield post(messages, {**MESSAGES, "stream": True})
    yield post(messages, {**MESSAGES, "tools": [{"name": "a", "input_schema": {}}]})
    yield post(messages + "/count_tokens", MESSAGES)
    yield post("/v1/responses", {"model": "m", "input": "Hi.", "max_output_tokens": 4, **GREEDY})
    # Completions and the rest of the server.
    yield post(completion, {"prompt": "Once", "n_predict": 5, **GREEDY})
    yield post(completion, {"prompt": "Once", "n_predict": 5, "stream": True, **GREEDY})
    yield post("/v1/completions", {"prompt": "Once", "max_tokens": 4, **GREEDY})
    yield post("/v1/completions", {"prompt": "Once", "max_tokens": 4, "stream": True, **GREEDY})
    yield post("/tokenize", {"content": "Hello <|im_end|> é", "add_special": True})
    yield post("/detokenize", {"tokens": [1, 2, 3, 400]})
    yield post("/apply-template", {"messages": USER, "tools": TOOLS})
    yield post("/v1/embeddings", {"input": "x"})
    yield post("/infill", {"input_prefix": "def ", "input_suffix": "x"})
    for target in (
        "/health",
        "/props",
        "/v1/models",
        "/slots",
        "/nowhere",
        "/",
        "/health?a=%20b&c",
    ):
        yield Sent("GET", target, None, ())
    yield Sent("OPTIONS", chat, None, ("Origin: http://a", "Access-Control-Request-Method: POST"))
    yield Sent("HEAD", "/health", None, ())
    # What is broken, and what is odd.
    yield Sent("POST", chat, b'{"messages": [')
    yield Sent("POST", chat, b"\xff\xfe{}")
    yield Sent("POST", chat, b"")
    yield Sent("POST", messages, b"[1, 2]")
    yield post(chat, {"messages": 3})
    yield post(
        chat, CHAT, "X-Calligram: on", "X-Odd:   two  words  ", "X-ODD: again", "aCCept: */*"
    )
    yield post(chat, {**CHAT, "stream": True}, "Origin: http://a", "Cookie: a=b; c=d", chunked=True)
    yield post(completion, {"prompt": "é", "n_predict": 3, **GREEDY}, chunked=True)


class Message(NamedTuple):
    """One request or answer taken apart: its first line, its headers, its body unframed."""

    first: bytes
    headers: list[tuple[str, bytes]]
    body: bytes


def taken_apart(data: bytes) -> Message:
    """A message of which nothing follows."""
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    pairs = [line.partition(b":") for line in lines]
    headers = [(name.decode().lower(), value.strip()) for name, _, value in pairs]
    named_so = dict(headers)
    if named_so.get("transfer-encoding") == b"chunked":
        body = unchunked(body)
    elif "content-length" in named_so and not first.endswith(b"HEAD"):
        assert len(body) in (0, int(named_so["content-length"]))
    return Message(first, [h for h in headers if h[0] not in OF_A_CONNECTION], body)


def unchunked(data: bytes) -> bytes:
    """A body without its framing."""
    found = b""
    while True:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            return found
        found, data = found + data[:length], data[length + 2 :]


@asynccontextmanager
async def relayed(address: str, received: list[bytes]) -> AsyncIterator[str]:
    """The address of a relay that records what the server receives, a connection each."""
    host, port = address.removeprefix("http://").split(":")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(received)
        received.append(b"")
        theirs, ours = await asyncio.open_connection(host, int(port))

        async def copy(source: asyncio.StreamReader, to: asyncio.StreamWriter, note: bool) -> None:
            while data := await source.read(65536):
                received[number] += data if note else b""
                to.write(data)
                await to.drain()
            to.write_eof()

        try:
            there = asyncio.create_task(copy(reader, ours, True))
            await copy(theirs, writer, False)
            there.cancel()
            await asyncio.gather(there, return_exceptions=True)
        except ConnectionError:
            pass
        finally:
            for one in (ours, writer):
                one.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()


async def answer_to(address: str, sent: Sent) -> bytes:
    """All that comes back."""
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(sent.wire())
    data = await reader.read(-1)
    writer.close()
    await writer.wait_closed()
    return data


def test_fifty_exchanges_are_the_bare_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLIGRAM_DISABLE", "1")
    exchanges = list(recorded())
    assert len(exchanges) == 50

    async def whole(server: str) -> None:
        received: list[bytes] = []
        async with relayed(server, received) as relay, proxied(relay) as proxy:
            for sent in exchanges:
                told = []
                for address in (relay, proxy.url):
                    told.append(taken_apart(await answer_to(address, sent)))
                assert len(received) == 2, sent
                straight, through = (taken_apart(data) for data in received)
                assert through == straight, sent
                assert through.body == (sent.body or b"")
                bare, ours = told
                assert ours.first == bare.first and ours.headers == bare.headers, sent
                assert VARIES.sub(b"", ours.body) == VARIES.sub(b"", bare.body), sent
                received.clear()

    with running_server(find_model()) as server:
        asyncio.run(whole(server))
