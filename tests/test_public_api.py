"""The public names and signatures that users rely on: a change is a decision, not an accident."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable

import pytest

import calligram
from calligram.compiler.pipeline import cached
from calligram.compiler.spec_loader import load_dialect
from calligram.targets import gbnf, parser, regex_fsm

ERRORS = (
    "ArtefactError",
    "CalligramError",
    "GrammarError",
    "LimitExceeded",
    "RenderError",
    "SchemaError",
    "SpecError",
    "TargetError",
    "ToolError",
    "VocabularyError",
)
TOOL = {"name": "ping", "input_schema": {"type": "object", "properties": {}}}


def parameters(function: Callable[..., object]) -> dict[str, object]:
    """Parameter names with their defaults; `...` where there is none."""
    return {
        name: ... if p.default is inspect.Parameter.empty else p.default
        for name, p in inspect.signature(function).parameters.items()
    }


@pytest.mark.parametrize("name", ["Bounds", "compile_schema", "compile_tools", "dialects", *ERRORS])
def test_the_name_is_public(name: str) -> None:
    assert name in calligram.__all__
    assert hasattr(calligram, name)


def test_all_is_sorted_and_complete() -> None:
    assert list(calligram.__all__) == sorted(calligram.__all__)
    assert all(hasattr(calligram, name) for name in calligram.__all__)


def test_compile_tools_takes_the_documented_options() -> None:
    found = parameters(calligram.compile_tools)
    assert found == {
        "tools": ...,
        "dialect": ...,
        "tool_choice": "required",
        "parallel_tool_calls": True,
        "reasoning": "allow",
        "key_order": "schema",
        "bounds": calligram.Bounds(),
        "on_unsupported": "error",
        "open_objects": False,
        "max_calls": None,
        "openapi": False,
        "whitespace": None,
        "documents": None,
        "formats": "assert",
        "unknown_formats": "annotate",
        "chat_template": None,
    }


def test_compile_schema_takes_the_documented_options() -> None:
    found = parameters(calligram.compile_schema)
    wanted = {
        "whitespace": "flexible",
        "key_order": "schema",
        "bounds": None,
        "documents": None,
        "formats": "assert",
        "unknown_formats": "annotate",
    }
    assert list(found)[0] == "schema"
    assert {name: found[name] for name in wanted} == wanted


def test_bounds_have_the_documented_defaults() -> None:
    bounds = calligram.Bounds()
    assert (bounds.string, bounds.items, bounds.keys, bounds.depth) == (8192, 256, 64, 8)
    assert (bounds.digits, bounds.exponent) == (20, 3)
    assert (bounds.whitespace, bounds.calls) == (32, 16)


@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_one_root_and_pickle(name: str) -> None:
    kind = getattr(calligram, name)
    assert issubclass(kind, calligram.CalligramError)
    error = kind.at("some-code", "a sentence", hint="a way out")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind and copy.problems == error.problems


def test_a_grammar_has_the_documented_face() -> None:
    grammar = calligram.compile_tools([TOOL], dialect=calligram.dialects()[0])
    assert parameters(grammar.check) == {"text": ...}
    assert parameters(grammar.render)["validate"] is True
    text = grammar.render([{"name": "ping", "arguments": {}}])
    verdict = grammar.check(text)
    assert (verdict.accepted, verdict.position) == (True, len(text.encode("utf-8")))
    assert "root ::=" in gbnf.emit(grammar)
    result = parser.compile(grammar).parse(text)
    assert [(c["name"], c["arguments"]) for c in result.calls] == [("ping", {})]
    assert (result.problems, result.incomplete) == ((), None)
    assert result.openai()["tool_calls"][0]["function"]["name"] == "ping"


def test_dialects_are_sorted_ids() -> None:
    assert calligram.dialects() == sorted(calligram.dialects())
    assert calligram.dialects()


def test_the_conveniences_take_a_spec_and_compile_it_once() -> None:
    spec = load_dialect("hermes-json")
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {}}}]
    text = calligram.render([{"name": "f", "arguments": {}}], tools=tools, dialect=spec)
    calls = parser.parse(text, tools=tools, dialect=spec).calls
    assert [(c["name"], c["arguments"]) for c in calls] == [("f", {})]
    assert cached(tools, spec) is cached(tools, spec)


def test_token_tables_have_the_documented_face() -> None:
    assert parameters(regex_fsm.compile) == {
        "grammar": ..., "vocabulary": ..., "max_depth": 3, "max_states": 200_000,
        "max_bytes": 2**30, "progress": None,
    }  # fmt: skip
    assert parameters(regex_fsm.regex) == {
        "grammar": ..., "max_depth": 3, "max_length": 1_000_000,
    }  # fmt: skip
    assert parameters(regex_fsm.dfa) == {"grammar": ..., "max_depth": 3, "max_states": 200_000}
    assert parameters(regex_fsm.load) == {
        "path": ..., "vocabulary": ..., "grammar": None, "max_bytes": 2**30,
    }  # fmt: skip
    assert parameters(regex_fsm.TokenTable.guide) == {"self": ..., "max_rollback": 32}
    assert parameters(regex_fsm.Guide.advance) == {
        "self": ..., "token_id": ..., "return_tokens": None,
    }  # fmt: skip
    methods = ("get_tokens", "advance", "is_finished", "get_state", "write_mask_into",
               "rollback_state", "accepts_tokens", "reset", "get_allowed_rollback")  # fmt: skip
    assert all(callable(getattr(regex_fsm.Guide, name)) for name in methods)
