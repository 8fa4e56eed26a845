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

from calligram.proxy.body import MAX_DEPTH, TooManyValues, parsed_body, read_object
from calligram.proxy.request import RequestError
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


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ('{"a": NaN}', 6),
        ('{"NaN": "NaN, \\" 1e999", "b": [0, -Infinity]}', 34),
        ('{"a": 1e308, "b": 1e999}', 18),
        ('{"a": -1' + "0" * 309 + "}", 6),
        ('{"a": 1' + "0" * 5000 + "}", 6),
        ('{"a": tru}', 6),
    ],
)
def test_a_number_that_the_server_cannot_read_is_refused_at_its_place(text: str, at: int) -> None:
    """Written again it would be no JSON: `NaN`, `Infinity`."""
    with pytest.raises(RequestError, match=f"at character {at}$") as caught:
        parsed_body(text.encode(), [])
    assert caught.value.problems[0].code == "proxy-body"


def test_numbers_that_a_double_holds_are_read_as_they_are() -> None:
    whole = 10**308
    assert parsed_body(f'{{"a": {whole}, "b": -1.5e-7}}'.encode(), []) == {"a": whole, "b": -1.5e-7}


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_a_body_that_nests_too_deep_is_refused(opens: str, closes: str) -> None:
    def nested(levels: int) -> bytes:
        times, one = divmod(levels - 1, len(closes))
        inner = "[" * one + "]" * one
        return ('{"x":' + opens * times + (inner or "0") + closes * times + "}").encode()

    assert parsed_body(nested(MAX_DEPTH), [])
    for levels in (MAX_DEPTH + 1, MAX_DEPTH + 2, 100_000):
        with pytest.raises(RequestError) as caught:
            parsed_body(nested(levels), [])
        assert caught.value.problems[0].code == "text-too-deep"


def test_what_nests_as_deep_as_may_be_goes_all_the_way() -> None:
    """To the server, and into the log; a request that cannot is refused and not broken off."""
    inner = json.loads("[" * (MAX_DEPTH - 3) + "]" * (MAX_DEPTH - 3))

    async def body(fake: Fake, proxy: Proxy) -> None:
        message = {"role": "user", "content": "x", "z": inner}
        assert (await proxy.chat(request(messages=[message]))).status_code == 200
        (record,) = await proxy.records(1)
        assert record["messages"] == [message]
        choice = {"type": "auto", "z": inner}
        assert (await proxy.chat(request(tool_choice=choice))).status_code in (200, 400)

    run(body, says(GOOD), log_text=True)


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
