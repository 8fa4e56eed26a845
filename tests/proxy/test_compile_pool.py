"""Grammars from other processes: limits on time and memory, and what the others notice of it."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import httpx
import pytest

from calligram import CalligramError
from calligram.compiler.spec_loader import load_dialect
from calligram.proxy import Policy
from calligram.proxy.compile_pool import Busy, CompilePool
from calligram.proxy.grammars import Grammars
from calligram.proxy.prepared import Order, unpacked
from tests.proxy.fakes import Here, Proxy, proxied_fake
from tests.proxy.test_serving import GOOD, says
from tests.proxy.tools import TOOLS, request

SPEC = load_dialect("hermes-json")


def order(tools: Any = TOOLS, **policy: Any) -> Order:
    return Order(json.dumps(tools), SPEC, "auto", True, "allow", "lazy", Policy(**policy))


def hostile(salt: int = 0) -> list[dict[str, Any]]:
    """A tool that takes long to compile: many patterns with large counts, no two alike."""
    keys = {
        f"a{n}": {
            "type": "string",
            "pattern": f"^(a|b|c|d{n}){{1,{200 + n}}}x[a-z]{{3,9}}$",
            "maxLength": 900 + salt + n,
        }
        for n in range(150)
    }
    return [{"name": f"odd{salt}", "parameters": {"properties": keys}}]


def test_a_process_compiles_and_says_what_is_wrong() -> None:
    async def body() -> None:
        pool = CompilePool(1, 10.0)
        await pool.start()
        try:
            made = unpacked(await pool.compile(order()))
            assert made.reader.parse(GOOD).calls[0]["name"] == "set_timer"
            with pytest.raises(CalligramError) as caught:
                await pool.compile(order([{"name": "a", "parameters": {"type": "txt"}}]))
            assert [p.code for p in caught.value.problems] == ["unknown-type"]
            assert caught.value.problems[0].origin.tool == "a"
            assert unpacked(await pool.compile(order())).text == made.text
        finally:
            await pool.close()

    asyncio.run(body())


def test_an_order_that_cannot_be_sent_costs_no_process() -> None:
    """Otherwise small requests of one client would keep all processes starting."""

    async def body() -> None:
        pool = CompilePool(1, 10.0)
        await pool.start()
        try:
            deep: Any = {"type": "auto"}
            for _ in range(5000):
                deep = {"type": "auto", "x": deep}
            await pool.compile(order())
            with pytest.raises(RecursionError):
                await pool.compile(replace(order(), choice=deep))
            async with asyncio.timeout(0.5):  # A new process takes longer to start.
                await pool.compile(order())
        finally:
            await pool.close()

    asyncio.run(body())


def test_what_takes_too_long_is_stopped_and_the_process_replaced() -> None:
    async def body() -> None:
        pool = CompilePool(1, 1.0)
        await pool.start()
        try:
            start = time.monotonic()
            with pytest.raises(CalligramError) as caught:
                await pool.compile(order(hostile()))
            assert caught.value.problems[0].code == "proxy-compile-time"
            assert unpacked(await pool.compile(order())).lazy
            assert time.monotonic() - start < 50
        finally:
            await pool.close()

    asyncio.run(body())


def test_a_process_that_dies_is_named_and_replaced() -> None:
    async def body() -> None:
        async with proxied_fake(says(GOOD), pool=None, compile_seconds=20.0) as (_, proxy):
            await proxy.chat(request())  # The process is up.
            pool: Any = proxy.service.grammars.pool
            asked = asyncio.create_task(proxy.chat(request(tools=hostile())))
            while pool._idle.qsize():
                await asyncio.sleep(0.01)
            for process in pool._all:
                process.kill()
            answer = await asked
            assert answer.status_code == 503
            assert answer.json()["error"]["code"] == "proxy-compile-died"
            again = await proxy.chat(request(tools=hostile()))  # Kept: it costs no other process.
            assert again.json()["error"]["code"] == "proxy-compile-died"
            assert (await proxy.chat(request(tools=TOOLS[:1]))).status_code == 200

    asyncio.run(body())


def test_who_waits_too_long_for_a_process_is_told() -> None:
    async def body() -> None:
        pool = CompilePool(1, 0.05)  # Never started.
        with pytest.raises(Busy):
            await pool.compile(order())

    asyncio.run(body())


def test_a_hostile_schema_costs_nobody_else() -> None:
    async def body() -> None:
        pooled = {"pool": None, "compile_workers": 2, "compile_seconds": 2.0}
        async with proxied_fake(says(GOOD), **pooled) as (_, proxy):
            await proxy.chat(request())  # The processes are up, the first grammar is there.
            await proxy.chat(request(tools=TOOLS[:1]))
            done: list[Any] = []

            async def attack() -> None:
                # Keys that nobody checks are no other clients; an address is.
                there = httpx.AsyncHTTPTransport(local_address="127.0.0.2")
                async with httpx.AsyncClient(transport=there, timeout=60) as bad:
                    url = f"{proxy.url}/v1/chat/completions"
                    keys = [{"authorization": f"Bearer bad{n}"} for n in range(3)]
                    sent = [
                        bad.post(url, json=request(tools=hostile(n)), headers=keys[n])
                        for n in range(3)
                    ]
                    done.extend(await asyncio.gather(*sent))

            attacker = asyncio.create_task(attack())
            await asyncio.sleep(0.3)
            kept, made = [], []
            for number in range(5):
                kept.append(await timed(proxy, TOOLS, "good"))
                tools = [{"name": f"fresh{number}", "parameters": {"type": "object"}}]
                made.append(await timed(proxy, tools, "good"))
            assert not done, "the attack was over too soon"
            assert sorted(kept)[2] < 0.5 and sorted(made)[2] < 1.0
            await attacker
            assert [a.status_code for a in done] == [422, 422, 422], [a.text for a in done]
            assert {a.json()["error"]["code"] for a in done} == {"proxy-compile-time"}

    asyncio.run(body())


async def timed(proxy: Proxy, tools: Any, key: str) -> float:
    """Seconds that a request takes."""
    start = time.monotonic()
    headers = {"authorization": f"Bearer {key}"}
    answer = await proxy.chat(request(tools=tools, tool_choice="auto"), headers=headers)
    assert answer.status_code == 200
    return time.monotonic() - start


class Counting(Here):
    """Counts compiles, and fails those of a tool named so."""

    def __init__(self) -> None:
        self.count = 0
        self.at_once = 0
        self.most = 0

    async def compile(self, order: Order) -> bytes:
        self.count += 1
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0.02)
        self.at_once -= 1
        return await super().compile(order)


def test_a_grammar_is_compiled_once_however_many_ask_and_some_leave() -> None:
    async def body() -> None:
        pool = Counting()
        kept = Grammars(pool, 10, 10**9, 1, 60.0)
        asks = [asyncio.create_task(kept.get(order(), ("a",))) for _ in range(5)]
        await asyncio.sleep(0.01)
        asks[0].cancel()
        found = await asyncio.gather(*asks[1:])
        assert pool.count == 1 and len({id(f.prepared) for f in found}) == 1
        bad = order([{"name": "a", "parameters": {"type": "txt"}}])
        for _ in range(3):
            with pytest.raises(CalligramError, match="unknown-type"):
                await kept.get(bad, ("a",))
        assert pool.count == 2
        await kept.close()

    asyncio.run(body())


def test_grammars_are_bounded_in_number_and_bytes() -> None:
    async def body() -> None:
        orders = [order([{"name": f"t{n}"}]) for n in range(6)]
        few = Grammars(Here(), 3, 10**9, 1, 60.0)
        for one in (*orders, orders[4]):
            await few.get(one, ("a",))
        assert (len(few), few.hits) == (3, 1)
        size = (await few.get(orders[5], ("a",))).prepared.size
        small = Grammars(Here(), 100, 2 * size + size // 2, 1, 60.0)
        for one in orders:
            await small.get(one, ("a",))
        assert len(small) == 2 and small.size == 2 * size

    asyncio.run(body())


def test_one_client_cannot_have_all_processes() -> None:
    """Nor one who invents keys."""

    async def body() -> None:
        pool = Counting()
        kept = Grammars(pool, 100, 10**9, 2, 60.0)
        orders = [order([{"name": f"t{n}"}]) for n in range(6)]
        await asyncio.gather(*(kept.get(o, (f"key {n}", "one")) for n, o in enumerate(orders)))
        assert pool.most == 2
        more = [order([{"name": f"u{n}"}]) for n in range(6)]
        await asyncio.gather(*(kept.get(o, (str(n),)) for n, o in enumerate(more)))
        assert pool.most > 2

    asyncio.run(body())


def test_who_waits_too_long_for_a_turn_is_told() -> None:
    """One who has many compiled, or others that cannot be told from him, wait with a limit."""

    class Endless(Here):
        async def compile(self, order: Order) -> bytes:
            await asyncio.sleep(60)
            return b""

    async def body() -> None:
        kept = Grammars(Endless(), 100, 10**9, 1, 0.1)
        first = asyncio.create_task(kept.get(order([{"name": "a"}]), ("key", "one")))
        await asyncio.sleep(0.01)
        async with asyncio.timeout(5):
            with pytest.raises(Busy):
                await kept.get(order([{"name": "b"}]), ("other key", "one"))
        assert not first.done()
        kept.pool = Here()
        # Another has turns, and so has the first one's other address: none was lost in waiting.
        await kept.get(order([{"name": "b"}]), ("other key", "two"))
        await kept.close()
        await asyncio.gather(first, return_exceptions=True)

    asyncio.run(body())
