"""End to end: llama.cpp's own server and a small model, and the clients that people use."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx
import openai
import pytest
from jsonschema import Draft202012Validator

from calligram.demo_client import find_model, running_server
from calligram.proxy.chat_answer import completion_of
from tests.proxy.fakes import Proxy, proxied
from tests.proxy.tools import TOOLS, allowed, named

pytest.importorskip("xllamacpp")
SCHEMAS = {t["function"]["name"]: Draft202012Validator(t["function"]["parameters"]) for t in TOOLS}
# The model's template knows no tools: an example shows it how to call.
SYSTEM = "You call a tool: get_weather(location), set_timer(minutes) or send_message(to, text)."
EXAMPLE = [
    {"role": "user", "content": "Remind me in 7 minutes."},
    {
        "role": "assistant",
        "content": '<tool_call>\n{"name": "set_timer", "arguments": {"minutes": 7}}\n</tool_call>',
    },
]
ASK = [*EXAMPLE, {"role": "user", "content": "Set a timer for 10 minutes."}]
CHAT: dict[str, Any] = {
    "model": "smol",
    "messages": [{"role": "system", "content": SYSTEM}, *ASK],
    "tools": TOOLS,
    "max_tokens": 160,
    "temperature": 0,
    "seed": 1,
}
MESSAGES: dict[str, Any] = {
    "model": "smol",
    "system": SYSTEM,
    "messages": ASK,
    "tools": [
        {"name": t["function"]["name"], "input_schema": t["function"]["parameters"]} for t in TOOLS
    ],
    "max_tokens": 160,
    "extra_body": {"temperature": 0, "cache_prompt": False},
}
BY_COMPLETION = {"chat_template_kwargs": {"a": 1}}
"""What makes a request go by the route of rendered prompts, though all markers are seen."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_server(find_model()) as address:
        yield address


@dataclass
class Clients:
    """One proxy and its clients, whose types know only their own services' models."""

    openai: Any
    anthropic: Any
    proxy: Proxy


@asynccontextmanager
async def clients(address: str) -> AsyncIterator[Clients]:
    settings: dict[str, Any] = {"bounds": {"string": 40}, "max_calls": 3}
    async with proxied(address, **settings) as proxy:
        base = f"{proxy.url}/v1"
        async with (
            openai.AsyncOpenAI(base_url=base, api_key="k", max_retries=0) as first,
            anthropic.AsyncAnthropic(base_url=proxy.url, api_key="k", max_retries=0) as second,
        ):
            yield Clients(first, second, proxy)


def run(address: str, body: Callable[[Clients], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        async with clients(address) as found, asyncio.timeout(240):
            await body(found)

    asyncio.run(whole())


def valid(calls: list[tuple[str, Any]]) -> None:
    """Each call is of a tool and fits its schema."""
    for name, arguments in calls:
        SCHEMAS[name].validate(arguments)


def calls_of(message: Any) -> list[tuple[str, Any]]:
    return [(c.function.name, json.loads(c.function.arguments)) for c in message.tool_calls or []]


@pytest.mark.parametrize(
    ("fields", "extra", "names", "route"),
    [
        ({"tool_choice": "required"}, {}, None, "chat"),
        ({"tool_choice": "required"}, BY_COMPLETION, None, "completion"),
        ({"tool_choice": named("send_message")}, BY_COMPLETION, {"send_message"}, "completion"),
        (
            {"tool_choice": allowed("required", "get_weather", "send_message")},
            {},
            {"get_weather", "send_message"},
            "chat",
        ),
        ({"tool_choice": "auto"}, {}, None, "completion"),
        ({"tool_choice": "required", "parallel_tool_calls": False}, {}, None, "chat"),
    ],
)
def test_calls_are_valid_and_streams_add_up(
    address: str, fields: dict[str, Any], extra: dict[str, Any], names: Any, route: str
) -> None:
    async def body(found: Clients) -> None:
        create = found.openai.chat.completions.create
        # What is left of the last prompt changes the last bits of logits, and so some answers.
        sent = {**CHAT, **fields, "extra_body": {**extra, "cache_prompt": False}}
        whole = await create(**sent)
        message = whole.choices[0].message
        calls = calls_of(message)
        assert calls and whole.choices[0].finish_reason == "tool_calls"
        valid(calls)
        assert names is None or {n for n, _ in calls} <= names
        assert fields.get("parallel_tool_calls", True) or len(calls) == 1
        assert len({c.id for c in message.tool_calls or []}) == len(calls)
        assert whole.usage is not None and whole.usage.completion_tokens > 5
        assert "calligram" not in whole.model_dump()

        stream = await create(**sent, stream=True, stream_options={"include_usage": True})
        chunks = [c.model_dump(exclude_unset=True) async for c in stream]
        added = completion_of(chunks)
        told = added["choices"][0]["message"]
        said = message.model_dump(exclude_unset=True)
        for one in (told, said):
            for call in one["tool_calls"]:
                del call["id"]
        assert told == said
        assert added["usage"]["completion_tokens"] == whole.usage.completion_tokens
        routes = {r["route"] for r in await found.proxy.records(2)}
        assert routes == {route}

    run(address, body)


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "auto"}])
def test_anthropics_client(address: str, choice: dict[str, Any]) -> None:
    async def body(found: Clients) -> None:
        messages = found.anthropic.messages
        sent = {**MESSAGES, "tool_choice": {**choice, "disable_parallel_tool_use": True}}
        whole = await messages.create(**sent)
        assert whole.stop_reason == "tool_use"
        calls = [(b.name, b.input) for b in whole.content if b.type == "tool_use"]
        assert len(calls) == 1
        valid(calls)
        async with messages.stream(**sent) as stream:
            kinds = [event.type async for event in stream]
            final = await stream.get_final_message()
        assert kinds[0] == "message_start" and kinds[-1] == "message_stop"
        told = [(b.name, b.input) for b in final.content if b.type == "tool_use"]
        assert told == calls and final.stop_reason == "tool_use"
        assert final.usage.output_tokens == whole.usage.output_tokens > 5

    run(address, body)


def test_none_and_chats_without_tools_are_the_servers_own(address: str) -> None:
    async def body(found: Clients) -> None:
        create = found.openai.chat.completions.create
        short = {**CHAT, "max_tokens": 8}
        none = await create(**short, tool_choice="none")
        assert none.choices[0].message.content and not none.choices[0].message.tool_calls
        models = await found.openai.models.list()
        assert models.data
        plain = {k: v for k, v in MESSAGES.items() if k != "tools"}
        hello = await found.anthropic.messages.create(**{**plain, "max_tokens": 4})
        assert hello.stop_reason == "max_tokens" and hello.content
        counted = await found.anthropic.messages.count_tokens(
            model="smol", messages=MESSAGES["messages"]
        )
        assert counted.input_tokens > 10
        records = await found.proxy.records(4)
        assert {r["route"] for r in records} == {"passed"}

    run(address, body)


def test_errors_reach_the_clients_as_theirs(address: str) -> None:
    async def body(found: Clients) -> None:
        with pytest.raises(openai.BadRequestError, match="set_timr") as caught:
            await found.openai.chat.completions.create(**CHAT, tool_choice=named("set_timr"))
        assert caught.value.code == "unknown-tool"
        with pytest.raises(anthropic.BadRequestError, match="set_timr"):
            await found.anthropic.messages.create(
                **MESSAGES, tool_choice={"type": "tool", "name": "set_timr"}
            )

    run(address, body)


def test_a_call_that_meets_the_token_limit_is_told_as_cut_off(address: str) -> None:
    async def body(found: Clients) -> None:
        sent = {**CHAT, "max_tokens": 12, "tool_choice": "required"}
        answer = await found.openai.chat.completions.create(**sent)
        assert answer.choices[0].finish_reason == "length"
        told = answer.model_dump()["calligram"]["problems"]
        assert told[0]["code"] in ("incomplete", "not-accepted")

    run(address, body)


def test_both_routes_prompt_the_model_alike(address: str) -> None:
    async def body(found: Clients) -> None:
        create = found.openai.chat.completions.create
        sent = {**CHAT, "max_tokens": 1, "tool_choice": "required"}
        chat = await create(**sent)
        completion = await create(**sent, extra_body=BY_COMPLETION)
        assert chat.usage is not None and completion.usage is not None
        assert chat.usage.prompt_tokens == completion.usage.prompt_tokens
        # The bare server counts the same for the same messages.
        async with httpx.AsyncClient(timeout=60) as bare:
            body = {**CHAT, "max_tokens": 1, "tool_choice": "none"}
            answer = await bare.post(f"{address}/v1/chat/completions", json=body)
        assert answer.json()["usage"]["prompt_tokens"] == chat.usage.prompt_tokens

    run(address, body)


def test_switched_off_it_is_the_bare_server(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLIGRAM_DISABLE", "1")

    async def body(found: Clients) -> None:
        async with httpx.AsyncClient(timeout=60) as bare:
            for path in ("/health", "/v1/models", "/metrics", "/nowhere"):
                theirs = await bare.get(address + path)
                ours = await found.proxy.client.get(path)
                assert (ours.status_code, ours.headers["content-type"]) == (
                    theirs.status_code, theirs.headers["content-type"],
                )  # fmt: skip
                same = path != "/v1/models"  # It says when it was asked.
                assert not same or ours.content == theirs.content
            sent = {**CHAT, "tool_choice": "none", "max_tokens": 4}
            theirs = await bare.post(f"{address}/v1/chat/completions", json=sent)
            ours = await found.proxy.chat(sent)
            first, second = (a.json()["choices"] for a in (theirs, ours))
            assert first == second

    run(address, body)
