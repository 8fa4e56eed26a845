"""What the end of a prompt says of the turn: whether the model is in its thoughts, and whose they
are."""

from __future__ import annotations

from typing import Any

import pytest

from calligram.compiler.spec_loader import load_dialect
from calligram.proxy.constrain import plan_request
from calligram.proxy.options import Capabilities, Policy
from calligram.proxy.prompt_end import read_end
from tests.proxy.tools import USER, request

SPEC = load_dialect("hermes-json")
END = "<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("prompt", "begun", "usual", "reasoning"),
    [
        (END, "", END, "allow"),
        (END + "<think>\n", "", END, "opened"),
        (END + "<think>\n\n</think>\n\n", "", END, "none"),
        # The client has begun the answer.
        (END + "<think>\nThe user wants", "<think>\nThe user wants", END, "opened"),
        (END + "<think>\nThe user wants", "The user wants", END + "<think>\n", "opened"),
        (END + "<think>a</think>Sure, ", "<think>a</think>Sure, ", END, "allow"),
        (END + "Sure, ", "Sure, ", None, "allow"),
        # Not in the answer.
        ("What is <think> for?" + END, "", END, "allow"),
        ("What is <think> for?" + END + "Well", "Well", END, "allow"),
        ("What is <think> for?" + END + "Well", "Well", None, "allow"),
        # A template that does not show what was begun.
        (END, "<think>\nThe user wants", END, "allow"),
    ],
)
def test_thoughts_are_told(prompt: str, begun: str, usual: str | None, reasoning: str) -> None:
    assert read_end(prompt, SPEC, begun, usual).reasoning == reasoning


@pytest.mark.parametrize("content", ["<think>\nHm", [{"type": "text", "text": "<think>\nHm"}]])
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_a_thought_that_the_client_begins_is_gone_on_with(content: Any, choice: str) -> None:
    body = request(messages=[*USER, {"role": "assistant", "content": content}], tool_choice=choice)
    plan: Any = plan_request(body, SPEC, Capabilities(generation_prompt=END), Policy())
    order = plan.order("x" + END + "<think>\nHm")
    assert (plan.route, order.reasoning) == ("completion", "opened")
    assert order.form == ("whole" if choice == "auto" else "required")
