"""Requests to Anthropic's API as chat requests."""

from __future__ import annotations

from typing import Any

import pytest

from calligram import constrain_request
from calligram.proxy import RequestError
from calligram.proxy.anthropic_request import chat_request

TOOL = {
    "name": "set_timer",
    "input_schema": {"type": "object", "properties": {"minutes": {"type": "integer"}}},
}


def asked(*messages: Any, **fields: Any) -> dict[str, Any]:
    return chat_request({"model": "m", "max_tokens": 9, "messages": list(messages), **fields})


def test_a_conversation_with_calls_and_results() -> None:
    made = asked(
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "text", "text": "Yes."},
                {"type": "tool_use", "id": "t1", "name": "set_timer", "input": {"minutes": 3}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "done"},
                {"type": "text", "text": "And now?"},
            ],
        },
        system=[{"type": "text", "text": "Be", "cache_control": {}}, {"type": "text", "text": "x"}],
        stop_sequences=["END"],
        metadata={"user_id": "u"},
        top_k=4,
    )
    assert made == {
        "model": "m",
        "max_tokens": 9,
        "stop": ["END"],
        "top_k": 4,
        "messages": [
            {"role": "system", "content": "Be\nx"},
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": "Yes.",
                "reasoning_content": "Hm.",
                "tool_calls": [
                    {
                        "id": "t1",
                        "type": "function",
                        "function": {"name": "set_timer", "arguments": '{"minutes": 3}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "t1", "content": "done"},
            {"role": "user", "content": "And now?"},
        ],
    }


@pytest.mark.parametrize(
    ("choice", "kind", "route"),
    [
        ({"type": "auto"}, "auto", "completion"),
        ({"type": "any"}, "required", "completion"),
        ({"type": "tool", "name": "set_timer"}, "required", "completion"),
        ({"type": "none"}, "auto", "untouched"),
    ],
)
def test_choices_are_constrained(choice: dict[str, Any], kind: str, route: str) -> None:
    body = asked({"role": "user", "content": "Hi"}, tools=[TOOL], tool_choice=choice)
    made = constrain_request(body, "hermes-json")
    assert (made.route, made.kind) == (route, kind)


def test_thinking_is_asked_of_the_template_and_a_format_is_the_clients_own() -> None:
    hello = {"role": "user", "content": "Hi"}
    made = asked(hello, thinking={"type": "enabled", "budget_tokens": 1024})
    assert made["chat_template_kwargs"] == {"enable_thinking": True}
    assert asked(hello, thinking={"type": "disabled"})["chat_template_kwargs"] == {
        "enable_thinking": False
    }
    made = asked(hello, tools=[TOOL], output_config={"format": {"type": "json_schema"}})
    assert constrain_request(made, "hermes-json").reason == "own-grammar"


@pytest.mark.parametrize(
    ("messages", "fields", "pointer"),
    [
        ("Hi", {}, "/messages"),
        ([3], {}, "/messages/0"),
        ([{"role": "robot", "content": ""}], {}, "/messages/0/role"),
        ([{"role": "user"}], {}, "/messages/0/content"),
        ([{"role": "user", "content": ["x"]}], {}, "/messages/0/content/0"),
        ([{"role": "user", "content": [{"type": "text"}]}], {}, "/messages/0/content/0/text"),
        ([{"role": "user", "content": [{"type": "video"}]}], {}, "/messages/0/content/0/type"),
        (
            [{"role": "user", "content": [{"type": "image", "source": 3}]}],
            {},
            "/messages/0/content/0/source",
        ),
        (
            [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": 3}]}],
            {},
            "/messages/0/content/0/name",
        ),
        ([], {"system": [{"type": "image"}]}, "/system/0"),
        ([], {"stop_sequences": ["a", 3]}, "/stop_sequences"),
        ([], {"stop_sequences": {"a": 3}}, "/stop_sequences"),
    ],
)
def test_what_has_another_form_is_refused_at_its_place(
    messages: Any, fields: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(RequestError) as caught:
        chat_request({"messages": messages, **fields})
    assert [(p.code, p.origin.pointer) for p in caught.value.problems] == [("proxy-body", pointer)]


def test_an_image_is_given_as_a_url() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    made = asked({"role": "user", "content": [{"type": "image", "source": source}]})
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert made["messages"] == [{"role": "user", "content": [part]}]
