"""`constrain_request`: which requests are constrained, by which route, with which grammar."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest

import calligram
from calligram import CalligramError, constrain_request
from calligram.compiler.spec_loader import load_dialect
from calligram.proxy import Capabilities, Constrained, Policy
from calligram.proxy.options import markers
from calligram.proxy.prepared import Order, packed, prepare, unpacked
from tests.engine import Engine
from tests.proxy.tools import CALL, TOOLS, allowed, named, request

DIALECT = "hermes-json"
SEEN = Capabilities(
    visible=markers(load_dialect(DIALECT)),
    generation_prompt="<|im_end|>\n<|im_start|>assistant\n",
    chat_template="{{ messages }}",
)
ANTHROPIC = [
    {
        "name": "set_timer",
        "description": "Start a timer.",
        "input_schema": TOOLS[1]["function"]["parameters"],
    }
]


def begins_call(made: Constrained, text: str) -> str:
    """The text from where the server feeds it to a grammar that is armed lazily."""
    found = [m for t in made.triggers if (m := re.search(str(t["value"]), text))]
    assert found, (made.triggers, text)
    return text[min(m.start(1) for m in found) :]


# -- which requests


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"tools": []}, "no-tools"),
        ({"tools": None}, "no-tools"),
        ({"tool_choice": "none"}, "none"),
        ({"tool_choice": {"type": "none"}}, "none"),
        ({"grammar": "root ::= [0-9]"}, "own-grammar"),
        ({"json_schema": {"type": "object"}}, "own-grammar"),
        ({"response_format": {"type": "json_object"}}, "own-grammar"),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, "own-grammar"),
        ({"grammar": "root ::= [0-9]", "tool_choice": "required"}, "own-grammar"),
    ],
)
def test_these_are_sent_on_as_they_came(fields: dict[str, Any], reason: str) -> None:
    body = request(**fields)
    made = constrain_request(body, DIALECT)
    assert (made.route, made.reason, made.problems) == ("untouched", reason, ())
    assert made.body is body and made.grammar is None and made.gbnf == ""
    with pytest.raises(ValueError, match="untouched"):
        made.answer()


@pytest.mark.parametrize("value", ["1", "yes"])
def test_switched_off_nothing_is_touched(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLIGRAM_DISABLE", value)
    body = request(tool_choice=named("nobody"))
    made = constrain_request(body, DIALECT)
    assert (made.route, made.reason, made.body) == ("untouched", "disabled", body)


@pytest.mark.parametrize(
    ("fields", "kind", "accepts", "rejects"),
    [
        ({"tool_choice": "required"}, "required", ["set_timer", "get_weather"], []),
        ({"tool_choice": "any"}, "required", ["set_timer"], []),
        ({"tool_choice": named("set_timer")}, "required", ["set_timer"], ["get_weather"]),
        (
            {"tool_choice": {"type": "tool", "name": "set_timer"}},
            "required",
            ["set_timer"],
            ["get_weather"],
        ),
        (
            {"tool_choice": allowed("required", "set_timer", "send_message")},
            "required",
            ["set_timer"],
            ["get_weather"],
        ),
        ({"tool_choice": "auto"}, "auto", ["set_timer", ""], []),
        ({}, "auto", ["set_timer", ""], []),
        ({"tool_choice": None}, "auto", ["set_timer", ""], []),
        ({"tool_choice": allowed("auto", "set_timer")}, "auto", ["set_timer", ""], ["get_weather"]),
        ({"grammar": "", "json_schema": None}, "auto", ["set_timer"], []),
        ({"response_format": {"type": "text"}}, "auto", ["set_timer"], []),
    ],
)
def test_a_choice_is_what_may_be_called(
    fields: dict[str, Any], kind: str, accepts: list[str], rejects: list[str]
) -> None:
    arguments = {"set_timer": {"minutes": 10}, "get_weather": {"location": "Rome"}}
    free = calligram.compile_tools(TOOLS, DIALECT, tool_choice="auto")

    def text(name: str) -> str:
        return free.render([{"name": name, "arguments": arguments[name]}]) if name else "Hello."

    made = constrain_request(request(**fields), DIALECT)
    assert made.kind == kind and made.grammar is not None
    assert [n for n in accepts if not made.grammar.check(text(n)).accepted] == []
    assert [n for n in rejects if made.grammar.check(text(n)).accepted] == []
    assert kind == "auto" or not made.grammar.check("Hello.").accepted


@pytest.mark.parametrize(
    ("fields", "several"),
    [
        ({}, True),
        ({"parallel_tool_calls": True}, True),
        ({"parallel_tool_calls": False}, False),
        ({"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}, False),
    ],
)
def test_several_calls_only_where_they_are_wanted(fields: dict[str, Any], several: bool) -> None:
    made = constrain_request(request(**{"tool_choice": "required", **fields}), DIALECT)
    assert made.grammar is not None
    two = calligram.compile_tools(TOOLS, DIALECT).render([CALL, CALL])
    assert made.grammar.check(two).accepted == several


def test_the_request_is_not_changed() -> None:
    body = request(tool_choice="required", stop="x", tools=[*TOOLS, *ANTHROPIC[:0]])
    before = copy.deepcopy(body)
    constrain_request(body, DIALECT, capabilities=SEEN)
    constrain_request(body, DIALECT).with_prompt("<think>\n")
    assert body == before


def test_tools_in_anthropics_form_reach_the_template_in_openais() -> None:
    made = constrain_request(request(tools=ANTHROPIC, tool_choice={"type": "any"}), DIALECT)
    assert made.template is not None
    assert made.template["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "set_timer",
                "description": "Start a timer.",
                "parameters": ANTHROPIC[0]["input_schema"],
            },
        }
    ]


# -- what is wrong with a request


@pytest.mark.parametrize(
    ("fields", "code", "pointer"),
    [
        ({"tool_choice": named("set_timr")}, "unknown-tool", ""),
        ({"tool_choice": "requird"}, "invalid-tool-choice", ""),
        ({"tools": {"a": 1}}, "invalid-tools", ""),
        ({"tools": [{"type": "function"}]}, "invalid-tool", "/0"),
        ({"parallel_tool_calls": "no"}, "invalid-option", "/parallel_tool_calls"),
        (
            {"tool_choice": {"type": "any", "disable_parallel_tool_use": "yes"}},
            "invalid-option",
            "/tool_choice/disable_parallel_tool_use",
        ),
        ({"n": 2}, "proxy-choices", "/n"),
        # The server tells the pieces of several in turns, and does not say of which they are.
        ({"n_cmpl": 2}, "proxy-choices", "/n_cmpl"),
        ({"stream": "true"}, "proxy-body", "/stream"),
        ({"stream": 1}, "proxy-body", "/stream"),
        ({"stop": 5}, "proxy-body", "/stop"),
        ({"stop": ["a", 5]}, "proxy-body", "/stop"),
        ({"stop": {"a": "b"}}, "proxy-body", "/stop"),
        ({"messages": "hi"}, "proxy-body", "/messages"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "proxy-media",
            "/messages/0/content/0",
        ),
        ({"tools": TOOLS * 100}, "too-many-tools", "/tools"),
        ({"tools": [{"name": "a", "description": "x" * 2**20}]}, "text-too-large", "/tools"),
        ({"tools": [{"name": "a", "parameters": {"type": "objekt"}}]}, "unknown-type", "/type"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    fields: dict[str, Any], code: str, pointer: str
) -> None:
    body = request(**fields)
    with pytest.raises(CalligramError) as caught:
        constrain_request(body, DIALECT)
    assert [(p.code, p.origin.pointer) for p in caught.value.problems] == [(code, pointer)]
    made = constrain_request(body, DIALECT, policy=Policy(on_unsupported="pass"))
    assert (made.route, made.reason) == ("untouched", "unsupported")
    assert [p.code for p in made.problems] == [code] and made.body is body


def test_a_schema_is_relaxed_or_its_tool_left_out_where_the_policy_says_so() -> None:
    hopeless = {"name": "odd", "parameters": {"properties": {"a": {"pattern": r"(a)\1"}}}}
    body = request(tools=[*TOOLS, hopeless], tool_choice="required")
    with pytest.raises(CalligramError) as caught:
        constrain_request(body, DIALECT)
    (problem,) = caught.value.problems
    place = (problem.origin.tool, problem.origin.pointer)
    assert place == ("odd", "/properties/a/pattern")
    relaxed = constrain_request(body, DIALECT, policy=Policy(on_unsupported="relax"))
    assert relaxed.grammar is not None and relaxed.grammar.is_relaxed
    fewer = constrain_request(body, DIALECT, policy=Policy(on_unsupported="drop-tool"))
    assert fewer.grammar is not None and fewer.grammar.dropped == ("odd",)


# -- the two routes


@pytest.mark.parametrize(
    ("changes", "fields", "route"),
    [
        ({}, {"tool_choice": "required"}, "chat"),
        ({}, {"tool_choice": named("set_timer")}, "chat"),
        ({}, {"tool_choice": "auto"}, "completion"),
        ({}, {"tool_choice": "required", "chat_template_kwargs": {"a": 1}}, "completion"),
        ({}, {"tool_choice": "required", "reasoning_effort": "low"}, "completion"),
        ({"visible": frozenset()}, {"tool_choice": "required"}, "completion"),
        ({"visible": frozenset(), "special": True}, {"tool_choice": "required"}, "chat"),
        ({"generation_prompt": None}, {"tool_choice": "required"}, "completion"),
        # Thoughts that the usual prompt opens, and that behind these messages may not.
        (
            {"chat_template": "{{ x }}<think>", "generation_prompt": "<a><think>\n"},
            {"tool_choice": "required", "messages": [{"role": "system", "content": "/no_think"}]},
            "completion",
        ),
        ({"chat_template": None}, {"tool_choice": "required"}, "completion"),
    ],
)
def test_the_chat_route_needs_proof(
    changes: dict[str, Any], fields: dict[str, Any], route: str
) -> None:
    known = {
        "visible": SEEN.visible,
        "generation_prompt": SEEN.generation_prompt,
        "chat_template": SEEN.chat_template,
    }
    capabilities = Capabilities(**{**known, **changes})
    made = constrain_request(request(**fields), DIALECT, capabilities=capabilities)
    assert made.route == route


def test_the_chat_route_forbids_the_servers_own_calls_and_keeps_the_tools() -> None:
    body = request(
        tool_choice="required", parallel_tool_calls=True, temperature=0, max_tokens=9, stop=None
    )
    made = constrain_request(body, DIALECT, capabilities=SEEN)
    assert made.path == "/v1/chat/completions" and made.template is None
    assert made.body["tool_choice"] == "none" and made.body["tools"] == TOOLS
    assert made.body["grammar"] == made.gbnf and made.body["reasoning_format"] == "none"
    assert "parallel_tool_calls" not in made.body
    kept = {k: made.body[k] for k in ("model", "messages", "temperature", "max_tokens", "stop")}
    assert kept == {k: body[k] for k in kept}
    # That route does not say at which word an answer stopped.
    assert (
        constrain_request({**body, "stop": "x"}, DIALECT, capabilities=SEEN).path == "/completion"
    )


def test_the_other_route_renders_the_prompt_first() -> None:
    body = request(
        tool_choice="required", temperature=0, max_tokens=9, max_completion_tokens=7, stop="x",
        top_k=5, stream=True, logprobs=False, user="u",
    )  # fmt: skip
    made = constrain_request(body, DIALECT)
    assert made.template is not None and made.path == "/completion"
    assert made.template["messages"] == body["messages"] and made.template["tools"] == TOOLS
    assert made.template["tool_choice"] == "none" and "stream" not in made.template
    assert "prompt" not in made.body
    sent = made.with_prompt("the prompt").body
    assert sent["prompt"] == "the prompt" and sent["grammar"] == made.gbnf
    assert (sent["n_predict"], sent["stop"], sent["top_k"]) == (7, ["x"], 5)
    assert (sent["temperature"], sent["stream"], sent["model"]) == (0, True, "m")
    assert set(made.preserved) >= {"<tool_call>", "</tool_call>", "<think>", "</think>"}
    assert sent["preserved_tokens"] == made.preserved
    unwanted = {"messages", "tools", "tool_choice", "max_tokens", "logprobs", "user"}
    assert unwanted.isdisjoint(sent)
    assert not {"grammar_lazy", "grammar_triggers"} & set(sent)


def test_only_the_other_route_takes_a_prompt() -> None:
    with pytest.raises(ValueError, match="completion"):
        constrain_request(request(tool_choice="none"), DIALECT).with_prompt("p")


# -- auto: lazily armed, or whole where the model may think


def test_auto_is_armed_by_patterns_with_the_shape_that_the_server_takes() -> None:
    made = constrain_request(request(), DIALECT, capabilities=SEEN).with_prompt("p")
    assert made.body["grammar_lazy"] is True
    assert made.body["grammar_triggers"] == [{"type": 2, "value": "(<tool_call>\\n)"}]
    json.dumps(made.body)


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_an_armed_grammar_takes_what_its_trigger_gives_it(dialect: str, engine: Engine) -> None:
    plain = Capabilities(chat_template="", generation_prompt="")
    made = constrain_request(request(), dialect, capabilities=plain)
    assert made.grammar is not None and made.body["grammar_lazy"] is True
    whole = made.grammar.render_turn([CALL], content="")
    fed = begins_call(made, whole.removeprefix(made.grammar.dialect.prefill))  # type: ignore[union-attr]
    assert engine.accepted(made.gbnf, [fed, fed + "x", "Hello."]) == [True, False, False]


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_where_the_model_may_think_the_grammar_is_of_the_whole_turn(
    dialect: str, engine: Engine
) -> None:
    spec = load_dialect(dialect)
    if spec.reasoning is None:
        assert constrain_request(request(), dialect).body["grammar_lazy"] is True
        return
    prompt = "<user>Hello<assistant>" + spec.reasoning.open
    made = constrain_request(request(), dialect).with_prompt(prompt)
    assert made.triggers == [] and made.grammar is not None
    closed = "I muse." + spec.reasoning.close + spec.reasoning.after
    call = made.grammar.render_turn([CALL])
    accepted = engine.accepted(
        made.gbnf, [closed + call, closed + plain_text(made), closed + call + "x"]
    )
    assert accepted == [True, True, False]
    if spec.reasoning.implicit_close or spec.reasoning.close in call:
        return
    thought = call + closed + plain_text(made)
    assert engine.accepted(made.gbnf, [thought]) == [True]
    answer = made.answer()
    answer.feed(thought)
    assert answer.close("end").result.calls == []


def plain_text(made: Constrained) -> str:
    """A turn of prose as the dialect wraps it."""
    assert made.grammar is not None
    return made.grammar.render_turn(content="Hello.")


@pytest.mark.parametrize(
    ("prompt", "reasoning"),
    [
        ("<|im_start|>assistant\n", "allow"),
        ("<|im_start|>assistant\n<think>", "opened"),
        ("<|im_start|>assistant\n<think>\n", "opened"),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", "none"),
    ],
)
def test_the_prompts_end_says_where_reasoning_stands(prompt: str, reasoning: str) -> None:
    made = constrain_request(request(tool_choice="required"), DIALECT).with_prompt(prompt)
    assert made.grammar is not None and made.grammar.envelope is not None
    assert made.grammar.envelope.reasoning == reasoning
    answer = made.answer()
    call = calligram.compile_tools(TOOLS, DIALECT).render([CALL])
    text = "Hm.</think>\n\n" + call if reasoning == "opened" else call
    closed_by = [*answer.feed(text), *(closed := answer.close("end")).deltas]
    assert (closed.finish, closed.problems) == ("tool_calls", ())
    thoughts = "".join(d.text for d in closed_by if d.kind == "reasoning")
    assert thoughts == ("Hm." if reasoning == "opened" else "")


def test_a_prefill_counts_only_if_the_prompt_ends_with_it(engine: Engine) -> None:
    made = constrain_request(request(tool_choice="required"), "functionary-v32")
    whole = calligram.compile_tools(TOOLS, "functionary-v32").render_turn([CALL])
    said = made.with_prompt("<|assistant|>\n\n>>>")
    unsaid = made.with_prompt("<|assistant|>\n\n")
    rest = whole.removeprefix(">>>")
    assert rest != whole
    assert engine.accepted(said.gbnf, [rest, whole]) == [True, False]
    assert engine.accepted(unsaid.gbnf, [rest, whole]) == [False, True]


def test_the_grammar_is_made_anew_only_for_a_prompt_that_ends_otherwise() -> None:
    made = constrain_request(request(tool_choice="required"), DIALECT)
    assert made.with_prompt("<|im_start|>assistant\n").prepared is made.prepared
    assert made.with_prompt("<think>").prepared is not made.prepared


# -- grammars from another process


@pytest.mark.parametrize(
    "dialect", ["hermes-json", "qwen3-coder-xml", "harmony", "minimax-m3-tree"]
)
@pytest.mark.parametrize("choice", ["required", "auto"])
def test_a_packed_grammar_reads_as_the_one_it_was(dialect: str, choice: str) -> None:
    made = constrain_request(request(tool_choice=choice), dialect).prepared
    assert made is not None
    copy = unpacked(packed(made))
    assert (copy.text, copy.triggers, copy.preserved) == (made.text, made.triggers, made.preserved)
    good = made.grammar.render([CALL])
    bad = made.grammar.render([{"name": "set_timer", "arguments": {"minutes": 0}}], validate=False)
    for text in (good, bad, good[:-9], "Hello.", ""):
        assert copy.reader.parse(text) == made.reader.parse(text)


def test_a_packed_grammar_still_checks_what_was_relaxed() -> None:
    tool = {"name": "odd", "parameters": {"properties": {"a": {"pattern": r"^(a|b)\1$"}}}}
    relaxing = Policy(on_unsupported="relax")
    body = request(tools=[tool], tool_choice="required")
    made = constrain_request(body, DIALECT, policy=relaxing).prepared
    assert made is not None
    text = made.grammar.render([{"name": "odd", "arguments": {"a": "ab"}}])
    codes = [p.code for p in unpacked(packed(made)).reader.parse(text).problems]
    assert codes == ["invalid-arguments"]


def test_equal_orders_have_equal_digests_and_others_have_not() -> None:
    spec = load_dialect(DIALECT)
    base = Order("[]", spec, "auto", True, "allow", "lazy", Policy())
    same = Order("[]", spec.model_copy(), "auto", True, "allow", "lazy", Policy())
    others = [
        Order("[ ]", spec, "auto", True, "allow", "lazy", Policy()),
        Order("[]", load_dialect("harmony"), "auto", True, "allow", "lazy", Policy()),
        Order("[]", spec, "required", True, "allow", "lazy", Policy()),
        Order("[]", spec, "auto", False, "allow", "lazy", Policy()),
        Order("[]", spec, "auto", True, "opened", "lazy", Policy()),
        Order("[]", spec, "auto", True, "allow", "whole", Policy()),
        Order("[]", spec, "auto", True, "allow", "lazy", Policy(open_objects=True)),
    ]
    assert same.digest == base.digest
    assert len({o.digest for o in (base, *others)}) == len(others) + 1


def test_preparing_is_pure() -> None:
    order = Order(json.dumps(TOOLS), load_dialect(DIALECT), "auto", True, "allow", "lazy", Policy())
    assert prepare(order).text == prepare(order).text
