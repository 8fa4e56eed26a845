"""Faults: of the server, of the network, of clients. Nobody hangs, nobody else notices."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from typing import Any

import httpx
import pytest

import calligram
from calligram.proxy.knowledge import FAILED
from tests.proxy.fakes import (
    EVENTS,
    PROPS,
    Asked,
    Fake,
    Proxy,
    as_json,
    chunk,
    ending,
    events,
    piece,
    plain,
    proxied,
    proxied_fake,
)
from tests.proxy.test_serving import run, says
from tests.proxy.tools import CALL, TOOLS, USER, request

GOOD = calligram.compile_tools(TOOLS, "hermes-json").render([CALL])
DEAD_END = "got exception: Unexpected empty grammar stack after accepting piece: x"
PATHS = ["/v1/chat/completions", "/v1/messages"]


@pytest.mark.parametrize("path", [*PATHS, "/v1/models"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_server_that_is_down(path: str, stream: bool) -> None:
    async def body() -> None:
        with socket.create_server(("127.0.0.1", 0)) as found:
            port = found.getsockname()[1]
        async with proxied(f"http://127.0.0.1:{port}") as proxy:
            answer = await proxy.chat(request(stream=stream), path)
            assert answer.status_code == 502
            error = answer.json()["error"]
            assert "cannot be reached" in error["message"]
            assert path != PATHS[0] or error["code"] == "upstream-down"
            health = await proxy.client.get("/calligram/health")
            assert (health.status_code, health.json()["upstream"]) == (503, "down")
            text = (await proxy.client.get("/metrics")).text
            assert 'calligram_upstream_faults_total{kind="down"} 1' in text

    asyncio.run(body())


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("where", ["/props", "/apply-template", "/completion"])
def test_a_server_that_stays_silent(path: str, where: str) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.chat(request(), path)
        assert answer.status_code == 504
        message = answer.json()["error"]["message"]
        assert "silent" in message
        await until(lambda: fake.gone >= 1)

    run(body, {**says(GOOD), where: lambda _: ["hang"]}, read_seconds=0.3)


BROKEN: dict[str, tuple[list[Any], str]] = {
    "closes": ([EVENTS, piece("<tool_call>\n"), piece('{"name": "set_t'), "close"], "broke-off"),
    "aborts": ([EVENTS, piece("<tool_call>\n"), "abort"], "broke-off"),
    "ends early": ([EVENTS, piece("<tool_call>\n"), b"0\r\n\r\n"], "broke-off"),
    "falls silent": ([EVENTS, piece("<tool_call>\n"), "hang"], "slow"),
    "garbage": ([EVENTS, piece("<tool_call>\n"), chunk(b"<html>\n\n"), "hang"], "garbage"),
    "no JSON": ([EVENTS, piece("<tool_call>\n"), chunk(b"data: {\n\n"), "hang"], "garbage"),
    "no chunks": ([EVENTS, piece("<tool_call>\n"), b"xyz\r\n", "hang"], "broke-off"),
    "a dead end": (
        [
            EVENTS,
            piece("<tool_call>\n"),
            chunk(b"data: " + json.dumps({"error": {"code": 500, "message": DEAD_END}}).encode()
                  + b"\n\n"),
            b"0\r\n\r\n",
        ],
        "dead-end",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_an_answer_that_breaks_off_says_so_in_the_stream(name: str) -> None:
    steps, kind = BROKEN[name]

    async def body(fake: Fake, proxy: Proxy) -> None:
        # A call begun, so that there is something to tell before the fault.
        answer = await proxy.chat(request(stream=True))
        assert answer.status_code == 200
        told = events(answer.content)
        assert told[-1]["error"]["code"] == f"upstream-{kind}" and "[DONE]" not in told
        answer = await proxy.chat(request(stream=True), "/v1/messages")
        assert b"event: error\n" in answer.content
        last = events(answer.content)[-1]
        assert last["type"] == "error" and last["error"]["type"] in ("api_error", "timeout_error")
        answer = await proxy.chat(request())
        assert answer.status_code in (502, 504)
        assert answer.json()["error"]["code"] == f"upstream-{kind}"

    first = [*steps[:1], piece("Hm. "), *steps[1:]]
    run(body, {"/completion": lambda _: first}, read_seconds=0.3)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("status", "theirs"),
    [
        ("400 Bad Request", {"error": {"code": 400, "message": "no", "type": "x"}}),
        ("503 Service Unavailable", {"error": {"code": 503, "message": "Loading model"}}),
        ("401 Unauthorized", {"error": {"code": 401, "message": "Invalid API Key"}}),
    ],
)
@pytest.mark.parametrize("where", ["/props", "/apply-template", "/completion"])
def test_the_servers_own_errors_keep_their_status_and_words(
    where: str, status: str, theirs: Any, stream: bool
) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.chat(request(stream=stream))
        assert answer.status_code == int(status[:3]) and answer.json() == theirs
        answer = await proxy.chat(request(stream=stream), "/v1/messages")
        assert answer.status_code == int(status[:3])
        assert answer.json()["error"]["message"] == theirs["error"]["message"]

    run(body, {**says(GOOD), where: lambda _: as_json(theirs, status)})


@pytest.mark.parametrize(
    "steps",
    [
        plain(b"<html>", kind="text/html"),
        plain(b"<html>", "500 Internal Server Error"),
        plain(b"[]"),
        plain(b'{"prompt": 3}'),
        [b"nonsense\r\n\r\n", "close"],
        ["close"],
    ],
)
@pytest.mark.parametrize("where", ["/apply-template", "/completion"])
def test_garbage_is_an_error_of_the_server(steps: list[Any], where: str) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        for path in PATHS:
            answer = await proxy.chat(request(), path)
            assert answer.status_code in (500, 502) and answer.json()["error"]["message"]

    run(body, {**says(GOOD), where: lambda _: steps})


@pytest.mark.parametrize(
    ("steps", "status", "words"),
    [
        (plain(b'{"content": "x", "stop": true}'), 502, "no events"),
        (plain(b"Out of\n\x00memory " + b"x" * 500, "500 Internal Server Error", "text/plain"), 500,
         "Out of"),
    ],
)  # fmt: skip
def test_what_is_no_stream_is_named_by_what_it_is(
    steps: list[Any], status: int, words: str
) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.chat(request())
        error = answer.json()["error"]
        assert answer.status_code == status and words in error["message"]
        assert error["code"] == ("upstream-garbage" if status == 502 else "upstream-refused")
        assert len(error["message"]) < 300 and error["message"].isprintable()

    run(body, {**says(GOOD), "/completion": lambda _: steps})


def test_no_connection_is_kept_since_each_takes_a_thread_of_the_server() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        await proxy.chat(request(tool_choice="required"))
        await proxy.client.get("/v1/models")
        # The grammar was new: the server must not wait for it.
        assert fake.connections == len(fake.asked)
        await proxy.chat(request(tool_choice="required"))
        # What one request asks, it asks on one connection; that is closed with its last.
        assert fake.connections == len(fake.asked) - 1
        kept = [a.target for a in fake.asked if a.headers.get("connection") != "close"]
        assert kept == ["/apply-template"] * 2
        await until(lambda: not fake.writers)

    run(body, says(GOOD))


def test_a_passed_stream_that_breaks_off_says_so() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.chat({"messages": USER, "stream": True})
        first, last = events(answer.content)
        assert first["content"] == "a" and last["error"]["code"] == "upstream-broke-off"
        with pytest.raises(httpx.RemoteProtocolError):
            await proxy.client.get("/v1/models")
        assert (await proxy.client.get("/health")).status_code == 200

    half = [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "close"]
    answers = {
        "/v1/chat/completions": lambda _: [EVENTS, piece("a"), "close"],
        "/v1/models": lambda _: half,
    }
    run(body, answers)


# -- clients


async def until(true: Any, seconds: float = 5.0) -> None:
    """Wait until it is."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("tools", [TOOLS, None])
def test_when_the_client_goes_the_server_is_told(stream: bool, tools: Any) -> None:
    """Passed or constrained: the connection to the server is closed, which stops its work."""

    async def body(fake: Fake, proxy: Proxy) -> None:
        sent = request(stream=stream, tools=tools)
        call = asyncio.create_task(proxy.chat(sent))
        path = "/completion" if tools else "/v1/chat/completions"
        await until(lambda: any(a.target == path for a in fake.asked))
        await asyncio.sleep(0.1)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await until(lambda: fake.gone == 1)
        await until(lambda: proxy.service.metrics.active == 0)
        record = (await proxy.records(1))[0]
        assert record["gone"] is True

    steps: list[Any] = [EVENTS, piece("a"), "hang"]
    run(body, {p: lambda _: steps for p in ("/completion", "/v1/chat/completions")})


def test_a_client_that_goes_while_it_sends_leaves_nothing_behind() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        host, port = proxy.url.removeprefix("http://").split(":")
        for path in (*PATHS, "/other"):
            _, writer = await asyncio.open_connection(host, int(port))
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
            writer.write(head.encode() + b"{")
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.transport.abort()
        await until(lambda: proxy.service.metrics.active == 0)
        assert (await proxy.client.get("/health")).status_code == 200
        assert all(a.target != "/other" for a in fake.asked)

    run(body)


def test_a_slow_client_does_not_hold_up_another() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        async with proxy.client.stream("POST", PATHS[0], json=request(stream=True)) as slow:
            answer = await proxy.chat(request())
            assert answer.status_code == 200
            await slow.aread()
            assert events(slow.content)[-1] == "[DONE]"

    run(body, says("x" * 100_000))


def test_two_streams_at_once_are_not_mixed_up() -> None:
    def answer(asked: Asked) -> Any:
        name = asked.json["prompt"].removesuffix("<assistant>")
        steps: list[Any] = [EVENTS]
        for number in range(20):
            steps += [piece(f"{name}{number} "), 0.001]
        return [*steps, ending(), b"0\r\n\r\n"]

    async def body(fake: Fake, proxy: Proxy) -> None:
        async def one(name: str) -> None:
            messages = [{"role": "user", "content": name}]
            answer = await proxy.chat(request(messages=messages, stream=True))
            chunks = events(answer.content)[:-1]
            text = "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks)
            assert text.split() == [f"{name}{n}" for n in range(20)]

        await asyncio.gather(*(one(f"n{i}x") for i in range(30)))

    run(body, {"/completion": answer})


def test_clients_of_a_silent_server_wait_for_one_answer() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        got = await asyncio.gather(*(proxy.chat(request()) for _ in range(8)))
        assert {a.status_code for a in got} == {504}
        again = await proxy.chat(request())
        assert again.status_code == 504
        assert [a.target for a in fake.asked] == ["/props"]
        fake.answers.pop("/props")
        await asyncio.sleep(FAILED + 0.3)
        assert (await proxy.chat(request())).status_code == 200

    run(body, {**says(GOOD), "/props": lambda _: ["hang"]}, read_seconds=0.9)


def test_what_the_server_refuses_to_one_key_it_may_tell_another() -> None:
    def props(asked: Asked) -> Any:
        if asked.headers.get("authorization") != "Bearer right":
            return as_json({"error": {"message": "Invalid API Key"}}, "401 Unauthorized")
        return as_json(PROPS)

    async def body(fake: Fake, proxy: Proxy) -> None:
        for key, status in (("wrong", 401), ("right", 200)):
            headers = {"authorization": f"Bearer {key}"}
            assert (await proxy.chat(request(), headers=headers)).status_code == status

    run(body, {**says(GOOD), "/props": props})


@pytest.mark.parametrize(
    ("where", "steps", "kind"),
    [
        ("/health", ["hang"], "slow"),
        ("/props", ["hang"], "slow"),
        ("/props", [b"HTTP/1.1 200 OK\r\n\r\n", *[b" ", 0.5] * 20], "slow"),
        ("/props", plain(b"no", "500 Internal Server Error"), "refused"),
    ],
)
def test_health_names_what_fails_in_time(where: str, steps: list[Any], kind: str) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        start = time.monotonic()
        answer = await proxy.client.get("/calligram/health")
        assert answer.status_code == 503 and time.monotonic() - start < 3.5
        found = answer.json()
        assert found["upstream"] == ("ok" if where == "/props" else kind) and found["message"]
        assert where != "/props" or found["props"] == kind

    run(body, {where: lambda _: steps})


def test_health_needs_no_dialect_while_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLIGRAM_DISABLE", "1")

    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.client.get("/calligram/health")
        assert answer.status_code == 200 and answer.json()["disabled"] is True

    run(body, {"/props": lambda _: ["hang"]})


def test_the_server_may_come_back_with_another_model() -> None:
    async def body() -> None:
        async with proxied_fake(says(GOOD)) as (fake, proxy):
            await proxy.chat(request())
            known = proxy.service.knowledge.known
            assert known is not None and known.model == "fake"
            fake.answers["/props"] = lambda _: as_json({"model_alias": "other"})
            object.__setattr__(known, "since", known.since - 1000)
            await proxy.chat(request())
            renewed = proxy.service.knowledge
            await until(lambda: renewed.known is not known)
            assert renewed.known is not None and renewed.known.model == "other"

    asyncio.run(body())
