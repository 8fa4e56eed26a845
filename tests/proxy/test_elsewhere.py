"""Requests with tools to paths that are not constrained pass as they are, and it is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from calligram.proxy.elsewhere import Elsewhere
from tests.proxy.fakes import Fake, Proxy, as_json
from tests.proxy.test_serving import run
from tests.proxy.tools import TOOLS, USER

SENT = json.dumps({"input": "Hi.", "tools": TOOLS, "stream": False}).encode()
ANSWERS = {p: lambda _: as_json({"theirs": 1}) for p in ("/v1/responses", "/v1/completions")}


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/completions", "/v1/chat/completions/"])
def test_it_is_said_in_header_log_and_metrics(path: str) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.client.post(path, content=SENT)
        assert answer.headers["x-calligram-problems"] == "1"
        assert fake.last(path).body == SENT
        (record,) = await proxy.records(1)
        assert (record["route"], record["reason"]) == ("passed", "path")
        assert record["problems"] == [{"code": "proxy-path", "tool": None, "pointer": ""}]
        text = proxy.service.metrics.text()
        assert 'calligram_untouched_total{reason="path"} 1' in text
        assert 'calligram_problems_total{code="proxy-path"} 1' in text

    run(body, ANSWERS)


@pytest.mark.parametrize(
    ("path", "sent", "headers"),
    [
        ("/v1/responses", {"input": "Hi.", "tools": []}, {}),
        ("/v1/responses", {"input": 'He said "tools": [1]'}, {}),
        ("/v1/responses", {"input": "Hi.", "tools": TOOLS}, {"x-calligram": "off"}),
        ("/v1/messages/count_tokens", {"messages": USER, "tools": TOOLS}, {}),
        ("/apply-template", {"messages": USER, "tools": TOOLS}, {}),
    ],
)
def test_nothing_is_said_where_nothing_is_left_out(
    path: str, sent: dict[str, Any], headers: dict[str, str]
) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.client.post(path, json=sent, headers=headers)
        assert "x-calligram-problems" not in answer.headers
        assert "reason" not in (await proxy.records(1))[0]

    run(body, ANSWERS)


def test_nothing_is_said_while_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLIGRAM_DISABLE", "1")

    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.client.post("/v1/responses", content=SENT)
        assert "x-calligram-problems" not in answer.headers

    run(body, ANSWERS)


def test_tools_are_seen_however_the_body_is_cut_and_written() -> None:
    for text in (SENT, json.dumps(json.loads(SENT), indent=4).encode()):
        for size in (1, 3, 7, 64, len(text)):
            seen = Elsewhere("/v1/responses")
            for at in range(0, len(text), size):
                seen.feed(text[at : at + size])
            assert seen.found


def test_a_large_body_is_looked_at_in_passing() -> None:
    seen = Elsewhere("/v1/responses")
    for _ in range(200):
        seen.feed(b"x" * 65_536)
    seen.feed(SENT)
    assert seen.found and len(seen._carry) <= 1024
