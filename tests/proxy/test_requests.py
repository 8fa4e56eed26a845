"""Whatever a request is, it is constrained, left alone, or refused by a problem: nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calligram import CalligramError, constrain_request
from calligram.compiler.spec_loader import load_dialect
from calligram.proxy.anthropic_request import chat_request
from calligram.proxy.constrain import Plan, plan_request
from calligram.proxy.options import Capabilities, Policy
from tests.proxy.tools import TOOLS, USER, named

ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.just(1e400)
    | st.sampled_from(["", "auto", "x"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["type", "function", "name", "parameters", "content", "text", "role", "x"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
RIGHT: dict[str, Any] = {
    "messages": USER, "tools": TOOLS, "tool_choice": named("set_timer"), "stream": True,
    "stop": "x", "n": 1, "max_tokens": 3, "response_format": {"type": "text"}, "system": "s",
    "parallel_tool_calls": True, "logprobs": False, "chat_template_kwargs": {}, "thinking": {},
    "stream_options": {}, "grammar": "", "stop_sequences": [], "output_config": {}, "model": "m",
}  # fmt: skip
BODIES = st.dictionaries(st.sampled_from(sorted(RIGHT)), ODD, max_size=4).map(
    lambda odd: {"messages": USER, "tools": TOOLS, **odd}
)
SPEC = load_dialect("hermes-json")


@pytest.mark.parametrize("body", [None, 3, "{}", [], [("tools", TOOLS)], b"{}"])
def test_what_is_no_object_is_refused(body: Any) -> None:
    with pytest.raises(CalligramError) as caught:
        constrain_request(body, "hermes-json")
    assert [p.code for p in caught.value.problems] == ["proxy-body"]


@settings(deadline=None)
@given(BODIES)
def test_odd_fields_are_refused_or_taken(body: dict[str, Any]) -> None:
    for form in (dict, chat_request):
        try:
            plan = plan_request(form(body), SPEC, Capabilities(), Policy())
            if isinstance(plan, Plan):
                assert plan.order("x").digest and plan.template
        except CalligramError as error:
            assert all(p.code and p.message for p in error.problems)
