"""What is made ready while the server renders the prompt is what would have been made behind it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from calligram.compiler.spec_loader import load_dialect
from calligram.proxy.completion import completion_body, prompt_added
from calligram.proxy.constrain import constrain_request, plan_request
from calligram.proxy.options import Capabilities, Policy
from calligram.proxy.prepared import prepare
from calligram.proxy.sse import json_bytes
from tests.proxy.fakes import Asked, Fake, Proxy, as_json
from tests.proxy.test_serving import GOOD, run, says
from tests.proxy.tools import USER, request

PROMPTS = ["", "a", 'a"b\\c\n</s>', "\u00e9\u2028\x00\ud83d\ude00", "{}" * 1000]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_body_gets_its_prompt_as_bytes(prompt: str) -> None:
    made = prepare(_plan().order(None))
    whole = completion_body(request(), made, prompt)
    apart = prompt_added(json_bytes(completion_body(request(), made)), prompt)
    assert json.loads(apart) == json.loads(json_bytes(whole))


def _plan() -> Any:
    return plan_request(request(), load_dialect("hermes-json"), Capabilities(), Policy())


def _template(*ends: str) -> dict[str, Any]:
    """A server whose prompts end so, in turn, behind the one that it is asked for first."""
    left = list(ends)

    def answer(asked: Asked) -> Any:
        text = str(asked.json["messages"][-1]["content"])
        return as_json({"prompt": text + (left.pop(0) if "tools" in asked.json else "<assistant>")})

    return {"/apply-template": answer}


def test_each_request_gets_the_grammar_of_its_own_prompt() -> None:
    opened = "<assistant><think>\n"
    ends = ["<assistant>", opened, "<assistant>", opened, "<assistant>"]

    async def body(fake: Fake, proxy: Proxy) -> None:
        for _ in ends:
            await proxy.chat(request())
        sent = [a.json for a in fake.asked if a.target == "/completion"]
        assert [s["prompt"] for s in sent] == [USER[0]["content"] + e for e in ends]
        grammars = [s["grammar"] for s in sent]
        assert grammars[0] == grammars[2] == grammars[4] != grammars[1] == grammars[3]
        kept = proxy.service.grammars
        # Counted once each, whichever way they were found.
        assert (kept.hits, kept.misses, len(kept)) == (3, 2, 2)

    run(body, {**says(GOOD), **_template(*ends)})


def test_what_is_sent_is_what_the_pure_function_says() -> None:
    async def body(fake: Fake, proxy: Proxy) -> None:
        first = (await proxy.chat(request())).json()
        second = (await proxy.chat(request())).json()
        assert proxy.service.grammars.hits == 1
        calls = [a["choices"][0]["message"]["tool_calls"][0] for a in (first, second)]
        assert calls[0]["function"] == calls[1]["function"] and calls[0]["id"] != calls[1]["id"]
        known = proxy.service.knowledge.known
        assert known is not None
        prompt = USER[0]["content"] + "<assistant>"
        made = constrain_request(
            request(), known.spec, prompt=prompt, capabilities=known.capabilities
        )
        behind, ahead = (a.json for a in fake.asked if a.target == "/completion")
        assert ahead == behind == json.loads(json_bytes(made.body))

    run(body, says(GOOD))


def test_a_grammar_that_cannot_be_made_is_told_each_time() -> None:
    bad = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"pattern": "("}}}}

    async def body(fake: Fake, proxy: Proxy) -> None:
        for _ in range(3):
            answer = await proxy.chat(request(tools=[{"type": "function", "function": bad}]))
            assert answer.status_code == 400 and answer.json()["error"]["code"]
        assert not [a for a in fake.asked if a.target == "/completion"]
        assert proxy.service.grammars.hits == 2

    run(body, says(GOOD))
