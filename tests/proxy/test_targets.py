"""What is asked for, and how: targets and framing that no client of a server has, and headers."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.proxy.fakes import Fake, Proxy, plain, proxied, running
from tests.proxy.test_serving import run, says
from tests.proxy.tools import USER, request


async def raw(proxy: Proxy, head: str, body: bytes = b"") -> tuple[int, bytes]:
    """Status and body of the answer to bytes that no client library sends."""
    host, port = proxy.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    lines = head.replace("\n", "\r\n")
    writer.write(f"{lines}\r\nHost: x\r\nConnection: close\r\n\r\n".encode() + body)
    await writer.drain()
    data = await reader.read()
    writer.close()
    await writer.wait_closed()
    first, _, rest = data.partition(b"\r\n\r\n")
    return int(first.split(b" ")[1]), rest


@pytest.mark.parametrize(
    "target",
    [
        '/a"b',
        "/x//y?",
        "/x??",
        "//",
        "/a%20b?c=%22",
        "/%7Euser?q=/../x",
        "/a...b/..c",
        "/x|y",
        "/v1/models;a",
    ],
)
def test_a_target_reaches_the_server_as_it_was_written(target: str) -> None:
    async def whole() -> None:
        async with running(Fake()) as fake, proxied(fake.url + "/pre") as proxy:
            await raw(proxy, f"GET {target} HTTP/1.1")
            assert [a.target for a in fake.asked] == ["/pre" + target]

    asyncio.run(whole())


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("GET /../admin", 400),
        ("GET /%2e%2E/admin", 400),
        ("GET /a/b%2f..%2fadmin", 400),
        ("GET /a\\..\\admin", 400),
        ("POST /v1/./chat/completions", 400),
        ("GET /v1/chat/completions/..", 400),
        ("GET http://evil/x", 400),
        ("OPTIONS *", 400),
        ("CONNECT evil:443", 400),
        ("GET /#frag", 400),
        ("GET /" + 20_000 * "x", 414),
        ("GET /?" + 70_000 * "x", 414),
        ("POST /v1/messages?" + 20_000 * "x", 414),
    ],
)
def test_targets_that_nobody_asks_for_are_refused(line: str, status: int) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        got, data = await raw(proxy, f"{line} HTTP/1.1")
        error = json.loads(data)["error"]
        assert got == status and error["message"]
        assert "messages" in line or error["code"].startswith("proxy-target")
        assert fake.asked == []
        (record,) = await proxy.records(1)
        assert record["status"] == status
        assert 'status="0"' not in proxy.service.metrics.text()

    run(body)


@pytest.mark.parametrize("path", ["/upload", "/v1/chat/completions"])
def test_the_transfer_encoding_wins_over_a_length(path: str) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        head = f"POST {path} HTTP/1.1\nContent-Length: 3\nTransfer-Encoding: chunked"
        status, _ = await raw(proxy, head, b'a\r\n{"a":  12}\r\n0\r\n\r\n')
        assert status == 200
        assert fake.last(path).body == b'{"a":  12}'

    run(body, {path: lambda _: plain(b"{}")})


def test_headers_of_a_connection_stay_there() -> None:
    answer = plain(b"{}")
    assert isinstance(answer[0], bytes)
    answer[0] = answer[0].replace(b"\r\n", b"\r\nConnection: close, X-Theirs\r\nX-Theirs: 1\r\n", 1)

    async def body(fake: Fake, proxy: Proxy) -> None:
        headers = {"connection": "close, X-Mine", "x-mine": "1", "x-other": "2"}
        got = await proxy.client.get("/x", headers=headers)
        assert got.status_code == 200 and "x-theirs" not in got.headers
        asked = fake.last("/x").headers
        assert "x-mine" not in asked and asked["x-other"] == "2"

    run(body, {"/x": lambda _: answer})


def test_a_proxy_that_is_its_own_upstream_does_not_ask_for_ever() -> None:
    async def whole() -> None:
        async with running(Fake()) as fake, proxied(fake.url) as proxy:
            upstream: Any = proxy.service.upstream
            own = int(proxy.url.rsplit(":", 1)[1])
            upstream._address = replace(upstream._address, port=own)
            got = await proxy.client.get("/x")
            assert (got.status_code, got.json()["error"]["code"]) == (508, "proxy-loop")
            got = await proxy.chat({"messages": USER})
            assert got.status_code == 508
            # Another proxy on the way is no loop.
        async with running(Fake()) as fake, proxied(fake.url) as inner, proxied(inner.url) as outer:
            assert (await outer.client.get("/health")).status_code == 200

    asyncio.run(whole())


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_a_body_near_the_limit_of_nesting_is_refused_or_sent_on(path: str) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        for depth in (100, 799, 800, *range(926, 1000, 7)):
            sent = json.dumps(request(x=0)).replace('"x": 0', f'"x": {"[" * depth}{"]" * depth}')
            answer = await proxy.client.post(path, content=sent)
            # With the request's own level 800 are taken.
            assert answer.status_code == (200 if depth < 800 else 400)
            if answer.status_code != 200:
                assert "nests deeper than 800" in answer.json()["error"]["message"]
        assert 'status="0"' not in proxy.service.metrics.text()

    run(body, says("Hello."))
