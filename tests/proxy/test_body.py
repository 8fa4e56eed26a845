"""Reading a body holds up everybody else: what it may take is bounded, and counted rightly."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.proxy.body import TooManyValues, read_object
from tests.proxy.fakes import Fake, Proxy
from tests.proxy.test_serving import GOOD, run, says
from tests.proxy.tools import request

VALUES = st.recursive(
    st.none() | st.integers() | st.text(alphabet='a,[{"\\é\n', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(alphabet='a,[{"\\', max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)


def places(value: Any) -> int:
    """Commas and opening brackets of its JSON that are not in strings."""
    if isinstance(value, (dict, list)):
        inner = list(value.values()) if isinstance(value, dict) else value
        return 1 + max(0, len(inner) - 1) + sum(map(places, inner))
    return 0


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=4), st.booleans())
def test_values_are_counted_and_not_what_strings_hold(value: dict[str, Any], ascii: bool) -> None:
    data = json.dumps(value, ensure_ascii=ascii).encode()
    count = places(value)
    assert asyncio.run(read_object(data, [], count)) == value
    if count > 1:
        with pytest.raises(TooManyValues):
            asyncio.run(read_object(data, [], count - 1))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_a_body_of_too_many_values_is_refused(path: str) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.chat(request(x=[[]] * 3000), path)
        assert answer.status_code == 413 and "1,000 values" in answer.json()["error"]["message"]
        assert fake.asked == []
        answer = await proxy.chat(request(user="a,[{" * 3000, max_tokens=9), path)
        assert answer.status_code == 200

    run(body, says(GOOD), max_values=1000)


def test_a_hostile_body_holds_up_nobody() -> None:
    """Millions of values would take seconds to read."""

    async def body(fake: Fake, proxy: Proxy) -> None:
        sent = b'{"x": [' + b"[]," * 2_000_000 + b"[]]}"
        start = time.monotonic()
        answer = await proxy.client.post("/v1/chat/completions", content=sent)
        assert answer.status_code == 413 and time.monotonic() - start < 2

    run(body)


def test_pieces_do_not_wait_for_the_client_to_confirm_those_before() -> None:
    """Without TCP_NODELAY each answer on a connection that is kept takes forty milliseconds."""

    async def body(fake: Fake, proxy: Proxy) -> None:
        def twenty() -> float:
            host, port = proxy.url.removeprefix("http://").split(":")
            with socket.create_connection((host, int(port))) as own:
                start = time.monotonic()
                for _ in range(20):
                    own.sendall(b"GET /calligram/metrics HTTP/1.1\r\nHost: a\r\n\r\n")
                    data = b""
                    while b"calligram_grammars_made" not in data or not data.endswith(b"\n"):
                        data += own.recv(65536)
                return time.monotonic() - start

        assert await asyncio.to_thread(twenty) < 20 * 0.03

    run(body)
