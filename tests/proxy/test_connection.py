"""One connection to the server: kept for what follows, and every way in which it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from calligram.proxy.connection import Response
from calligram.proxy.pieces import UpstreamFault, parsed
from calligram.proxy.sse import Event
from calligram.proxy.upstream import Kept, Upstream, read_whole
from tests.proxy.fakes import EVENTS, Asked, Fake, as_json, chunk, piece, plain, running

OK = as_json({"a": 1})


def run(answers: dict[str, Any], body: Callable[[Fake, Upstream], Awaitable[None]]) -> None:
    """Run a test's body with a server, and the proxy's way to it."""

    async def whole() -> None:
        async with running(Fake(answers)) as fake, asyncio.timeout(20):
            await body(fake, Upstream(fake.url, connect=1.0, read=1.0))

    asyncio.run(whole())


async def asked(upstream: Upstream, kept: Kept, last: bool) -> Response:
    """The response to a request whose body was read."""
    response = await upstream.send("POST", b"/x", (), b"{}", kept=kept, last=last)
    assert await read_whole(response) == OK[0][-8:]  # type: ignore[index]
    return response


def test_what_follows_goes_on_the_same_connection() -> None:
    async def body(fake: Fake, upstream: Upstream) -> None:
        kept = Kept()
        for last in (False, False, True):
            response = await asked(upstream, kept, last)
        assert kept.connection is None
        response.close()
        assert (len(fake.asked), fake.connections) == (3, 1)
        assert [a.headers.get("connection") for a in fake.asked] == [None, None, "close"]

    run({"/x": lambda _: OK}, body)


@pytest.mark.parametrize("wait", [0.0, 0.1])
def test_a_kept_connection_that_the_server_has_closed_is_replaced(wait: float) -> None:
    """Noticed before the request is sent, or by its getting no answer."""

    async def body(fake: Fake, upstream: Upstream) -> None:
        kept = Kept()
        await asked(upstream, kept, False)
        await asyncio.sleep(wait)
        (await asked(upstream, kept, True)).close()
        assert fake.connections == 2

    run({"/x": lambda _: [*OK, "close"]}, body)


@pytest.mark.parametrize("more", [b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{9}", b"\r\n"])
@pytest.mark.parametrize("apart", [[], [0.05]])
def test_what_comes_behind_an_answer_is_not_the_next_ones(more: bytes, apart: list[Any]) -> None:
    async def body(fake: Fake, upstream: Upstream) -> None:
        kept = Kept()
        await asked(upstream, kept, False)
        await asyncio.sleep(0.1)
        (await asked(upstream, kept, True)).close()
        assert fake.connections == 2

    whole = OK if apart else [OK[0] + more]  # type: ignore[operator]
    run({"/x": lambda _: [*whole, *apart, *([more] if apart else [])]}, body)


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        (["close"], "broke-off"),
        (["abort"], "broke-off"),
        ([b"HTTP/1.1 200 OK\r\n", "close"], "broke-off"),
        ([b"SMTP ready\r\n\r\n", "hang"], "broke-off"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "close"], "broke-off"),
        ([b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "hang"], "broke-off"),
        ([b"HTTP/1.1 200 OK\r\nA: " + b"a" * 200_000, "hang"], "broke-off"),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "hang"], "broke-off"),
        (["hang"], "slow"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "hang"], "slow"),
    ],
)
def test_what_the_server_does_wrong_is_a_fault(steps: list[Any], kind: str) -> None:
    async def body(fake: Fake, upstream: Upstream) -> None:
        kept = Kept()
        await asked(upstream, kept, False)
        fake.answers["/x"] = lambda _: steps
        with pytest.raises(UpstreamFault) as caught:
            await read_whole(await upstream.send("POST", b"/x", (), b"{}", kept=kept))
        assert caught.value.kind == kind
        # Asked once more only where nothing at all was answered on the kept connection.
        assert len(fake.asked) == 2 + (steps in (["close"], ["abort"]))

    run({"/x": lambda _: OK}, body)


@pytest.mark.parametrize("status", [600, 799, 999])
def test_a_status_that_http_has_not_is_a_fault(status: int) -> None:
    """It could not be sent on."""

    async def body(fake: Fake, upstream: Upstream) -> None:
        with pytest.raises(UpstreamFault) as caught:
            await upstream.send("GET", b"/x", ())
        assert (caught.value.kind, caught.value.status) == ("garbage", 502)

    run({"/x": lambda _: plain(b"{}", f"{status} Odd")}, body)


@pytest.mark.parametrize(("count", "ends"), [(16, True), (17, False)])
def test_interim_answers_are_passed_over_but_not_without_end(count: int, ends: bool) -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"

    async def body(fake: Fake, upstream: Upstream) -> None:
        if ends:
            assert await upstream.ask("GET", "/x", ()) == {"a": 1}
            return
        with pytest.raises(UpstreamFault, match="interim") as caught:
            await upstream.ask("GET", "/x", ())
        assert caught.value.kind == "garbage"

    run({"/x": lambda _: [interim * count, *OK]}, body)


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": [1e999]}', '{"a": -1' + "0" * 309 + "}"])
def test_what_could_not_be_written_again_is_not_read(text: str) -> None:
    async def body(fake: Fake, upstream: Upstream) -> None:
        with pytest.raises(UpstreamFault, match="no JSON"):
            await upstream.ask("GET", "/x", ())
        with pytest.raises(UpstreamFault, match="no JSON"):
            parsed(Event("", text))
        fake.answers["/x"] = lambda _: plain(text.encode(), "400 Bad Request")
        with pytest.raises(UpstreamFault) as caught:
            await upstream.ask("GET", "/x", ())
        # Its words are told, and it is not passed on as it is.
        assert (caught.value.status, caught.value.body) == (400, None)
        assert text[:100] in caught.value.message

    run({"/x": lambda _: plain(text.encode())}, body)


def test_what_comes_at_once_goes_on_at_once_and_what_comes_before_a_fault_is_told() -> None:
    async def body(fake: Fake, upstream: Upstream) -> None:
        response = await upstream.send("GET", b"/x", ())
        assert await response.part() == b"abcdefg"
        with pytest.raises(UpstreamFault, match="broke off"):
            await response.part()
        response.close()

    run({"/x": lambda _: [EVENTS + chunk(b"abc") + chunk(b"defg") + b"zz\r\n"]}, body)


def test_an_answer_before_all_was_sent_counts() -> None:
    """A server that refuses a body by its length does not read it."""

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(200):
            yield b"x" * 100_000
            await asyncio.sleep(0)

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(plain(b"{}", "413 Payload Too Large")[0])  # type: ignore[arg-type]
        await writer.drain()
        await asyncio.sleep(0.1)
        writer.close()

    async def whole() -> None:
        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with asyncio.timeout(20):
            upstream = Upstream(f"http://127.0.0.1:{port}", connect=1.0, read=5.0)
            response = await upstream.send("POST", b"/x", (), parts())
            assert response.status == 413
            response.close()
        server.close()
        await server.wait_closed()

    asyncio.run(whole())


def test_events_before_what_is_none_are_told() -> None:
    def answer(_: Asked) -> Any:
        return [EVENTS + piece("a") + chunk(b"<html>\n\n"), "hang"]

    async def body(fake: Fake, upstream: Upstream) -> None:
        told = []
        with pytest.raises(UpstreamFault) as caught:
            async for events in upstream.events("/x", (), {}):
                told += events
        assert caught.value.kind == "garbage" and len(told) == 1

    run({"/x": answer}, body)


def test_nobody_listens() -> None:
    async def whole() -> None:
        for url, kind in (("http://127.0.0.1:9", "down"), ("http://nobody.invalid", "down")):
            with pytest.raises(UpstreamFault) as caught:
                await Upstream(url, connect=5.0, read=1.0).send("GET", b"/x", ())
            assert (caught.value.kind, caught.value.status) == (kind, 502)

    asyncio.run(whole())
