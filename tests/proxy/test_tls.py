"""A server that is reached by https: what it sends is the same, and a certificate that is not
trusted is said to be the reason."""

from __future__ import annotations

import asyncio
import importlib
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.proxy.fakes import Fake, events, proxied, running
from tests.proxy.test_serving import GOOD, calls_of, says
from tests.proxy.tools import USER, request

HERE = Path(__file__).parent / "tls"
CALL = [("set_timer", {"minutes": 10})]


def _server() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(HERE / "certificate.pem", HERE / "key.pem")
    return context


async def _answers_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1000)
    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    writer.close()


def _loops() -> list[Callable[[], asyncio.AbstractEventLoop]]:
    try:
        return [asyncio.new_event_loop, importlib.import_module("uvloop").new_event_loop]
    except ImportError:
        return [asyncio.new_event_loop]


@pytest.mark.parametrize("loop", _loops(), ids=lambda made: made.__module__)
def test_calls_come_by_https(
    monkeypatch: pytest.MonkeyPatch, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(HERE / "certificate.pem"))

    async def whole() -> None:
        async with running(Fake(says(GOOD)), _server()) as fake, proxied(fake.url) as proxy:
            for _ in range(2):
                answer = await proxy.chat(request(tool_choice="required"))
                assert calls_of(answer.json()) == CALL
            told = events((await proxy.chat(request(stream=True))).content)
            assert told[-1] == "[DONE]"
            assert told[-2]["choices"] == [] or told[-2]["choices"][0]["finish_reason"]
            # What is passed on too, more than one record of TLS holds.
            long = [{"role": "user", "content": "x" * 300_000}]
            passed = await proxy.chat({"messages": long, "tools": []})
            assert passed.status_code == 404
            assert fake.last("/v1/chat/completions").json["messages"] == long
            asked = await proxy.chat(request(messages=[*USER, *long]))
            assert asked.status_code == 200
            assert fake.last("/completion").json["prompt"].count("x") >= 300_000

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(asyncio.wait_for(whole(), 60))


@pytest.mark.parametrize("loop", _loops(), ids=lambda made: made.__module__)
def test_what_fails_is_said(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def ask(url: str) -> tuple[int, str]:
        async with proxied(url) as proxy:
            answers = [
                await proxy.chat(body)
                for body in (request(), {**request(), "tools": []}, request(stream=True))
            ]
            codes = {a.status_code for a in answers}
            texts = {a.json()["error"]["message"] for a in answers}
            assert len(codes) == len(texts) == 1
            return codes.pop(), texts.pop()

    async def whole() -> None:
        async with running(Fake(says(GOOD)), _server()) as fake:
            status, text = await ask(fake.url)
            assert status == 502 and "certificate is not accepted: self" in text
            status, _ = await ask(fake.url.replace("https", "http"))
            assert status == 502
        plain = await asyncio.start_server(_answers_plainly, "127.0.0.1", 0)
        async with plain:
            port = plain.sockets[0].getsockname()[1]
            status, text = await ask(f"https://127.0.0.1:{port}")
            assert status == 502 and "by TLS: " in text

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(asyncio.wait_for(whole(), 60))
