"""Law 4, it ends: under default bounds the longest call is a number, nothing drawn is longer, and
on small grammars it is attained and no way leads nowhere; without bounds the report says so."""

from __future__ import annotations

from typing import Any

import pytest

import calligram
from calligram.compiler.automaton.recogniser import DEAD, Recogniser
from calligram.compiler.compiled import CompiledGrammar
from calligram.compiler.lower import shared
from calligram.compiler.passes import longest_text
from calligram.compiler.pipeline import KeyOrder
from tests.laws.test_law1_one_language import report
from tests.laws.tools import TOOLS, named_by_keys, tool
from tests.sampling import Sampler, dice, fuzzed, spread

DRAWN = fuzzed(30)
MOST_STATES = 40_000
ORDERS: tuple[KeyOrder, ...] = ("schema", "any")


def violations(grammar: CompiledGrammar, names: tuple[str, ...]) -> list[str]:
    """No finite longest call though bounds are in force, or a drawn one that is longer."""
    longest = grammar.report.longest_call
    if not isinstance(longest, int):
        return ["the calls have no longest text"]
    calls = grammar.calls_only
    assert calls is not None
    texts = Sampler(grammar.enforced.rules, dice("law 4", *names), 400).texts(calls, DRAWN)
    return [
        f"{len(t.encode())} bytes, but the longest is {longest}: {t!r}"
        for t in texts
        if len(t.encode()) > longest
    ]


def small_violations(grammar: CompiledGrammar) -> list[str]:
    """What a walk of every text says against the report's longest call."""
    calls = grammar.calls_only
    assert calls is not None
    found = longest_walk(Recogniser(grammar.enforced.rules, calls))
    if found is None:
        return ["some way leads nowhere or does not end"]
    longest = grammar.report.longest_call
    return [] if found == longest else [f"the longest text has {found} bytes, reported {longest}"]


def longest_walk(automaton: Recogniser) -> int | None:
    """Bytes of the longest text, by depth-first search; None for a loop or a dead end."""
    longest: dict[int, int] = {}
    open_: set[int] = set()
    stack = [(automaton.start, False)]
    while stack:
        config, done = stack.pop()
        targets = {
            automaton.step(config, byte)
            for low, high in automaton.next_bytes(config)
            for byte in range(low, high + 1)
        } - {DEAD}
        if done:
            open_.discard(config)
            ends = [longest[t] + 1 for t in targets]
            if not ends and not automaton.accepting(config):
                return None
            longest[config] = max(ends, default=0)
        elif config not in longest:
            assert len(longest) < MOST_STATES, "not small enough"
            open_.add(config)
            stack.append((config, True))
            for target in sorted(targets):
                if target in open_:
                    return None
                if target not in longest:
                    stack.append((target, False))
    return longest[automaton.start]


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", calligram.dialects())
@pytest.mark.parametrize("order", ORDERS)
def test_default_bounds_end_every_call(dialect: str, order: KeyOrder) -> None:
    grammar = calligram.compile_tools(TOOLS, dialect, key_order=order)
    assert not (wrong := violations(grammar, (dialect, order))), report(wrong)


SMALL = calligram.Bounds(
    string=2, items=2, keys=2, depth=1, recursion=2, digits=2, exponent=1, whitespace=1, calls=2
)
BOTH_TRUE = ("ab", "bc", "ca") * 2
SMALL_TOOLS: dict[str, list[dict[str, Any]]] = {
    "words": [tool("a", {"x": {"enum": ["a", "é", "☃☃"]}, "y": {"type": "boolean"}}, "x")],
    "strings": [tool("a", {"s": {"type": "string"}, "t": {"type": "string", "maxLength": 1}})],
    "numbers": [
        tool("a", {"i": {"type": "integer"}, "r": {"type": "number", "minimum": 0, "maximum": 5}})
    ],
    "number": [tool("a", {"n": {"type": "number"}}, "n")],
    "list": [tool("a", {"l": {"type": "array", "items": {"type": "boolean"}}}, "l")],
    "map": [
        tool("a", {"m": {"type": "object", "additionalProperties": {"type": "null"}}}),
        tool("b", {"p": {"type": "string", "pattern": "^(ab)*$"}}),
    ],
    "conditions": [
        tool("a", {"o": {"type": "object", "properties": {n: {"type": "boolean"} for n in "abc"},
                         "not": {"anyOf": [{"properties": {n: {"const": True} for n in pair},
                                            "required": [pair[0]]} for pair in BOTH_TRUE]}}}),
        tool("b", {"l": {"type": "array", "items": {"enum": [1, 2, 6]},
                         "allOf": [{"contains": {"multipleOf": 2}}, {"contains": {"minimum": 6},
                                                                     "maxContains": 1}]}}),
    ],
    "recursive": [
        tool("a", {"n": {"$ref": "#/$defs/n"}}, "n", **{
            "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}}
        })
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL_TOOLS)
def test_the_longest_call_is_attained(name: str) -> None:
    wrong = []
    for dialect in spread(calligram.dialects(), "longest", name):
        for order in ORDERS:
            grammar = calligram.compile_tools(
                SMALL_TOOLS[name], dialect, bounds=SMALL, key_order=order
            )
            wrong += [f"{dialect} {order}: {line}" for line in small_violations(grammar)]
    assert not wrong, report(wrong)


def test_conditions_beside_a_count_of_keys_leave_no_way_that_leads_nowhere() -> None:
    given = {
        "type": "object", "properties": {n: {"type": "boolean"} for n in "ab"},
        "additionalProperties": {"type": "null"}, "maxProperties": 3,
        "allOf": [{"not": {"patternProperties": {p: False}}} for p in "axyb"],
    }  # fmt: skip
    for order in ORDERS:
        grammar = calligram.compile_tools(
            [tool("a", {"o": given}, "o")], "llama3-json", bounds=SMALL, key_order=order
        )
        found = longest_walk(Recogniser(grammar.enforced.rules, grammar.enforced.start))
        longest = grammar.report.longest_call
        assert found is not None and isinstance(longest, int)
        assert grammar.dialect is not None
        found -= max(len(end.encode()) for end in grammar.dialect.turn_end.tokens)
        # What the longest members meet is not counted in.
        assert 0.8 * longest < found <= longest


FINITE = tool("a", {"x": {"enum": ["a", "bc"]}, "y": {"type": "boolean"}}, "x")
ENDLESS: dict[str, Any] = {
    "string": {"type": "string"},
    "pattern": {"type": "string", "pattern": "^a*$"},
    "integer": {"type": "integer"},
    "items": {"type": "array", "items": {"type": "null"}},
    "keys": {"type": "object", "additionalProperties": {"type": "null"}},
    "untyped": {},
}


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_without_bounds_the_report_says_where_there_is_no_end(dialect: str) -> None:
    one: dict[str, Any] = {"bounds": None, "max_calls": 1}
    finite = calligram.compile_tools([FINITE], dialect, **one).report
    assert finite.longest_call is not None
    assert (
        finite.longest_call
        == calligram.compile_tools([FINITE], dialect, max_calls=1).report.longest_call
    )
    for name, schema in ENDLESS.items():
        if name == "keys" and named_by_keys(dialect):
            continue  # No undeclared key is written, so there is an end.
        endless = calligram.compile_tools([tool("a", {"x": schema})], dialect, **one).report
        assert endless.longest_call is None
        assert endless.bounds is None
        assert "no limit" in str(endless)
        assert endless.to_json()["longest_call_bytes"] is None
        bounded = calligram.compile_tools([tool("a", {"x": schema})], dialect, max_calls=1).report
        assert isinstance(bounded.longest_call, int)


def test_any_number_of_calls_has_no_end_without_bounds() -> None:
    assert calligram.compile_tools([FINITE], "hermes-json", bounds=None).report.longest_call is None


# The law can be broken --------------------------------------------------------------------------


def test_a_lifted_default_bound_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def unbounded(rules: Any, bounds: Any, order: str) -> Any:
        return shared.Shared(rules, None, order)

    monkeypatch.setattr("calligram.compiler.lower.turn.Shared", unbounded)
    grammar = calligram.compile_tools(TOOLS, "hermes-json")
    assert violations(grammar, ("broken",)) == ["the calls have no longest text"]


def test_a_longest_call_counted_in_characters_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "string", "pattern": "^[é☃]+$", "maxLength": 2}
    tools = [tool("a", {"s": schema}, "s")]
    assert not small_violations(calligram.compile_tools(tools, "hermes-json", bounds=SMALL))
    monkeypatch.setattr(
        "calligram.compiler.passes.longest_text.longest_bytes", lambda machine, low, high: high
    )
    assert small_violations(calligram.compile_tools(tools, "hermes-json", bounds=SMALL))


def test_a_longest_call_that_is_too_short_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_counted(grammar: Any) -> Any:
        return longest_text.Extent(0, 10)

    monkeypatch.setattr("calligram.compiler.compiled.longest_text", none_counted)
    grammar = calligram.compile_tools(TOOLS, "hermes-json")
    assert violations(grammar, ("broken",))
    assert small_violations(
        calligram.compile_tools(SMALL_TOOLS["list"], "hermes-json", bounds=SMALL)
    )
