"""The proxy between a client and a server: what is constrained, what passes, and what is said."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import httpx
import pytest

import calligram
from calligram.proxy.chat_answer import completion_of
from tests.proxy.fakes import (
    Asked,
    Fake,
    Proxy,
    as_json,
    completion,
    events,
    plain,
    proxied_fake,
)
from tests.proxy.tools import CALL, TOOLS, USER, named, request

GRAMMAR = calligram.compile_tools(TOOLS, "hermes-json", tool_choice="auto")
GOOD = GRAMMAR.render([CALL])
BAD = GOOD.replace("10", "0")
Body = Callable[[Fake, Proxy], Coroutine[Any, Any, None]]


def run(body: Body, answers: Any = None, **settings: Any) -> None:
    """Run a test's body with a proxy and a server."""

    async def whole() -> None:
        async with proxied_fake(answers, **settings) as (fake, proxy):
            async with asyncio.timeout(60):
                await body(fake, proxy)

    asyncio.run(whole())


def says(*texts: str) -> dict[str, Any]:
    """A server whose completions are these texts, in turn; the last one stays."""
    left = list(texts)

    def answer(_: Asked) -> Any:
        text = left.pop(0) if len(left) > 1 else left[0]
        return completion(*(text[i : i + 7] for i in range(0, len(text), 7)))

    return {"/completion": answer}


def calls_of(answer: dict[str, Any]) -> list[tuple[str, Any]]:
    """Name and arguments of each call of a chat completion."""
    calls = answer["choices"][0]["message"].get("tool_calls", [])
    return [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in calls]


# -- constrained


def test_a_required_call_goes_by_template_and_completion() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        sent = request(tool_choice="required", max_tokens=50, temperature=0)
        answer = await proxy.chat(sent, headers={"authorization": "Bearer secret-key"})
        assert answer.status_code == 200
        whole = answer.json()
        assert calls_of(whole) == [("set_timer", {"minutes": 10})]
        assert whole["choices"][0]["finish_reason"] == "tool_calls"
        assert whole["choices"][0]["message"]["content"] is None
        assert whole["usage"]["prompt_tokens"] == 7 and whole["usage"]["completion_tokens"] == 5
        assert whole["object"] == "chat.completion" and whole["model"] == "m"
        assert "calligram" not in whole and "x-calligram-problems" not in answer.headers
        assert fake.paths("/apply-template") == ["/completion"]
        asked = fake.last("/completion")
        assert asked.headers["authorization"] == "Bearer secret-key"
        assert asked.json["prompt"] == USER[0]["content"] + "<assistant>"
        assert asked.json["n_predict"] == 50 and "root ::=" in asked.json["grammar"]
        template = fake.last("/apply-template").json
        assert template["tools"] == TOOLS and template["tool_choice"] == "none"

    run(body, says(GOOD))


@pytest.mark.parametrize("fields", [{}, {"stream_options": {"include_usage": True}}])
def test_a_stream_adds_up_to_the_whole_answer(fields: dict[str, Any]) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        whole = (await proxy.chat(request())).json()
        answer = await proxy.chat(request(stream=True, **fields))
        assert answer.headers["content-type"] == "text/event-stream"
        *chunks, done = events(answer.content)
        assert done == "[DONE]" and ("usage" in chunks[-1]) == bool(fields)
        added = completion_of(chunks)
        message, told = whole["choices"][0]["message"], added["choices"][0]["message"]
        for one in (message, told):
            for call in one["tool_calls"]:
                assert call.pop("id").startswith("call_")
        assert told == message and message["content"] == "I will."
        assert added["choices"][0]["finish_reason"] == "tool_calls"
        assert len({c["id"] for c in chunks}) == 1

    run(body, says("I will.\n" + GOOD + "\n" + GOOD))


def test_prose_stays_prose_under_auto() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        whole = (await proxy.chat(request(tool_choice="auto"))).json()
        message = whole["choices"][0]["message"]
        assert message == {"role": "assistant", "content": "Hello, you."}
        assert fake.last("/completion").json["grammar_lazy"] is True

    run(body, says("Hello, you."))


def test_messages_of_anthropics_api() -> None:
    tools = [{"name": "set_timer", "input_schema": TOOLS[1]["function"]["parameters"]}]
    sent = {"model": "m", "max_tokens": 50, "messages": USER, "tools": tools}

    async def body(fake: Fake, proxy: Proxy) -> None:
        key = {"x-api-key": "secret-key"}
        whole = (await proxy.chat(sent, "/v1/messages", headers=key)).json()
        (block,) = whole["content"]
        assert (block["type"], block["name"], block["input"]) == (
            "tool_use", "set_timer", {"minutes": 10},
        )  # fmt: skip
        assert (whole["type"], whole["stop_reason"]) == ("message", "tool_use")
        assert whole["usage"]["output_tokens"] == 5
        assert fake.last("/completion").headers["x-api-key"] == "secret-key"
        stream = await proxy.chat({**sent, "stream": True}, "/v1/messages")
        told = events(stream.content)
        assert told[0]["type"] == "message_start" and told[-1]["type"] == "message_stop"
        assert b"event: content_block_delta\n" in stream.content

    run(body, says(GOOD))


def test_the_chat_route_where_every_marker_is_seen() -> None:
    def chat(asked: Asked) -> Any:
        assert asked.json["tool_choice"] == "none" and asked.json["stream"] is True
        delta = {"choices": [{"index": 0, "delta": {"content": GOOD}, "finish_reason": None}]}
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
        data = b"".join(b"data: " + json.dumps(v).encode() + b"\n\n" for v in (delta, last, usage))
        return plain(data + b"data: [DONE]\n\n", kind="text/event-stream")

    async def body(fake: Fake, proxy: Proxy) -> None:
        whole = (await proxy.chat(request(tool_choice="required"))).json()
        assert calls_of(whole) == [("set_timer", {"minutes": 10})]
        assert whole["usage"]["total_tokens"] == 7
        assert "/completion" not in fake.paths()

    seen: dict[str, Any] = {
        "/tokenize": lambda _: as_json({"tokens": [1, 2]}),
        "/v1/chat/completions": chat,
    }
    run(body, seen)


def test_the_dialect_is_that_of_the_servers_template() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        whole = (await proxy.chat(request(tool_choice="required"))).json()
        assert calls_of(whole) == [("set_timer", {"minutes": 10})]
        health = (await proxy.client.get("/calligram/health")).json()
        assert (health["status"], health["dialect"]) == ("ok", "hermes-json")

    props = {"/props": lambda _: as_json({"chat_template": QWEN, "eos_token": "<|im_end|>"})}
    run(body, {**says(GOOD), **props}, dialect="auto")


QWEN = """{%- for message in messages %}
{{- '<|im_start|>' + message.role }}
{%- if message.content %}{{- '\\n' + message.content }}{%- endif %}
{%- for tool_call in message.tool_calls or [] %}
{%- set tool_call = tool_call.function %}
{{- '\\n<tool_call>\\n{"name": "' + tool_call.name + '", "arguments": ' }}
{{- tool_call.arguments | tojson }}{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""


def test_a_template_that_nobody_knows_is_an_error_with_a_reason() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.chat(request())
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "dialect-unknown"
        assert (await proxy.client.get("/calligram/health")).status_code == 503
        assert (await proxy.chat({"messages": USER})).status_code == 404  # Passed on.

    props = {"/props": lambda _: as_json({"chat_template": "{{ messages[0].content }}"})}
    run(body, props, dialect="auto")


# -- what is wrong with requests


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
@pytest.mark.parametrize(
    ("fields", "code", "pointer", "param"),
    [
        ({"tool_choice": named("set_timr")}, "unknown-tool", None, "/tool_choice"),
        (
            {"tools": [{"function": {"name": 3}}]},
            "invalid-tool",
            "/0/function/name",
            "/tools/0/function/name",
        ),
        (
            {"tools": [{"name": "odd", "parameters": {"properties": {"a": {"type": "txt"}}}}]},
            "unknown-type",
            "/properties/a/type",
            "/tools/0/parameters/properties/a/type",
        ),
        ({"messages": 3}, "proxy-body", "/messages", "/messages"),
        ({"logprobs": True}, "proxy-logprobs", "/logprobs", "/logprobs"),
    ],
)
def test_a_bad_request_is_refused_in_the_clients_form_with_places(
    path: str, fields: dict[str, Any], code: str, pointer: str | None, param: str
) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.chat(request(**fields), path)
        error = answer.json()["error"]
        assert answer.status_code == 400
        (problem,) = error["problems"]
        assert problem["code"] == code and problem["pointer"] == (pointer or "")
        if path == "/v1/messages":
            assert answer.json()["type"] == "error"
        else:
            assert (error["code"], error["param"]) == (code, param)
        assert error["type"] == "invalid_request_error"
        assert "/completion" not in fake.paths()
        (record,) = await proxy.records(1)
        assert record["problems"][0]["code"] == code

    run(body)


def test_a_policy_that_lets_pass_says_so_in_a_header() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        sent = json.dumps(request(tool_choice=named("nobody"))).encode()
        answer = await proxy.client.post("/v1/chat/completions", content=sent)
        assert answer.headers["x-calligram-problems"] == "1"
        assert answer.content == b'{"theirs": 1}'
        assert fake.last("/v1/chat/completions").body == sent
        (record,) = await proxy.records(1)
        assert (record["reason"], record["problems"][0]["code"]) == ("unsupported", "unknown-tool")

    answers = {"/v1/chat/completions": lambda _: plain(b'{"theirs": 1}')}
    run(body, answers, on_unsupported="pass")


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[1]", {}, 400),
        (b"\xff", {}, 400),
        ('{"tools": 1}'.encode("utf-16"), {}, 400),
        (b"[" * 40_000, {}, 400),
        (b"{}", {"content-encoding": "gzip"}, 400),
        (b" " * 3000, {}, 413),
    ],
)
def test_a_body_that_is_not_understood_is_refused(
    content: bytes, headers: dict[str, str], status: int
) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.client.post("/v1/chat/completions", content=content, headers=headers)
        assert answer.status_code == status and answer.json()["error"]["message"]

        async def pieces() -> AsyncIterator[bytes]:
            for at in range(0, len(content), 1000):
                yield content[at : at + 1000]

        answer = await proxy.client.post("/v1/messages", content=pieces(), headers=headers)
        assert answer.status_code == status and answer.json()["type"] == "error"
        assert fake.paths() == []

    run(body, max_body=2000 if status == 413 else 200_000)


# -- after the fact


def test_an_answer_that_is_wrong_is_reported() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.chat(request(tool_choice="required"))
        assert answer.status_code == 200 and int(answer.headers["x-calligram-problems"]) >= 1
        problems = answer.json()["calligram"]["problems"]
        assert problems[0]["code"] == "invalid-arguments"
        assert problems[0]["pointer"] == "/arguments/minutes"
        stream = events((await proxy.chat(request(stream=True))).content)
        (told,) = [e["calligram"] for e in stream if "calligram" in e]
        assert told["problems"][0]["code"] == "invalid-arguments"
        assert "/completion" in fake.paths() and len(fake.paths("/apply-template")) == 2

    run(body, says(BAD))


def test_markers_that_were_hidden_are_reported() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = (await proxy.chat(request(tool_choice="required"))).json()
        assert answer["calligram"]["problems"][0]["code"] == "proxy-no-call"
        assert answer["choices"][0]["finish_reason"] == "stop"

    run(body, says(GOOD.replace("<tool_call>", "").replace("</tool_call>", "")))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("texts", "calls", "problems"),
    [((BAD, GOOD), [10], False), ((BAD, BAD), [0], True), ((GOOD,), [10], None)],
)
def test_a_wrong_answer_is_asked_for_once_more_and_said_so(
    texts: tuple[str, ...], calls: list[int], problems: bool | None, stream: bool
) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.chat(request(stream=stream))
        whole = completion_of(events(answer.content)[:-1]) if stream else answer.json()
        assert [a["minutes"] for _, a in calls_of(whole)] == calls
        told = whole.get("calligram", {})
        assert len(fake.paths("/apply-template")) == len(texts)
        if problems is None:
            assert told == {}
            return
        assert told["retried"]["problems"][0]["code"] == "invalid-arguments"
        assert ("problems" in told) == problems
        first, second = (a.json for a in fake.asked if a.target == "/completion")
        assert first["grammar_lazy"] is True and "grammar_lazy" not in second
        if not stream:
            assert whole["usage"]["completion_tokens"] == 10

    run(body, says(*texts), retry_invalid=True)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("second", [["close"], as_json({"error": "no"}, "500 Nope")])
def test_a_wrong_answer_that_cannot_be_asked_for_again_is_told_as_it_is(
    second: Any, stream: bool
) -> None:
    left = [completion(BAD), second]

    async def body(fake: Fake, proxy: Proxy) -> None:
        answer = await proxy.chat(request(stream=stream))
        assert answer.status_code == 200
        whole = completion_of(events(answer.content)[:-1]) if stream else answer.json()
        assert calls_of(whole) == [("set_timer", {"minutes": 0})]
        codes = [p["code"] for p in whole["calligram"]["problems"]]
        assert codes[0] == "invalid-arguments" and codes[-1] == "proxy-retry"
        assert answer.headers["x-calligram-problems"] == str(len(codes))
        (record,) = await proxy.records(1)
        assert record["retried"] is True and record["fault"] in ("broke-off", "refused")

    run(body, {"/completion": lambda _: left.pop(0)}, retry_invalid=True)


def test_a_stream_that_was_held_back_leaves_out_what_broke_off() -> None:
    broken = '<tool_call>\n{"name": "set_timer", "arguments": {"minutes": oops}}\n</tool_call>'

    async def body(fake: Fake, proxy: Proxy) -> None:
        chunks = events((await proxy.chat(request(stream=True))).content)[:-1]
        deltas = [c["choices"][0]["delta"] for c in chunks if c["choices"]]
        assert not any("tool_calls" in d for d in deltas)
        assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
        assert len(fake.paths("/apply-template")) == 2

    run(body, says(broken), retry_invalid=True)


def test_an_answer_that_the_client_begins_goes_the_way_that_shows_its_prompt() -> None:
    """What the prompt ends with decides whether the model thinks; the chat route hides it."""

    def template(asked: Asked) -> Any:
        last = asked.json["messages"][-1]
        begun = last["content"] if last["role"] == "assistant" else ""
        return as_json({"prompt": "Quoth the raven" + "<assistant>" + begun})

    async def body(fake: Fake, proxy: Proxy) -> None:
        begun = [*USER, {"role": "assistant", "content": "<think>\n"}]
        answer = (await proxy.chat(request(messages=begun, tool_choice="required"))).json()
        message = answer["choices"][0]["message"]
        assert message["reasoning_content"].strip() == "Hm." and message["tool_calls"]
        assert "calligram" not in answer
        for odd in ({"add_generation_prompt": False}, {"continue_final_message": True}):
            await proxy.chat(request(tool_choice="required", **odd))
        assert {r["route"] for r in await proxy.records(3)} == {"completion"}

    seen = {"/tokenize": lambda _: as_json({"tokens": [1, 2]}), "/apply-template": template}
    run(body, {**says("Hm.\n</think>\n\n" + GOOD), **seen})


SERVER_TOOLS: list[dict[str, Any]] = [
    {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
    {"type": "custom", "custom": {"name": "free"}},
]


def test_tools_without_a_schema_can_be_left_out() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        whole = (await proxy.chat(request(tools=[SERVER_TOOLS[0], *TOOLS, SERVER_TOOLS[1]]))).json()
        assert calls_of(whole) == [("set_timer", {"minutes": 10})]
        assert whole["calligram"]["dropped_tools"] == ["web_search", "free"]
        assert fake.last("/apply-template").json["tools"] == TOOLS
        answer = await proxy.chat(request(tools=SERVER_TOOLS))
        assert answer.status_code == 400

    run(body, says(GOOD), on_unsupported="drop-tool")


def test_a_request_with_stop_words_goes_the_way_that_tells_them() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        await proxy.chat(request(tool_choice="required", stop=["x"]))
        assert fake.last("/completion").json["stop"] == ["x"]

    run(body, {**says(GOOD), "/tokenize": lambda _: as_json({"tokens": [1, 2]})})


# -- what passes


def test_switched_off_fifty_exchanges_are_the_servers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLIGRAM_DISABLE", "1")
    streamed = b'data: {"a": 1}\n\ndata: [DONE]\n\n'

    def theirs(asked: Asked) -> Any:
        if b"stream" in asked.body:
            return plain(streamed, kind="text/event-stream")
        return plain(b'{"echo": ' + json.dumps(asked.body.decode()).encode() + b"}")

    paths = ["/v1/chat/completions", "/v1/messages", "/v1/models", "/metrics", "/health?a=%20b"]

    async def body(fake: Fake, proxy: Proxy) -> None:
        async with httpx.AsyncClient(base_url=fake.url, trust_env=False) as direct:
            for number in range(50):
                path = paths[number % len(paths)]
                fields = {"stream": True} if number % 3 else {}
                sent = json.dumps(
                    request(tool_choice="required", n=number, **fields), indent=number
                )
                content = None if path in paths[2:] else sent.encode()
                method = "GET" if content is None else "POST"
                headers = {"authorization": f"Bearer {number}", "content-type": "application/json"}
                got = [
                    await c.request(method, path, content=content, headers=headers)
                    for c in (direct, proxy.client)
                ]
                first, second = fake.asked[-2:]
                assert first.body == second.body == (content or b"")
                assert (first.method, first.target) == (second.method, second.target)
                dropped = {"host", "connection", "via"}
                assert {k: v for k, v in first.headers.items() if k not in dropped} == {
                    k: v for k, v in second.headers.items() if k not in dropped
                }
                assert got[0].content == got[1].content
                assert got[0].status_code == got[1].status_code
                assert got[0].headers == got[1].headers
        assert len(fake.asked) == 100

    answers = {p.partition("?")[0]: theirs for p in paths}
    run(body, answers)


@pytest.mark.parametrize(
    ("settings", "header", "touched"),
    [
        ({}, None, True),
        ({}, "off", False),
        ({"default_off": True}, None, False),
        ({"default_off": True}, "on", True),
    ],
)
def test_a_request_can_switch_for_itself(
    settings: dict[str, Any], header: str | None, touched: bool
) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        headers = {"X-Calligram": header} if header else {}
        await proxy.chat(request(), headers=headers)
        assert ("/completion" in fake.paths()) == touched
        assert ("/v1/chat/completions" in fake.paths()) != touched

    run(body, says(GOOD), **settings)


@pytest.mark.parametrize(
    "fields",
    [{"tools": None}, {"tools": []}, {"tool_choice": "none"}, {"grammar": 'root ::= "a"'},
     {"response_format": {"type": "json_object"}}],
)  # fmt: skip
def test_these_requests_pass_byte_for_byte(fields: dict[str, Any]) -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        sent = json.dumps(request(**fields), indent=3).encode()
        answer = await proxy.client.post("/v1/chat/completions", content=sent)
        assert answer.content == b'{"theirs":  1}'
        assert fake.last("/v1/chat/completions").body == sent

    run(body, {"/v1/chat/completions": lambda _: plain(b'{"theirs":  1}')})


def test_bodies_stream_both_ways() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            for number in range(5):
                yield f"piece {number};".encode()

        async with proxy.client.stream("POST", "/upload?x=1", content=pieces()) as answer:
            got = [data async for data in answer.aiter_raw()]
        assert answer.status_code == 201 and b"".join(got) == b"ab" and len(got) == 2
        assert fake.last("/upload?x=1").body == b"".join(f"piece {n};".encode() for n in range(5))

    head = b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
    steps = [head, b"1\r\na\r\n", 0.1, b"1\r\nb\r\n", b"0\r\n\r\n"]
    run(body, {"/upload": lambda _: steps})


# -- what is said of it all


def test_metrics_are_both_ours_and_theirs() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        await proxy.chat(request())
        await proxy.chat(request(tool_choice=named("nobody")))
        text = (await proxy.client.get("/metrics")).text
        assert 'calligram_requests_total{route="completion",status="200"} 1' in text
        assert 'calligram_problems_total{code="unknown-tool"} 1' in text
        assert "calligram_first_byte_seconds_count 2" in text
        assert text.endswith("llamacpp:tokens_total 3\n")
        own = (await proxy.client.get("/calligram/metrics")).text
        assert "llamacpp" not in own and "calligram_grammars 1" in own
        for line in own.splitlines():
            assert line.startswith(("# HELP ", "# TYPE ")) or len(line.rsplit(" ", 1)) == 2

    run(body, {**says(GOOD), "/metrics": lambda _: plain(b"llamacpp:tokens_total 3\n")})


def test_the_log_holds_no_text_and_no_key_unless_told() -> None:
    for told in (False, True):

        async def body(fake: Fake, proxy: Proxy, told: bool = told) -> None:
            headers = {"authorization": "Bearer secret-key"}
            await proxy.chat(request(), headers=headers)
            await proxy.chat(request(), "/v1/messages?key=secret-key", headers=headers)
            record = (await proxy.records(2))[0]
            text = proxy.log.getvalue()
            assert "secret-key" not in text
            assert ("Set a timer for" in text) is told and ("<tool_call>" in text) is told
            assert (record["path"], record["status"], record["route"], record["kind"]) == (
                "/v1/chat/completions", 200, "completion", "auto",
            )  # fmt: skip
            assert record["tools"] == 3 and record["tokens"] == 5 and record["ms"] > 0

        run(body, says(BAD), log_text=told)


def test_the_log_holds_no_name_or_key_that_the_model_made_up() -> None:
    bad = GOOD.replace('"minutes": 10', '"minutes": {"secret": 1}, "secret": {"a": 2}')

    async def body(fake: Fake, proxy: Proxy) -> None:
        await proxy.chat(request(tool_choice="required"))
        await proxy.chat(request(tool_choice="required"))
        first, second = await proxy.records(2)
        assert first["problems"] and second["problems"]
        assert "secret" not in proxy.log.getvalue()

    run(body, says(bad, GOOD.replace("set_timer", "secret")))


def test_grammars_are_kept_by_what_they_are_of() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        kept = proxy.service.grammars
        for _ in range(3):
            await proxy.chat(request(tool_choice="required", messages=USER * 2))
        assert (kept.hits, kept.misses, len(kept)) == (2, 1, 1)
        for count in range(1, 4):
            await proxy.chat(request(tools=TOOLS[:count]))
        assert len(kept) == 2 and 0 < kept.size < 200_000
        await asyncio.gather(*(proxy.chat(request(tools=TOOLS[1:])) for _ in range(5)))
        assert len(kept) == 2

    run(body, says(GOOD), cache_grammars=2)
